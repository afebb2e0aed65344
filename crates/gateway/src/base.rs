//! What the rest stands on: patterns, encodings, TLS, calls to other servers, messages between gateways, the clock. Nothing here knows an API,
//! a key or a request.

pub mod answers;
pub mod bus;
pub mod clock;
pub mod coding;
pub mod definition_files;
pub mod digest;
pub mod form;
pub mod outside;
pub mod path;
pub mod pattern;
pub mod re2;
pub mod recent;
pub mod redis_settings;
pub mod request_id;
pub mod secret;
pub mod tls;
