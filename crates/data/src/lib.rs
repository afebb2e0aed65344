//! The data plane: a request on its way from the connection to its upstream, and the compiled configuration that decides about it.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "used by the crates of one program only: a name that says all needs no sentence")]
// Without a part, some code that only this part uses remains.
#![cfg_attr(not(all(feature = "graphql", feature = "kafka")), allow(dead_code))]

pub mod api;
pub mod api_call;
pub mod backends;
pub mod balanced;
pub mod batch;
mod body_pipe;
pub mod breaker;
pub mod bundle_store;
pub mod cache_purger;
pub mod caching;
pub mod client_address;
pub mod client_tls;
mod coding;
mod compression;
pub mod control_caller;
pub mod core_queue;
pub mod credentials;
pub mod discovery;
pub mod endpoints;
pub mod error_body;
pub mod error_flags;
pub mod error_overrides;
pub mod error_templates;
pub mod events;
pub mod exchange;
pub mod found_target;
pub mod gateway_state;
pub mod graphql;
pub mod handler;
pub mod header_change;
pub mod header_names;
pub mod host_events;
pub mod ip_networks;
pub mod limit_table;
pub mod listeners;
pub mod llm_answers;
pub mod mcp_mail;
pub mod met_budgets;
pub mod middleware;
#[cfg(test)]
#[path = "../../http/tests/corpus/mutation.rs"]
mod mutation;
pub mod offload;
pub mod own_apis;
pub mod plugins;
pub mod pool_hedging;
pub mod pool_name;
pub mod port;
pub mod probe;
pub mod quota_monitor;
pub mod refusal;
pub mod refusal_events;
pub mod registry;
mod request_text;
pub mod response_chain;
pub mod route;
pub mod route_rules;
pub mod script_settings;
pub mod scripts;
pub mod second_tier;
pub mod settings;
pub mod snapshot;
pub mod stream_rules;
pub mod target_list;
pub mod target_pool;
pub mod target_watch;
pub mod template;
pub mod tried_apis;
mod two_generation_cache;
pub mod upstream;
mod upstream_maker;
pub mod url;
pub mod version_terms;
pub mod waf;
