//! Statuses: what is said of each object, laid over what is written there. What others have written stays.

use super::ancestor::{AncestorConditions, ancestor_of};
use super::attached::statuses_of_policies;
use super::class;
use super::gateways::CompiledGateway;
use super::listeners::CompiledListener;
use super::policies::CompiledPolicy;
use super::routes::CompiledRoute;
use super::{Compiled, ListenerStates, ServeReport, StatusChange};
use crate::conditions::{Condition, Fault, merged};
use crate::objects::{GATEWAY_GROUP, Key, Metadata, ResourceKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Ancestors of a policy that its status can have.
const ANCESTORS_MAX: usize = 16;

/// The statuses that differ from what is written.
pub(super) fn changes(compiled: &Compiled<'_>, report: &ServeReport, now: &str) -> Vec<StatusChange> {
    let mut changes = Changes { states: &report.listeners, now, controller: &compiled.settings.controller_name, found: Vec::new() };
    for class in compiled.cluster.gateway_classes.values() {
        if class.spec.controller_name == compiled.settings.controller_name {
            let own = class::conditions(class, compiled.settings);
            let features: Vec<Value> =
                class::features(&compiled.settings.definitions).iter().map(|name| json!({"name": name})).collect();
            let status = json!({
                "conditions": merged(class.status.get("conditions"), &own, class.metadata.generation, now),
                "supportedFeatures": features,
            });
            changes.add(ResourceKind::GatewayClass, &class.metadata, &class.status, status);
        }
    }
    for gateway in compiled.gateways.by_key.values() {
        changes.gateway(gateway);
        for (key, is_allowed) in &gateway.sets {
            if let Some(set) = compiled.cluster.listener_sets.get(key) {
                let status = changes.listener_set(gateway, key, *is_allowed, &set.metadata, &set.status);
                changes.add(ResourceKind::ListenerSet, &set.metadata, &set.status, status);
            }
        }
    }
    compiled.routes.all.iter().for_each(|route| changes.route(route, &compiled.attached.affect(&route.policies)));
    for policy in &compiled.policies.all {
        let users = policy.services.iter().filter_map(|service| compiled.routes.backends.users.get(service));
        changes.backend_policy(policy, users.flatten().collect());
    }
    for (policy, ancestors) in statuses_of_policies(compiled, report) {
        changes.policy(policy.kind, policy.metadata, policy.status, &ancestors);
    }
    let address: Vec<Value> = compiled.ingresses.address.iter().map(|address| json!({"ip": address.to_string()})).collect();
    for ingress in compiled.ingresses.objects.iter().filter(|_| !address.is_empty()) {
        let status = json!({"loadBalancer": {"ingress": address}});
        changes.add(ResourceKind::Ingress, &ingress.metadata, &ingress.status, status);
    }
    changes.found
}

struct Changes<'s> {
    states: &'s ListenerStates,
    now: &'s str,
    controller: &'s str,
    found: Vec<StatusChange>,
}

