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

pub mod cache_identity;
pub mod caching;
pub mod core_rule_set;
pub mod definition;
pub mod failing;
pub mod graph;
pub mod jws;
pub mod key_sets;
pub mod keys;
pub mod llm;
pub mod llm_echo;
pub mod mcp;
pub mod messages;
pub mod oauth;
pub mod oauth_app;
pub mod openapi;
pub mod scripts;
pub mod shared_cache;
pub mod signatures;
pub mod tokens;
pub mod transforms;
pub mod upstream;
pub mod users;
pub mod wire;

pub use definition::{Definition, api};
pub use messages::{error_json, get, ok, reply, request};
pub use upstream::{Seen, Upstream};
pub use wire::{Connection, Response};

use std::time::Duration;

/// The secret of the control API.
pub const CONTROL_SECRET: &str = "test-secret";

/// How long a test waits for something that must happen before it gives up. It only bounds a hang; no test measures speed with it.
pub const PATIENCE: Duration = Duration::from_secs(60);
