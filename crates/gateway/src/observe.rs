//! What an operator sees of the gateway: counters by API, one set for each core, added up when somebody asks. Nothing here is shared
//! between cores while a request passes, and nothing is paid for what is switched off.

mod causes;
mod exposition;
mod histogram;
mod live;
mod meter;
mod process;
mod scrape;

pub use exposition::Form;
pub use live::live;
pub use meter::{Cells, Meter, Meters, Side, Tally, method_number};
pub use scrape::scrape;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use tollgate_engine::{CoreStats, Counter};

/// Figures of the whole process.
pub struct Observer {
    /// Requests are counted and timed.
    pub metrics: bool,
    pub started: SystemTime,
    /// What the engine counts, by core.
    pub engine: Vec<Arc<CoreStats>>,
    /// What belongs to no API, by core.
    cores: Vec<CoreTotals>,
    pub reloads: ReloadFigures,
}

/// What one core counts beside its APIs.
#[derive(Default)]
pub struct CoreTotals {
    /// Requests for the control plane on the main port.
    pub control: Counter,
    /// Requests that no API is for.
    pub not_found: Counter,
    /// Requests whose path is none.
    pub bad_path: Counter,
    /// Requests that were sent to the clean form of their path.
    pub redirected: Counter,
}

/// How reloads went.
#[derive(Default)]
pub struct ReloadFigures {
    pub ok: AtomicU64,
    pub failed: AtomicU64,
    /// Unix seconds of the last reload without an error.
    pub last_ok_unix_s: AtomicU64,
    pub last_failed: AtomicU64,
}

impl Observer {
    pub fn new(metrics: bool, cores: usize) -> Self {
        Observer {
            metrics,
            started: SystemTime::now(),
            engine: (0..cores).map(|_| Arc::default()).collect(),
            cores: (0..cores).map(|_| CoreTotals::default()).collect(),
            reloads: ReloadFigures::default(),
        }
    }

    /// What a core counts beside its APIs.
    #[inline]
    pub fn totals(&self, core: usize) -> Option<&CoreTotals> {
        self.cores.get(core)
    }
}

impl ReloadFigures {
    /// Notes how a reload went.
    pub fn note(&self, failed: bool) {
        let counter = if failed { &self.failed } else { &self.ok };
        counter.fetch_add(1, Ordering::Relaxed);
        self.last_failed.store(u64::from(failed), Ordering::Relaxed);
        if !failed {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
            self.last_ok_unix_s.store(now, Ordering::Relaxed);
        }
    }
}
