//! The Gateway API of Kubernetes: what a cluster holds, and the documents and statuses that follow from it. Knows the API server, and nothing of
//! how requests are served.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "used by the crates of one program only: a name that says all needs no sentence")]

mod cluster;
mod compile;
mod conditions;
mod controller;
mod leader;
mod objects;
mod picture;
mod watch;
mod writer;

pub use compile::{AddressPool, Documents, KeyFromSecret, KeyText, ListenerStates, ServeReport};
pub use controller::{Controller, ControllerOptions, DocumentSink};
