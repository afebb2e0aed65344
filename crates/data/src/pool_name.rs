//! The name of a pool of targets: its place in the definition of an API.

/// Names a pool in logs and metrics.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolName {
    /// Id of the API.
    pub api: String,
    /// Name of the version.
    pub version: String,
    /// Name of the part of the split; empty for the others.
    pub part: String,
}
