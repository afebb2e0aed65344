//! The data plane: a request on its way from the connection to its upstream, and the compiled configuration that decides about it.

pub(crate) mod api;
pub(crate) mod breaker;
pub(crate) mod cache_purger;
pub(crate) mod caching;
pub(crate) mod client_address;
pub(crate) mod credentials;
pub(crate) mod endpoints;
pub(crate) mod error_templates;
pub(crate) mod exchange;
pub(crate) mod gateway_state;
pub(crate) mod handler;
pub(crate) mod header_change;
pub(crate) mod header_names;
pub(crate) mod middleware;
pub(crate) mod refusal;
pub(crate) mod registry;
pub(crate) mod response_chain;
pub(crate) mod route;
pub(crate) mod second_tier;
pub(crate) mod settings;
pub(crate) mod snapshot;
pub(crate) mod template;
pub(crate) mod upstream;
pub(crate) mod url;
