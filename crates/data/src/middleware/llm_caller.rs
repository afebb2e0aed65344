//! Tells the gateway of models which budgets a request meets: those of its API, its key with the key's policies, and its organisation. Reads
//! `tollgate.llm` and `llm_budgets` of sessions. Invisible to clients, whose own line of this name never passes.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use tollgate_llm_gateway::CALLER_HEADER;
use tollgate_model::session::{BudgetHolder, LlmBudget};

pub(super) struct LlmCaller {
    api: String,
    org: String,
    budgets: Vec<LlmBudget>,
}

/// Whose a budget is, the name of its counter, and itself.
type MetBudget = (&'static str, String, LlmBudget);

impl LlmCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let llm = source.definition.tollgate.llm.as_ref()?;
        let (api, org) = (source.definition.api_id.clone(), source.definition.org_id.clone());
        Some(Box::new(LlmCaller { api, org, budgets: llm.budgets.clone() }))
    }

    fn budgets(&self, exchange: &Exchange<'_>) -> Vec<MetBudget> {
        let key = exchange.caller.key.as_ref();
        // Not the key itself, which nobody behind needs.
        let caller = key.map(|key| blake3::hash(key.shown.as_bytes()).to_hex());
        let caller = caller.as_ref().map_or("", |caller| caller.as_str());
        let of_api = self.budgets.iter().map(|budget| match budget.of {
            Some(BudgetHolder::Key) => met("key", &["api-key", &self.api, caller], budget),
            _ => met("api", &["api", &self.api], budget),
        });
        let of_key = key.iter().flat_map(|key| &key.session.llm_budgets).map(|budget| match (&budget.policy, budget.of) {
            (Some(policy), Some(BudgetHolder::Policy)) => met("policy", &["policy", policy], budget),
            (Some(policy), _) => met("key", &["policy-key", policy, caller], budget),
            (None, _) => met("key", &["key", caller], budget),
        });
        let of_org = exchange.arrival.keys.with_org(&self.org, |org| {
            let budgets = &org.session.llm_budgets;
            budgets.iter().map(|budget| met("organisation", &["org", &self.org], budget)).collect::<Vec<_>>()
        });
        of_api.chain(of_key).chain(of_org.unwrap_or_default()).collect()
    }
}

/// A budget and its counter. One of another unit or period begins anew.
fn met(of: &'static str, places: &[&str], budget: &LlmBudget) -> MetBudget {
    let counter = format!("{}.{}.{}.{}", places.join("."), budget.name, budget.unit.name(), budget.per.name());
    (of, counter, budget.clone())
}

impl Middleware for LlmCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(CALLER_HEADER);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let budgets = self.budgets(exchange);
        let text = if budgets.is_empty() { Vec::new() } else { serde_json::to_vec(&budgets).unwrap_or_default() };
        let headers = &exchange.request.headers;
        exchange.outgoing.edits.set(headers, CALLER_HEADER, &text);
        Step::Next
    }
}
