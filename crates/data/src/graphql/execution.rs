//! The gateway as the server of an API's queries: data graphs, their sources, and the WebSockets of their clients.

mod graph;
#[cfg_attr(not(feature = "kafka"), path = "execution/kafka_absent.rs")]
mod kafka;
#[cfg(test)]
#[allow(dead_code, unreachable_pub, reason = "the tests ask only for its refusals")]
mod kafka_absent;
mod run;
mod server;
mod sockets;
mod source_fault;
mod sources;
mod subscriptions;
mod terms;

pub use graph::ExecutedGraph;
pub(crate) use graph::schema_source;
pub use kafka::Consumers;
pub use server::GraphServer;
pub use terms::GraphTerms;
