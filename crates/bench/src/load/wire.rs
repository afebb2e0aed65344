//! What goes over the network: URLs, requests with variables, servers as they are connected to, and one exchange of HTTP/1.1.

pub(super) mod connection;
pub(super) mod fault;
pub(super) mod message;
pub(super) mod stream;
pub(super) mod target;
mod unverified;
pub(super) mod url;
