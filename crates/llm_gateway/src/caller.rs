//! Who sends a request, and which budgets it meets, as the data path says it.

use crate::budget::Budget;
use crate::llm_server::LlmServer;
use crate::told::told_of;
use http::HeaderMap;
use std::sync::Arc;
use tollgate_outbound::{CallerLine, Holder};

/// The header with the organisation of the caller, or of the API without one. The data path sets it.
pub const ORGANISATION_HEADER: &str = "x-tollgate-llm-organisation";

/// The header with the alias of the caller's key. The data path sets it.
pub const ALIAS_HEADER: &str = "x-tollgate-llm-alias";

/// Holders whose budgets have one counter for each name.
const SINGLE: [&str; 2] = ["api", "organisation"];

impl LlmServer {
    /// Who sends a request.
    pub(crate) fn holder(&self, headers: &HeaderMap) -> Holder {
        let caller = CallerLine::read(headers);
        caller.holder(caller.key_digest.to_owned())
    }

    /// The budgets of a request.
    pub(crate) fn budgets_of(&self, headers: &HeaderMap) -> Vec<Arc<Budget>> {
        let Some(counters) = &self.terms.counters else { return Vec::new() };
        let (_, told) = told_of(headers);
        let budgets = told.into_iter().map(|told| {
            let figures = self.figures.budget(&told.0, &told.2.name).unwrap_or_default();
            let budget = Budget::new(told, counters.as_ref(), figures, self.terms.on_store_failure);
            if SINGLE.contains(&budget.of.as_str()) {
                budget.figures.note(&budget.counter, budget.max(), &budget.rule);
            }
            Arc::new(budget)
        });
        budgets.collect()
    }
}
