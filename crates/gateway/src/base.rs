//! What the rest stands on: patterns, encodings, TLS, calls to other servers, messages between gateways, the clock. Nothing here knows an API,
//! a key or a request.

pub(crate) mod auth_http_client;
pub(crate) mod bundle_store;
pub(crate) mod bus;
pub(crate) mod clock;
pub(crate) mod coding;
pub(crate) mod definition_files;
pub(crate) mod digest;
pub(crate) mod external_services;
pub(crate) mod form;
pub(crate) mod node_bus;
pub(crate) mod path;
pub(crate) mod pattern;
pub(crate) mod public_address;
pub(crate) mod purge_log;
pub(crate) mod redis_settings;
pub(crate) mod request_id;
pub(crate) mod secret;
pub(crate) mod secret_name;
pub(crate) mod secret_stores;
pub(crate) mod service_kind;
pub(crate) mod template_host;
pub(crate) mod tls;
pub(crate) mod two_generation_cache;
