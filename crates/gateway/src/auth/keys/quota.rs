//! How much of a quota is used. Exact under concurrency; stored a little later by whoever collects the changed ones.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_limit::SharedQuota;
use tollgate_store::CounterValue;

/// One quota's counter.
pub(crate) struct Quota {
    name: String,
    /// Requests since it began anew.
    used: AtomicI64,
    /// When it begins anew, in seconds since 1970; 0 before the first use.
    renews_unix_s: AtomicU64,
    /// Held by who begins anew.
    renewal: Mutex<()>,
    is_dirty: AtomicBool,
    dirty: Arc<DirtyQuotas>,
    /// Set when the key was reset or deleted: a request that still holds the counter must not have it stored again.
    retired: Arc<AtomicBool>,
    /// Counted together with other gateways, and not here.
    shared: Option<Arc<SharedQuota>>,
}

/// What is left of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuotaView {
    pub remaining: i64,
    pub renews_unix_s: u64,
}

/// Quotas that have changed since they were stored.
#[derive(Default)]
pub(crate) struct DirtyQuotas(Mutex<Vec<Arc<Quota>>>);

impl DirtyQuotas {
    /// The changed quotas; from here on they count as stored.
    pub(crate) fn take(&self) -> Vec<Arc<Quota>> {
        let quotas = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        quotas.iter().for_each(|quota| quota.is_dirty.store(false, SeqCst));
        quotas
    }

    /// Takes note of a change, also of one that could not be stored.
    pub(crate) fn add(&self, quota: &Arc<Quota>) {
        // One total order: who sees the mark of before `take` has counted before `take`, and who collects reads that.
        if !quota.is_dirty.load(SeqCst) && !quota.is_dirty.swap(true, SeqCst) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(quota.clone());
        }
    }
}

impl Quota {
    /// A counter, as it was stored if it was.
    pub(crate) fn new(name: String, saved: Option<(i64, u64)>, dirty: Arc<DirtyQuotas>, retired: Arc<AtomicBool>) -> Self {
        let (used, renews_unix_s) = saved.unwrap_or_default();
        Quota {
            name,
            used: AtomicI64::new(used),
            renews_unix_s: AtomicU64::new(renews_unix_s),
            renewal: Mutex::default(),
            is_dirty: AtomicBool::new(false),
            dirty,
            retired,
            shared: None,
        }
    }

    /// A counter of all gateways together.
    pub(crate) fn of_all(shared: Arc<SharedQuota>) -> Self {
        Quota { shared: Some(shared), ..Quota::new(String::new(), None, Arc::default(), Arc::default()) }
    }

    /// The counter of all gateways together, if this is one.
    pub(crate) fn shared(&self) -> Option<&Arc<SharedQuota>> {
        self.shared.as_ref()
    }

    /// Counts a request if there is room for it. The time to the renewal starts with the first request; `renewal_s` of 0 or less
    /// means never.
    pub(crate) fn take(self: &Arc<Self>, max: i64, renewal_s: i64, now_unix_s: u64) -> Result<QuotaView, QuotaView> {
        let mut renews_unix_s = self.renews_unix_s.load(Ordering::Acquire);
        if now_unix_s >= renews_unix_s {
            renews_unix_s = self.renew(renewal_s, now_unix_s);
        }
        match self.used.fetch_update(SeqCst, Ordering::Relaxed, |used| (used < max).then_some(used + 1)) {
            Ok(used) => {
                self.dirty.add(self);
                Ok(QuotaView { remaining: max - used - 1, renews_unix_s })
            }
            Err(_) => Err(QuotaView { remaining: 0, renews_unix_s }),
        }
    }

    /// Begins anew, unless another thread has, and says when that is to happen again.
    #[cold]
    fn renew(&self, renewal_s: i64, now_unix_s: u64) -> u64 {
        let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.renews_unix_s.load(Ordering::Acquire);
        if now_unix_s < known {
            return known;
        }
        let seconds = u64::try_from(renewal_s).ok().filter(|seconds| *seconds > 0);
        let renews_unix_s = seconds.map_or(u64::MAX, |seconds| now_unix_s.saturating_add(seconds));
        // In this order: who sees the new time sees nothing of the old count. Who still goes by the old time counts already here.
        self.used.store(0, SeqCst);
        self.renews_unix_s.store(renews_unix_s, Ordering::Release);
        renews_unix_s
    }

    /// Takes back one that was counted in this second: the request is refused for another reason.
    pub(crate) fn give_back(self: &Arc<Self>, renewal_s: i64, unix_s: u64) {
        if let Some(shared) = &self.shared {
            return shared.give_back();
        }
        let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let renews_unix_s = self.renews_unix_s.load(Ordering::Acquire);
        let began_unix_s = renews_unix_s.saturating_sub(u64::try_from(renewal_s).unwrap_or_default());
        // A period that began later never had the request.
        if renews_unix_s != u64::MAX && began_unix_s > unix_s {
            return;
        }
        let less = |used: i64| (used > 0).then_some(used - 1);
        if self.used.fetch_update(SeqCst, Ordering::Relaxed, less).is_ok() {
            self.dirty.add(self);
        }
    }

    /// What is left, without counting anything.
    pub(crate) fn view(&self, max: i64, now_unix_s: u64) -> Option<QuotaView> {
        if let Some(shared) = &self.shared {
            let (remaining, renews_s) = shared.view()?;
            let renews_unix_s = renews_s.map_or(u64::MAX, |seconds| now_unix_s + seconds);
            return Some(QuotaView { remaining: remaining.clamp(0, max.max(0)), renews_unix_s });
        }
        let renews_unix_s = self.renews_unix_s.load(Ordering::Acquire);
        let is_running = now_unix_s < renews_unix_s;
        is_running.then(|| QuotaView { remaining: max.saturating_sub(self.used.load(SeqCst)).max(0), renews_unix_s })
    }

    /// The value to store, unless the counter counts for nothing any more.
    pub(crate) fn counter(&self) -> Option<CounterValue> {
        if self.retired.load(Ordering::Acquire) {
            return None;
        }
        // Count and time belong together while nobody begins anew.
        let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let (value, renews_unix_s) = (self.used.load(SeqCst), self.renews_unix_s.load(Ordering::Acquire));
        Some(CounterValue { name: self.name.clone(), value, renews_unix_s })
    }
}

#[cfg(test)]
mod tests;
