//! The targets of a pool at one time.

use crate::refusal::{self, Refusal};
use crate::upstream::Upstream;
use tollgate_balance::{BalanceMethod, Candidates, HealthRules};

/// The targets of a pool at one time.
pub struct TargetList {
    pub targets: Vec<PoolTarget>,
    pub candidates: Candidates,
    /// Whether the targets differ in path or query, so that a request for one has another target for the next.
    pub paths_differ: bool,
    /// Why there is none, if there is none.
    pub when_empty: EmptyList,
    /// Statuses that are faults of a target, whichever API asks; sorted.
    pub fault_statuses: Vec<u16>,
}

/// Why a list has no targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmptyList {
    /// Nothing is known of a reason.
    #[default]
    Unsaid,
    /// The backend has no endpoints now.
    NoEndpoints,
    /// There is no such backend, or it cannot be used.
    Unknown,
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
        TargetList { targets, candidates, paths_differ, when_empty: EmptyList::Unsaid, fault_statuses: Vec::new() }
    }

    /// A list without targets.
    pub fn empty(why: EmptyList) -> Self {
        let candidates = Candidates::new(Vec::new(), BalanceMethod::default(), HealthRules::default());
        TargetList { when_empty: why, ..TargetList::new(Vec::new(), candidates) }
    }

    /// Answer to a request for which there is no target.
    pub fn refusal(&self, is_call: bool) -> Refusal {
        match self.when_empty {
            EmptyList::Unsaid => refusal::ALL_HOSTS_DOWN,
            EmptyList::NoEndpoints => refusal::NO_ENDPOINTS,
            EmptyList::Unknown if is_call => refusal::NO_BACKEND_FOR_CALLS,
            EmptyList::Unknown => refusal::NO_BACKEND,
        }
    }
}