impl Changes<'_> {
    /// Notes a status, unless all of it is written already.
    fn add(&mut self, kind: ResourceKind, metadata: &Metadata, written: &Value, status: Value) {
        let is_written = |(name, value): (&String, &Value)| {
            written.get(name).unwrap_or(&Value::Null) == value || is_empty_list(value) && written.get(name).is_none()
        };
        if status.as_object().is_some_and(|status| status.iter().all(is_written)) {
            return;
        }
        self.found.push(StatusChange { kind, key: metadata.key(), resource_version: metadata.resource_version.clone(), status });
    }

    fn gateway(&mut self, gateway: &CompiledGateway<'_>) {
        let (metadata, written) = (&gateway.object.metadata, &gateway.object.status);
        let listeners: Vec<Value> =
            gateway.own_listeners().map(|listener| self.listener(gateway, listener, metadata, written)).collect();
        let addresses: Vec<Value> =
            gateway.addresses.bound.iter().map(|address| json!({"type": "IPAddress", "value": address.to_string()})).collect();
        let own = self.gateway_conditions(gateway);
        let attached_sets = gateway.sets.iter().filter(|(set, is_allowed)| **is_allowed && self.serves_any(gateway, set)).count();
        let status = json!({
            "addresses": addresses,
            "attachedListenerSets": attached_sets,
            "conditions": merged(written.get("conditions"), &own, metadata.generation, self.now),
            "listeners": listeners,
        });
        self.add(ResourceKind::Gateway, metadata, written, status);
    }

    fn gateway_conditions(&self, gateway: &CompiledGateway<'_>) -> Vec<Condition> {
        let invalid: Vec<&str> = gateway
            .own_listeners()
            .filter(|listener| listener.rejected.is_some() || listener.conflict.is_some())
            .map(|listener| listener.written.name.as_str())
            .collect();
        let listeners =
            (!invalid.is_empty()).then(|| Fault::new("ListenersNotValid", format!("Not valid: {}", invalid.join(", "))));
        let accepted = match (&gateway.rejected, &listeners) {
            (Some(fault), _) => Condition::is_not("Accepted", fault),
            (None, Some(fault)) if !gateway.is_accepted() => Condition::is_not("Accepted", fault),
            (None, Some(fault)) => Condition::is("Accepted", fault.reason).with_message(fault.message.clone()),
            (None, None) => Condition::is("Accepted", "Accepted"),
        };
        let unbound = || {
            let failed = gateway.listeners.iter().filter_map(|listener| self.unbound(listener));
            let is_any_bound = gateway.listeners.iter().any(|listener| listener.is_served() && self.unbound(listener).is_none());
            failed.into_iter().next().filter(|_| !is_any_bound)
        };
        let unprogrammed = if !accepted.holds {
            Some(Fault::new("Invalid", "The gateway is not accepted"))
        } else if let Some(fault) = &gateway.addresses.missing {
            Some(fault.clone())
        } else if !gateway.listeners.iter().any(CompiledListener::is_served) {
            Some(Fault::new("Invalid", "No listener can be served"))
        } else {
            unbound().map(|why| Fault::new("AddressNotUsable", why))
        };
        let certificate = gateway.certificate.as_ref().and_then(|certificate| certificate.as_ref().err().cloned());
        let unresolved: Vec<&str> = gateway
            .own_listeners()
            .filter(|listener| listener.unresolved.is_some())
            .map(|listener| listener.written.name.as_str())
            .collect();
        let of_listeners = (!unresolved.is_empty())
            .then(|| Fault::new("ListenersNotResolved", format!("Not resolved: {}", unresolved.join(", "))));
        let falls_back = gateway.object.spec.tls.frontend.as_ref().is_some_and(|frontend| frontend.falls_back());
        let mut conditions = vec![
            accepted,
            Condition::unless("Programmed", "Programmed", unprogrammed.as_ref()),
            Condition::unless("ResolvedRefs", "ResolvedRefs", certificate.or(of_listeners).as_ref()),
        ];
        if falls_back {
            let message = "Clients without a valid certificate are served too";
            conditions.push(Condition::is("InsecureFrontendValidationMode", "ConfigurationChanged").with_message(message));
        }
        conditions
    }

    /// Why a listener that is to be served is not bound.
    fn unbound(&self, listener: &CompiledListener<'_>) -> Option<String> {
        match self.states.get(&listener.id) {
            Some(Err(why)) if listener.is_served() => Some(why.clone()),
            _ => None,
        }
    }

    /// The status of a listener: one of those of its owner's status.
    fn listener(&self, gateway: &CompiledGateway<'_>, listener: &CompiledListener<'_>, owner: &Metadata, written: &Value) -> Value {
        let rejected = listener.conflict.as_ref().or(listener.rejected.as_ref());
        let unaddressed = || gateway.addresses.bound.is_empty().then(|| Fault::new("Pending", "The gateway has no address"));
        let unaccepted = || (!gateway.is_accepted()).then(|| Fault::new("Invalid", "The gateway is not accepted"));
        let unprogrammed = listener
            .conflict
            .clone()
            .or_else(|| listener.rejected.as_ref().map(|fault| Fault::new("Invalid", fault.message.clone())))
            .or_else(|| listener.unusable.clone())
            .or_else(unaccepted)
            .or_else(unaddressed)
            .or_else(|| self.unbound(listener).map(|why| Fault::new("PortUnavailable", why)));
        let own = [
            Condition::unless("Accepted", "Accepted", rejected),
            Condition::unless("Programmed", "Programmed", unprogrammed.as_ref()),
            Condition::unless("ResolvedRefs", "ResolvedRefs", listener.unresolved.as_ref()),
            match &listener.conflict {
                Some(fault) => Condition::is("Conflicted", fault.reason).with_message(fault.message.clone()),
                None => Condition { holds: false, ..Condition::is("Conflicted", "NoConflicts") },
            },
        ];
        let name = &listener.written.name;
        let listed = written.get("listeners").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let old = listed.iter().find(|listener| listener.get("name").and_then(Value::as_str) == Some(name));
        let kinds: Vec<Value> = listener.kinds.iter().map(|kind| json!({"group": GATEWAY_GROUP, "kind": kind.name()})).collect();
        json!({
            "attachedRoutes": listener.attached.len(),
            "conditions": merged(old.and_then(|old| old.get("conditions")), &own, owner.generation, self.now),
            "name": name,
            "supportedKinds": kinds,
        })
    }

    /// Whether a set has a listener that can be served.
    fn serves_any(&self, gateway: &CompiledGateway<'_>, set: &Key) -> bool {
        gateway.is_accepted() && gateway.listeners.iter().any(|listener| listener.set.as_ref() == Some(set) && listener.is_served())
    }

    fn listener_set(
        &self,
        gateway: &CompiledGateway<'_>,
        key: &Key,
        is_allowed: bool,
        metadata: &Metadata,
        written: &Value,
    ) -> Value {
        let listeners: Vec<&CompiledListener<'_>> =
            gateway.listeners.iter().filter(|listener| listener.set.as_ref() == Some(key)).collect();
        let is_invalid = |listener: &&&CompiledListener<'_>| !listener.is_served();
        let invalid: Vec<&str> = listeners.iter().filter(is_invalid).map(|listener| listener.written.name.as_str()).collect();
        let (accepted, programmed) = if !is_allowed {
            let fault = Fault::new("NotAllowed", "The gateway lets no listener set of this namespace add listeners");
            (Condition::is_not("Accepted", &fault), Condition::is_not("Programmed", &fault))
        } else if !gateway.is_accepted() {
            let fault = |reason| Fault::new(reason, "The gateway is not accepted");
            (
                Condition::is_not("Accepted", &fault("ParentNotAccepted")),
                Condition::is_not("Programmed", &fault("ParentNotProgrammed")),
            )
        } else if !self.serves_any(gateway, key) {
            let fault = Fault::new("ListenersNotValid", format!("Not valid: {}", invalid.join(", ")));
            (Condition::is_not("Accepted", &fault), Condition::is_not("Programmed", &fault))
        } else {
            let accepted = match invalid.is_empty() {
                true => Condition::is("Accepted", "Accepted"),
                false => Condition::is("Accepted", "ListenersNotValid").with_message(format!("Not valid: {}", invalid.join(", "))),
            };
            let unprogrammed = if gateway.addresses.bound.is_empty() {
                Some(Fault::new("ParentNotProgrammed", "The gateway has no address"))
            } else {
                let bound = listeners.iter().any(|listener| listener.is_served() && self.unbound(listener).is_none());
                let failed = listeners.iter().find_map(|listener| self.unbound(listener)).filter(|_| !bound);
                failed.map(|why| Fault::new("PortUnavailable", why))
            };
            (accepted, Condition::unless("Programmed", "Programmed", unprogrammed.as_ref()))
        };
        let of_listeners: Vec<Value> =
            listeners.iter().map(|listener| self.listener(gateway, listener, metadata, written)).collect();
        json!({
            "conditions": merged(written.get("conditions"), &[accepted, programmed], metadata.generation, self.now),
            "listeners": of_listeners,
        })
    }

    fn route(&mut self, route: &CompiledRoute<'_>, affected: &[Condition]) {
        let written = route.status.get("parents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_own = |entry: &Value| entry.get("controllerName").and_then(Value::as_str) == Some(self.controller);
        let is_for = |entry: &Value, reference: &Value| is_own(entry) && entry.get("parentRef") == Some(reference);
        let entry = |reference: &Value, old: Option<&Value>| -> Option<Value> {
            let parent = route.parents.iter().find(|parent| parent.reference.written == *reference)?;
            let mut own = vec![
                Condition::unless("Accepted", "Accepted", parent.rejected.as_ref()),
                Condition::unless("ResolvedRefs", "ResolvedRefs", route.unresolved.as_ref()),
            ];
            if let (Some(dropped), None) = (&route.dropped, &parent.rejected) {
                own.push(Condition::is("PartiallyInvalid", "UnsupportedValue").with_message(dropped.clone()));
            }
            if parent.rejected.is_none() {
                own.extend_from_slice(affected);
            }
            Some(json!({
                "conditions": merged(old.and_then(|old| old.get("conditions")), &own, route.metadata.generation, self.now),
                "controllerName": self.controller,
                "parentRef": reference,
            }))
        };
        let mut parents: Vec<Value> = Vec::with_capacity(route.parents.len());
        for old in written {
            match old.get("parentRef").filter(|_| is_own(old)) {
                None => parents.push(old.clone()),
                Some(reference) => parents.extend(entry(reference, Some(old))),
            }
        }
        for parent in &route.parents {
            let reference = &parent.reference.written;
            if !parents.iter().any(|entry| is_for(entry, reference)) {
                parents.extend(entry(reference, None));
            }
        }
        self.add(route.kind, route.metadata, route.status, json!({"parents": parents}));
    }

    fn backend_policy(&mut self, policy: &CompiledPolicy<'_>, gateways: BTreeSet<&Key>) {
        let own = [
            Condition::unless("Accepted", "Accepted", policy.rejected.as_ref()),
            Condition::unless("ResolvedRefs", "ResolvedRefs", policy.unresolved.as_ref()),
        ];
        let ancestors: Vec<_> = gateways.into_iter().map(|gateway| (ancestor_of(gateway), own.to_vec())).collect();
        self.policy(ResourceKind::BackendTlsPolicy, &policy.object.metadata, &policy.object.status, &ancestors);
    }

    /// The status of a policy of any kind: its conditions by what it acts at.
    fn policy(&mut self, kind: ResourceKind, metadata: &Metadata, status: &Value, own: &[AncestorConditions]) {
        let written = status.get("ancestors").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_own = |entry: &Value| entry.get("controllerName").and_then(Value::as_str) == Some(self.controller);
        let mut ancestors: Vec<Value> = written.iter().filter(|entry| !is_own(entry)).cloned().collect();
        for (reference, conditions) in own {
            if ancestors.len() >= ANCESTORS_MAX {
                break;
            }
            let old = written.iter().find(|entry| is_own(entry) && is_same(entry.get("ancestorRef"), reference));
            ancestors.push(json!({
                "ancestorRef": reference,
                "conditions": merged(old.and_then(|old| old.get("conditions")), conditions, metadata.generation, self.now),
                "controllerName": self.controller,
            }));
        }
        if ancestors.is_empty() && written.is_empty() {
            return;
        }
        self.add(kind, metadata, status, json!({"ancestors": ancestors}));
    }
}

fn is_same(written: Option<&Value>, reference: &Map<String, Value>) -> bool {
    written.and_then(Value::as_object).is_some_and(|written| written == reference)
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}
