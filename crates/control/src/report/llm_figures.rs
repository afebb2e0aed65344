//! What APIs in front of language models have sent to providers: requests, tokens, cost.

use super::exposition::{Exposition, MetricKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use tollgate_llm_gateway::{CacheOutcome, GuardOutcome, LaneTimes, LlmFigures, LlmOutcome, TokenKind};
use tollgate_model::distribution::Distribution;

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

/// Kept answers: how often they were sent.
pub(super) fn llm_caches(text: &mut Exposition, apis: &[(String, Arc<LlmFigures>)]) {
    let is_used = |figures: &LlmFigures| CacheOutcome::ALL.iter().any(|outcome| figures.cache.requests(*outcome) > 0);
    let mut used: Vec<_> = apis.iter().filter(|(_, figures)| is_used(figures)).collect();
    if used.is_empty() {
        return;
    }
    used.sort_by(|(a, _), (b, _)| a.cmp(b));
    text.family(
        "tollgate_llm_cache_requests",
        MetricKind::Counter,
        "Requests to caches of answers of language models, by outcome.",
    );
    for (api, figures) in used {
        for outcome in CacheOutcome::ALL {
            text.sample(&[("api", api), ("outcome", outcome.name())], figures.cache.requests(outcome) as f64);
        }
    }
}

/// Guards: what they looked at, and what became of it.
pub(super) fn llm_guards(text: &mut Exposition, apis: &[(String, Arc<LlmFigures>)]) {
    let all =
        apis.iter().flat_map(|(api, figures)| figures.all_guards().into_iter().map(move |(name, guard)| ((api, name), guard)));
    let mut guards: Vec<_> = all.collect();
    if guards.is_empty() {
        return;
    }
    guards.sort_by(|(a, _), (b, _)| a.cmp(b));
    guards.truncate(LANES_MAX);
    text.family("tollgate_llm_guards", MetricKind::Counter, "Requests and answers of language models at guards, by outcome.");
    for ((api, name), guard) in &guards {
        for outcome in GuardOutcome::ALL {
            text.sample(&[("api", api), ("guard", name), ("outcome", outcome.name())], guard.count(outcome) as f64);
        }
    }
}

/// Keys of providers by their places in the definition.
pub(super) fn llm_keys(text: &mut Exposition, apis: &[(String, Arc<LlmFigures>)]) {
    let keys = apis.iter().flat_map(|(api, figures)| figures.all_keys().into_iter().map(move |(names, key)| (api, names, key)));
    let mut keys: Vec<_> = keys.map(|(api, (provider, number), key)| ([api.clone(), provider, number.to_string()], key)).collect();
    if keys.is_empty() {
        return;
    }
    keys.sort_by(|(a, _), (b, _)| a.cmp(b));
    keys.truncate(LANES_MAX);
    text.family(
        "tollgate_llm_key_requests",
        MetricKind::Counter,
        "Requests to providers of language models, by the gateway's key there.",
    );
    for ([api, provider, number], key) in &keys {
        text.sample(&[("api", api.as_str()), ("provider", provider), ("key", number)], key.requests() as f64);
    }
    text.family("tollgate_llm_key_refusals", MetricKind::Counter, "Those that the provider refused for the key, by cause.");
    for ([api, provider, number], key) in &keys {
        for (cause, count) in key.refusals() {
            text.sample(&[("api", api.as_str()), ("provider", provider), ("key", number), ("cause", cause)], count as f64);
        }
    }
}

/// How long answers took, by API, model and provider; models beyond the limit are left out.
pub(super) fn llm_times(text: &mut Exposition, apis: &[(String, Arc<LlmFigures>)]) {
    let lanes = apis.iter().flat_map(|(api, figures)| figures.all().into_iter().map(move |(names, lane)| (api, names, lane)));
    let mut lanes: Vec<_> = lanes.take(LANES_MAX).collect();
    if lanes.is_empty() {
        return;
    }
    lanes.sort_by(|(a_api, a, _), (b_api, b, _)| (a_api, a).cmp(&(b_api, b)));
    text.family("tollgate_llm_first_token_seconds", MetricKind::Histogram, "Until the first token of streams of language models.");
    for (api, (model, provider), lane) in &lanes {
        let times = lane.times.first_token();
        if times.count() > 0 {
            let labels = [("api", api.as_str()), ("model", model), ("provider", provider)];
            text.histogram(&labels, &LaneTimes::FIRST_TOKEN_NS, &times);
        }
    }
    text.family("tollgate_llm_duration_seconds", MetricKind::Histogram, "Requests to providers of language models, by outcome.");
    for (api, (model, provider), lane) in &lanes {
        let mut by_outcome: BTreeMap<&str, Distribution> = BTreeMap::new();
        for (_, outcome, times) in lane.times.durations() {
            let sum = by_outcome.entry(outcome).or_default();
            sum.buckets.iter_mut().zip(times.buckets).for_each(|(sum, more)| *sum += more);
            sum.sum_ns = sum.sum_ns.saturating_add(times.sum_ns);
        }
        for (outcome, times) in &by_outcome {
            let labels = [("api", api.as_str()), ("model", model), ("provider", provider), ("outcome", outcome)];
            text.histogram(&labels, &LaneTimes::DURATION_NS, times);
        }
    }
}

/// Budgets: how much is used, and how often there was too little left. Keys have no series of their own.
pub(super) fn llm_budgets(text: &mut Exposition, apis: &[(String, Arc<LlmFigures>)], now_unix_s: u64) {
    let mut budgets: Vec<_> = apis
        .iter()
        .flat_map(|(api, figures)| {
            let all = figures.all_budgets().into_iter();
            all.map(move |((of, name), figures)| ([api.clone(), of, name], figures))
        })
        .collect();
    if budgets.is_empty() {
        return;
    }
    budgets.sort_by(|(a, _), (b, _)| a.cmp(b));
    budgets.truncate(LANES_MAX);
    text.family("tollgate_llm_budget_refused", MetricKind::Counter, "Requests that a budget had too little left for.");
    for ([api, of, name], figures) in &budgets {
        text.sample(&[("api", api.as_str()), ("of", of), ("budget", name)], figures.refused() as f64);
    }
    let standing = budgets.iter().filter_map(|(names, figures)| Some((names, figures.standing(now_unix_s)?)));
    let standing: Vec<_> = standing.collect();
    text.family("tollgate_llm_budget_limit", MetricKind::Gauge, "Sizes of budgets, in their units.");
    for ([api, of, name], (limit, _, unit)) in &standing {
        text.sample(&[("api", api.as_str()), ("of", of), ("budget", name), ("unit", unit)], *limit);
    }
    text.family(
        "tollgate_llm_budget_spent",
        MetricKind::Gauge,
        "What of budgets is spent, or held for answers in flight, in this period; more than the limit where a soft one was exceeded.",
    );
    for ([api, of, name], (_, spent, unit)) in &standing {
        text.sample(&[("api", api.as_str()), ("of", of), ("budget", name), ("unit", unit)], *spent);
    }
}
