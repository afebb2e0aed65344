//! What all limits of a gateway that other gateways count as well have in common: the connection to the store, how many gateways there
//! are, and whether the store answers. While it does not, nobody waits for it; one probe at a time finds out when it is back.

use super::Algorithm;
use super::shared_quota::SharedQuota;
use super::shared_rate::SharedRate;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tollgate_engine::Moment;
use tollgate_model::config::{OnStoreFailure, SharedStore};
use tollgate_store::{Redis, Script, StoreFault, StoreFaultKind};

/// The set of gateways.
const GATEWAYS_KEY: &str = "tollgate.gateways";
/// How often a gateway says that it is there, and for how long that counts.
const PRESENT_EVERY: Duration = Duration::from_secs(1);
const PRESENT_FOR_MS: u64 = 4_000;
/// How often there must seem to be fewer gateways until that is believed: after a failure each comes back at its own time.
const FEWER_BELIEVED_AFTER: u32 = 5;
/// Writes what nobody reads: tells whether the server that a key is on answers and takes writes.
const PROBE: &str = "redis.call('SET', KEYS[1], '1', 'PX', ARGV[1]) return {}";
const PROBE_EVERY: Duration = Duration::from_millis(100);
/// After a question about one limit that failed for reasons of its own nobody asks about it for this long.
pub(super) const FAILED_FOR_US: u64 = 100_000;

/// Limits that are looked at in one turn, in a few milliseconds; the others come in the next one.
const SETTLED_AT_ONCE: usize = 10_000;
/// Quotas that the store is asked about in one turn, and those of them whose questions are on their way together. With a store that takes
/// its 50 ms for each answer, a turn takes one second.
const ASKED_AT_ONCE: usize = 1_000;
const ASKED_TOGETHER: usize = 64;

/// What all limits share.
pub struct SharedLimits {
    pub(super) redis: Arc<Redis>,
    pub(super) scripts: Scripts,
    rules: SharedStore,
    /// How many there are, and the number of this one.
    gateways: AtomicU64,
    rank: AtomicU64,
    /// Times of limits are since this.
    start: Moment,
    is_silent: AtomicBool,
    has_complained: AtomicBool,
    /// Limits that have something to tell or to give back.
    open_rates: Mutex<VecDeque<Weak<SharedRate>>>,
    open_quotas: Mutex<VecDeque<Weak<SharedQuota>>>,
}

pub(super) struct Scripts {
    pub window: Script,
    pub fixed: Script,
    pub quota: Script,
    gateways: Script,
    probe: Script,
}

/// Whether a request may pass.
#[derive(Debug, PartialEq, Eq)]
pub enum Admission {
    Admitted,
    /// Not before this long.
    Refused(Duration),
    /// To be tried again when the answer is there that `pending` tells of.
    Asked,
    /// The store is silent, and nobody may pass meanwhile.
    Silent,
}

/// Whether a request may be held for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    Waits,
    /// It has been held for as long as it may be.
    IsOver,
}

/// What becomes of a question.
pub(super) enum Asked {
    Answered(Vec<i64>),
    /// Not in time. The answer may still come.
    Late(Late),
    Failed,
}

/// An answer to come for which nobody waits.
pub(super) type Late = Pin<Box<dyn Future<Output = Result<Vec<i64>, StoreFault>> + Send>>;

impl SharedLimits {
    /// `id` is this gateway's, unlike that of any other.
    pub fn start(redis: Arc<Redis>, rules: SharedStore, id: String) -> Arc<Self> {
        let limits = Arc::new(SharedLimits {
            redis,
            scripts: Scripts {
                window: Script::new(include_str!("window.lua")),
                fixed: Script::new(include_str!("fixed.lua")),
                quota: Script::new(include_str!("quota.lua")),
                gateways: Script::new(include_str!("gateways.lua")),
                probe: Script::new(PROBE),
            },
            rules,
            gateways: AtomicU64::new(1),
            rank: AtomicU64::new(0),
            start: Moment::now(),
            is_silent: AtomicBool::new(false),
            has_complained: AtomicBool::new(false),
            open_rates: Mutex::default(),
            open_quotas: Mutex::default(),
        });
        limits.redis.runtime().spawn(be_present(Arc::downgrade(&limits), id));
        limits
    }

    pub fn rate(self: &Arc<Self>, name: &str, algorithm: Algorithm) -> Arc<SharedRate> {
        Arc::new(SharedRate::new(self.clone(), name, algorithm))
    }

    pub fn quota(self: &Arc<Self>, key: String) -> Arc<SharedQuota> {
        Arc::new(SharedQuota::new(self.clone(), key))
    }

    /// What times of limits are counted from.
    pub fn start_time(&self) -> Moment {
        self.start
    }

    /// How long a request may be held for answers about its limits.
    pub fn answer_time_max(&self) -> Duration {
        Duration::from_millis(self.rules.answer_ms_max)
    }

