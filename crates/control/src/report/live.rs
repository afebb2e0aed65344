//! All metrics as JSON, for `tollgate top` and scripts. Counts are totals since the start, so two calls show what happened in
//! between; percentiles cover the whole time.

use super::component_metrics;
use super::events::live_events;
use super::live_sample::unrouted;
use super::response_cache::response_caches;
use super::targets::live_targets;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::distribution::{BOUNDS, Distribution, OWN_NS, REQUEST_NS};
use tollgate_observe::meter::{CLASSES, Sum};

/// Breakers and certificates that are shown, as many as have their own metrics.
const COMPONENTS_MAX: usize = 500;

/// The APIs that are shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownApis {
    All,
    One(String),
    None,
}

impl ShownApis {
    fn has(&self, api: &str) -> bool {
        match self {
            ShownApis::All => true,
            ShownApis::One(own) => own == api,
            ShownApis::None => false,
        }
    }
}

/// The current values of all metrics.
pub fn live(shared: &GatewayState, shown: &ShownApis) -> Value {
    let observer = &shared.observer;
    let caches = response_caches(shared);
    let mut targets = live_targets(shared);
    let apis: Vec<Value> = shared
        .registry
        .meters
        .all()
        .iter()
        .filter(|meter| shown.has(&meter.api))
        .filter_map(|meter| {
            let mut figures = api(&meter.api, name(shared, &meter.api), &meter.sum()?);
            if let (Some(figures), Some(cache)) = (figures.as_object_mut(), caches.get(&*meter.api)) {
                figures.insert("cache".to_owned(), json!(cache));
            }
            if let (Some(figures), Some(targets)) = (figures.as_object_mut(), targets.remove(&*meter.api)) {
                figures.insert("targets".to_owned(), targets.into());
            }
            Some(figures)
        })
        .collect();
    let engine = |read: fn(&tollgate_engine::CoreStats) -> u64| observer.engine.iter().map(|core| read(core)).sum::<u64>();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "unix_ms": since_1970_ms(SystemTime::now()),
        "started_unix_ms": since_1970_ms(observer.started),
        "connections": {
            "client": engine(|core| core.clients_open.get()),
            "upstream": engine(|core| core.upstreams_open.get()),
        },
        "core_connections": observer.engine.iter().map(|core| core.clients_open.get()).collect::<Vec<_>>(),
        "core_busy": observer.engine.iter().map(|core| core.busy_permille.get() as f64 / 1000.0).collect::<Vec<_>>(),
        "apis": apis,
        "bounds": { "request_us": REQUEST_NS.map(|ns| ns / 1_000), "gateway_us": OWN_NS.map(|ns| ns / 1_000) },
        "node": observer.node(),
        "unrouted": unrouted(shared),
        "reload": reload(shared),
        "breakers": breakers(shared),
        "certificates": certificates(shared),
        "stores": component_metrics::store_states(shared),
        "sinks": sinks(shared),
        "events": live_events(&shared.settings.watch.events),
        "middlewares": middlewares(shared),
    })
}

fn reload(shared: &GatewayState) -> Value {
    let figures = &shared.observer.reloads;
    let read = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
    let problems = figures.problems();
    let problems = problems.iter().map(|problem| {
        json!({
            "level": if problem.is_error() { "error" } else { "warning" },
            "file": problem.file.as_ref().map(|file| file.display().to_string()),
            "path": problem.path,
            "message": problem.message,
        })
    });
    json!({
        "ok": read(&figures.ok),
        "failed": read(&figures.failed),
        "last_ok_unix_s": read(&figures.last_ok_unix_s),
        "last_failed": read(&figures.last_failed) > 0,
        "last_us": read(&figures.last_us),
        "errors": read(&figures.errors),
        "warnings": read(&figures.warnings),
        "problems": problems.collect::<Vec<_>>(),
    })
}

