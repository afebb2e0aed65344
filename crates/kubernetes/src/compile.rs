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
mod ingress;
mod listeners;
mod policies;
mod routes;
mod rule_context;
mod statuses;
mod streams;

pub use addresses::AddressPool;
pub(crate) use ingress::annotation_rows;
pub use ingress::{IngressOptions, ReportLine, ReportOutcome};

use crate::cluster::Cluster;
use crate::objects::{Key, ResourceKind};
use gateways::Gateways;
use ingress::Ingresses;
use policies::Policies;
use routes::Routes;
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
    pub ingress: IngressOptions,
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
}

/// Where each listener is bound, or why not.
pub type ListenerStates = BTreeMap<String, Result<Vec<SocketAddr>, String>>;

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
    ingresses: Ingresses<'c>,
    pub documents: Documents,
}

/// Compiles a state of the cluster.
pub(crate) fn compile<'c>(cluster: &'c Cluster, settings: &'c Settings) -> Compiled<'c> {
    let mut gateways = Gateways::of(cluster, settings);
    let policies = Policies::of(cluster);
    let mut routes = Routes::of(cluster, &mut gateways, &policies);
    let ingresses = Ingresses::of(cluster, settings, &gateways, &policies, &mut routes.backends);
    let mut documents = Documents {
        definitions: routes.definitions(),
        listeners: gateways.listener_documents(),
        backends: routes.backends.documents(),
    };
    documents.definitions.extend(ingresses.definitions.clone());
    documents.listeners.extend(ingresses.listeners.clone());
    Compiled { cluster, settings, gateways, routes, policies, ingresses, documents }
}

impl Compiled<'_> {
    /// The objects that gateways are to have.
    pub(crate) fn own_objects(&self) -> Vec<OwnObject> {
        infrastructure::objects(&self.gateways)
    }

    /// What became of the parts of each Ingress that is served.
    pub(crate) fn ingress_reports(&self) -> &BTreeMap<Key, Vec<ReportLine>> {
        &self.ingresses.reports
    }

    /// The statuses that differ from what is written.
    pub(crate) fn status_changes(&self, states: &ListenerStates, now: &str) -> Vec<StatusChange> {
        statuses::changes(self, states, now)
    }
}

#[cfg(test)]
pub(crate) mod tests;
