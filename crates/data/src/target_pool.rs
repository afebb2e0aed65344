//! A list of targets that share requests: their health, how one is chosen, and the retry budget. The list may change while requests are in
//! flight; each keeps the list that it started with.

use crate::pool_hedging::PoolHedging;
use crate::pool_name::PoolName;
use crate::target_list::TargetList;
use crate::target_watch::TargetWatch;
use arc_swap::ArcSwap;
use std::sync::Arc;
use tollgate_balance::{EjectionCause, Nanos, RetryBudget, TryResult};

/// Targets of one version, or of one part of its split.
pub struct TargetPool {
    pub name: PoolName,
    /// Its own, or those of a backend that others use too.
    pub targets: Arc<ArcSwap<TargetList>>,
    /// Budget of all pools of the version.
    pub budget: Arc<RetryBudget>,
    /// Second sendings of requests, if they are sent twice.
    pub hedging: Option<Arc<PoolHedging>>,
    /// What is done about the targets without a request.
    pub watch: Option<TargetWatch>,
}

impl TargetPool {
    /// Notes how a try of a target ended, and ejects targets that fail.
    pub fn record(&self, list: &TargetList, index: usize, result: TryResult, began: Nanos, now: Nanos) {
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
pub fn ejection_cause(cause: EjectionCause) -> &'static str {
    match cause {
        EjectionCause::Unreachable => "unreachable",
        EjectionCause::Faults => "faults",
        EjectionCause::FaultShare => "fault_share",
        EjectionCause::Latency => "latency",
    }
}
