//! What is spent of budgets, for those who look at them and reset them.

use crate::budget::Budget;
use crate::met_budget::{MetBudget, units_of_one};
use std::sync::Arc;
use tollgate_access::keys::BudgetCounters;
use tollgate_clock::unix_s;

/// How much of a budget is spent in the present period.
#[derive(Clone, Copy, Debug)]
pub struct BudgetUse {
    /// What is spent, or held for answers in flight and by gateways for later requests, in the budget's unit. More than the budget if it was exceeded.
    pub spent: f64,
    /// When the period ends, in Unix seconds.
    pub ends_unix_s: u64,
}

impl MetBudget {
    /// What is spent of it; `None` if the shared store does not answer.
    pub async fn spent(&self, counters: &dyn BudgetCounters) -> Option<BudgetUse> {
        let (budget, now_unix_s) = (self.counted(counters), unix_s());
        let left = budget.counter.units_left(&budget.terms(now_unix_s), now_unix_s).await?;
        let scale = units_of_one(self.budget.unit);
        let (ends_unix_s, _) = self.budget.per.around(now_unix_s);
        Some(BudgetUse { spent: budget.max().saturating_sub(left) as f64 / scale, ends_unix_s })
    }

    /// Forgets what was spent in the present period. False if the shared store does not answer.
    pub async fn reset(&self, counters: &dyn BudgetCounters) -> bool {
        let budget = self.counted(counters);
        budget.counter.reset_units(&budget.terms(unix_s())).await
    }

    fn counted(&self, counters: &dyn BudgetCounters) -> Budget {
        Budget::new(self, counters, Arc::default(), None)
    }
}
