//! Counters of budgets that are no key's quota, such as those of tokens. They are counted, stored and shared as quotas are.

use super::quota::Quota;
use super::{Digest, Keys};
use std::sync::{Arc, PoisonError};
use tollgate_model::key as key_format;

/// How budgets are found by those who know no keys.
pub trait BudgetCounters: Send + Sync {
    /// The counter with a name.
    fn counter(&self, name: &str) -> Arc<Quota>;
}

impl BudgetCounters for Keys {
    /// On first use it starts with the stored value.
    fn counter(&self, name: &str) -> Arc<Quota> {
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = budgets.get(name) {
            return known.clone();
        }
        let made = Arc::new(match &self.shared {
            Some(shared) => Quota::of_all(shared.cluster.limits.quota(format!("tollgate.budget.{name}"))),
            None => {
                let saved = self.saved.take(&digest(), name);
                Quota::new(super::own_quota_name(&digest(), name), saved, self.dirty.clone(), Arc::default())
            }
        });
        budgets.insert(name.to_owned(), made.clone());
        made
    }
}

impl Keys {
    /// Another gateway has reset the budget with this counter.
    pub fn budget_was_reset(&self, name: &str) {
        let budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        budgets.get(name).and_then(|budget| budget.shared()).into_iter().for_each(|shared| shared.was_reset());
    }

    /// Drops the counters that nobody uses in periods that are over.
    pub(super) fn forget_budgets(&self, now_unix_s: u64) {
        let mut budgets = self.budgets.lock().unwrap_or_else(PoisonError::into_inner);
        budgets.retain(|_, budget| Arc::strong_count(budget) > 1 || budget.view(0, now_unix_s).is_some());
    }
}

/// The digest that counters of budgets are stored under; no key has such a text.
fn digest() -> Digest {
    key_format::digest("\0budgets")
}