    /// Tells the store what it has to know of, and gives back what is leased of quotas: what nobody has used lately, or everything at the
    /// end. In one turn only so much, or a gateway with many of them would forget to say that it is there.
    pub async fn settle(&self, everything: bool) {
        for rate in take(&self.open_rates, SETTLED_AT_ONCE) {
            match self.is_silent() {
                true => self.remember_rate(&rate),
                false => rate.tell(),
            }
        }
        let open = self.open_quotas.lock().unwrap_or_else(PoisonError::into_inner).len();
        let mut left = if everything { open } else { open.min(SETTLED_AT_ONCE) };
        let mut asked = 0;
        while left > 0 && (everything || asked < ASKED_AT_ONCE) {
            let some = take(&self.open_quotas, left.min(ASKED_TOGETHER));
            left = left.saturating_sub(ASKED_TOGETHER);
            let mut answers = Vec::new();
            for quota in some {
                if self.is_silent() {
                    self.remember_quota(&quota);
                } else if let Some(tell) = quota.to_tell(everything) {
                    answers.push(self.redis.runtime().spawn(quota.tell(tell)));
                }
            }
            asked += answers.len();
            for answer in answers {
                let _ = answer.await;
            }
        }
    }

    pub(super) fn remember_rate(&self, rate: &Arc<SharedRate>) {
        self.open_rates.lock().unwrap_or_else(PoisonError::into_inner).push_back(Arc::downgrade(rate));
    }

    pub(super) fn remember_quota(&self, quota: &Arc<SharedQuota>) {
        self.open_quotas.lock().unwrap_or_else(PoisonError::into_inner).push_back(Arc::downgrade(quota));
    }

    pub(super) fn now_us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// What holds while the store does not answer, for a limit that says so itself or not.
    pub(super) fn on_failure(&self, own: Option<OnStoreFailure>) -> OnStoreFailure {
        own.unwrap_or(self.rules.on_failure)
    }

    pub(super) fn gateways(&self) -> u64 {
        self.gateways.load(Ordering::Relaxed)
    }

    /// This gateway's number among all, another one for each limit, so that what can't be divided goes to all of them in turn.
    pub(super) fn rank(&self, salt: u64) -> u64 {
        (self.rank.load(Ordering::Relaxed).wrapping_add(salt)) % self.gateways().max(1)
    }

    pub(super) fn is_silent(&self) -> bool {
        self.is_silent.load(Ordering::Acquire)
    }

    /// Asks with the time limit of requests.
    pub(super) async fn ask(self: &Arc<Self>, script: &Script, key: &str, arguments: &[String]) -> Asked {
        let mut answer = Box::pin(self.redis.run(script, key, arguments));
        match tokio::time::timeout(self.answer_time_max(), &mut answer).await {
            Ok(Ok(numbers)) => Asked::Answered(numbers),
            Ok(Err(fault)) if fault.kind == StoreFaultKind::Unavailable => {
                self.fall_silent(key, &fault.to_string());
                Asked::Failed
            }
            Ok(Err(fault)) => {
                if !self.has_complained.swap(true, Ordering::Relaxed) {
                    tracing::error!(key, %fault, "a limit can't be counted in Redis: each gateway counts its share; said once");
                }
                Asked::Failed
            }
            Err(_) => {
                self.fall_silent(key, "no answer in time");
                Asked::Late(answer)
            }
        }
    }

    /// From now on nobody asks, until the server of this key takes writes again.
    fn fall_silent(self: &Arc<Self>, key: &str, why: &str) {
        if self.is_silent.swap(true, Ordering::AcqRel) {
            return;
        }
        tracing::warn!(why, "Redis can't be queried about limits: each gateway counts its share");
        self.redis.suspect();
        // In a cluster, of the slot of the key in question.
        let key = format!("tollgate.probe.{{{key}}}");
        let weak = Arc::downgrade(self);
        self.redis.runtime().spawn(async move {
            while let Some(limits) = weak.upgrade() {
                tokio::time::sleep(PROBE_EVERY).await;
                let probe = limits.redis.run(&limits.scripts.probe, &key, &[PRESENT_FOR_MS.to_string()]);
                if let Ok(Ok(_)) = tokio::time::timeout(limits.answer_time_max(), probe).await {
                    limits.is_silent.store(false, Ordering::Release);
                    tracing::info!("limits are counted in Redis again");
                    limits.settle(false).await;
                    return;
                }
            }
        });
    }
}

/// Says once in a while that this gateway is there, and brings the store up to date.
async fn be_present(limits: Weak<SharedLimits>, id: String) {
    let mut fewer = 0;
    while let Some(limits) = limits.upgrade() {
        let arguments = [id.clone(), PRESENT_FOR_MS.to_string()];
        if let Ok(answer) = limits.redis.run(&limits.scripts.gateways, GATEWAYS_KEY, &arguments).await
            && let [gateways, rank] = answer.as_slice()
        {
            let gateways = u64::try_from(*gateways).unwrap_or_default().max(1);
            fewer = if gateways < limits.gateways() { fewer + 1 } else { 0 };
            if fewer == 0 || fewer >= FEWER_BELIEVED_AFTER {
                limits.gateways.store(gateways, Ordering::Relaxed);
                limits.rank.store(u64::try_from(*rank).unwrap_or_default(), Ordering::Relaxed);
                fewer = 0;
            }
        }
        limits.settle(false).await;
        drop(limits);
        tokio::time::sleep(PRESENT_EVERY).await;
    }
}

/// Takes those that have waited longest.
fn take<T>(open: &Mutex<VecDeque<Weak<T>>>, max: usize) -> Vec<Arc<T>> {
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    let count = open.len().min(max);
    open.drain(..count).filter_map(|one| one.upgrade()).collect()
}

#[cfg(test)]
mod tests;
