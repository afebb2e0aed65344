//! The limits that a gateway shares with others: creates them, keeps the store up to date with them, and announces this gateway's presence.

use super::algorithm::LimitAlgorithm;
use super::limit_store::{LimitStore, OpenLimits, PRESENT_FOR_MS};
use super::shared_quota::SharedQuota;
use super::shared_rate::SharedRate;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tollgate_engine::MonoTime;
use tollgate_model::config::SharedStore;
use tollgate_store::Redis;

/// Key of the set of gateways.
const GATEWAYS_KEY: &str = "tollgate.gateways";
/// Interval at which a gateway announces its presence.
const PRESENT_EVERY: Duration = Duration::from_secs(1);
/// How often in a row there must be fewer gateways before that is believed: after a failure each gateway comes back at its own time.
const FEWER_BELIEVED_AFTER: u32 = 5;
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
}

impl SharedLimits {
    /// Starts the announcements. `id` identifies this gateway and must be unique.
    pub fn start(redis: Arc<Redis>, rules: SharedStore, id: String) -> Arc<Self> {
        let store = Arc::new(LimitStore::new(redis, rules));
        let limits = Arc::new(SharedLimits { store, open_rates: Arc::default(), open_quotas: Arc::default() });
        let weak = Arc::downgrade(&limits);
        limits.store.on_recovery(move || {
            if let Some(limits) = weak.upgrade() {
                let own = limits.clone();
                limits.store.redis.runtime().spawn(async move { own.settle(false).await });
            }
        });
        limits.store.redis.runtime().spawn(be_present(Arc::downgrade(&limits), id));
        limits
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

    /// Reports to the store, and returns leased quotas: idle ones, or everything at the end. The work per turn is limited, or a gateway
    /// with many limits would miss its announcements.
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

/// Announces this gateway at intervals, and brings the store up to date.
async fn be_present(limits: Weak<SharedLimits>, id: String) {
    let mut fewer = 0;
    while let Some(limits) = limits.upgrade() {
        let store = &limits.store;
        let arguments = [id.clone(), PRESENT_FOR_MS.to_string()];
        if let Ok(answer) = store.redis.run(&store.scripts.gateways, GATEWAYS_KEY, &arguments).await
            && let [gateways, rank] = answer.as_slice()
        {
            let gateways = u64::try_from(*gateways).unwrap_or_default().max(1);
            fewer = if gateways < store.gateways() { fewer + 1 } else { 0 };
            if fewer == 0 || fewer >= FEWER_BELIEVED_AFTER {
                store.set_gateways(gateways, u64::try_from(*rank).unwrap_or_default());
                fewer = 0;
            }
        }
        limits.settle(false).await;
        drop(limits);
        tokio::time::sleep(PRESENT_EVERY).await;
    }
}

#[cfg(test)]
mod tests;
