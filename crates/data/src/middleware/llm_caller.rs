//! Tells the gateway of models who sends a request, and which budgets it meets: those of its API, its key with the key's policies, and its organisation. Reads
//! `tollgate.llm` and `llm_budgets` of sessions. Invisible to clients, whose own lines of these names never pass.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use std::sync::Arc;
use tollgate_llm_gateway::{ALIAS_HEADER, ORGANISATION_HEADER};
use tollgate_model::session::{BudgetHolder, LlmBudget};
use tollgate_outbound::CALLER_LINE;
use tollgate_statistics::LlmCalls;

pub(super) struct LlmCaller {
    api: String,
    org: String,
    budgets: Vec<LlmBudget>,
    calls: Arc<LlmCalls>,
}

/// Whose a budget is, the name of its counter, and itself.
type MetBudget = (&'static str, String, LlmBudget);

impl LlmCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let llm = source.definition.tollgate.llm.as_ref()?;
        let (api, org) = (source.definition.api_id.clone(), source.definition.org_id.clone());
        let calls = source.context.registry.llm_calls.clone();
        Some(Box::new(LlmCaller { api, org, budgets: llm.budgets.clone(), calls }))
    }

    fn budgets(&self, exchange: &Exchange<'_>, caller: &str) -> Vec<MetBudget> {
        let key = exchange.caller.key.as_ref();
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

impl LlmCaller {
    /// Tells whose organisation the caller is, and the alias of the key.
    fn tell_tenant(&self, exchange: &mut Exchange<'_>) {
        let session = exchange.caller.key.as_ref().map(|key| &key.session);
        let org = session.map(|session| session.org_id.as_str()).filter(|org| !org.is_empty()).unwrap_or(&self.org);
        let org = header_text(org);
        let alias = session.map(|session| header_text(&session.alias)).unwrap_or_default();
        let (headers, edits) = (&exchange.request.headers, &mut exchange.outgoing.edits);
        edits.set(headers, ORGANISATION_HEADER, org.as_bytes());
        edits.set(headers, ALIAS_HEADER, alias.as_bytes());
    }
}

/// A budget and its counter. One of another unit or period begins anew.
fn met(of: &'static str, places: &[&str], budget: &LlmBudget) -> MetBudget {
    let counter = format!("{}.{}.{}.{}", places.join("."), budget.name, budget.unit.name(), budget.per.name());
    (of, counter, budget.clone())
}

/// A text as a header line can have it, so that no two texts become one.
fn header_text(text: &str) -> String {
    text.escape_default().to_string()
}

impl Middleware for LlmCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        [CALLER_LINE, ORGANISATION_HEADER, ALIAS_HEADER].iter().for_each(|name| names.add(name));
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let budgets = self.budgets(exchange, &exchange.caller.key_digest());
        // The request's record keeps the call open; without one, nobody learns what becomes of the request.
        let call = self.calls.open().map(Box::new);
        let told = (call.as_ref().map(|call| call.number), budgets);
        exchange.notes.llm_call.set(call);
        exchange.tell_caller(serde_json::to_string(&told).ok().as_deref());
        self.tell_tenant(exchange);
        Step::Next
    }
}
