//! What is said of our own policies: at each gateway that they act at, or at what they name if that is not there.

use super::super::ancestor::{AncestorConditions, ancestor_of};
use super::super::{Compiled, ServeReport};
use super::{AttachmentPoint, CompiledAttachment};
use crate::conditions::{Condition, Fault};
use crate::objects::{Key, PolicyTarget, ResourceKind};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What a policy is for, as its status names it, with why it does not act there.
type Ancestors = Vec<(Map<String, Value>, Option<Fault>)>;

/// What is said of all policies.
pub(in crate::compile) fn statuses_of_policies<'a, 'c>(
    compiled: &'a Compiled<'c>,
    report: &ServeReport,
) -> Vec<(&'a CompiledAttachment<'c>, Vec<AncestorConditions>)> {
    let used_at = gateways_of_routes(compiled);
    let rejected = of_policies(compiled, &report.rejected, "does not serve");
    let warned = of_policies(compiled, &report.warned, "warns of");
    let only_connecting = only_connecting(compiled);
    let said = compiled.attached.all.iter().enumerate().map(|(place, policy)| {
        let own = policy.effect.as_ref().err().cloned();
        let fault = own.or_else(|| rejected.get(&place).map(|why| Fault::new("Invalid", why.clone())));
        let backend =
            only_connecting.get(&policy.metadata.key().to_string()).filter(|_| policy.kind == ResourceKind::TrafficPolicy);
        let backend = backend.map(|backend| {
            format!("backendHealth.active.path has no effect on {backend}: what speaks HTTP/2 without TLS is only connected to")
        });
        let warning = warned.get(&place).cloned().or(backend).filter(|_| fault.is_none());
        let warning = warning.map(|why| Condition::is("PartiallyInvalid", "UnsupportedValue").with_message(why));
        let conditions = ancestors(policy, compiled, &used_at).into_iter().map(|(ancestor, missing)| {
            let accepted = Condition::unless("Accepted", "Accepted", fault.as_ref().or(missing.as_ref()));
            let resolved = Condition::unless("ResolvedRefs", "ResolvedRefs", policy.unresolved.as_ref());
            (ancestor, [accepted, resolved].into_iter().chain(warning.clone()).collect())
        });
        (policy, conditions.collect())
    });
    said.collect()
}

/// Backends that cannot be asked as a policy says, by the names of the policies.
fn only_connecting(compiled: &Compiled<'_>) -> BTreeMap<String, String> {
    let backends = compiled.documents.backends.iter();
    let asked = backends.filter(|(_, backend)| {
        backend.get("protocol") == Some(&json!("h2c")) && backend.pointer("/checks/path").is_some_and(|path| path != "")
    });
    let named = asked.filter_map(|(name, _)| name.rsplit_once('+'));
    named.map(|(backend, policy)| (policy.to_owned(), backend.to_owned())).collect()
}

/// What the gateway says of definitions, by the places of their policies. Which one is meant, its own words say.
fn of_policies(compiled: &Compiled<'_>, said: &BTreeMap<String, String>, verb: &str) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    for (id, why) in said.iter().filter(|(_, why)| !why.starts_with("$.tollgate.route")) {
        let policies = compiled.routes.definitions.get(id).map(|document| document.policies).unwrap_or_default();
        for policy in policies.0.iter().flatten() {
            found.entry(policy.place).or_insert_with(|| format!("The gateway {verb} {id}: {why}"));
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
            Ok(AttachmentPoint::Gateway(key, section)) => match compiled.gateways.by_key.get(key) {
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
            Ok(AttachmentPoint::Route(kind, key, section)) => match used_at.get(&(*kind, key.clone())) {
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
    let known = found.into_iter().map(|(gateway, fault)| (ancestor_of(&gateway), fault));
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
    let mut reference = ancestor_of(key);
    reference.insert("kind".to_owned(), json!(kind));
    reference
}

fn as_written(written: &PolicyTarget, namespace: &str) -> Map<String, Value> {
    let members = [("group", written.group.as_str()), ("kind", &written.kind), ("namespace", namespace), ("name", &written.name)];
    members.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
}
