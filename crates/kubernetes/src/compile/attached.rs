//! Our own policies: which one applies to each rule of each route, and what it makes of the route's definition. The most specific policy of a kind
//! applies as a whole: that of a rule, of the route, of the listener, of the gateway. Of two for the same target, the older one does.

mod authentication;
mod backend_health;
mod key_ring;
mod rate_limits;
mod status;
mod traffic;

pub use key_ring::{KeyFromSecret, KeyQuota, KeyText};
pub(super) use status::statuses_of_policies;

use crate::cluster::{Cluster, Objects};
use crate::conditions::{AFFECTED_BY, Condition, Fault};
use crate::objects::{AttachedPolicy, GATEWAY_GROUP, Key, Metadata, Object, PolicyTarget, ResourceKind};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The kinds of policies. Of each, one applies to a rule.
const KINDS: [ResourceKind; AFFECTED_BY.len()] =
    [ResourceKind::AuthenticationPolicy, ResourceKind::RateLimitPolicy, ResourceKind::TrafficPolicy];

pub(super) struct AttachedPolicies<'c> {
    /// Of each kind the oldest first.
    all: Vec<CompiledAttachment<'c>>,
    /// By the place of the kind and the target.
    winners: BTreeMap<(usize, AttachmentPoint), usize>,
    /// The keys of policies, by the names of their rings.
    pub rings: BTreeMap<String, Vec<KeyFromSecret>>,
}

/// One policy.
pub(super) struct CompiledAttachment<'c> {
    pub kind: ResourceKind,
    pub metadata: &'c Metadata,
    pub status: &'c Value,
    /// What it is written for, and whether it is the first there.
    targets: Vec<(Result<AttachmentPoint, PolicyTarget>, bool)>,
    /// Members of the definitions of the routes that it applies to.
    effect: Result<Map<String, Value>, Fault>,
    /// Members of the backends of those routes.
    backend_members: Map<String, Value>,
    unresolved: Option<Fault>,
}

/// What a policy is attached to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AttachmentPoint {
    /// A gateway, or one of its own listeners.
    Gateway(Key, Option<String>),
    /// A route, or one of its rules by name.
    Route(ResourceKind, Key, Option<String>),
}

/// The policies of a rule, by their places in the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EffectivePolicies([Option<EffectivePolicy>; KINDS.len()]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EffectivePolicy {
    place: usize,
    /// Whether it is for this rule alone.
    is_of_rule: bool,
}

/// What policies compile to.
#[derive(Default)]
struct Effect {
    members: Map<String, Value>,
    /// Members of backends.
    backend_members: Map<String, Value>,
    unresolved: Option<Fault>,
}

impl<'c> AttachedPolicies<'c> {
    pub(super) fn of(cluster: &'c Cluster) -> Self {
        let mut policies = AttachedPolicies { all: Vec::new(), winners: BTreeMap::new(), rings: BTreeMap::new() };
        let mut rings = BTreeMap::new();
        policies.add_kind(0, &cluster.authentication_policies, |metadata, settings| {
            authentication::effect(cluster, metadata, settings, &mut rings)
        });
        policies.add_kind(1, &cluster.rate_limit_policies, |_, settings| rate_limits::effect(settings));
        policies.add_kind(2, &cluster.traffic_policies, |_, settings| traffic::effect(settings));
        policies.rings = rings;
        policies
    }

    fn add_kind<S>(
        &mut self,
        kind: usize,
        objects: &'c Objects<AttachedPolicy<S>>,
        mut effect_of: impl FnMut(&Metadata, &S) -> Result<Effect, Fault>,
    ) {
        let mut sorted: Vec<&Object<AttachedPolicy<S>>> = objects.values().collect();
        sorted.sort_by(|a, b| a.metadata.age().cmp(&b.metadata.age()));
        for object in sorted {
            let (metadata, place) = (&object.metadata, self.all.len());
            let mut targets = Vec::with_capacity(object.spec.target_refs.len());
            for written in &object.spec.target_refs {
                let target = AttachmentPoint::of(written, &metadata.namespace);
                let is_first =
                    target.as_ref().is_some_and(|target| *self.winners.entry((kind, target.clone())).or_insert(place) == place);
                targets.push((target.ok_or_else(|| written.clone()), is_first));
            }
            let compiled = match &object.spec.settings {
                Ok(settings) => effect_of(metadata, settings),
                Err(why) => Err(invalid(why.clone())),
            };
            let (effect, backend_members, unresolved) = match compiled {
                Ok(effect) => (Ok(effect.members), effect.backend_members, effect.unresolved),
                Err(fault) => (Err(fault), Map::new(), None),
            };
            let kind = KINDS.get(kind).copied().unwrap_or(ResourceKind::TrafficPolicy);
            self.all.push(CompiledAttachment {
                kind,
                metadata,
                status: &object.status,
                targets,
                effect,
                backend_members,
                unresolved,
            });
        }
    }

    /// The policies that routes inherit at a listener. A listener of a set has no name here.
    pub(super) fn inherited(&self, gateway: &Key, listener: Option<&str>) -> EffectivePolicies {
        let named = listener.map(|listener| AttachmentPoint::Gateway(gateway.clone(), Some(listener.to_owned())));
        self.first_of(named.into_iter().chain([AttachmentPoint::Gateway(gateway.clone(), None)]), EffectivePolicies::default())
    }

    /// The policies of a rule.
    pub(super) fn of_rule(
        &self,
        kind: ResourceKind,
        route: &Key,
        rule: Option<&str>,
        inherited: EffectivePolicies,
    ) -> EffectivePolicies {
        let named = rule.map(|rule| AttachmentPoint::Route(kind, route.clone(), Some(rule.to_owned())));
        self.first_of(named.into_iter().chain([AttachmentPoint::Route(kind, route.clone(), None)]), inherited)
    }

