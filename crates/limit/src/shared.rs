//! The limits that a gateway shares with others: creates them, and keeps the store up to date with them.

use super::algorithm::LimitAlgorithm;
use super::limit_store::{LimitStore, OpenLimits};
use super::shared_quota::SharedQuota;
use super::shared_rate::SharedRate;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_model::config::SharedStore;
use tollgate_store::Redis;

/// Time between two turns in which the store is brought up to date.
const SETTLED_EVERY: Duration = Duration::from_secs(1);
/// How often in a row there must be fewer gateways before that is believed: after a failure each gateway comes back at its own time.
const FEWER_BELIEVED_AFTER: u64 = 5;
/// Limits processed per turn, in a few milliseconds; the others follow in the next turn.
const SETTLED_AT_ONCE: usize = 10_000;
/// Quotas that the store is asked about per turn, and how many of these questions are in flight together. With a store that takes its 50 ms
/// per answer, a turn takes one second.
const ASKED_AT_ONCE: usize = 1_000;
const ASKED_TOGETHER: usize = 64;

/// All shared limits.
pub struct SharedLimits {
    store: Arc<LimitStore>,
    open_rates: Arc<OpenLimits<SharedRate>>,
    open_quotas: Arc<OpenLimits<SharedQuota>>,
    /// How often in a row there were fewer gateways than is believed.
    fewer: AtomicU64,
}

impl SharedLimits {
    /// Starts to keep the store up to date. The gateway counts as the only one until [`SharedLimits::note_gateways`] says otherwise.
    pub fn start(redis: Arc<Redis>, rules: SharedStore) -> Arc<Self> {
        let store = Arc::new(LimitStore::new(redis, rules));
        let limits =
            Arc::new(SharedLimits { store, open_rates: Arc::default(), open_quotas: Arc::default(), fewer: AtomicU64::new(0) });
        let weak = Arc::downgrade(&limits);
        limits.store.on_recovery(move || {
            if let Some(limits) = weak.upgrade() {
                let own = limits.clone();
                limits.store.redis.runtime().spawn(async move { own.settle(false).await });
            }
        });
        limits.store.redis.runtime().spawn(keep_settled(Arc::downgrade(&limits)));
        limits
    }

    /// Notes how many gateways there are, this one among them, and the number of this one. Told once a second.
    pub fn note_gateways(&self, gateways: u64, rank: u64) {
        let gateways = gateways.max(1);
        let fewer = if gateways < self.store.gateways() { self.fewer.load(Ordering::Relaxed) + 1 } else { 0 };
        let is_believed = fewer == 0 || fewer >= FEWER_BELIEVED_AFTER;
        self.fewer.store(if is_believed { 0 } else { fewer }, Ordering::Relaxed);
        if is_believed {
            self.store.set_gateways(gateways, rank);
        }
    }

    /// The rate with a name.
    pub fn rate(&self, name: &str, algorithm: LimitAlgorithm) -> Arc<SharedRate> {
        Arc::new(SharedRate::new(self.store.clone(), self.open_rates.clone(), name, algorithm))
    }

    /// The quota that the store has under a key.
    pub fn quota(&self, key: String) -> Arc<SharedQuota> {
        Arc::new(SharedQuota::new(self.store.clone(), self.open_quotas.clone(), key))
    }

    /// Origin of the limits' times.
    pub fn start_time(&self) -> MonoTime {
        self.store.start_time()
    }

    /// How long a request may be held for answers about its limits.
    pub fn answer_time_max(&self) -> Duration {
        self.store.answer_time_max()
    }

    /// Reports to the store, and returns leased quotas: idle ones, or everything at the end. The work per turn is limited.
    pub async fn settle(&self, everything: bool) {
        for rate in self.open_rates.take(SETTLED_AT_ONCE) {
            match self.store.is_silent() {
                true => self.open_rates.remember(&rate),
                false => rate.tell(),
            }
        }
        let open = self.open_quotas.len();
        let mut left = if everything { open } else { open.min(SETTLED_AT_ONCE) };
        let mut asked = 0;
        while left > 0 && (everything || asked < ASKED_AT_ONCE) {
            let some = self.open_quotas.take(left.min(ASKED_TOGETHER));
            left = left.saturating_sub(ASKED_TOGETHER);
            let mut answers = Vec::new();
            for quota in some {
                if self.store.is_silent() {
                    self.open_quotas.remember(&quota);
                } else if let Some(tell) = quota.to_tell(everything) {
                    answers.push(self.store.redis.runtime().spawn(quota.tell(tell)));
                }
            }
            asked += answers.len();
            for answer in answers {
                let _ = answer.await;
            }
        }
    }
}

/// Brings the store up to date at intervals.
async fn keep_settled(limits: Weak<SharedLimits>) {
    while let Some(limits) = limits.upgrade() {
        limits.settle(false).await;
        drop(limits);
        tokio::time::sleep(SETTLED_EVERY).await;
    }
}

#[cfg(test)]
mod tests;
