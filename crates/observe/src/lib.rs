//! What an operator sees of the gateway: counters by API, one set for each core, added up when somebody asks. Nothing here is shared
//! between cores while a request passes, and nothing is paid for what is switched off.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "used by the crates of one program only: a name that says all needs no sentence")]

mod analytics;
pub mod causes;
mod change_log;
mod changed_record;
pub mod error_class;
pub mod events;
mod facts;
mod graphql_facts;
mod histogram;
mod hook_meter;
mod hooked_records;
pub mod logs;
pub mod meter;
#[cfg(test)]
#[path = "../../http/tests/corpus/mutation.rs"]
mod mutation;
pub mod otlp;
mod places;
mod record;
mod record_hook;
mod record_ref;
mod recorder;
mod recording;
mod refusal_note;
pub mod sink;
pub mod syslog_link;
pub mod tap;
pub mod template_host;
pub mod trace;
mod trace_state;
mod uptime_records;
mod waf_facts;

pub use causes::CauseCounts;
pub use change_log::{ChangeKind, GatewayChange, RecentChanges};
pub use facts::ApiMetadata;
pub use graphql_facts::GraphqlFacts;
pub use hook_meter::{HookMeter, HookResult};
pub use meter::{Cells, Meter, Meters, Side, Tally, method_name, method_number};
pub use record::{RequestRecord, StepTime, Text};
pub use record_hook::RecordHook;
pub use recorder::Recorder;
pub use recording::Recording;
pub use refusal_note::{LimitFact, RefusalNote};
pub use sink::SinkFigures;
pub use tap::{LiveRequests, RequestTap, RequestWatch, TailEntry};
pub use uptime_records::{UptimeRecords, UptimeResult};
pub use waf_facts::{WafFacts, WafMatch};

use crate::logs::LogFigures;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use tollgate_engine::{CoreStats, Counter};
use tollgate_model::{Level, Problem};

/// Figures of the whole process.
pub struct Observer {
    /// Requests are counted and timed.
    pub metrics: bool,
    pub started: SystemTime,
    /// What the engine counts, by core.
    pub engine: Vec<Arc<CoreStats>>,
    /// What belongs to no API, by core.
    pub cores: Vec<CoreTotals>,
    pub reloads: ReloadFigures,
    /// Single requests for people who look.
    pub watch: Arc<RequestWatch>,
    /// What happened lately.
    pub changes: RecentChanges,
    /// Name of this gateway among others: host and port. Set once it listens.
    node: OnceLock<String>,
    pub log: Arc<LogFigures>,
    /// Requests are recorded one by one.
    pub recording: Option<Recording>,
    pub statsd: Arc<SinkFigures>,
    /// Pushes of figures, if they are pushed.
    pub otlp_metrics: Option<Arc<SinkFigures>>,
}

/// What one core counts beside its APIs.
#[derive(Default)]
pub struct CoreTotals {
    /// Requests for the control plane on the main port.
    pub control: Counter,
    /// Requests of addresses that sent too many.
    pub too_many: Counter,
    /// Requests that no API is for.
    pub not_found: Counter,
    /// Requests whose path is none.
    pub bad_path: Counter,
    /// Requests that were sent to the clean form of their path.
    pub redirected: Counter,
    /// How often a middleware was timed, and the nanoseconds that it took.
    pub middleware_samples: CauseCounts,
    pub middleware_ns: CauseCounts,
}

/// How reloads went.
#[derive(Default)]
pub struct ReloadFigures {
    pub ok: AtomicU64,
    pub failed: AtomicU64,
    /// Unix seconds of the last reload without an error.
    pub last_ok_unix_s: AtomicU64,
    pub last_failed: AtomicU64,
    /// What the last reload took.
    pub last_us: AtomicU64,
    /// What all took together, and how many took how long: see [`ReloadFigures::BOUNDS_S`].
    pub all_us: AtomicU64,
    pub took: [AtomicU64; ReloadFigures::BOUNDS_S.len() + 1],
    /// Errors and warnings that it found.
    pub errors: AtomicU64,
    pub warnings: AtomicU64,
    /// The first errors and warnings that it found.
    problems: Mutex<Arc<[Problem]>>,
}

