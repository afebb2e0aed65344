//! Counters of one hook of plugins: its calls, their time and how they ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tollgate_plugin::HookFault;

/// How a call of a hook ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookResult {
    Answered,
    Failed,
    Timeout,
    Unavailable,
}

impl HookResult {
    /// All results, in the order of the counters.
    pub const ALL: [HookResult; 4] = [HookResult::Answered, HookResult::Failed, HookResult::Timeout, HookResult::Unavailable];

    /// How a call with this fault, or without any, ended.
    pub fn of(fault: Option<&HookFault>) -> Self {
        match fault {
            None => HookResult::Answered,
            Some(HookFault::Timeout) => HookResult::Timeout,
            Some(HookFault::Unavailable(_)) => HookResult::Unavailable,
            Some(HookFault::Failed(_)) => HookResult::Failed,
        }
    }

    /// Its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            HookResult::Answered => "answered",
            HookResult::Failed => "failed",
            HookResult::Timeout => "timeout",
            HookResult::Unavailable => "unavailable",
        }
    }
}

/// The counters of one hook. All cores share them: a call costs far more than the counting.
#[derive(Debug, Default)]
pub struct HookMeter {
    calls: [AtomicU64; 4],
    ns: AtomicU64,
}

impl HookMeter {
    /// Counts a call.
    pub fn add(&self, took: Duration, result: HookResult) {
        if let Some(calls) = self.calls.get(result as usize) {
            calls.fetch_add(1, Ordering::Relaxed);
        }
        self.ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Number of calls that ended so.
    pub fn calls(&self, result: HookResult) -> u64 {
        self.calls.get(result as usize).map_or(0, |calls| calls.load(Ordering::Relaxed))
    }

    /// Time of all calls together, in seconds.
    pub fn seconds(&self) -> f64 {
        self.ns.load(Ordering::Relaxed) as f64 / 1e9
    }
}
