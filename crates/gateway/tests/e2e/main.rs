//! The gateway as its users meet it: the real program, real sockets, and upstreams that are scripted by the test or are real nginx.
//!
//! One binary, so that it links once. A test starts a gateway of its own; nothing is shared between tests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, missing_docs)]

mod harness;

mod analytics;
mod api_health;
mod asked_servers;
mod auth_alternatives;
mod bad_clients;
mod bad_credentials;
mod bad_upstreams;
mod basic_auth;
mod bodies;
mod breaker;
mod certs;
mod client_addresses;
mod client_certificates;
mod clock_jumps;
mod commands;
mod connections;
mod control;
mod cores;
mod cors;
mod documents;
mod drain;
mod early_answers;
mod errors;
mod events;
mod guides;
mod headers;
mod http2;
mod http2_floods;
mod http2_frames;
mod http2_readers;
mod http2_upstreams;
mod image;
mod jwt;
mod jwt_issuers;
mod jwt_key_sets;
mod key_access;
mod key_lifetimes;
mod key_limits;
mod key_races;
mod key_signatures;
mod key_storage;
mod keys;
mod limiters;
mod limits;
mod limits_once;
mod links;
mod log_lines;
mod message_forms;
mod metrics;
mod metrics_states;
mod migrate;
mod oauth;
mod oauth_clients;
mod oauth_programs;
mod oauth_public;
mod oauth_shared;
mod openapi;
mod openid;
mod openid_provider;
mod orgs;
mod paths;
mod peers;
mod places;
mod policies;
mod probes;
mod prometheus;
mod protections;
mod proxy_protocol;
mod proxying;
mod real_clients;
mod records;
mod reload;
mod restart;
mod routing;
mod scenarios;
mod secrets;
/// The store's own tests start the same servers.
#[allow(dead_code)]
#[path = "../../../store/tests/store/servers.rs"]
mod servers;
mod shared_keys;
mod shared_limits;
mod shared_outages;
mod signatures;
mod slow_clients;
mod start;
mod store_failure;
mod store_files;
mod systemd;
mod tls;
mod top;
mod tracing;
mod trailers;
mod upgrade;
mod upstream_tls;
mod upstreams;
mod validate_json;
mod variables;
mod versions;
mod websockets_http2;
