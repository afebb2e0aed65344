//! A list of targets that share requests: their health, how one is chosen, and the retry budget. The list may change while requests are in
//! flight; each keeps the list that it started with.

use crate::data::pool_name::PoolName;
use crate::data::upstream::Upstream;
use arc_swap::ArcSwap;
use std::sync::Arc;
use tollgate_balance::{Candidates, EjectionCause, Nanos, RetryBudget, TryResult};

/// Targets of one version, or of one part of its split.
pub(crate) struct TargetPool {
    pub name: PoolName,
    pub targets: ArcSwap<TargetList>,
    /// Budget of all pools of the version.
    pub budget: Arc<RetryBudget>,
}

/// The targets of a pool at one time.
pub(crate) struct TargetList {
    pub targets: Vec<PoolTarget>,
    pub candidates: Candidates,
    /// Whether the targets differ in path or query, so that a request for one has another target for the next.
    pub paths_differ: bool,
}

/// One target of a pool.
pub(crate) struct PoolTarget {
    pub url: String,
    pub upstream: Upstream,
    /// Identifies it in cookies, without naming it.
    pub sticky_id: Box<str>,
}

impl TargetList {
    /// Makes a list. The candidates are those of the targets, in the same order.
    pub(crate) fn new(targets: Vec<PoolTarget>, candidates: Candidates) -> Self {
        let base = |target: &PoolTarget| (target.upstream.path.clone(), target.upstream.query.clone());
        let first = targets.first().map(base);
        let paths_differ = targets.iter().any(|target| Some(base(target)) != first);
        TargetList { targets, candidates, paths_differ }
    }
}

impl TargetPool {
    /// Notes how a try of a target ended, and ejects targets that fail.
    pub(crate) fn record(&self, list: &TargetList, index: usize, result: TryResult, began: Nanos, now: Nanos) {
        if let Some(cause) = list.candidates.record(index, result, began, now) {
            self.log_ejection(list, index, cause);
        }
        if list.candidates.is_time_to_look(now) {
            for (index, cause) in list.candidates.look(now) {
                self.log_ejection(list, index, cause);
            }
        }
    }

    #[cold]
    fn log_ejection(&self, list: &TargetList, index: usize, cause: EjectionCause) {
        let url = list.targets.get(index).map_or("", |target| target.url.as_str());
        tracing::warn!(api = self.name.api, part = self.name.part, target = url, cause = ejection_cause(cause), "target ejected");
    }
}

/// The name of a cause in logs and metrics.
pub(crate) fn ejection_cause(cause: EjectionCause) -> &'static str {
    match cause {
        EjectionCause::Unreachable => "unreachable",
        EjectionCause::Faults => "faults",
        EjectionCause::FaultShare => "fault_share",
        EjectionCause::Latency => "latency",
    }
}
