//! The control plane: it reads definitions, compiles them to what the data plane serves, and answers the control API.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "used by the crates of one program only: a name that says all needs no sentence")]

pub mod api;
pub mod audit_file;
pub mod certificate_watch;
pub mod compile;
pub mod definitions;
pub mod figures_question;
pub mod known_keys;
pub mod mirrored_documents;
pub mod nodes;
mod portal_clients;
pub mod portal_door;
pub mod portal_providers;
mod portal_usage;
pub mod ports;
mod provider_rules;
pub mod replay;
pub mod report;
pub mod statistics;
pub mod target_watcher;
mod tried_apis;
