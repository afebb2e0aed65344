//! The metrics at one moment, and the difference between two moments.

use super::TopAsked;
use super::client::TopClient;
use super::more::{More, MoreAnswers, TargetView};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tollgate_model::distribution::{Distribution, OWN_NS, REQUEST_NS};

/// The metrics at one moment.
pub(super) struct Sample {
    live: Value,
    keys: Vec<(String, u64)>,
    more: MoreAnswers,
}

/// The difference between two moments.
#[derive(Debug, Default, PartialEq)]
pub(super) struct View {
    pub version: String,
    pub seconds: f64,
    pub requests_per_s: f64,
    pub clients: u64,
    pub upstreams: u64,
    /// The share of time in which each thread works.
    pub busy: Vec<f64>,
    /// The busiest first.
    pub apis: Vec<ApiView>,
    /// Rejected and failed requests per second, by cause.
    pub causes: Vec<(String, f64)>,
    /// Keys and their recent requests, if usage is recorded.
    pub keys: Vec<(String, u64)>,
    /// Targets of upstreams with rules, those that fail first.
    pub targets: Vec<TargetView>,
    /// The past hour, top lists, refusals.
    pub more: More,
}

/// One API's part.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ApiView {
    pub id: String,
    pub name: String,
    pub requests_per_s: f64,
    /// Responses with 4xx and 5xx.
    pub client_errors_per_s: f64,
    pub server_errors_per_s: f64,
    pub in_flight: u64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// The gateway's own part of the latency.
    pub gateway_p99_ms: f64,
    /// Share of the requests in the response cache that the upstream did not see; `None` without such requests.
    pub cache_hit_ratio: Option<f64>,
    pub cache_bytes: u64,
}

impl Sample {
    /// Fetches the metrics.
    pub(super) fn take(client: &TopClient, asked: TopAsked) -> Result<Self, String> {
        let live =
            client.get("/tyk/live")?.ok_or("the gateway has no figures: tollgate.metrics.enabled is false, or it is older")?;
        let usage = client.get(&format!("/tyk/usage?by=key&last=5m&top=10{}", asked.nodes)).ok().flatten().unwrap_or_default();
        let rows = usage.get("rows").and_then(Value::as_array).into_iter().flatten();
        let keys = rows.filter_map(|row| Some((row.get("value")?.as_str()?.to_owned(), row.get("hits")?.as_u64()?)));
        Ok(Sample { live, keys: keys.filter(|(key, _)| !key.is_empty()).collect(), more: MoreAnswers::take(client, asked) })
    }
}

