//! What the rest stands on: patterns, encodings, TLS, calls to other servers, messages between gateways, the clock. Nothing here knows an API,
//! a key or a request.

pub mod answers;
pub mod bus;
pub mod clock;
pub mod coding;
pub mod form;
pub mod http_client;
pub mod outside;
pub mod path;
pub mod pattern;
pub mod re2;
pub mod recent;
pub mod secret;
pub mod tls;
