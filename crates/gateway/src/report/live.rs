//! All metrics as JSON, for `tollgate top` and scripts. Counts are totals since the start, so two calls show what happened in
//! between; percentiles cover the whole time.

use super::response_cache::response_caches;
use super::targets::live_targets;
use crate::data::gateway_state::GatewayState;
use crate::observe::meter::{CLASSES, Sum};
use serde_json::{Map, Value, json};
use std::time::SystemTime;
use tollgate_model::distribution::{BOUNDS, Distribution, OWN_NS, REQUEST_NS};

/// The current values of all metrics.
pub(crate) fn live(shared: &GatewayState) -> Value {
    let observer = &shared.observer;
    let caches = response_caches(shared);
    let mut targets = live_targets(shared);
    let apis: Vec<Value> = shared
        .registry
        .meters
        .all()
        .iter()
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
    })
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
