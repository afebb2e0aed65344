//! State of components: certificates, circuit breakers, stores. For components whose number the configuration controls, a limited
//! number have their own series, and one series covers the rest.

use super::exposition::{Exposition, MetricKind};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tollgate_data::breaker::Breaker;
use tollgate_data::client_tls::IssueState;
use tollgate_data::gateway_state::GatewayState;
use tollgate_data::registry::HookPlace;
use tollgate_model::distribution::Distribution;
use tollgate_observe::{HookMeter, HookResult};
use tollgate_store::timings::BOUNDS_NS;
use tollgate_store::{Store, Timings};
use tollgate_tls::Certificate;

/// Hooks with their own series, for the same reason.
const HOOKS_MAX: usize = 500;
/// Certificates and breakers with their own series: as many as a scrape can carry and a person can read.
const CERTIFICATES_MAX: usize = 500;
const BREAKERS_MAX: usize = 500;
const OTHER: &str = "_other";

/// Expiry of certificates; those beyond the limit share the earliest expiry among them.
pub(super) fn certificates(text: &mut Exposition, certificates: &[(String, Arc<Certificate>)]) {
    let ends: Vec<(&str, &str, i64)> = certificates
        .iter()
        .map(|(source, certificate)| (source.as_str(), certificate.facts.common_name.as_str(), certificate.facts.not_after_unix_s))
        .collect();
    let (own, rest) = ends.split_at(ends.len().min(CERTIFICATES_MAX));
    let other = rest.iter().map(|(.., end)| *end).min().map(|end| (OTHER, "", end));
    let ends = || own.iter().copied().chain(other);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    text.family("tollgate_tls_cert_not_after_timestamp_seconds", MetricKind::Gauge, "When a certificate in use ends, Unix time.");
    for (source, subject, end) in ends() {
        text.sample(&[("cert", source), ("subject", subject)], end as f64);
    }
    text.family(
        "tollgate_tls_cert_remaining_seconds",
        MetricKind::Gauge,
        "Time until a certificate in use ends; below 0 after it.",
    );
    for (source, subject, end) in ends() {
        text.sample(&[("cert", source), ("subject", subject)], end as f64 - now);
    }
}

/// Certificates that the gateway gets by itself; those beyond the limit share the most failures and the next renewal among them.
pub(super) fn issued_certificates(text: &mut Exposition, states: &[IssueState]) {
    if states.is_empty() {
        return;
    }
    let of = |state: &IssueState| (state.failures, state.renewal_unix_s);
    let (own, rest) = states.split_at(states.len().min(CERTIFICATES_MAX));
    let other = rest.iter().map(of).reduce(|most, next| (most.0.max(next.0), most.1.min(next.1)));
    let own = own.iter().map(|state| (state.name.as_str(), of(state)));
    let all: Vec<(&str, (u32, u64))> = own.chain(other.map(|other| (OTHER, other))).collect();
    text.family(
        "tollgate_issued_certificate_failures",
        MetricKind::Gauge,
        "Tries to get a certificate from an issuer that failed since the last one that did not.",
    );
    for (name, (failures, _)) in &all {
        text.sample(&[("cert", name)], f64::from(*failures));
    }
    text.family(
        "tollgate_issued_certificate_renewal_timestamp_seconds",
        MetricKind::Gauge,
        "When a certificate from an issuer is to be renewed, Unix time; 0 before there is one.",
    );
    for (name, (_, renewal)) in &all {
        text.sample(&[("cert", name)], *renewal as f64);
    }
}

/// State of circuit breakers; those beyond the limit are summed. `now` is relative to the gateway's start.
pub(super) fn breakers(text: &mut Exposition, breakers: &[Arc<Breaker>], now: Duration) {
    let states: Vec<(u64, u64)> = breakers.iter().map(|breaker| (breaker.is_open(now).into(), breaker.openings())).collect();
    let own =
        breakers.iter().map(|breaker| [&breaker.place.api, &breaker.place.version, &breaker.place.endpoint].map(String::as_str));
    let own: Vec<([&str; 3], (u64, u64))> = own.zip(states.iter().copied()).take(BREAKERS_MAX).collect();
    let rest = states.get(BREAKERS_MAX..).unwrap_or_default();
    let other = rest.iter().fold((0, 0), |sum, state| (sum.0 + state.0, sum.1 + state.1));
    let other = (!rest.is_empty()).then_some(([OTHER, "", ""], other));
    let all = || own.iter().copied().chain(other);
    text.family("tollgate_circuit_breaker_open", MetricKind::Gauge, "1 while a circuit breaker turns requests away.");
    for ([api, version, endpoint], (open, _)) in all() {
        text.sample(&[("api", api), ("version", version), ("endpoint", endpoint)], open as f64);
    }
    text.family("tollgate_circuit_breaker_openings", MetricKind::Counter, "How often a circuit breaker opened.");
    for ([api, version, endpoint], (_, openings)) in all() {
        text.sample(&[("api", api), ("version", version), ("endpoint", endpoint)], openings as f64);
    }
}

