//! The network side: URLs, requests with variables, connections to servers, and HTTP/1.1 exchanges.

pub(super) mod connection;
pub(super) mod events;
pub(super) mod fault;
pub(super) mod message;
pub(super) mod stream;
pub(super) mod target;
pub(crate) mod unverified;
pub(super) mod url;
