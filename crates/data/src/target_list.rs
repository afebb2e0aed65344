//! The targets of a pool at one time.

use crate::upstream::Upstream;
use tollgate_balance::Candidates;

/// The targets of a pool at one time.
pub struct TargetList {
    pub targets: Vec<PoolTarget>,
    pub candidates: Candidates,
    /// Whether the targets differ in path or query, so that a request for one has another target for the next.
    pub paths_differ: bool,
}

/// One target of a pool.
pub struct PoolTarget {
    /// Names it in figures and logs: its URL without user and password.
    pub url: String,
    pub upstream: Upstream,
    /// Identifies it in cookies, without naming it.
    pub sticky_id: Box<str>,
}

impl TargetList {
    /// Makes a list. The candidates are those of the targets, in the same order.
    pub fn new(targets: Vec<PoolTarget>, candidates: Candidates) -> Self {
        let base = |target: &PoolTarget| (target.upstream.path.clone(), target.upstream.query.clone());
        let first = targets.first().map(base);
        let paths_differ = targets.iter().any(|target| Some(base(target)) != first);
        TargetList { targets, candidates, paths_differ }
    }
}
