//! What gateways say of themselves.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a gateway says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NodeState {
    /// Its name: host and port.
    pub node: String,
    /// The version of its program.
    pub version: String,
    /// When it was started, in Unix seconds.
    pub started_unix_s: u64,
    /// When it said so.
    pub unix_ms: u64,
    /// Digest of the configuration without addresses, directories and secrets.
    pub configuration: String,
    /// Digest of the definitions that it serves.
    pub definitions: String,
    /// Digest of the policies.
    pub policies: String,
    /// How many APIs it serves.
    pub apis: usize,
    /// Errors that the last reload found.
    pub errors: u64,
    /// The definitions that gateways share, if they do.
    #[serde(default)]
    #[schema(required)]
    pub shared_definitions: Option<SharedState>,
}

/// What a gateway says of the shared definitions that it serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SharedState {
    /// Grows with each change; 0 if nothing was ever stored.
    pub revision: u64,
    /// Digest of all of them.
    pub digest: String,
    /// Whether Redis answered when they were loaded last.
    pub store_up: bool,
}

/// A gateway as another one knows it.
#[derive(Clone, Debug)]
pub struct KnownNode {
    /// What it said last.
    pub state: NodeState,
    /// When it was heard last, in Unix seconds.
    pub seen_unix_s: u64,
    /// Whether it was heard lately and has not said that it ends.
    pub is_alive: bool,
}

/// An event about another gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// It is there, under this name.
    Joined(String),
    /// It ends, or has fallen silent.
    Left(String),
}
