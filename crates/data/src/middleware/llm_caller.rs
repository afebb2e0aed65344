//! Tells the gateway of models who sends a request, and which budgets it meets: those of its API, its key with the key's policies, and its organisation; and
//! its record, of which team it is. Reads `tollgate.llm` and `llm_budgets` of sessions. Invisible to clients, whose own lines of these names never pass.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::met_budgets::{of_api, of_key, of_organisation};
use std::sync::Arc;
use tollgate_access::jwt::value_text;
use tollgate_llm_gateway::{CallFacts, MetBudget};
use tollgate_model::session::{BudgetHolder, LlmBudget};
use tollgate_outbound::CALLER_LINE;
use tollgate_statistics::{LlmCall, OpenCalls};
use tollgate_store::spend::OTHER;

/// Longest name of a team in sums and records: clients may have tokens with any text.
const TEAM_BYTES_MAX: usize = 200;

pub(super) struct LlmCaller {
    api: String,
    org: String,
    budgets: Vec<LlmBudget>,
    /// What tells its team.
    team: Option<BudgetHolder>,
    calls: Arc<OpenCalls<LlmCall>>,
}

impl LlmCaller {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let llm = source.definition.tollgate.llm.as_ref()?;
        let (api, org) = (source.definition.api_id.clone(), source.definition.org_id.clone());
        let calls = source.context.registry.llm_calls.clone();
        let (budgets, team) = (llm.budgets.clone(), llm.team_holder().cloned());
        Some(Box::new(LlmCaller { api, org, budgets, team, calls }))
    }

    fn budgets(&self, exchange: &Exchange<'_>, caller: &str) -> Vec<MetBudget> {
        let key = exchange.caller.key.as_ref();
        let of_api = self.budgets.iter().map(|budget| of_api(&self.api, budget, caller, |holder| value_of(exchange, holder)));
        let of_key = key.iter().flat_map(|key| &key.session.llm_budgets).map(|budget| of_key(budget, caller));
        let of_org = exchange.arrival.keys.with_org(&self.org, |org| {
            org.session.llm_budgets.iter().map(|budget| of_organisation(&self.org, budget)).collect::<Vec<_>>()
        });
        of_api.chain(of_key).chain(of_org.unwrap_or_default()).collect()
    }

    /// The name of its team in sums; empty without one.
    fn team(&self, exchange: &Exchange<'_>) -> String {
        let team = self.team.as_ref().map(|holder| value_of(exchange, holder)).unwrap_or_default();
        if team.len() > TEAM_BYTES_MAX { OTHER.to_owned() } else { team }
    }
}

/// The value that a request has of a claim or in its session's `meta_data`; empty without one.
fn value_of(exchange: &Exchange<'_>, holder: &BudgetHolder) -> String {
    let caller = &exchange.caller;
    match holder {
        BudgetHolder::Claim(name) => caller.claims.as_ref().and_then(|claims| claims.get(name)).unwrap_or_default().to_owned(),
        BudgetHolder::Metadata(name) => caller.meta_data().and_then(|data| data.get(name)).map(value_text).unwrap_or_default(),
        _ => String::new(),
    }
}

impl Middleware for LlmCaller {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(CALLER_LINE);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        // The request's record keeps the call open; without one, nobody learns what becomes of the request.
        let call = self.calls.open(LlmCall::default()).map(Box::new);
        if let (Some(call), true) = (&call, self.team.is_some()) {
            let team = self.team(exchange);
            call.call().note(|stats| stats.team = team);
        }
        let caller = exchange.caller.key_digest();
        let session = exchange.caller.key.as_ref().map(|key| &key.session);
        let organisation = session.map(|session| &session.org_id).filter(|org| !org.is_empty()).unwrap_or(&self.org);
        let facts = CallFacts {
            call: call.as_ref().map(|call| call.number),
            organisation: organisation.to_string(),
            alias: session.map(|session| session.alias.to_string()).unwrap_or_default(),
            budgets: self.budgets(exchange, &caller),
        };
        exchange.notes.llm_call.set(call);
        let text = serde_json::to_string(&facts).unwrap_or_default();
        exchange.tell_caller(&caller, None, Some(&text));
        Step::Next
    }
}
