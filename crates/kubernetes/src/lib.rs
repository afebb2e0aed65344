//! The Gateway API and the Ingresses of Kubernetes: what a cluster holds, and the documents and statuses that follow from it. Knows the API server, and nothing of
//! how requests are served.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "used by the crates of one program only: a name that says all needs no sentence")]

mod cluster;
mod compile;
mod conditions;
mod controller;
mod leader;
mod manifests;
mod objects;
mod picture;
mod watch;
mod writer;

pub use compile::{
    AddressPool, Documents, IngressOptions, KeyFromSecret, KeyQuota, KeyText, ListenerStates, ReportLine, ReportOutcome,
    ServeReport,
};
pub use controller::{Controller, ControllerOptions, DocumentSink};
pub use manifests::{CheckedManifests, annotation_table, check_manifests};