    fn first_of(&self, targets: impl Iterator<Item = AttachmentPoint>, mut found: EffectivePolicies) -> EffectivePolicies {
        if self.winners.is_empty() {
            return found;
        }
        let targets: Vec<AttachmentPoint> = targets.collect();
        for (kind, found) in found.0.iter_mut().enumerate() {
            let winner = targets.iter().find_map(|target| {
                let place = *self.winners.get(&(kind, target.clone()))?;
                Some(EffectivePolicy { place, is_of_rule: matches!(target, AttachmentPoint::Route(_, _, Some(_))) })
            });
            *found = winner.or(*found);
        }
        found
    }

    /// What is said of a route whose rules have these policies.
    pub(super) fn affect(&self, policies: &BTreeSet<EffectivePolicies>) -> Vec<Condition> {
        let of_kind = |kind: usize| {
            let places: BTreeSet<usize> =
                policies.iter().filter_map(|policies| Some(policies.0.get(kind)?.as_ref()?.place)).collect();
            let names = places.iter().filter_map(|place| Some(self.all.get(*place)?.metadata.key().to_string()));
            names.collect::<Vec<_>>().join(", ")
        };
        let said = AFFECTED_BY.iter().enumerate().map(|(kind, said)| (*said, of_kind(kind)));
        let some = said.filter(|(_, names)| !names.is_empty());
        some.map(|(said, names)| Condition::is(said, "PolicyAffected").with_message(format!("By {names}"))).collect()
    }

    /// The names of policies, for ids.
    pub(super) fn names(&self, policies: EffectivePolicies) -> String {
        let names = policies.0.iter().flatten().filter_map(|policy| {
            let CompiledAttachment { kind, metadata, .. } = self.all.get(policy.place)?;
            Some(format!("~~{}.{}.{}", kind.name().to_ascii_lowercase(), metadata.namespace, metadata.name))
        });
        names.collect()
    }

    /// The policies in words, for people.
    pub(super) fn described(&self, policies: EffectivePolicies) -> Vec<String> {
        let places = policies.0.iter().flatten();
        let described = places.filter_map(|policy| {
            let CompiledAttachment { kind, metadata, .. } = self.all.get(policy.place)?;
            Some(format!("{} {}", kind.name(), metadata.key()))
        });
        described.collect()
    }

    /// What a policy of a rule adds to the backends of the rule, and what their names then end with: each policy has endpoints of its own health.
    pub(super) fn of_backends(&self, policies: EffectivePolicies) -> Option<(String, &Map<String, Value>)> {
        let mut attached = policies.0.iter().flatten().filter_map(|policy| self.all.get(policy.place));
        let found = attached.find(|attached| !attached.backend_members.is_empty())?;
        Some((format!("+{}", found.metadata.key()), &found.backend_members))
    }

    /// Adds what policies do to a definition. `counter` begins the names of its counters; those of policies for one rule also have `rule`.
    ///
    /// # Errors
    /// One of them can't act: nothing may be served without it.
    pub(super) fn apply(
        &self,
        policies: EffectivePolicies,
        counter: &str,
        rule: &str,
        definition: &mut Value,
    ) -> Result<(), Fault> {
        for policy in policies.0.iter().flatten() {
            let Some(attached) = self.all.get(policy.place) else { continue };
            let mut members = attached.effect.clone()?;
            let key = attached.metadata.key();
            let of_rule = if policy.is_of_rule { format!("#{rule}") } else { String::new() };
            rate_limits::name_counters(&mut members, &format!("{counter}{of_rule}/{key}"));
            merge(definition, Value::Object(members));
        }
        Ok(())
    }

    /// What of policies acts on connections, which have no requests: the addresses of clients.
    pub(super) fn apply_to_stream(&self, policies: EffectivePolicies, definition: &mut Value) -> Result<(), Fault> {
        for policy in policies.0.iter().flatten() {
            let Some(attached) = self.all.get(policy.place).filter(|attached| attached.kind == ResourceKind::TrafficPolicy) else {
                continue;
            };
            let mut members = attached.effect.clone()?;
            members.retain(|name, _| traffic::ADDRESS_MEMBERS.contains(&name.as_str()));
            merge(definition, Value::Object(members));
        }
        Ok(())
    }
}

impl AttachmentPoint {
    /// `None` if nothing can be attached there.
    fn of(written: &PolicyTarget, namespace: &str) -> Option<Self> {
        let key = Key::new(namespace, &written.name);
        let section = written.section_name.clone().filter(|section| !section.is_empty());
        match (written.group.as_str(), written.kind.as_str()) {
            (GATEWAY_GROUP, "Gateway") => Some(AttachmentPoint::Gateway(key, section)),
            (GATEWAY_GROUP, "HTTPRoute") => Some(AttachmentPoint::Route(ResourceKind::HttpRoute, key, section)),
            (GATEWAY_GROUP, "GRPCRoute") => Some(AttachmentPoint::Route(ResourceKind::GrpcRoute, key, section)),
            _ => None,
        }
    }
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new("Invalid", message)
}

/// Lays one document over another: objects are merged, and lists are added.
fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                match under.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => drop(under.insert(name, value)),
                }
            }
        }
        (Value::Array(under), Value::Array(mut over)) => under.append(&mut over),
        (under, over) => *under = over,
    }
}

/// The members of a version: every rule is one.
fn version(members: Value) -> Value {
    json!({"versions": {"Default": members}})
}

/// An object's members.
fn members(document: Value) -> Map<String, Value> {
    match document {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}
