//! From the cluster to what the gateway serves, and to what is said of the objects. A pure function: no I/O, no clock.

mod addresses;
mod ancestor;
mod attached;
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
mod route_definitions;
mod routes;
mod rule_context;
mod statuses;
mod streams;

pub use addresses::AddressPool;
pub use attached::{KeyFromSecret, KeyText};

use crate::cluster::Cluster;
use crate::objects::{Key, ResourceKind};
use attached::AttachedPolicies;
use gateways::Gateways;
use policies::Policies;
use routes::{RouteSources, Routes};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;

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
    pub listeners: BTreeMap<String, Value>,
    pub backends: BTreeMap<String, Value>,
    /// In the place of definitions that the gateway does not take, where policies are to protect them: all that they do is to refuse requests.
    pub refusing: BTreeMap<String, Value>,
    /// Keys by the names of their rings.
    pub key_rings: BTreeMap<String, Vec<KeyFromSecret>>,
}

/// Where each listener is bound, or why not.
pub type ListenerStates = BTreeMap<String, Result<Vec<SocketAddr>, String>>;

/// What became of documents.
#[derive(Clone, Debug, Default)]
pub struct ServeReport {
    pub listeners: ListenerStates,
    /// Why definitions are not served as they are, by their ids.
    pub rejected: BTreeMap<String, String>,
    /// What the gateway says of definitions that it serves.
    pub warned: BTreeMap<String, String>,
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
    attached: AttachedPolicies<'c>,
    pub documents: Documents,
}

/// Compiles a state of the cluster.
pub(crate) fn compile<'c>(cluster: &'c Cluster, settings: &'c Settings) -> Compiled<'c> {
    let mut gateways = Gateways::of(cluster, settings);
    let policies = Policies::of(cluster);
    let attached = AttachedPolicies::of(cluster);
    let routes = Routes::of(RouteSources { cluster, policies: &policies, attached: &attached }, &mut gateways);
    let compiled = || routes.definitions.iter();
    let documents = Documents {
        definitions: compiled().map(|(id, document)| (id.clone(), document.definition.clone())).collect(),
        listeners: gateways.listener_documents(),
        backends: routes.backends.documents(),
        refusing: compiled().filter_map(|(id, document)| Some((id.clone(), document.refusing.clone()?))).collect(),
        key_rings: attached.rings.clone(),
    };
    Compiled { cluster, settings, gateways, routes, policies, attached, documents }
}

impl Compiled<'_> {
    /// The objects that gateways are to have.
    pub(crate) fn own_objects(&self) -> Vec<OwnObject> {
        infrastructure::objects(&self.gateways)
    }

    /// The statuses that differ from what is written.
    pub(crate) fn status_changes(&self, report: &ServeReport, now: &str) -> Vec<StatusChange> {
        statuses::changes(self, report, now)
    }
}

#[cfg(test)]
pub(crate) mod tests;
