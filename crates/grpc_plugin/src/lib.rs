//! Plugins that run in servers of their own, over gRPC: Tyk's `Dispatcher` service. Existing servers for Tyk work unchanged. Knows nothing of
//! requests and their chains.
#![forbid(unsafe_code)]

mod address;
mod channel;
mod convert;
mod driver;
mod events;
mod link;
mod message;
mod session;
mod status;

pub use address::{GrpcAddress, GrpcTransport};
pub use channel::GrpcSettings;
pub use driver::GrpcDriver;