/// Problems of a reload that are kept for those who look: whoever has more repairs these first.
const PROBLEMS_KEPT: usize = 100;

impl Observer {
    pub fn new(
        metrics: bool,
        cores: usize,
        recording: Option<Recording>,
        pushes: bool,
        hash_keys: bool,
        log: Arc<LogFigures>,
    ) -> Self {
        Observer {
            metrics,
            started: SystemTime::now(),
            engine: (0..cores).map(|_| Arc::default()).collect(),
            cores: (0..cores).map(|_| CoreTotals::default()).collect(),
            reloads: ReloadFigures::default(),
            watch: RequestWatch::new(hash_keys),
            changes: RecentChanges::default(),
            node: OnceLock::new(),
            log,
            recording,
            statsd: SinkFigures::new("statsd"),
            otlp_metrics: pushes.then(|| SinkFigures::new("otlp_metrics")),
        }
    }

    /// Names this gateway: its host, and the port that it listens on.
    pub fn name_node(&self, port: u16) {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        // The first name counts.
        let name = format!("{}:{port}", host.trim());
        let _ = self.watch.node.set(name.clone());
        let _ = self.node.set(name);
    }

    /// Name of this gateway among others; empty before it listens.
    pub fn node(&self) -> &str {
        self.node.get().map_or("", String::as_str)
    }

    /// Notes how a reload went. `is_changed` tells whether it made a difference, `apis` how many are served now.
    pub fn note_reload(&self, problems: &[Problem], time: Duration, is_changed: bool, apis: usize) {
        self.reloads.note(problems, time);
        let errors = self.reloads.errors.load(Ordering::Relaxed);
        if is_changed || errors > 0 {
            let kind = if errors > 0 { ChangeKind::ConfigFailed } else { ChangeKind::Config };
            self.changes.add(kind, self.node(), format!("{apis} APIs, {errors} errors"));
        }
    }

    /// What a core counts beside its APIs.
    #[inline]
    pub fn totals(&self, core: usize) -> Option<&CoreTotals> {
        self.cores.get(core)
    }
}

impl ReloadFigures {
    /// Errors and warnings of the last reload, errors first.
    pub fn problems(&self) -> Arc<[Problem]> {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Upper bounds of the buckets of durations, as in Tyk.
    pub const BOUNDS_S: [f64; 9] = [0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

    /// Notes how a reload went: what it found and took.
    pub fn note(&self, problems: &[Problem], time: Duration) {
        let count = |level| problems.iter().filter(|problem| problem.level == level).count() as u64;
        let errors = count(Level::Error);
        self.errors.store(errors, Ordering::Relaxed);
        self.warnings.store(count(Level::Warning), Ordering::Relaxed);
        let mut kept: Vec<Problem> = problems.iter().filter(|problem| problem.level <= Level::Warning).cloned().collect();
        kept.sort_by_key(|problem| problem.level);
        kept.truncate(PROBLEMS_KEPT);
        *self.problems.lock().unwrap_or_else(PoisonError::into_inner) = kept.into();
        let us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.last_us.store(us, Ordering::Relaxed);
        self.all_us.fetch_add(us, Ordering::Relaxed);
        let bucket = Self::BOUNDS_S.iter().position(|bound| time.as_secs_f64() <= *bound).unwrap_or(Self::BOUNDS_S.len());
        if let Some(count) = self.took.get(bucket) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let failed = errors > 0;
        let counter = if failed { &self.failed } else { &self.ok };
        counter.fetch_add(1, Ordering::Relaxed);
        self.last_failed.store(u64::from(failed), Ordering::Relaxed);
        if !failed {
            self.last_ok_unix_s.store(tollgate_clock::unix_s(), Ordering::Relaxed);
        }
    }
}
