//! Retry budget: retries are at most a share of the requests, so that an outage does not multiply the load.

use crate::Nanos;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// One retry, in the units of the balance.
const RETRY: i64 = 1_000;
const SECOND: Nanos = 1_000_000_000;

/// How many retries are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetRules {
    /// Retries per 100 requests.
    pub percent: u32,
    /// Retries that unused requests leave for later.
    pub saved_max: u32,
    /// Retries per second that are always allowed, for APIs with few requests.
    pub per_s_min: u32,
}

/// The budget of one list of targets.
#[derive(Debug, Default)]
pub struct RetryBudget {
    balance: AtomicI64,
    /// The second in which the guaranteed retries were last counted, and their number: `second << 32 | retries`.
    guaranteed: AtomicU64,
    refused: AtomicU64,
}

impl RetryBudget {
    /// Counts a request of a client.
    #[inline]
    pub fn deposit(&self, rules: &BudgetRules) {
        // Races may exceed the maximum by one deposit per core.
        if self.balance.load(Relaxed) < i64::from(rules.saved_max) * RETRY {
            self.balance.fetch_add(i64::from(rules.percent) * RETRY / 100, Relaxed);
        }
    }

    /// Takes one retry out, if there is one left.
    pub fn withdraw(&self, rules: &BudgetRules, now: Nanos) -> bool {
        let take = |balance: i64| (balance >= RETRY).then_some(balance - RETRY);
        let allowed = self.balance.fetch_update(Relaxed, Relaxed, take).is_ok() || self.withdraw_guaranteed(rules, now);
        if !allowed {
            self.refused.fetch_add(1, Relaxed);
        }
        allowed
    }

    fn withdraw_guaranteed(&self, rules: &BudgetRules, now: Nanos) -> bool {
        let second = (now / SECOND) & 0xFFFF_FFFF;
        let take = |counted: u64| {
            let used = if counted >> 32 == second { counted & 0xFFFF_FFFF } else { 0 };
            (used < u64::from(rules.per_s_min)).then_some((second << 32) | (used + 1))
        };
        self.guaranteed.fetch_update(Relaxed, Relaxed, take).is_ok()
    }

    /// Retries that are left, without the guaranteed ones.
    pub fn left(&self) -> u64 {
        u64::try_from(self.balance.load(Relaxed) / RETRY).unwrap_or_default()
    }

    /// Retries that the budget did not allow.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }
}

#[cfg(test)]
mod tests;