fn breakers(shared: &GatewayState) -> Vec<Value> {
    let now = shared.start.elapsed();
    let breakers = shared.registry.all_breakers();
    let shown = breakers.iter().take(COMPONENTS_MAX).map(|breaker| {
        json!({
            "api_id": breaker.place.api,
            "version": breaker.place.version,
            "endpoint": breaker.place.endpoint,
            "open": breaker.is_open(now),
            "openings": breaker.openings(),
        })
    });
    shown.collect()
}

/// Those that end first.
fn certificates(shared: &GatewayState) -> Vec<Value> {
    let mut all = shared.registry.certificates.all();
    all.sort_by_key(|(_, certificate)| certificate.facts.not_after_unix_s);
    let unix_s = i64::try_from(since_1970_ms(SystemTime::now()) / 1_000).unwrap_or(i64::MAX);
    let shown = all.iter().take(COMPONENTS_MAX).map(|(source, certificate)| {
        let end = certificate.facts.not_after_unix_s;
        json!({ "source": source, "subject": certificate.facts.common_name, "not_after_unix_s": end, "remaining_s": end - unix_s })
    });
    shown.collect()
}

fn sinks(shared: &GatewayState) -> Vec<Value> {
    let sinks = shared.observer.recording.iter().flat_map(|recording| &recording.sinks);
    let shown = sinks.map(|sink| {
        let [waiting, written, dropped, failed] =
            [&sink.waiting, &sink.written, &sink.dropped, &sink.failed].map(|count| count.load(Ordering::Relaxed));
        json!({ "sink": sink.name, "waiting": waiting, "written": written, "dropped": dropped, "failed": failed })
    });
    shown.collect()
}

/// Samples of middlewares and their time in nanoseconds, by name.
pub fn middleware_times(shared: &GatewayState) -> BTreeMap<&'static str, (u64, u64)> {
    let mut sums: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    for core in &shared.observer.cores {
        core.middleware_samples.iter().for_each(|(name, count)| sums.entry(name).or_default().0 += count);
        core.middleware_ns.iter().for_each(|(name, ns)| sums.entry(name).or_default().1 += ns);
    }
    sums
}

/// How long middlewares take, from samples.
fn middlewares(shared: &GatewayState) -> Vec<Value> {
    let sums = middleware_times(shared);
    let shown = sums
        .iter()
        .map(|(name, (samples, ns))| json!({ "middleware": name, "samples": samples, "mean_ns": ns.checked_div(*samples) }));
    shown.collect()
}

fn api(id: &str, name: String, sum: &Sum) -> Value {
    let mut classes = Map::new();
    for (index, class) in CLASSES.iter().enumerate() {
        let count: u64 = sum.requests.iter().filter_map(|method| method.get(index)).sum();
        classes.insert((*class).to_owned(), count.into());
    }
    json!({
        "api_id": id,
        "name": name,
        "requests": sum.requests.iter().flatten().sum::<u64>(),
        "codes": classes,
        "in_flight": sum.in_flight,
        "refusals": sum.refusals,
        "upstream_errors": sum.upstream_errors,
        "client_errors": sum.client_errors,
        "request_time": times(&sum.request_time, &REQUEST_NS),
        "upstream_time": times(&sum.upstream_time, &REQUEST_NS),
        "gateway_time": times(&sum.own_time, &OWN_NS),
    })
}

fn times(distribution: &Distribution, bounds: &[u64; BOUNDS]) -> Value {
    let quantile_us = |share| distribution.quantile_ns(bounds, share) as f64 / 1000.0;
    json!({
        "count": distribution.count(),
        "sum_us": distribution.sum_ns / 1000,
        "p50_us": quantile_us(0.5),
        "p90_us": quantile_us(0.9),
        "p99_us": quantile_us(0.99),
        "buckets": distribution.buckets,
    })
}

fn name(shared: &GatewayState, api: &str) -> String {
    let snapshot = shared.current.load();
    snapshot.api_by_id(api).and_then(|index| snapshot.apis.get(index)).map(|api| api.name.clone()).unwrap_or_default()
}

fn since_1970_ms(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