impl View {
    pub(super) fn between(first: &Sample, second: &Sample) -> Self {
        let seconds = (number(&second.live, "/unix_ms") - number(&first.live, "/unix_ms")).max(1.0) / 1_000.0;
        let before: BTreeMap<&str, &Value> =
            apis(&first.live).filter_map(|api| Some((api.get("api_id")?.as_str()?, api))).collect();
        let mut causes: BTreeMap<String, f64> = BTreeMap::new();
        let (mut shown, mut targets) = (Vec::new(), Vec::new());
        for api in apis(&second.live) {
            let id = api.get("api_id").and_then(Value::as_str).unwrap_or_default();
            let old = before.get(id).copied().unwrap_or(&Value::Null);
            shown.push(ApiView::between(id, old, api, seconds));
            targets.extend(TargetView::between(id, old, api, seconds));
            for kind in ["refusals", "upstream_errors", "client_errors"] {
                for (cause, count) in api.get(kind).and_then(Value::as_object).into_iter().flatten() {
                    let old = old.get(kind).and_then(|kind| kind.get(cause)).and_then(Value::as_f64).unwrap_or_default();
                    *causes.entry(cause.clone()).or_default() += (count.as_f64().unwrap_or_default() - old).max(0.0) / seconds;
                }
            }
        }
        shown.sort_by(|a, b| b.requests_per_s.total_cmp(&a.requests_per_s).then_with(|| a.id.cmp(&b.id)));
        let rank = |target: &TargetView| (target.state == "available", -(target.requests_per_s * 1e3) as i64);
        targets.sort_by_key(rank);
        let mut causes: Vec<_> = causes.into_iter().filter(|(_, per_s)| *per_s > 0.0).collect();
        causes.sort_by(|a, b| b.1.total_cmp(&a.1));
        let busy = second.live.get("core_busy").and_then(Value::as_array).into_iter().flatten();
        View {
            version: second.live.get("version").and_then(Value::as_str).unwrap_or_default().to_owned(),
            seconds,
            requests_per_s: shown.iter().map(|api| api.requests_per_s).sum(),
            clients: number(&second.live, "/connections/client") as u64,
            upstreams: number(&second.live, "/connections/upstream") as u64,
            busy: busy.filter_map(Value::as_f64).collect(),
            apis: shown,
            causes,
            keys: second.keys.clone(),
            targets,
            more: More::new(&second.more),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        let apis = self.apis.iter().map(|api| {
            json!({
                "api_id": api.id,
                "name": api.name,
                "requests_per_s": api.requests_per_s,
                "client_errors_per_s": api.client_errors_per_s,
                "server_errors_per_s": api.server_errors_per_s,
                "in_flight": api.in_flight,
                "p50_ms": api.p50_ms,
                "p99_ms": api.p99_ms,
                "gateway_p99_ms": api.gateway_p99_ms,
                "cache_hit_ratio": api.cache_hit_ratio,
                "cache_bytes": api.cache_bytes,
            })
        });
        json!({
            "version": self.version,
            "seconds": self.seconds,
            "requests_per_s": self.requests_per_s,
            "connections": { "client": self.clients, "upstream": self.upstreams },
            "core_busy": self.busy,
            "apis": apis.collect::<Vec<_>>(),
            "causes_per_s": self.causes.iter().cloned().collect::<BTreeMap<_, _>>(),
            "keys": self.keys.iter().map(|(key, hits)| json!({ "key": key, "hits": hits })).collect::<Vec<_>>(),
            "targets": self.targets.iter().map(TargetView::to_json).collect::<Vec<_>>(),
            "more": self.more.to_json(),
        })
    }
}

impl ApiView {
    fn between(id: &str, old: &Value, new: &Value, seconds: f64) -> Self {
        let per_s = |path: &str| (number(new, path) - number(old, path)).max(0.0) / seconds;
        let request_time = times(old, new, "/request_time/buckets");
        let own_time = times(old, new, "/gateway_time/buckets");
        let ms = |ns: u64| ns as f64 / 1e6;
        let answered = per_s("/cache/hits") + per_s("/cache/stale") + per_s("/cache/coalesced");
        let looked_up = answered + per_s("/cache/misses");
        ApiView {
            id: id.to_owned(),
            name: new.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            requests_per_s: per_s("/requests"),
            client_errors_per_s: per_s("/codes/4xx"),
            server_errors_per_s: per_s("/codes/5xx"),
            in_flight: number(new, "/in_flight") as u64,
            p50_ms: ms(request_time.quantile_ns(&REQUEST_NS, 0.5)),
            p99_ms: ms(request_time.quantile_ns(&REQUEST_NS, 0.99)),
            gateway_p99_ms: ms(own_time.quantile_ns(&OWN_NS, 0.99)),
            cache_hit_ratio: (looked_up > 0.0).then(|| answered / looked_up),
            cache_bytes: number(new, "/cache/bytes") as u64,
        }
    }
}

fn apis(live: &Value) -> impl Iterator<Item = &Value> {
    live.get("apis").and_then(Value::as_array).into_iter().flatten()
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_default()
}

/// The durations between two moments.
fn times(old: &Value, new: &Value, path: &str) -> Distribution {
    let mut times = Distribution::default();
    for (index, bucket) in times.buckets.iter_mut().enumerate() {
        let path = format!("{path}/{index}");
        *bucket = (number(new, &path) - number(old, &path)).max(0.0) as u64;
    }
    times
}

#[cfg(test)]
mod tests;
