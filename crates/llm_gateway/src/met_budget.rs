//! A budget as requests meet it: whose it is, and the counter that it has. The data path names them.

use serde::{Deserialize, Serialize};
use tollgate_model::session::{BudgetUnit, LlmBudget};

/// A budget that requests meet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MetBudget {
    /// Whose it is, in a word.
    pub of: String,
    /// The name of its counter. A budget of another unit or period begins anew.
    pub counter: String,
    /// The budget.
    pub budget: LlmBudget,
}

impl MetBudget {
    /// A budget of a holder. `places` lead to its counter, the last of them to one of several holders.
    pub fn new(of: &str, places: &[&str], budget: &LlmBudget) -> Self {
        let counter = format!("{}.{}.{}.{}", places.join("."), budget.name, budget.unit.name(), budget.per.name());
        MetBudget { of: of.to_owned(), counter, budget: budget.clone() }
    }

    /// Whether a request must have a bound: what it may cost is taken beforehand.
    pub(crate) fn is_strict(&self) -> bool {
        is_strict(&self.budget)
    }
}

/// What a counter counts for one of a budget: dollars are counted in millionths.
pub(crate) fn units_of_one(unit: BudgetUnit) -> f64 {
    if unit == BudgetUnit::Usd { 1e6 } else { 1.0 }
}

/// Whether a budget is strict, without its counter.
pub(crate) fn is_strict(budget: &LlmBudget) -> bool {
    !budget.soft && budget.unit != BudgetUnit::Requests
}
