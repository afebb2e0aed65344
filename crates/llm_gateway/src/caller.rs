//! Who sends a request, and which budgets it meets, as the data path says it.

use crate::budget::Budget;
use crate::llm_server::LlmServer;
use http::HeaderMap;
use std::sync::Arc;
use tollgate_model::session::LlmBudget;
use tollgate_outbound::Holder;

/// The header with the budgets of a request, as a list in JSON: whose each is, the name of its counter, and itself. The data path sets it.
pub const BUDGETS_HEADER: &str = "x-tollgate-llm-budgets";

/// The header with a digest of the caller's key, empty without one. The data path sets it.
pub const CALLER_HEADER: &str = "x-tollgate-llm-caller";

/// The header with the client's address. The data path sets it.
pub const ADDRESS_HEADER: &str = "x-tollgate-llm-address";

/// Holders whose budgets have one counter for each name.
const SINGLE: [&str; 2] = ["api", "organisation"];

impl LlmServer {
    /// Who sends a request.
    pub(crate) fn holder(&self, headers: &HeaderMap) -> Holder {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let caller = text(CALLER_HEADER);
        Holder::new(caller.to_owned(), !caller.is_empty(), text(ADDRESS_HEADER).parse().ok())
    }

    /// The budgets of a request.
    pub(crate) fn budgets_of(&self, headers: &HeaderMap) -> Vec<Arc<Budget>> {
        let Some(counters) = &self.terms.counters else { return Vec::new() };
        let text = headers.get(BUDGETS_HEADER).map_or(&b""[..], |text| text.as_bytes());
        let told: Vec<(String, String, LlmBudget)> = serde_json::from_slice(text).unwrap_or_default();
        let budgets = told.into_iter().map(|told| {
            let figures = self.figures.budget(&told.0, &told.2.name).unwrap_or_default();
            let budget = Budget::new(told, counters.as_ref(), figures, self.terms.on_store_failure);
            if SINGLE.contains(&budget.of.as_str()) {
                budget.figures.note(&budget.counter, budget.max(), budget.rule.unit);
            }
            Arc::new(budget)
        });
        budgets.collect()
    }
}
