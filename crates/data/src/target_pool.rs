//! A list of targets that share requests: their health, how one is chosen, and the retry budget. The list may change while requests are in
//! flight; each keeps the list that it started with.

use crate::pool_hedging::PoolHedging;
use crate::pool_name::PoolName;
use crate::target_list::TargetList;
use crate::target_watch::TargetWatch;
use arc_swap::ArcSwap;
use std::sync::Arc;
use std::time::Duration;
use tollgate_balance::{EjectionCause, Nanos, RetryBudget, TryResult};

/// A connect that takes longer is not usual: new requests pass its target over while others are available. As in RFC 8305 §8.
const UNANSWERED_AFTER: Duration = Duration::from_millis(250);
/// A connect that takes longer is given up while another target is available. The kernel sends a lost SYN again after one second, so that
/// one loss alone changes nothing.
const ELSEWHERE_AFTER: Duration = Duration::from_secs(2);

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

    /// Whether to give up connecting to a target after `waited`: it is no longer one of the pool's, or another one may answer sooner. `tried` are
    /// those to which the request does not go again.
    #[cold]
    pub fn gives_up(&self, list: &Arc<TargetList>, index: usize, tried: &[u16], waited: Duration, now: Nanos) -> bool {
        if self.place_now(list, index).is_none() {
            return true;
        }
        if waited >= UNANSWERED_AFTER
            && let Some(candidate) = list.candidates.list().get(index)
        {
            candidate.health.note_unanswered(now);
        }
        waited >= ELSEWHERE_AFTER && {
            let (mut list, mut tried) = (list.clone(), tried.to_vec());
            self.renew(&mut list, &mut tried);
            list.candidates.has_other(&tried, now)
        }
    }

    /// Takes the list as it is now. Of `tried`, those stay that it has.
    #[cold]
    pub fn renew(&self, list: &mut Arc<TargetList>, tried: &mut Vec<u16>) {
        let place = |index: &u16| u16::try_from(self.place_now(list, usize::from(*index))?).ok();
        *tried = tried.iter().filter_map(place).collect();
        *list = self.targets.load_full();
    }

    /// Where a target is in the list as it is now.
    fn place_now(&self, list: &Arc<TargetList>, index: usize) -> Option<usize> {
        let now = self.targets.load();
        if Arc::ptr_eq(&now, list) {
            return Some(index);
        }
        let target = list.targets.get(index)?;
        now.targets
            .iter()
            .position(|other| other.upstream.target.serial == target.upstream.target.serial && other.url == target.url)
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
