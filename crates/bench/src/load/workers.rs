//! The sending threads: each has its own runtime and its share of the workers, and a worker speaks one protocol.

mod context;
mod deadline;
mod http1;
mod http2;
mod shared_connection;
pub(super) mod thread;
mod websocket;
mod worker;
