//! The store in which gateways count limits together: the number of gateways, and whether the store answers. While it does not, no request
//! waits for it; a single probe at a time detects its recovery.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_model::config::{OnStoreFailure, SharedStore};
use tollgate_store::{Redis, Script, StoreFault, StoreFaultKind};

/// How long a probe's value lives.
const PROBE_FOR_MS: u64 = 4_000;
/// Writes a value that nobody reads, to test whether the server of a key answers and accepts writes.
const PROBE: &str = "redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) return {}";
const PROBE_EVERY: Duration = Duration::from_millis(100);
/// How long a limit is not asked about after its question failed for a reason of its own.
pub(super) const FAILED_FOR_US: u64 = 100_000;

/// The store as all limits share it.
pub(crate) struct LimitStore {
    pub(super) redis: Arc<Redis>,
    pub(super) scripts: Scripts,
    rules: SharedStore,
    /// Number of gateways, and this one's rank.
    gateways: AtomicU64,
    rank: AtomicU64,
    /// Origin of the limits' times.
    start: MonoTime,
    is_silent: AtomicBool,
    has_complained: AtomicBool,
    /// Called when the store answers again.
    on_recovery: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// Limits with something to report or return, the longest waiting first.
pub(super) struct OpenLimits<T>(Mutex<VecDeque<Weak<T>>>);

pub(super) struct Scripts {
    pub window: Script,
    pub fixed: Script,
    pub quota: Script,
    pub smoothing: Script,
    probe: Script,
}

/// Result of a question.
pub(super) enum CountState {
    Answered(Vec<i64>),
    /// The answer did not arrive in time, but may still arrive.
    Late(Late),
    Failed,
}

/// An outstanding answer for which nobody waits.
pub(super) type Late = Pin<Box<dyn Future<Output = Result<Vec<i64>, StoreFault>> + Send>>;

impl<T> OpenLimits<T> {
    pub(super) fn remember(&self, limit: &Arc<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(Arc::downgrade(limit));
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Takes the limits that have waited longest.
    pub(super) fn take(&self, max: usize) -> Vec<Arc<T>> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.len().min(max);
        open.drain(..count).filter_map(|one| one.upgrade()).collect()
    }
}

impl<T> Default for OpenLimits<T> {
    fn default() -> Self {
        OpenLimits(Mutex::default())
    }
}

impl LimitStore {
    pub(super) fn new(redis: Arc<Redis>, rules: SharedStore) -> Self {
        LimitStore {
            redis,
            scripts: Scripts {
                window: Script::new(include_str!("window.lua")),
                fixed: Script::new(include_str!("fixed.lua")),
                quota: Script::new(include_str!("quota.lua")),
                smoothing: Script::new(include_str!("smoothing.lua")),
                probe: Script::new(PROBE),
            },
            rules,
            gateways: AtomicU64::new(1),
            rank: AtomicU64::new(0),
            start: MonoTime::now(),
            is_silent: AtomicBool::new(false),
            has_complained: AtomicBool::new(false),
            on_recovery: OnceLock::new(),
        }
    }

    /// Sets a callback for when the store answers again.
    pub(super) fn on_recovery(&self, call: impl Fn() + Send + Sync + 'static) {
        let _ = self.on_recovery.set(Box::new(call));
    }

    /// Sets the number of gateways and this one's rank.
    pub(super) fn set_gateways(&self, gateways: u64, rank: u64) {
        self.gateways.store(gateways, Ordering::Relaxed);
        self.rank.store(rank, Ordering::Relaxed);
    }

    /// Origin of the limits' times.
    pub(crate) fn start_time(&self) -> MonoTime {
        self.start
    }

    /// How long a request may be held for answers about its limits.
    pub(crate) fn answer_time_max(&self) -> Duration {
        Duration::from_millis(self.rules.answer_ms_max)
    }

    pub(super) fn now_us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// The behaviour while the store does not answer: the limit's own setting, else the default.
    pub(super) fn on_failure(&self, own: Option<OnStoreFailure>) -> OnStoreFailure {
        own.unwrap_or(self.rules.on_failure)
    }

    pub(super) fn gateways(&self) -> u64 {
        self.gateways.load(Ordering::Relaxed)
    }

    /// Rank of this gateway, different for each limit, so that the remainders of divisions are spread over all gateways.
    pub(super) fn rank(&self, salt: u64) -> u64 {
        (self.rank.load(Ordering::Relaxed).wrapping_add(salt)) % self.gateways().max(1)
    }

    pub(super) fn is_silent(&self) -> bool {
        self.is_silent.load(Ordering::Acquire)
    }

    /// Asks with the deadline of requests.
    pub(super) async fn ask(self: &Arc<Self>, script: &Script, key: &str, arguments: &[String]) -> CountState {
        let mut answer = Box::pin(self.redis.run(script, key, arguments));
        match tokio::time::timeout(self.answer_time_max(), &mut answer).await {
            Ok(Ok(numbers)) => CountState::Answered(numbers),
            Ok(Err(fault)) if fault.kind == StoreFaultKind::Unavailable => {
                self.fall_silent(key, &fault.to_string());
                CountState::Failed
            }
            Ok(Err(fault)) => {
                if !self.has_complained.swap(true, Ordering::Relaxed) {
                    tracing::error!(key, %fault, "a limit can't be counted in Redis: each gateway counts its share; said once");
                }
                CountState::Failed
            }
            Err(_) => {
                self.fall_silent(key, "no answer in time");
                CountState::Late(answer)
            }
        }
    }

    /// Stops all questions until the server of this key accepts writes again.
    fn fall_silent(self: &Arc<Self>, key: &str, why: &str) {
        if self.is_silent.swap(true, Ordering::AcqRel) {
            return;
        }
        tracing::warn!(why, "Redis can't be queried about limits: each gateway counts its share");
        self.redis.suspect();
        // In a cluster, the probe's key is in the same slot as the key in question.
        let key = format!("tollgate.probe.{{{key}}}");
        let weak = Arc::downgrade(self);
        self.redis.runtime().spawn(async move {
            while let Some(store) = weak.upgrade() {
                tokio::time::sleep(PROBE_EVERY).await;
                let probe = store.redis.run(&store.scripts.probe, &key, &[PROBE_FOR_MS.to_string()]);
                if let Ok(Ok(_)) = tokio::time::timeout(store.answer_time_max(), probe).await {
                    store.is_silent.store(false, Ordering::Release);
                    tracing::info!("limits are counted in Redis again");
                    store.on_recovery.get().into_iter().for_each(|call| call());
                    return;
                }
            }
        });
    }
}
