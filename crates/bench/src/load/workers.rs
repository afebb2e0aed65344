//! The threads that send: each has a runtime of its own and its share of the workers, and a worker speaks one protocol.

mod context;
mod deadline;
mod http1;
mod http2;
mod shared_connection;
pub(super) mod thread;
mod worker;
