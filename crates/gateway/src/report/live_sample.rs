//! The sample that open consoles get every two seconds: what happened since the last one, and what needs somebody's attention now.

use super::sampler::{FiguresSample, api_name};
use crate::data::gateway_state::GatewayState;
use crate::observe::Meter;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use tollgate_model::Level;
use tollgate_statistics::{APIS_MAX, Count, Figures};

/// Lines about what needs attention: a person reads the first few.
const ATTENTION_MAX: usize = 50;
/// Certificates that end within these days are named.
const CERTIFICATE_DAYS: i64 = 30;

/// Causes by API as they were at the last sample.
#[derive(Default)]
pub(crate) struct CauseHistory {
    last: HashMap<String, [HashMap<&'static str, u64>; 2]>,
}

impl CauseHistory {
    /// Causes of refusals and of upstreams' errors since the last call.
    fn since(&mut self, meter: &Arc<Meter>) -> [Map<String, Value>; 2] {
        let Some(sum) = meter.sum() else { return Default::default() };
        let now = [sum.refusals, sum.upstream_errors].map(|causes| causes.into_iter().collect::<HashMap<_, _>>());
        let last = self.last.insert(meter.api.clone(), now.clone()).unwrap_or_default();
        let [refusals, errors] = now;
        let [last_refusals, last_errors] = last;
        [(refusals, last_refusals), (errors, last_errors)].map(|(now, last)| {
            let since =
                now.into_iter().map(|(cause, count)| (cause, count.saturating_sub(last.get(cause).copied().unwrap_or_default())));
            since.filter(|(_, count)| *count > 0).map(|(cause, count)| (cause.to_owned(), count.into())).collect()
        })
    }
}

/// The sample as JSON.
pub(crate) fn live_sample(shared: &GatewayState, sample: &FiguresSample, causes: &mut CauseHistory) -> Value {
    let observer = &shared.observer;
    let mut apis: Vec<&(String, Figures)> = sample.apis.iter().collect();
    apis.sort_by(|(a_name, a), (b_name, b)| {
        b.count(Count::Requests).cmp(&a.count(Count::Requests)).then_with(|| a_name.cmp(b_name))
    });
    let [mut refusals, mut errors] = <[Map<String, Value>; 2]>::default();
    let shown: Vec<Value> = apis
        .iter()
        .enumerate()
        .filter_map(|(rank, (api, figures))| {
            let own = sample.meters.get(api).map(|meter| causes.since(meter)).unwrap_or_default();
            let [own_refusals, own_errors] = own;
            add(&mut refusals, &own_refusals);
            add(&mut errors, &own_errors);
            if rank >= APIS_MAX {
                return None;
            }
            let mut row = Map::new();
            row.insert("api_id".to_owned(), api.clone().into());
            row.insert("name".to_owned(), api_name(shared, api).into());
            row.extend(figures.to_json());
            row.insert("refusals".to_owned(), own_refusals.into());
            row.insert("upstream_error_causes".to_owned(), own_errors.into());
            Some(row.into())
        })
        .collect();
    let mut totals = sample.totals.to_json();
    totals.insert("refusals".to_owned(), refusals.into());
    totals.insert("upstream_error_causes".to_owned(), errors.into());
    let engine = |read: fn(&tollgate_engine::CoreStats) -> u64| observer.engine.iter().map(|core| read(core)).sum::<u64>();
    json!({
        "node": observer.node(),
        "nodes": [observer.node()],
        "missing": [],
        "unix_ms": SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
        "seconds": (sample.time.as_secs_f64() * 1_000.0).round() / 1_000.0,
        "totals": totals,
        "apis": shown,
        "apis_active": sample.apis.len(),
        "apis_total": shared.current.load().apis.len(),
        "connections": {
            "client": engine(|core| core.clients_open.get()),
            "upstream": engine(|core| core.upstreams_open.get()),
        },
        "core_busy": observer.engine.iter().map(|core| core.busy_permille.get() as f64 / 1000.0).collect::<Vec<_>>(),
        "unrouted": unrouted(shared),
        "attention": attention(shared),
    })
}

/// Requests that no API was for, since the start.
pub(super) fn unrouted(shared: &GatewayState) -> Value {
    type Read = fn(&crate::observe::CoreTotals) -> u64;
    let counters: [(&str, Read); 5] = [
        ("not_found", |core| core.not_found.get()),
        ("bad_path", |core| core.bad_path.get()),
        ("too_many", |core| core.too_many.get()),
        ("redirected", |core| core.redirected.get()),
        ("control", |core| core.control.get()),
    ];
    let sums = counters.map(|(name, read)| (name.to_owned(), shared.observer.cores.iter().map(read).sum::<u64>().into()));
    Value::Object(sums.into_iter().collect())
}

fn add(sum: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (cause, count) in more {
        let all = sum.get(cause).and_then(Value::as_u64).unwrap_or_default() + count.as_u64().unwrap_or_default();
        sum.insert(cause.clone(), all.into());
    }
}

/// What needs attention, the worst first.
fn attention(shared: &GatewayState) -> Vec<Value> {
    let mut lines: Vec<(bool, Value)> = Vec::new();
    let mut say = |kind: &str, is_bad: bool, api: &str, text: String| {
        let level = if is_bad { "bad" } else { "warn" };
        lines.push((!is_bad, json!({ "kind": kind, "level": level, "api_id": api, "text": text })));
    };
    let now = shared.start.elapsed();
    for breaker in shared.registry.all_breakers().iter().filter(|breaker| breaker.is_open(now)).take(ATTENTION_MAX) {
        say("breaker", true, &breaker.place.api, format!("circuit breaker of {} is open", breaker.place.endpoint));
    }
    let unix_s = crate::base::clock::unix_s() as i64;
    let mut certificates: Vec<_> =
        shared.registry.certificates.all().into_iter().map(|(source, own)| (own.facts.not_after_unix_s - unix_s, source)).collect();
    certificates.sort();
    for (left_s, source) in certificates.iter().filter(|(left_s, _)| *left_s < CERTIFICATE_DAYS * 86_400).take(ATTENTION_MAX) {
        let text = if *left_s <= 0 { format!("{source} has ended") } else { format!("{source} ends in {} days", left_s / 86_400) };
        say("certificate", *left_s <= 0, "", text);
    }
    let problems = shared.observer.reloads.problems();
    let (errors, warnings) =
        (shared.observer.reloads.errors.load(Ordering::Relaxed), shared.observer.reloads.warnings.load(Ordering::Relaxed));
    if errors + warnings > 0 {
        let first = problems.first().map(ToString::to_string).unwrap_or_default();
        let is_bad = problems.first().is_some_and(|problem| problem.level == Level::Error);
        say("reload", is_bad, "", format!("{errors} errors and {warnings} warnings in the definitions: {first}"));
    }
    let redis = shared.keys.shared_keys().and_then(|shared| shared.redis.trouble());
    if let Some(trouble) = redis.or_else(|| shared.keys.store().trouble().map(|fault| fault.to_string())) {
        say("store", true, "", format!("the store of keys does not answer: {trouble}"));
    }
    for sink in shared.observer.recording.iter().flat_map(|recording| &recording.sinks) {
        let lost = sink.dropped.load(Ordering::Relaxed) + sink.failed.load(Ordering::Relaxed);
        if lost > 0 {
            say("sink", false, "", format!("{}: {lost} records lost", sink.name));
        }
    }
    lines.sort_by_key(|(is_mild, _)| *is_mild);
    lines.into_iter().map(|(_, line)| line).take(ATTENTION_MAX).collect()
}
