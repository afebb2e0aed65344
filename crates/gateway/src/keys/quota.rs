//! How much of a quota is used. Exact under concurrency; stored a little later by whoever collects the changed ones.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_store::Counter;

/// One quota's counter.
pub struct Quota {
    name: String,
    used: Mutex<Used>,
    is_dirty: AtomicBool,
    dirty: Arc<DirtyQuotas>,
    /// Set when the key was reset or deleted: a request that still holds the counter must not have it stored again.
    retired: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Default)]
struct Used {
    requests: i64,
    /// When it begins anew; 0 before the first use.
    renews_unix_s: u64,
}

/// What is left of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaView {
    pub remaining: i64,
    pub renews_unix_s: u64,
}

/// Quotas that have changed since they were stored.
#[derive(Default)]
pub struct DirtyQuotas(Mutex<Vec<Arc<Quota>>>);

impl DirtyQuotas {
    /// The changed quotas; from here on they count as stored.
    pub fn take(&self) -> Vec<Arc<Quota>> {
        let quotas = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        quotas.iter().for_each(|quota| quota.is_dirty.store(false, Ordering::Release));
        quotas
    }

    /// Takes note of a change, also of one that could not be stored.
    pub fn add(&self, quota: &Arc<Quota>) {
        if !quota.is_dirty.swap(true, Ordering::AcqRel) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(quota.clone());
        }
    }
}

impl Quota {
    /// A counter, as it was stored if it was.
    pub fn new(name: String, saved: Option<(i64, u64)>, dirty: Arc<DirtyQuotas>, retired: Arc<AtomicBool>) -> Self {
        let used = saved.map_or(Used::default(), |(requests, renews_unix_s)| Used { requests, renews_unix_s });
        Quota { name, used: Mutex::new(used), is_dirty: AtomicBool::new(false), dirty, retired }
    }

    /// Counts a request if there is room for it. The time to the renewal starts with the first request; `renewal_s` of 0 or less
    /// means never.
    pub fn take(self: &Arc<Self>, max: i64, renewal_s: i64, now_unix_s: u64) -> Result<QuotaView, QuotaView> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if now_unix_s >= used.renews_unix_s {
            let renews_unix_s = u64::try_from(renewal_s).ok().filter(|seconds| *seconds > 0).map_or(u64::MAX, |s| now_unix_s + s);
            *used = Used { requests: 0, renews_unix_s };
        }
        if used.requests >= max {
            return Err(QuotaView { remaining: 0, renews_unix_s: used.renews_unix_s });
        }
        used.requests += 1;
        let view = QuotaView { remaining: max - used.requests, renews_unix_s: used.renews_unix_s };
        drop(used);
        self.dirty.add(self);
        Ok(view)
    }

    /// What is left, without counting anything.
    pub fn view(&self, max: i64, now_unix_s: u64) -> Option<QuotaView> {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = now_unix_s < used.renews_unix_s;
        is_running.then(|| QuotaView { remaining: (max - used.requests).max(0), renews_unix_s: used.renews_unix_s })
    }

    /// The value to store, unless the counter counts for nothing any more.
    pub fn counter(&self) -> Option<Counter> {
        if self.retired.load(Ordering::Acquire) {
            return None;
        }
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Counter { name: self.name.clone(), value: used.requests, renews_unix_s: used.renews_unix_s })
    }
}

#[cfg(test)]
mod tests;
