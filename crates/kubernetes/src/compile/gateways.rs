//! The gateways of this controller, with all their listeners.

use super::Settings;
use super::addresses::{Addresses, assign};
use super::certificates::{ReasonNames, key_pair};
use super::class::is_served;
use super::grants::Referrer;
use super::listeners::{CompiledListener, selects};
use crate::cluster::Cluster;
use crate::conditions::Fault;
use crate::objects::{Gateway, Key, ListenerSet, NamespaceScope, Object};
use serde_json::Value;
use std::collections::BTreeMap;

const CERTIFICATE_REASONS: ReasonNames =
    ReasonNames { invalid: "InvalidClientCertificateRef", invalid_kind: "InvalidClientCertificateRef" };

pub(super) struct Gateways<'c> {
    pub by_key: BTreeMap<Key, CompiledGateway<'c>>,
    /// The gateway of each listener set that names one of these.
    pub of_sets: BTreeMap<Key, Key>,
}

pub(super) struct CompiledGateway<'c> {
    pub object: &'c Object<Gateway>,
    pub addresses: Addresses,
    /// Why it is not accepted, whatever its listeners are.
    pub rejected: Option<Fault>,
    /// Its own listeners, then those of its sets.
    pub listeners: Vec<CompiledListener<'c>>,
    /// What it shows to backends.
    pub certificate: Option<Result<String, Fault>>,
    /// The sets that may add listeners, and those that may not.
    pub sets: BTreeMap<Key, bool>,
}

impl<'c> Gateways<'c> {
    pub(super) fn of(cluster: &'c Cluster, settings: &Settings) -> Self {
        let is_own = |gateway: &&Object<Gateway>| {
            let class = cluster.gateway_classes.get(&Key::new("", &gateway.spec.gateway_class_name));
            class.is_some_and(|class| is_served(class, settings))
        };
        let mut own: Vec<&Object<Gateway>> = cluster.gateways.values().filter(is_own).collect();
        own.sort_by(|a, b| a.metadata.age().cmp(&b.metadata.age()));
        let addresses = assign(own.iter().copied(), &settings.pool);
        let mut sets: BTreeMap<Key, Vec<&Object<ListenerSet>>> = BTreeMap::new();
        for set in cluster.listener_sets.values() {
            sets.entry(parent_of(set)).or_default().push(set);
        }
        let mut gateways = Gateways { by_key: BTreeMap::new(), of_sets: BTreeMap::new() };
        for (object, addresses) in own.into_iter().zip(addresses) {
            let key = object.metadata.key();
            let sets = sets.remove(&key).unwrap_or_default();
            gateways.of_sets.extend(sets.iter().map(|set| (set.metadata.key(), key.clone())));
            gateways.by_key.insert(key, CompiledGateway::new(cluster, object, addresses, sets));
        }
        gateways
    }

    pub(super) fn listener_documents(&self) -> BTreeMap<String, Value> {
        let of_gateway = |gateway: &CompiledGateway<'_>| -> Vec<(String, Value)> {
            if !gateway.is_accepted() {
                return Vec::new();
            }
            let document =
                |listener: &CompiledListener<'_>| Some((listener.id.clone(), listener.document(&gateway.addresses.bound)?));
            gateway.listeners.iter().filter_map(document).collect()
        };
        self.by_key.values().flat_map(of_gateway).collect()
    }
}

impl<'c> CompiledGateway<'c> {
    fn new(
        cluster: &'c Cluster,
        object: &'c Object<Gateway>,
        addresses: Addresses,
        mut sets: Vec<&'c Object<ListenerSet>>,
    ) -> Self {
        sets.sort_by(|a, b| a.metadata.age().cmp(&b.metadata.age()));
        let from = Referrer { kind: "Gateway", namespace: &object.metadata.namespace };
        let certificate = object.spec.tls.backend.client_certificate_ref.as_ref();
        let parameters = object.spec.infrastructure.parameters_ref.as_ref();
        let mut gateway = CompiledGateway {
            object,
            rejected: parameters
                .map(|_| Fault::new("InvalidParameters", "No parameters are supported"))
                .or_else(|| addresses.unsupported.clone()),
            addresses,
            listeners: Vec::new(),
            certificate: certificate.map(|reference| key_pair(cluster, from, reference, &CERTIFICATE_REASONS)),
            sets: BTreeMap::new(),
        };
        gateway.add(object.spec.listeners.iter().map(|written| CompiledListener::new(cluster, object, None, written)).collect());
        for set in sets {
            let key = set.metadata.key();
            let filter = object.spec.allowed_listeners.namespaces.clone().unwrap_or_default();
            let is_allowed = selects(&filter, cluster, &key.namespace, &object.metadata.namespace, NamespaceScope::None);
            if is_allowed {
                let listeners = set.spec.listeners.iter();
                gateway.add(listeners.map(|written| CompiledListener::new(cluster, object, Some(&key), written)).collect());
            }
            gateway.sets.insert(key, is_allowed);
        }
        gateway
    }

    /// Adds listeners of one object. Those that were there before win; of the others, those that conflict with each other all lose.
    fn add(&mut self, mut added: Vec<CompiledListener<'c>>) {
        for listener in &mut added {
            let mut earlier = self.listeners.iter().filter(|earlier| earlier.conflict.is_none());
            listener.conflict = earlier.find_map(|earlier| listener.conflict_with(earlier));
        }
        let beside: Vec<Option<Fault>> = added
            .iter()
            .enumerate()
            .map(|(position, listener)| {
                let others = added.iter().enumerate().filter(|(other, beside)| *other != position && beside.conflict.is_none());
                others.map(|(_, other)| other).find_map(|other| listener.conflict_with(other))
            })
            .collect();
        for (listener, conflict) in added.iter_mut().zip(beside) {
            listener.conflict = listener.conflict.take().or(conflict);
        }
        self.listeners.append(&mut added);
    }

    /// Its own listeners.
    pub(super) fn own_listeners(&self) -> impl Iterator<Item = &CompiledListener<'c>> {
        self.listeners.iter().filter(|listener| listener.set.is_none())
    }

    pub(super) fn is_accepted(&self) -> bool {
        self.rejected.is_none() && self.own_listeners().any(|listener| listener.rejected.is_none() && listener.conflict.is_none())
    }
}

/// The gateway that a set adds listeners to.
fn parent_of(set: &Object<ListenerSet>) -> Key {
    let parent = &set.spec.parent_ref;
    let namespace = if parent.namespace.is_empty() { &set.metadata.namespace } else { &parent.namespace };
    Key::new(namespace, &parent.name)
}
