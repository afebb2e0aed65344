//! From the cluster to what the gateway serves, and to what is said of the objects. A pure function: no I/O, no clock.

mod addresses;
mod attachment;
mod backends;
mod certificates;
mod class;
mod filters;
mod gateways;
mod grants;
mod grpc;
mod hosts;
mod http;
mod infrastructure;
mod listeners;
mod policies;
mod routes;
mod rule_context;
mod statuses;
mod streams;
mod tyk;

pub use addresses::AddressPool;

use crate::cluster::Cluster;
use crate::objects::{Key, ResourceKind};
use gateways::Gateways;
use policies::Policies;
use routes::Routes;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use tyk::TykResources;

/// What the controller is told when it starts.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The classes of gateways that it serves name it.
    pub controller_name: String,
    pub pool: AddressPool,
    pub definitions: InstalledDefinitions,
}

/// What the definitions of the Gateway API in the cluster say of themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct InstalledDefinitions {
    /// `None` if it is not known.
    pub version: Option<String>,
    /// Whether they have the fields of experimental features.
    pub are_experimental: bool,
}

/// What the gateway is to serve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Documents {
    /// By the ids of their APIs.
    pub definitions: BTreeMap<String, Value>,
    /// By their ids.
    pub policies: BTreeMap<String, Value>,
    /// PEM text by the ids that definitions name.
    pub certificates: BTreeMap<String, String>,
    /// Ids of definitions that stay as they are in service, if they are: what is written of them can't be used.
    pub kept_definitions: BTreeSet<String>,
    /// The same of policies.
    pub kept_policies: BTreeSet<String>,
    pub listeners: BTreeMap<String, Value>,
    pub backends: BTreeMap<String, Value>,
}

impl Documents {
    /// Takes over from what was served before what can't be compiled anew.
    pub(crate) fn keep(&mut self, before: &Documents) {
        for (kept, now, before) in [
            (&self.kept_definitions, &mut self.definitions, &before.definitions),
            (&self.kept_policies, &mut self.policies, &before.policies),
        ] {
            for (id, document) in kept.iter().filter_map(|id| before.get_key_value(id)) {
                now.entry(id.clone()).or_insert_with(|| document.clone());
            }
        }
        if !self.kept_definitions.is_empty() {
            for (id, text) in &before.certificates {
                self.certificates.entry(id.clone()).or_insert_with(|| text.clone());
            }
        }
    }

    pub(crate) fn is_same_but_backends(&self, other: &Documents) -> bool {
        (&self.definitions, &self.policies, &self.certificates, &self.listeners)
            == (&other.definitions, &other.policies, &other.certificates, &other.listeners)
    }
}

/// Where each listener is bound, or why not.
pub type ListenerStates = BTreeMap<String, Result<Vec<SocketAddr>, String>>;

/// What became of documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServedStates {
    pub listeners: ListenerStates,
    /// Why definitions are not served as they are, by id.
    pub refused: BTreeMap<String, String>,
}

/// The status of an object as it is to be written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StatusChange {
    pub kind: ResourceKind,
    pub key: Key,
    /// The version of the object from which the status was made.
    pub resource_version: String,
    pub status: Value,
}

/// The finalizers that an object is to keep.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FinalizerChange {
    pub kind: ResourceKind,
    pub key: Key,
    pub resource_version: String,
    pub finalizers: Vec<String>,
}

/// An object of the controller's own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnObject {
    pub kind: ResourceKind,
    pub key: Key,
    pub document: Value,
}

/// What follows from a state of the cluster.
pub(crate) struct Compiled<'c> {
    cluster: &'c Cluster,
    settings: &'c Settings,
    gateways: Gateways<'c>,
    routes: Routes<'c>,
    policies: Policies<'c>,
    tyk: TykResources<'c>,
    pub documents: Documents,
}

/// Compiles a state of the cluster.
pub(crate) fn compile<'c>(cluster: &'c Cluster, settings: &'c Settings) -> Compiled<'c> {
    let mut gateways = Gateways::of(cluster, settings);
    let policies = Policies::of(cluster);
    let routes = Routes::of(cluster, &mut gateways, &policies);
    let mut documents = Documents {
        definitions: routes.definitions(),
        listeners: gateways.listener_documents(),
        backends: routes.backends.documents(),
        ..Documents::default()
    };
    let mut tyk = TykResources::of(cluster);
    tyk.add_to(&mut documents);
    Compiled { cluster, settings, gateways, routes, policies, tyk, documents }
}

impl Compiled<'_> {
    /// The objects that gateways are to have.
    pub(crate) fn own_objects(&self) -> Vec<OwnObject> {
        infrastructure::objects(&self.gateways)
    }

    /// The statuses that differ from what is written.
    pub(crate) fn status_changes(&self, states: &ServedStates, now: &str) -> Vec<StatusChange> {
        let mut changes = statuses::changes(self, &states.listeners, now);
        changes.extend(tyk::changes(&self.tyk, self.cluster, states, now));
        changes
    }

    /// The finalizers that others have left on objects that are being deleted.
    pub(crate) fn finalizer_changes(&self) -> Vec<FinalizerChange> {
        tyk::finalizer_changes(self.cluster)
    }

    /// What people should know beside statuses, in lines.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.tyk.notes(self.cluster)
    }
}

#[cfg(test)]
pub(crate) mod tests;
