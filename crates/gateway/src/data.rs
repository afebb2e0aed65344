//! The data plane: a request on its way from the connection to its upstream, and the compiled configuration that decides about it.

pub mod api;
pub mod breaker;
pub mod client_address;
pub mod credentials;
pub mod endpoints;
pub mod error_templates;
pub mod exchange;
pub mod gateway_state;
pub mod handler;
pub mod header_change;
pub mod header_names;
pub mod middleware;
pub mod refusal;
pub mod registry;
pub mod response_chain;
pub mod route;
pub mod settings;
pub mod snapshot;
pub mod template;
pub mod upstream;
pub mod url;
