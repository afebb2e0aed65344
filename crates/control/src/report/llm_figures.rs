//! What APIs in front of language models have sent to providers: requests, tokens, cost.

use super::exposition::{Exposition, MetricKind};
use std::sync::Arc;
use tollgate_llm_gateway::{LlmFigures, LlmOutcome, TokenKind};

/// Models at providers with their own series: the configuration names them, and a scrape can carry so many.
const LANES_MAX: usize = 1_000;

/// Requests, tokens and cost by API, model and provider; models beyond the limit are left out.
pub(super) fn llm_figures(text: &mut Exposition, apis: &[(String, Arc<LlmFigures>)]) {
    let mut lanes: Vec<_> = apis
        .iter()
        .flat_map(|(api, figures)| {
            figures.all().into_iter().map(move |((model, provider), lane)| ([api.clone(), model, provider], lane))
        })
        .collect();
    if lanes.is_empty() {
        return;
    }
    lanes.sort_by(|(a, _), (b, _)| a.cmp(b));
    lanes.truncate(LANES_MAX);
    text.family("tollgate_llm_requests", MetricKind::Counter, "Requests to providers of language models, by outcome.");
    for ([api, model, provider], lane) in &lanes {
        for outcome in LlmOutcome::ALL {
            let labels = [("api", api.as_str()), ("model", model), ("provider", provider), ("outcome", outcome.name())];
            text.sample(&labels, lane.requests(outcome) as f64);
        }
    }
    text.family(
        "tollgate_llm_tokens",
        MetricKind::Counter,
        "Tokens that providers of language models have told, each in one kind.",
    );
    for ([api, model, provider], lane) in &lanes {
        for kind in TokenKind::ALL {
            let labels = [("api", api.as_str()), ("model", model), ("provider", provider), ("kind", kind.name())];
            text.sample(&labels, lane.tokens(kind) as f64);
        }
    }
    text.family("tollgate_llm_cost_usd", MetricKind::Counter, "What these tokens cost by list prices, in US dollars.");
    for ([api, model, provider], lane) in &lanes {
        text.sample(&[("api", api.as_str()), ("model", model), ("provider", provider)], lane.cost_usd());
    }
}
