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
mod ingress;
mod listeners;
mod policies;
mod route_definitions;
mod routes;
mod rule_context;
mod statuses;
mod streams;
mod tyk;

pub use addresses::AddressPool;
pub use attached::{KeyFromSecret, KeyQuota, KeyText};
pub(crate) use ingress::annotation_rows;
pub use ingress::{IngressOptions, ReportLine, ReportOutcome};

use crate::cluster::Cluster;
use crate::objects::{Key, ResourceKind};
use attached::AttachedPolicies;
use gateways::Gateways;
use ingress::Ingresses;
use policies::Policies;
use routes::{RouteSources, Routes};
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
    /// In the place of definitions that the gateway does not take, where policies are to protect them: all that they do is to refuse requests.
    pub refusing: BTreeMap<String, Value>,
    /// Keys by the names of their rings.
    pub key_rings: BTreeMap<String, Vec<KeyFromSecret>>,
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
        (&self.definitions, &self.refusing, &self.policies, &self.certificates, &self.listeners)
            == (&other.definitions, &other.refusing, &other.policies, &other.certificates, &other.listeners)
    }
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
    attached: AttachedPolicies<'c>,
    ingresses: Ingresses<'c>,
    tyk: TykResources<'c>,
    pub documents: Documents,
}

/// Compiles a state of the cluster.
pub(crate) fn compile<'c>(cluster: &'c Cluster, settings: &'c Settings) -> Compiled<'c> {
    let mut gateways = Gateways::of(cluster, settings);
    let policies = Policies::of(cluster);
    let attached = AttachedPolicies::of(cluster);
    let mut routes = Routes::of(RouteSources { cluster, policies: &policies, attached: &attached }, &mut gateways);
    let mut ingresses = Ingresses::of(cluster, settings, &gateways, &policies, &mut routes.backends);
    // Nobody asks the routes and Ingresses for them any more: copies of thousands would cost more than all else that follows from one change.
    let mut definitions: BTreeMap<String, Value> = BTreeMap::new();
    let mut refusing: BTreeMap<String, Value> = BTreeMap::new();
    for (id, document) in &mut routes.definitions {
        definitions.insert(id.clone(), std::mem::take(&mut document.definition));
        refusing.extend(document.refusing.take().map(|refusing| (id.clone(), refusing)));
    }
    definitions.append(&mut ingresses.definitions);
    refusing.append(&mut ingresses.refusing);
    let mut documents = Documents {
        definitions,
        listeners: gateways.listener_documents(),
        backends: routes.backends.documents(),
        refusing,
        key_rings: attached.rings.clone(),
        ..Documents::default()
    };
    documents.listeners.append(&mut ingresses.listeners);
    let mut tyk = TykResources::of(cluster);
    tyk.add_to(&mut documents);
    Compiled { cluster, settings, gateways, routes, policies, attached, ingresses, tyk, documents }
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
    pub(crate) fn status_changes(&self, report: &ServeReport, now: &str) -> Vec<StatusChange> {
        let mut changes = statuses::changes(self, report, now);
        changes.extend(tyk::changes(&self.tyk, self.cluster, report, now));
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
