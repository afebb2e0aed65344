//! The limits of a gateway that other gateways count as well: makes them, keeps the store up to date with them, and tells it that this gateway
//! is there.

use super::algorithm::LimitAlgorithm;
use super::limit_store::{LimitStore, OpenLimits, PRESENT_FOR_MS};
use super::shared_quota::SharedQuota;
use super::shared_rate::SharedRate;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tollgate_engine::Moment;
use tollgate_model::config::SharedStore;
use tollgate_store::Redis;

/// The set of gateways.
const GATEWAYS_KEY: &str = "tollgate.gateways";
/// How often a gateway says that it is there.
const PRESENT_EVERY: Duration = Duration::from_secs(1);
/// How often there must seem to be fewer gateways until that is believed: after a failure each comes back at its own time.
const FEWER_BELIEVED_AFTER: u32 = 5;
/// Limits that are looked at in one turn, in a few milliseconds; the others come in the next one.
const SETTLED_AT_ONCE: usize = 10_000;
/// Quotas that the store is asked about in one turn, and those of them whose questions are on their way together. With a store that takes
/// its 50 ms for each answer, a turn takes one second.
const ASKED_AT_ONCE: usize = 1_000;
const ASKED_TOGETHER: usize = 64;

/// All limits that are shared.
pub struct SharedLimits {
    store: Arc<LimitStore>,
    open_rates: Arc<OpenLimits<SharedRate>>,
    open_quotas: Arc<OpenLimits<SharedQuota>>,
}

impl SharedLimits {
    /// `id` is this gateway's, unlike that of any other.
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

    /// The rate of a name.
    pub fn rate(&self, name: &str, algorithm: LimitAlgorithm) -> Arc<SharedRate> {
        Arc::new(SharedRate::new(self.store.clone(), self.open_rates.clone(), name, algorithm))
    }

    /// The quota that the store has under a key.
    pub fn quota(&self, key: String) -> Arc<SharedQuota> {
        Arc::new(SharedQuota::new(self.store.clone(), self.open_quotas.clone(), key))
    }

    /// What times of limits are counted from.
    pub fn start_time(&self) -> Moment {
        self.store.start_time()
    }

    /// How long a request may be held for answers about its limits.
    pub fn answer_time_max(&self) -> Duration {
        self.store.answer_time_max()
    }

    /// Tells the store what it has to know of, and gives back what is leased of quotas: what nobody has used lately, or everything at the
    /// end. In one turn only so much, or a gateway with many of them would forget to say that it is there.
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

/// Says once in a while that this gateway is there, and brings the store up to date.
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
