//! Quota counters: how much of a quota is used. Exact under concurrency; a background writer stores the changed ones a little later. A counter of
//! a budget counts units such as tokens instead of requests.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_limit::{BudgetDecision, BudgetTerms, QuotaPeriod, SharedQuota, TakenUnits, WaitPolicy};
use tollgate_store::CounterValue;

/// One quota's counter.
pub struct Quota {
    name: String,
    /// Requests in the current period.
    used: AtomicI64,
    /// When the quota renews, in Unix seconds; 0 before the first use.
    renews_unix_s: AtomicU64,
    /// How often a budget was reset.
    generation: AtomicI64,
    /// Held while the quota renews.
    renewal: Mutex<()>,
    is_dirty: AtomicBool,
    dirty: Arc<DirtyQuotas>,
    /// Set when the key is reset or deleted: a request that still holds the counter must not cause it to be stored again.
    retired: Arc<AtomicBool>,
    /// Counter shared with other gateways; it replaces this one.
    shared: Option<Arc<SharedQuota>>,
}

/// Remaining part of a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaView {
    pub remaining: i64,
    pub renews_unix_s: u64,
}

/// Quotas that have changed since they were last stored.
#[derive(Default)]
pub struct DirtyQuotas(Mutex<Vec<Arc<Quota>>>);

impl DirtyQuotas {
    /// Takes the changed quotas and marks them as stored.
    pub fn take(&self) -> Vec<Arc<Quota>> {
        let quotas = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        quotas.iter().for_each(|quota| quota.is_dirty.store(false, SeqCst));
        quotas
    }

    /// Notes that a quota has changed or could not be stored.
    pub fn add(&self, quota: &Arc<Quota>) {
        // One total order: a thread that sees the mark from before `take` has counted before `take`, so the writer reads its count.
        if !quota.is_dirty.load(SeqCst) && !quota.is_dirty.swap(true, SeqCst) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(quota.clone());
        }
    }
}

impl Quota {
    /// Makes a counter, with its stored value if there is one.
    pub fn new(name: String, saved: Option<(i64, u64)>, dirty: Arc<DirtyQuotas>, retired: Arc<AtomicBool>) -> Self {
        let (used, renews_unix_s) = saved.unwrap_or_default();
        Quota {
            name,
            used: AtomicI64::new(used),
            renews_unix_s: AtomicU64::new(renews_unix_s),
            generation: AtomicI64::new(0),
            renewal: Mutex::default(),
            is_dirty: AtomicBool::new(false),
            dirty,
            retired,
            shared: None,
        }
    }

    /// Makes a counter that is not stored.
    pub fn unsaved() -> Self {
        Quota::new(String::new(), None, Arc::default(), Arc::default())
    }

    /// Makes a counter that all gateways share.
    pub fn of_all(shared: Arc<SharedQuota>) -> Self {
        Quota { shared: Some(shared), ..Quota::unsaved() }
    }

    /// The shared counter, if this is one.
    pub fn shared(&self) -> Option<&Arc<SharedQuota>> {
        self.shared.as_ref()
    }