/// Calls and time of the hooks of plugins; those beyond the limit are left out.
pub(super) fn hooks(text: &mut Exposition, hooks: &[(HookPlace, Arc<HookMeter>)]) {
    if hooks.is_empty() {
        return;
    }
    let hooks = hooks.get(..HOOKS_MAX).unwrap_or(hooks);
    text.family("tollgate_plugin_calls", MetricKind::Counter, "Calls of plugins, by API, hook, function and result.");
    for ((api, hook, function), meter) in hooks {
        for result in HookResult::ALL {
            let labels = [("api", api.as_str()), ("hook", *hook), ("function", function.as_str()), ("result", result.name())];
            text.sample(&labels, meter.calls(result) as f64);
        }
    }
    text.family("tollgate_plugin_seconds", MetricKind::Counter, "Time of calls of plugins, by API, hook and function.");
    for ((api, hook, function), meter) in hooks {
        text.sample(&[("api", api), ("hook", hook), ("function", function)], meter.seconds());
    }
}

/// Name, trouble and times of each store.
fn all_stores(shared: &GatewayState) -> Vec<(&'static str, Option<String>, Option<&Timings>)> {
    let keys = shared.keys.store();
    let trouble = shared.keys.shared_keys().and_then(|shared| shared.cluster.redis.trouble());
    let trouble = trouble.or_else(|| keys.trouble().map(|trouble| trouble.to_string()));
    let mut stores = vec![("keys", trouble, keys.timings())];
    if let Some(redis) = shared.observer.recording.as_ref().and_then(|recording| recording.redis.as_ref()) {
        stores.push(("records", redis.trouble(), redis.timings()));
    }
    stores
}

/// State of the stores as JSON.
pub(super) fn store_states(shared: &GatewayState) -> Vec<Value> {
    let shown = all_stores(shared).into_iter().map(|(store, trouble, timings)| {
        let times = timings.map(|timings| Distribution { buckets: timings.buckets(), sum_ns: timings.sum_ns() });
        let quantile_us = |share| times.as_ref().map(|times| times.quantile_ns(&BOUNDS_NS, share) / 1_000);
        json!({
            "store": store,
            "up": trouble.is_none(),
            "trouble": trouble,
            "faults": timings.map(Timings::faults),
            "p50_us": quantile_us(0.5),
            "p99_us": quantile_us(0.99),
        })
    });
    shown.collect()
}

/// Availability and latency of stores.
pub(super) fn stores(text: &mut Exposition, shared: &GatewayState) {
    let stores = all_stores(shared);
    text.family("tollgate_store_up", MetricKind::Gauge, "1 if a store can be asked and written to.");
    for (store, trouble, _) in &stores {
        text.sample(&[("store", store)], u8::from(trouble.is_none()).into());
    }
    let timed = || stores.iter().filter_map(|(store, _, timings)| Some((*store, (*timings)?)));
    text.family("tollgate_store_duration_seconds", MetricKind::Histogram, "From a question to a store to its answer.");
    for (store, timings) in timed() {
        let times = Distribution { buckets: timings.buckets(), sum_ns: timings.sum_ns() };
        text.histogram(&[("store", store)], &BOUNDS_NS, &times);
    }
    text.family("tollgate_store_faults", MetricKind::Counter, "Questions that a store did not answer, or could not carry out.");
    for (store, timings) in timed() {
        text.sample(&[("store", store)], timings.faults() as f64);
    }
}

/// Stores of secrets.
pub(super) fn secret_stores(text: &mut Exposition, shared: &GatewayState) {
    let states = shared.settings.documents.secrets.remote.as_ref().map(|secrets| secrets.states()).unwrap_or_default();
    text.family("tollgate_secret_store_up", MetricKind::Gauge, "1 if a store of secrets answered the last question.");
    for state in &states {
        text.sample(&[("store", &state.name)], u8::from(state.is_up).into());
    }
    text.family("tollgate_secret_questions", MetricKind::Counter, "Questions to stores of secrets, by whether they were answered.");
    for state in &states {
        text.sample(&[("store", &state.name), ("result", "answered")], state.answers as f64);
        text.sample(&[("store", &state.name), ("result", "failed")], state.faults as f64);
    }
}

#[cfg(test)]
mod tests;
