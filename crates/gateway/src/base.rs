//! What the rest stands on: patterns, encodings, TLS, calls to other servers, messages between gateways, the clock. Nothing here knows an API,
//! a key or a request.

pub(crate) mod coding;
pub(crate) mod definition_files;
pub(crate) mod digest;
pub(crate) mod form;
pub(crate) mod path;
pub(crate) mod pattern;
pub(crate) mod request_id;
pub(crate) mod secret;
pub(crate) mod secret_name;
pub(crate) mod template_host;
pub(crate) mod two_generation_cache;
