//! Tells the gateway of models who sends a request, and which budgets it meets: those of its API, its key with the key's policies, and its organisation. Reads
//! `tollgate.llm` and `llm_budgets` of sessions. Invisible to clients, whose own lines of these names never pass.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use tollgate_llm_gateway::{CallFacts, MetBudget};
use tollgate_model::session::{BudgetHolder, LlmBudget};
use tollgate_outbound::CALLER_LINE;

pub(super) struct LlmCaller {
    api: String,
    org: String,
    budgets: Vec<LlmBudget>,
}

impl LlmCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let llm = source.definition.tollgate.llm.as_ref()?;
        let (api, org) = (source.definition.api_id.clone(), source.definition.org_id.clone());
        Some(Box::new(LlmCaller { api, org, budgets: llm.budgets.clone() }))
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

/// A budget and its counter. One of another unit or period begins anew.
fn met(of: &str, places: &[&str], budget: &LlmBudget) -> MetBudget {
    let counter = format!("{}.{}.{}.{}", places.join("."), budget.name, budget.unit.name(), budget.per.name());
    MetBudget { of: of.to_owned(), counter, budget: budget.clone() }
}

impl Middleware for LlmCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(CALLER_LINE);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let session = exchange.caller.key.as_ref().map(|key| &key.session);
        let organisation = session.map(|session| &session.org_id).filter(|org| !org.is_empty()).unwrap_or(&self.org);
        let facts = CallFacts {
            organisation: organisation.to_string(),
            alias: session.map(|session| session.alias.to_string()).unwrap_or_default(),
            budgets: self.budgets(exchange, &exchange.caller.key_digest()),
        };
        let text = serde_json::to_string(&facts).unwrap_or_default();
        exchange.tell_caller(Some(&text));
        Step::Next
    }
}
