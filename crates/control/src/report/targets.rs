//! The targets of APIs with rules for their upstreams: health, load, latency, retries and their budget.

use super::exposition::{Exposition, MetricKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tollgate_balance::{Availability, Candidate};
use tollgate_data::balanced::nanos;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::target_pool::{TargetPool, ejection_cause};

/// Targets with series of their own: as many as a scrape can carry. `/tyk/live` shows all.
const TARGETS_MAX: usize = 1_000;
const NS_PER_S: f64 = 1e9;

/// The pools of all APIs, sorted by name.
fn pools(shared: &GatewayState) -> Vec<Arc<TargetPool>> {
    let mut pools: Vec<Arc<TargetPool>> = shared.current.load().target_pools().cloned().collect();
    pools.sort_by(|a, b| a.name.cmp(&b.name));
    pools
}

/// What a target's state is, in a word, and why.
fn state(availability: Availability) -> (&'static str, &'static str) {
    match availability {
        Availability::Share(share) if share < 1.0 => ("returning", ""),
        Availability::Share(_) => ("available", ""),
        Availability::Ejected(cause) => ("ejected", ejection_cause(cause)),
        Availability::Unanswered => ("ejected", "unanswered"),
        Availability::Down => ("down", "checks"),
    }
}

/// The targets by API id, as `/tyk/live` shows them.
pub(super) fn live_targets(shared: &GatewayState) -> BTreeMap<String, Vec<Value>> {
    let now = nanos(shared.start.elapsed());
    let mut all: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for pool in pools(shared) {
        let list = pool.targets.load();
        for (target, candidate) in list.targets.iter().zip(list.candidates.list()) {
            let health = &candidate.health;
            let (state, cause) = state(health.availability(now, list.candidates.rules()));
            let ends = health.ejected_until().map_or(0, |until| until.saturating_sub(now) / 1_000_000);
            all.entry(pool.name.api.clone()).or_default().push(json!({
                "version": pool.name.version,
                "part": pool.name.part,
                "url": target.url,
                "weight": candidate.weight,
                "state": state,
                "cause": cause,
                "ejection_ends_ms": ends,
                "in_flight": health.in_flight(),
                "latency_us": health.latency() / 1_000,
                "requests": health.tries(),
                "faults": health.faults(),
                "retries": health.retries(),
                "ejections": health.ejections(),
                "retry_budget_left": pool.budget.left(),
                "retries_refused": pool.budget.refused(),
            }));
        }
    }
    all
}

/// The series of targets and budgets.
pub(super) fn targets(text: &mut Exposition, shared: &GatewayState) {
    let now = nanos(shared.start.elapsed());
    let pools = pools(shared);
    let lists: Vec<_> = pools.iter().map(|pool| (pool, pool.targets.load_full())).collect();
    let all = || {
        let rows = lists.iter().flat_map(|(pool, list)| {
            list.targets.iter().zip(list.candidates.list()).map(move |(target, candidate)| (pool, list, target, candidate))
        });
        rows.take(TARGETS_MAX)
    };
    let mut family = |name: &str, kind: MetricKind, help: &str, value: &dyn Fn(&Candidate) -> f64| {
        text.family(name, kind, help);
        for (pool, _, target, candidate) in all() {
            let labels = [
                ("api", pool.name.api.as_str()),
                ("version", pool.name.version.as_str()),
                ("part", pool.name.part.as_str()),
                ("target", target.url.as_str()),
            ];
            text.sample(&labels, value(candidate));
        }
    };
    let count = |counted: u64| counted as f64;
    family("tollgate_target_in_flight", MetricKind::Gauge, "Requests that a target has not answered yet.", &|candidate| {
        f64::from(candidate.health.in_flight())
    });
    family(
        "tollgate_target_requests",
        MetricKind::Counter,
        "Requests that were sent to a target, retries included.",
        &|candidate| count(candidate.health.tries()),
    );
    family("tollgate_target_faults", MetricKind::Counter, "Requests that a target failed.", &|candidate| {
        count(candidate.health.faults())
    });
    family("tollgate_target_retries", MetricKind::Counter, "Retries that were sent to a target.", &|candidate| {
        count(candidate.health.retries())
    });
    family("tollgate_target_ejections", MetricKind::Counter, "How often a target was ejected.", &|candidate| {
        count(candidate.health.ejections())
    });
    family(
        "tollgate_target_latency_seconds",
        MetricKind::Gauge,
        "Moving average of a target's latency that jumps up to peaks.",
        &|candidate| candidate.health.latency() as f64 / NS_PER_S,
    );
    text.family("tollgate_target_available", MetricKind::Gauge, "1 if a target gets requests; 0 with the cause why not.");
    for (pool, list, target, candidate) in all() {
        let availability = candidate.health.availability(now, list.candidates.rules());
        let (_, cause) = state(availability);
        let labels = [
            ("api", pool.name.api.as_str()),
            ("version", pool.name.version.as_str()),
            ("part", pool.name.part.as_str()),
            ("target", target.url.as_str()),
            ("cause", cause),
        ];
        text.sample(&labels, u8::from(matches!(availability, Availability::Share(_))).into());
    }
    text.family(
        "tollgate_hedges",
        MetricKind::Counter,
        "Requests that were also sent to a second target, by which was answered first.",
    );
    for (pool, hedging) in pools.iter().filter_map(|pool| Some((pool, pool.hedging.as_ref()?))).take(TARGETS_MAX) {
        let (sent, won) = (hedging.sent.load(Relaxed), hedging.won.load(Relaxed));
        for (first, number) in [("second", won), ("other", sent.saturating_sub(won))] {
            let labels =
                [("api", pool.name.api.as_str()), ("version", &pool.name.version), ("part", &pool.name.part), ("first", first)];
            text.sample(&labels, count(number));
        }
    }
    let budgets: BTreeMap<(&str, &str), (u64, u64)> = pools
        .iter()
        .map(|pool| ((pool.name.api.as_str(), pool.name.version.as_str()), (pool.budget.left(), pool.budget.refused())))
        .take(TARGETS_MAX)
        .collect();
    text.family("tollgate_retry_budget_left", MetricKind::Gauge, "Retries that an API's budget allows now.");
    for ((api, version), (left, _)) in &budgets {
        text.sample(&[("api", api), ("version", version)], count(*left));
    }
    text.family("tollgate_retries_refused", MetricKind::Counter, "Retries that an API's budget did not allow.");
    for ((api, version), (_, refused)) in &budgets {
        text.sample(&[("api", api), ("version", version)], count(*refused));
    }
}
