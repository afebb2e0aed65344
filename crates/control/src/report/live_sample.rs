//! The sample that open consoles get every two seconds: what happened since the last one, and what needs somebody's attention now.

use super::sampler::{FiguresSample, api_name};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use tollgate_data::gateway_state::GatewayState;
use tollgate_model::Level;
use tollgate_observe::Meter;
use tollgate_statistics::{APIS_MAX, Count, Figures};

/// Lines about what needs attention: a person reads the first few.
const ATTENTION_MAX: usize = 50;
/// The level of what is worst.
const BAD: &str = "bad";
/// Certificates that end within these days are named.
const CERTIFICATE_DAYS: i64 = 30;

/// Causes by API as they were at the last sample.
#[derive(Default)]
pub struct CauseHistory {
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

/// The figures of a gateway over two seconds, or of several.
#[derive(Clone, Serialize, Deserialize)]
pub struct LiveSample {
    node: String,
    /// The gateways whose figures are in it.
    pub nodes: Vec<String>,
    /// Gateways that did not answer in time.
    pub missing: Vec<String>,
    unix_ms: u64,
    seconds: f64,
    totals: LiveCounts,
    /// The busiest.
    apis: Vec<LiveApi>,
    apis_active: usize,
    apis_total: usize,
    clients: u64,
    upstreams: u64,
    core_busy: Vec<f64>,
    unrouted: Map<String, Value>,
    attention: Vec<Value>,
}

/// Figures with the causes of refusals and of upstreams' errors.
#[derive(Clone, Default, Serialize, Deserialize)]
struct LiveCounts {
    figures: Figures,
    refusals: Map<String, Value>,
    errors: Map<String, Value>,
}

/// Those of an API.
#[derive(Clone, Serialize, Deserialize)]
struct LiveApi {
    id: String,
    name: String,
    live: LiveCounts,
}

impl LiveCounts {
    fn add(&mut self, other: &LiveCounts) {
        self.figures.add(&other.figures);
        add(&mut self.refusals, &other.refusals);
        add(&mut self.errors, &other.errors);
    }

    fn to_json(&self) -> Map<String, Value> {
        let mut members = self.figures.to_json();
        members.insert("refusals".to_owned(), self.refusals.clone().into());
        members.insert("upstream_error_causes".to_owned(), self.errors.clone().into());
        members
    }
}

impl LiveSample {
    /// What this gateway did since the last sample.
    pub fn new(shared: &GatewayState, sample: &FiguresSample, causes: &mut CauseHistory) -> Self {
        let observer = &shared.observer;
        let mut totals = LiveCounts { figures: sample.totals.clone(), ..LiveCounts::default() };
        let mut apis: Vec<LiveApi> = sample
            .apis
            .iter()
            .map(|(id, figures)| {
                let [refusals, errors] = sample.meters.get(id).map(|meter| causes.since(meter)).unwrap_or_default();
                add(&mut totals.refusals, &refusals);
                add(&mut totals.errors, &errors);
                LiveApi { id: id.clone(), name: String::new(), live: LiveCounts { figures: figures.clone(), refusals, errors } }
            })
            .collect();
        sort_and_cut(&mut apis);
        apis.iter_mut().for_each(|api| api.name = api_name(shared, &api.id));
        let engine = |read: fn(&tollgate_engine::CoreStats) -> u64| observer.engine.iter().map(|core| read(core)).sum::<u64>();
        let unrouted = match unrouted(shared) {
            Value::Object(unrouted) => unrouted,
            _ => Map::new(),
        };
        LiveSample {
            node: observer.node().to_owned(),
            nodes: vec![observer.node().to_owned()],
            missing: Vec::new(),
            unix_ms: SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
            seconds: (sample.time.as_secs_f64() * 1_000.0).round() / 1_000.0,
            totals,
            apis,
            apis_active: sample.apis.len(),
            apis_total: shared.current.load().apis.len(),
            clients: engine(|core| core.clients_open.get()),
            upstreams: engine(|core| core.upstreams_open.get()),
            core_busy: observer.engine.iter().map(|core| core.busy_permille.get() as f64 / 1000.0).collect(),
            unrouted,
            attention: attention(shared),
        }
    }

    /// Adds the figures of another gateway. Each sample covers about two seconds, which need not be the same two.
    pub fn merge(&mut self, other: LiveSample) {
        self.nodes.extend(other.nodes);
        self.totals.add(&other.totals);
        for api in other.apis {
            match self.apis.iter_mut().find(|own| own.id == api.id) {
                Some(own) => own.live.add(&api.live),
                None => self.apis.push(api),
            }
        }
        self.apis_active = self.apis_active.max(other.apis_active).max(self.apis.len());
        self.apis_total = self.apis_total.max(other.apis_total);
        self.clients += other.clients;
        self.upstreams += other.upstreams;
        self.core_busy.extend(other.core_busy);
        add(&mut self.unrouted, &other.unrouted);
        self.attention.extend(other.attention);
    }

    pub fn to_json(&self) -> Value {
        let mut busiest = self.apis.clone();
        sort_and_cut(&mut busiest);
        let apis = busiest.iter().map(|api| {
            let mut row = Map::new();
            row.insert("api_id".to_owned(), api.id.clone().into());
            row.insert("name".to_owned(), api.name.clone().into());
            row.extend(api.live.to_json());
            Value::Object(row)
        });
        let mut attention = self.attention.clone();
        attention.sort_by_key(|line| line.get("level").is_none_or(|level| level != BAD));
        attention.truncate(ATTENTION_MAX);
        json!({
            "node": self.node,
            "nodes": self.nodes,
            "missing": self.missing,
            "unix_ms": self.unix_ms,
            "seconds": self.seconds,
            "totals": self.totals.to_json(),
            "apis": apis.collect::<Vec<_>>(),
            "apis_active": self.apis_active,
            "apis_total": self.apis_total,
            "connections": { "client": self.clients, "upstream": self.upstreams },
            "core_busy": self.core_busy,
            "unrouted": self.unrouted,
            "attention": attention,
        })
    }
}

/// Keeps the APIs with most requests.
fn sort_and_cut(apis: &mut Vec<LiveApi>) {
    let requests = |api: &LiveApi| api.live.figures.count(Count::Requests);
    apis.sort_by(|a, b| requests(b).cmp(&requests(a)).then_with(|| a.id.cmp(&b.id)));
    apis.truncate(APIS_MAX);
}

/// Requests that no API was for, since the start.
pub(super) fn unrouted(shared: &GatewayState) -> Value {
    type Read = fn(&tollgate_observe::CoreTotals) -> u64;
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
        let level = if is_bad { BAD } else { "warn" };
        let node = shared.observer.node();
        lines.push((!is_bad, json!({ "kind": kind, "level": level, "api_id": api, "text": text, "node": node })));
    };
    let now = shared.start.elapsed();
    for breaker in shared.registry.all_breakers().iter().filter(|breaker| breaker.is_open(now)).take(ATTENTION_MAX) {
        say("breaker", true, &breaker.place.api, format!("circuit breaker of {} is open", breaker.place.endpoint));
    }
    let unix_s = tollgate_clock::unix_s() as i64;
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
        let counts = [(errors, "error"), (warnings, "warning")].into_iter().filter(|(number, _)| *number > 0);
        let counts: Vec<String> =
            counts.map(|(number, what)| format!("{number} {what}{}", if number == 1 { "" } else { "s" })).collect();
        say("reload", is_bad, "", format!("{} in the definitions: {first}", counts.join(" and ")));
    }
    let redis = shared.keys.shared_keys().and_then(|shared| shared.cluster.redis.trouble());
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
