//! What is said of our own policies: at each gateway that they act at, or at what they name if that is not there.

use super::super::Compiled;
use super::super::statuses::{Changes, reference_of};
use super::{CompiledAttachment, Target};
use crate::conditions::{Condition, Fault};
use crate::objects::{Key, PolicyTarget, ResourceKind};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What a policy is for, as its status names it, with why it does not act there.
type Ancestors = Vec<(Map<String, Value>, Option<Fault>)>;

/// Adds the statuses of all policies. `rejected` has what the gateway says of definitions that it does not serve, by their ids.
pub(in crate::compile) fn attached_changes(
    compiled: &Compiled<'_>,
    rejected: &BTreeMap<String, String>,
    changes: &mut Changes<'_>,
) {
    let used_at = gateways_of_routes(compiled);
    let rejected = rejected_policies(compiled, rejected);
    for (place, policy) in compiled.attached.all.iter().enumerate() {
        let ancestors = ancestors(policy, compiled, &used_at);
        let own = policy.effect.as_ref().err().cloned();
        let refused = || rejected.get(&place).map(|why| Fault::new("Invalid", why.clone()));
        let fault = own.or_else(refused);
        let conditions = ancestors.into_iter().map(|(ancestor, missing)| {
            let accepted = Condition::unless("Accepted", "Accepted", fault.as_ref().or(missing.as_ref()));
            let resolved = Condition::unless("ResolvedRefs", "ResolvedRefs", policy.unresolved.as_ref());
            (ancestor, vec![accepted, resolved])
        });
        let conditions: Vec<_> = conditions.collect();
        changes.policy(policy.kind, policy.metadata, policy.status, &conditions);
    }
}

/// Why the gateway does not serve a definition with a policy, by the place of the policy. Which one is wrong, the gateway's own words say.
fn rejected_policies(compiled: &Compiled<'_>, rejected: &BTreeMap<String, String>) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    for (id, why) in rejected {
        let policies = compiled.routes.definitions.get(id).map(|document| document.policies).unwrap_or_default();
        for policy in policies.0.iter().flatten() {
            found.entry(policy.place).or_insert_with(|| format!("The gateway does not serve {id}: {why}"));
        }
    }
    found
}

/// The gateways of each route.
fn gateways_of_routes<'r>(compiled: &'r Compiled<'_>) -> BTreeMap<(ResourceKind, Key), BTreeSet<&'r Key>> {
    let routes = compiled.routes.all.iter();
    routes.map(|route| ((route.kind, route.metadata.key()), route.parents.iter().map(|parent| &parent.gateway).collect())).collect()
}

fn ancestors(
    policy: &CompiledAttachment<'_>,
    compiled: &Compiled<'_>,
    used_at: &BTreeMap<(ResourceKind, Key), BTreeSet<&Key>>,
) -> Ancestors {
    let conflict = Fault::new("Conflicted", "An older policy of this kind is for the same target");
    // Where several targets lead to one gateway, one that acts is enough.
    let mut found: BTreeMap<Key, Option<Fault>> = BTreeMap::new();
    let mut missing = Ancestors::new();
    for (target, is_first) in &policy.targets {
        let own = (!is_first).then(|| conflict.clone());
        let mut note = |gateway: &Key, fault: Option<Fault>| {
            let known = found.entry(gateway.clone()).or_insert_with(|| fault.clone());
            if fault.is_none() {
                *known = None;
            }
        };
        match target {
            Ok(Target::Gateway(key, section)) => match compiled.gateways.by_key.get(key) {
                Some(gateway) => {
                    let has = |name: &String| gateway.own_listeners().any(|listener| listener.written.name == *name);
                    let lost = section
                        .as_ref()
                        .filter(|name| !has(name))
                        .map(|name| not_found(format!("The gateway has no listener {name}")));
                    note(key, lost.or(own));
                }
                None if compiled.cluster.gateways.contains_key(key) => {}
                None => missing.push((named("Gateway", key), Some(not_found(format!("The Gateway {key} does not exist"))))),
            },
            Ok(Target::Route(kind, key, section)) => match used_at.get(&(*kind, key.clone())) {
                Some(gateways) => {
                    let lost = section.as_ref().filter(|name| !has_rule(compiled, *kind, key, name));
                    let lost = lost.map(|name| not_found(format!("The route has no rule {name}")));
                    gateways.iter().for_each(|gateway| note(gateway, lost.clone().or_else(|| own.clone())));
                }
                None if compiled.cluster.has(*kind, key) => {}
                None => missing.push((named(kind.name(), key), Some(not_found(format!("The {kind} {key} does not exist"))))),
            },
            Err(written) => {
                let why = format!("Nothing can be attached to {}/{}", written.group, written.kind);
                missing.push((as_written(written, &policy.metadata.namespace), Some(Fault::new("Invalid", why))));
            }
        }
    }
    let known = found.into_iter().map(|(gateway, fault)| (reference_of(&gateway), fault));
    known.chain(missing).collect()
}

fn has_rule(compiled: &Compiled<'_>, kind: ResourceKind, key: &Key, name: &str) -> bool {
    let cluster = compiled.cluster;
    let is_it = |written: &Option<String>| written.as_deref() == Some(name);
    match kind {
        ResourceKind::HttpRoute => {
            cluster.http_routes.get(key).is_some_and(|route| route.spec.rules.iter().any(|rule| is_it(&rule.name)))
        }
        ResourceKind::GrpcRoute => {
            cluster.grpc_routes.get(key).is_some_and(|route| route.spec.rules.iter().any(|rule| is_it(&rule.name)))
        }
        _ => false,
    }
}

fn not_found(message: String) -> Fault {
    Fault::new("TargetNotFound", message)
}

fn named(kind: &str, key: &Key) -> Map<String, Value> {
    let mut reference = reference_of(key);
    reference.insert("kind".to_owned(), json!(kind));
    reference
}

fn as_written(written: &PolicyTarget, namespace: &str) -> Map<String, Value> {
    let members = [("group", written.group.as_str()), ("kind", &written.kind), ("namespace", namespace), ("name", &written.name)];
    members.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}