    /// Counts a request if the quota is not exhausted. The period starts with the first request; with `renewal_s` of 0 or less the quota
    /// never renews.
    pub fn take(self: &Arc<Self>, max: i64, renewal_s: i64, now_unix_s: u64) -> Result<QuotaView, QuotaView> {
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

    /// Renews the quota, unless another thread has, and returns the time of the next renewal.
    #[cold]
    fn renew(&self, renewal_s: i64, now_unix_s: u64) -> u64 {
        let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.renews_unix_s.load(Ordering::Acquire);
        if now_unix_s < known {
            return known;
        }
        let seconds = u64::try_from(renewal_s).ok().filter(|seconds| *seconds > 0);
        let renews_unix_s = seconds.map_or(u64::MAX, |seconds| now_unix_s.saturating_add(seconds));
        // The order matters: a thread that sees the new time sees nothing of the old count. A thread that still sees the old time counts
        // into the new period.
        self.used.store(0, SeqCst);
        self.renews_unix_s.store(renews_unix_s, Ordering::Release);
        renews_unix_s
    }

    /// Takes back a request that was counted in this second and refused for another reason.
    pub fn give_back(self: &Arc<Self>, renewal_s: i64, unix_s: u64) {
        if let Some(shared) = &self.shared {
            return shared.give_back();
        }
        let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let renews_unix_s = self.renews_unix_s.load(Ordering::Acquire);
        let began_unix_s = renews_unix_s.saturating_sub(u64::try_from(renewal_s).unwrap_or_default());
        // A period that began later has not counted this request.
        if renews_unix_s != u64::MAX && began_unix_s > unix_s {
            return;
        }
        let less = |used: i64| (used > 0).then_some(used - 1);
        if self.used.fetch_update(SeqCst, Ordering::Relaxed, less).is_ok() {
            self.dirty.add(self);
        }
    }

    /// Takes `want` units of a budget. If there are no more, it takes what is left, but no less than `least`.
    pub fn take_units(
        self: &Arc<Self>,
        budget: &BudgetTerms,
        (least, want): (i64, i64),
        patience: WaitPolicy,
        now_unix_s: u64,
    ) -> BudgetDecision {
        if let Some(shared) = &self.shared {
            return shared.take_units(budget, (least, want), patience);
        }
        let period = self.begin_period(budget, now_unix_s);
        let mut units = 0;
        let taken = self.used.fetch_update(SeqCst, Ordering::Relaxed, |used| {
            units = want.min(budget.max.saturating_sub(used));
            (units >= least).then(|| used.saturating_add(units))
        });
        match taken {
            Ok(_) => {
                self.dirty.add(self);
                BudgetDecision::Taken(TakenUnits { units, period })
            }
            Err(_) => BudgetDecision::Refused,
        }
    }

    /// Gives back units that are not used.
    pub fn give_back_units(self: &Arc<Self>, taken: TakenUnits) {
        if let Some(shared) = &self.shared {
            return shared.give_back_units(taken);
        }
        let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        if self.period(self.renews_unix_s.load(Ordering::Acquire)) == taken.period {
            let less = |used: i64| Some((used - taken.units).max(0));
            let _ = self.used.fetch_update(SeqCst, Ordering::Relaxed, less);
            self.dirty.add(self);
        }
    }

    /// Charges units that were used beyond those that had been taken.
    pub fn charge_units(self: &Arc<Self>, budget: &BudgetTerms, units: i64, now_unix_s: u64) {
        if let Some(shared) = &self.shared {
            return shared.charge(budget, units);
        }
        self.begin_period(budget, now_unix_s);
        let more = |used: i64| Some(used.saturating_add(units));
        let _ = self.used.fetch_update(SeqCst, Ordering::Relaxed, more);
        self.dirty.add(self);
    }

    /// What is left of a budget, as all gateways know it, negative if more was used than there was; `None` if the store does not answer.
    pub async fn units_left(&self, budget: &BudgetTerms, now_unix_s: u64) -> Option<i64> {
        match &self.shared {
            Some(shared) => shared.units_left(budget).await,
            None => Some(self.units_left_here(budget.max, now_unix_s)),
        }
    }

    /// What is left of a budget of `max` units, as far as this gateway knows; negative if more was used than there was.
    pub fn units_left_here(&self, max: i64, now_unix_s: u64) -> i64 {
        match &self.shared {
            Some(shared) => shared.view().map_or(max, |(left, _)| left),
            None if now_unix_s < self.renews_unix_s.load(Ordering::Acquire) => max.saturating_sub(self.used.load(SeqCst)),
            None => max,
        }
    }

    /// Forgets what was used in this period. What requests hold at this moment counts for nothing. False if the store does not answer.
    pub async fn reset_units(self: &Arc<Self>, budget: &BudgetTerms) -> bool {
        match &self.shared {
            Some(shared) => shared.reset_units(budget).await,
            None => {
                // Who gives back meanwhile does so before or after both.
                let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
                self.generation.fetch_add(1, SeqCst);
                self.used.store(0, SeqCst);
                self.dirty.add(self);
                true
            }
        }
    }

    /// Begins a new period if the last one is over. Returns the present one.
    fn begin_period(&self, budget: &BudgetTerms, now_unix_s: u64) -> QuotaPeriod {
        let known = self.renews_unix_s.load(Ordering::Acquire);
        if now_unix_s < known {
            return self.period(known);
        }
        let left_s = budget.ends_unix_s.saturating_sub(now_unix_s).max(1);
        self.period(self.renew(i64::try_from(left_s).unwrap_or(i64::MAX), now_unix_s))
    }

    fn period(&self, renews_unix_s: u64) -> QuotaPeriod {
        let ends_ms = i64::try_from(renews_unix_s.saturating_mul(1_000)).unwrap_or(i64::MAX);
        QuotaPeriod { ends_ms, generation: self.generation.load(SeqCst) }
    }

    /// The remaining part, without counting anything.
    pub fn view(&self, max: i64, now_unix_s: u64) -> Option<QuotaView> {
        if let Some(shared) = &self.shared {
            let (remaining, renews_s) = shared.view()?;
            let renews_unix_s = renews_s.map_or(u64::MAX, |seconds| now_unix_s + seconds);
            return Some(QuotaView { remaining: remaining.clamp(0, max.max(0)), renews_unix_s });
        }
        let renews_unix_s = self.renews_unix_s.load(Ordering::Acquire);
        let is_running = now_unix_s < renews_unix_s;
        is_running.then(|| QuotaView { remaining: max.saturating_sub(self.used.load(SeqCst)).max(0), renews_unix_s })
    }

    /// The value to store; `None` when the counter is retired.
    pub fn counter(&self) -> Option<CounterValue> {
        if self.retired.load(Ordering::Acquire) {
            return None;
        }
        // The lock keeps count and time consistent: no renewal can happen.
        let _renewal = self.renewal.lock().unwrap_or_else(PoisonError::into_inner);
        let (value, renews_unix_s) = (self.used.load(SeqCst), self.renews_unix_s.load(Ordering::Acquire));
        Some(CounterValue { name: self.name.clone(), value, renews_unix_s })
    }
}

#[cfg(test)]
mod tests;
