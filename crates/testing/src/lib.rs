//! What tests of the gateway stand on, whether it is a process or a part of the test: messages that are read strictly, definitions, keys, and
//! upstreams that do as they are told. Knows nothing of how the gateway is built.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    missing_docs,
    reason = "it is for tests"
)]

pub mod caching;
pub mod core_rule_set;
pub mod definition;
pub mod failing;
pub mod jws;
pub mod keys;
pub mod messages;
pub mod signatures;
pub mod tokens;
pub mod transforms;
pub mod upstream;
pub mod wire;

pub use definition::{Definition, api};
pub use messages::{error_json, get, ok, reply, request};
pub use upstream::{Seen, Upstream};
pub use wire::{Connection, Response};

use std::time::Duration;

/// How long a test waits for something that must happen before it gives up. It only bounds a hang; no test measures speed with it.
pub const PATIENCE: Duration = Duration::from_secs(60);
