//! Who sends a request, and which budgets it meets, as the data path says it.

use crate::budget::Budget;
use crate::llm_server::LlmServer;
use crate::met_budget::MetBudget;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tollgate_outbound::{CallerLine, Holder};

/// What the data path tells of a request beside who sends it, as JSON in the line that tells that.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct CallFacts {
    /// The number of the call, by which its record is found.
    #[serde(default)]
    pub call: Option<u64>,
    /// The organisation of the caller, or of the API without one.
    pub organisation: String,
    /// The alias of the caller's key.
    pub alias: String,
    /// The budgets that the request meets.
    pub budgets: Vec<MetBudget>,
}

impl CallFacts {
    /// What a request tells.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let text = CallerLine::read(headers).rest.unwrap_or_default();
        serde_json::from_str(text).unwrap_or_default()
    }
}

/// Holders whose budgets have one counter for each name.
const SINGLE: [&str; 2] = ["api", "organisation"];

impl LlmServer {
    /// Who sends a request.
    pub(crate) fn holder(&self, headers: &HeaderMap) -> Holder {
        let caller = CallerLine::read(headers);
        caller.holder(caller.key_digest.to_owned())
    }

    /// The budgets of a request.
    pub(crate) fn budgets_of(&self, facts: &CallFacts) -> Vec<Arc<Budget>> {
        let Some(counters) = &self.terms.counters else { return Vec::new() };
        let budgets = facts.budgets.iter().map(|met| {
            let figures = self.figures.budget(&met.of, &met.budget.name).unwrap_or_default();
            let budget = Budget::new(met, counters.as_ref(), figures, self.terms.on_store_failure);
            if SINGLE.contains(&budget.of.as_str()) {
                budget.figures.note(&budget.counter, budget.max(), &budget.rule);
            }
            Arc::new(budget)
        });
        budgets.collect()
    }
}
