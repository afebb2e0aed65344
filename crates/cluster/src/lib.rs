//! Gateways that share a Redis: each says every second that it is there ([`Cluster`]), and all that must know who the others are hears it from
//! there: limits that they count together, purges that all carry out ([`PurgeLog`]), figures of the whole ([`Cluster::ask`]). Messages are signed
//! with the `node_secret`. Knows nothing of APIs, keys and requests.
#![forbid(unsafe_code)]

mod cluster;
mod members;
mod message;
mod node;
mod purge_log;
mod redis_settings;

pub use cluster::{Cluster, ClusterHost, NodeAnswers};
pub use message::{CHANNEL, ClusterMessage, Messages, RELOAD_ALL, SESSIONS_CHANGED};
pub use node::{KnownNode, NodeEvent, NodeState, SharedState};
pub use purge_log::{CachePurge, NotEverywhere, PurgeLog, PurgeScope, PurgeTarget};
pub use redis_settings::redis_settings;
