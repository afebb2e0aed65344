//! All metrics as one text. This file lists the metric families; each is written in one place.

use super::exposition::{Exposition, ExpositionFormat, ExpositionText, MetricKind};
use super::process::ProcessFigures;
use super::response_cache::{ResponseCacheFigures, response_cache_series};
use super::{component_metrics, events, llm_figures, streams, targets};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::SystemTime;
use tollgate_data::gateway_state::GatewayState;
use tollgate_engine::{CoreStats, Counter};
use tollgate_model::distribution::{OWN_NS, REQUEST_NS};
use tollgate_observe::meter::{CLASSES, METHODS, Sum};

/// Causes of refusals that are decisions of a limit.
const LIMITS: [(&str, &str); 5] = [
    ("key_rate_limit", "key"),
    ("quota_exceeded", "quota"),
    ("api_rate_limit", "api"),
    ("org_rate_limit", "org"),
    ("org_quota", "org_quota"),
];

type CausesOf = fn(&Sum) -> &BTreeMap<&'static str, u64>;

type MiddlewareFigure = fn(&tollgate_observe::CoreTotals) -> &tollgate_observe::CauseCounts;

fn middleware_samples(core: &tollgate_observe::CoreTotals) -> &tollgate_observe::CauseCounts {
    &core.middleware_samples
}

/// The text for a scraper.
pub fn scrape(shared: &GatewayState, form: ExpositionFormat) -> String {
    let mut text = ExpositionText::new(form);
    write_all(&mut text, shared);
    text.finish()
}

/// Writes all metrics.
pub(super) fn write_all(text: &mut Exposition, shared: &GatewayState) {
    about(text, shared);
    requests(text, shared);
    caches(text, shared);
    connections(text, &shared.observer.engine);
    records(text, &shared.observer);
    configuration(text, shared);
    component_metrics::certificates(text, &shared.registry.certificates.all());
    if let Some(terms) = &shared.client_terms {
        component_metrics::issued_certificates(text, &terms.issue_states());
    }
    component_metrics::breakers(text, &shared.registry.all_breakers(), shared.start.elapsed());
    component_metrics::hooks(text, &shared.registry.all_hook_meters());
    targets::targets(text, shared);
    let llm_apis = shared.registry.all_llm_figures();
    llm_figures::llm_figures(text, &llm_apis);
    llm_figures::llm_caches(text, &llm_apis);
    llm_figures::llm_guards(text, &llm_apis);
    llm_figures::llm_keys(text, &llm_apis);
    llm_figures::llm_times(text, &llm_apis);
    llm_figures::llm_budgets(text, &llm_apis, tollgate_clock::unix_s());
    events::event_series(text, &shared.settings.watch.events);
    streams::streams(text, shared);
    component_metrics::stores(text, shared);
    component_metrics::secret_stores(text, shared);
    process(text);
}

fn about(text: &mut Exposition, shared: &GatewayState) {
    text.family("tollgate_build_info", MetricKind::Gauge, "Always 1; the version is a label.")
        .sample(&[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    text.family("process_start_time_seconds", MetricKind::Gauge, "When the process started, Unix time.")
        .sample(&[], unix_s(shared.observer.started));
}

fn caches(text: &mut Exposition, shared: &GatewayState) {
    let series = response_cache_series(shared);
    if series.is_empty() {
        return;
    }
    type Read = fn(&ResponseCacheFigures) -> u64;
    let results: [(&str, Read); 5] = [
        ("hit", |api| api.hits),
        ("miss", |api| api.misses),
        ("stale", |api| api.stale),
        ("coalesced", |api| api.coalesced),
        ("bypass", |api| api.bypassed),
    ];
    text.family(
        "tollgate_cache_lookups",
        MetricKind::Counter,
        "Requests that were looked up in the response cache, by API and result.",
    );
    for (api, figures) in &series {
        for (result, read) in results {
            text.sample(&[("api", api), ("result", result)], read(figures) as f64);
        }
    }
    let families: [(&str, MetricKind, &str, Read); 6] = [
        ("tollgate_cache_stored", MetricKind::Counter, "Responses that were stored.", |api| api.stored),
        ("tollgate_cache_not_stored", MetricKind::Counter, "Responses that were considered and not stored.", |api| api.not_stored),
        ("tollgate_cache_validated", MetricKind::Counter, "Stored responses that the upstream confirmed.", |api| api.validated),
        ("tollgate_cache_evicted", MetricKind::Counter, "Stored responses that were dropped to make room.", |api| api.evicted),
        ("tollgate_cache_entries", MetricKind::Gauge, "Stored responses.", |api| api.entries),
        ("tollgate_cache_entry_bytes", MetricKind::Gauge, "Memory of stored responses.", |api| api.bytes),
    ];
    for (name, kind, help, read) in families {
        text.family(name, kind, help);
        for (api, figures) in &series {
            text.sample(&[("api", api)], read(figures) as f64);
        }
    }
    text.family("tollgate_cache_bytes", MetricKind::Gauge, "Memory of the response cache, all APIs together.")
        .sample(&[], shared.registry.api_caches().1 as f64);
    text.family("tollgate_cache_bytes_max", MetricKind::Gauge, "Limit for the memory of the response cache.")
        .sample(&[], shared.settings.sizes.cache.memory_bytes_max as f64);
}

fn requests(text: &mut Exposition, shared: &GatewayState) {
    let meters = shared.registry.meters.all();
    let sums: Vec<(&str, Sum)> = meters.iter().filter_map(|meter| Some((meter.api.as_str(), meter.sum()?))).collect();

    text.family("tollgate_requests", MetricKind::Counter, "Requests that are over, by API, method and class of the status code.");
    for (api, sum) in &sums {
        for (method, classes) in METHODS.iter().zip(&sum.requests) {
            for (class, count) in CLASSES.iter().zip(classes).filter(|(_, count)| **count > 0) {
                text.sample(&[("api", api), ("method", method), ("code", class)], *count as f64);
            }
        }
    }
    text.family("tollgate_requests_in_flight", MetricKind::Gauge, "Requests that an upstream works on.");
    for (api, sum) in &sums {
        text.sample(&[("api", api)], sum.in_flight as f64);
    }
    text.family("tollgate_request_duration_seconds", MetricKind::Histogram, "From a request's head to the end of its response.");
    for (api, sum) in &sums {
        text.histogram(&[("api", api)], &REQUEST_NS, &sum.request_time);
    }
    text.family(
        "tollgate_upstream_duration_seconds",
        MetricKind::Histogram,
        "The upstream's part of it, with the body if that takes longer.",
    );
    for (api, sum) in sums.iter().filter(|(_, sum)| sum.upstream_time.count() > 0) {
        text.histogram(&[("api", api)], &REQUEST_NS, &sum.upstream_time);
    }
    text.family("tollgate_gateway_duration_seconds", MetricKind::Histogram, "The gateway's own part of it.");
    for (api, sum) in &sums {
        text.histogram(&[("api", api)], &OWN_NS, &sum.own_time);
    }
    text.family("tollgate_request_body_bytes", MetricKind::Counter, "Bytes of bodies that clients sent.");
    for (api, sum) in &sums {
        text.sample(&[("api", api)], sum.request_bytes as f64);
    }
    text.family("tollgate_response_bytes", MetricKind::Counter, "Bytes that clients were sent, heads and bodies.");
    for (api, sum) in &sums {
        text.sample(&[("api", api)], sum.response_bytes as f64);
    }
    let of_causes: [(&str, &str, CausesOf); 4] = [
        ("tollgate_refusals", "Requests that the gateway turned away, by cause.", |sum| &sum.refusals),
        ("tollgate_dry_runs", "Requests that would have been turned away if it were not for a dry run, by cause.", |sum| {
            &sum.dry_runs
        }),
        ("tollgate_upstream_errors", "Requests whose upstream did not do its part, by cause.", |sum| &sum.upstream_errors),
        ("tollgate_client_errors", "Requests whose client did not do its part, by cause.", |sum| &sum.client_errors),
    ];
    for (name, help, causes) in of_causes {
        text.family(name, MetricKind::Counter, help);
        for (api, sum) in &sums {
            for (cause, count) in causes(sum) {
                text.sample(&[("api", api), ("cause", cause)], *count as f64);
            }
        }
    }
    text.family(
        "tollgate_ratelimit_decisions",
        MetricKind::Counter,
        "What limits did to requests: refuse, or let pass in dry run.",
    );
    for (api, sum) in &sums {
        for (decision, causes) in [("refused", &sum.refusals), ("dry_run", &sum.dry_runs)] {
            for (limit, count) in LIMITS.iter().filter_map(|(cause, limit)| Some((limit, causes.get(cause)?))) {
                text.sample(&[("api", api), ("limit", limit), ("decision", decision)], *count as f64);
            }
        }
    }
    for (name, help, read, unit) in [
        (
            "tollgate_middleware_samples",
            "Calls of middlewares that were timed: one request in 1024.",
            middleware_samples as MiddlewareFigure,
            1.0,
        ),
        ("tollgate_middleware_seconds", "The time that these calls took.", |core| &core.middleware_ns, 1e9),
    ] {
        let mut sums: BTreeMap<&'static str, u64> = BTreeMap::new();
        for (middleware, count) in shared.observer.cores.iter().flat_map(|core| read(core).iter()) {
            *sums.entry(middleware).or_default() += count;
        }
        text.family(name, MetricKind::Counter, help);
        for (middleware, sum) in sums {
            text.sample(&[("middleware", middleware)], sum as f64 / unit);
        }
    }
    text.family("tollgate_api_middleware_samples", MetricKind::Counter, "Calls of middlewares that were timed, by API.");
    for (api, sum) in &sums {
        for (middleware, count) in &sum.middleware_samples {
            text.sample(&[("api", api), ("middleware", middleware)], *count as f64);
        }
    }
    text.family("tollgate_api_middleware_seconds", MetricKind::Counter, "The time that these calls took.");
    for (api, sum) in &sums {
        for (middleware, ns) in &sum.middleware_ns {
            text.sample(&[("api", api), ("middleware", middleware)], *ns as f64 / 1e9);
        }
    }
    text.family("tollgate_unrouted_requests", MetricKind::Counter, "Requests that no API saw.");
    let totals = |read: fn(&tollgate_observe::CoreTotals) -> &Counter| {
        shared.observer.cores.iter().map(|core| read(core).get()).sum::<u64>()
    };
    let reasons = [
        ("address_rate_limit", totals(|core| &core.too_many)),
        ("not_found", totals(|core| &core.not_found)),
        ("bad_path", totals(|core| &core.bad_path)),
        ("redirected", totals(|core| &core.redirected)),
    ];
    for (reason, count) in reasons {
        text.sample(&[("reason", reason)], count as f64);
    }
    text.family("tollgate_control_requests", MetricKind::Counter, "Requests for the control API on the main port.")
        .sample(&[], totals(|core| &core.control) as f64);
    text.family("tollgate_password_checks", MetricKind::Counter, "Passwords that were compared with a slow hash.")
        .sample(&[], shared.registry.passwords.started().map_or(0, |threads| threads.checked()) as f64);
}

fn connections(text: &mut Exposition, cores: &[std::sync::Arc<CoreStats>]) {
    let sum = |read: fn(&CoreStats) -> &Counter| cores.iter().map(|core| read(core).get()).sum::<u64>() as f64;
    text.family("tollgate_open_connections", MetricKind::Gauge, "Open connections, by side.")
        .sample(&[("side", "client")], sum(|core| &core.clients_open))
        .sample(&[("side", "upstream")], sum(|core| &core.upstreams_open));
    text.family("tollgate_upstream_connections_idle", MetricKind::Gauge, "Connections to upstreams that wait for a request.")
        .sample(&[], sum(|core| &core.upstreams_idle));
    text.family("tollgate_open_tunnels", MetricKind::Gauge, "WebSockets and other tunnels that are open.")
        .sample(&[], sum(|core| &core.tunnels_open));
    text.family("tollgate_upstream_connections_active", MetricKind::Gauge, "Connections to upstreams that carry a request.")
        .sample(
            &[],
            cores.iter().map(|core| core.upstreams_open.get().saturating_sub(core.upstreams_idle.get())).sum::<u64>() as f64,
        );
    text.family("tollgate_client_connections", MetricKind::Counter, "Connections that clients made.")
        .sample(&[], sum(|core| &core.clients));
    text.family("tollgate_refused_connections", MetricKind::Counter, "Connections closed at once, by cause.")
        .sample(&[("cause", "address")], sum(|core| &core.clients_refused))
        .sample(&[("cause", "files")], sum(|core| &core.clients_refused_without_files));
    text.family("tollgate_upstream_connections", MetricKind::Counter, "Attempts to connect to an upstream, by result.")
        .sample(&[("result", "ok")], sum(|core| &core.connects))
        .sample(&[("result", "failed")], sum(|core| &core.connects_failed));
    text.family(
        "tollgate_upstream_connection_reuses",
        MetricKind::Counter,
        "Requests that went out on a connection that had carried others before.",
    )
    .sample(&[], sum(|core| &core.reuses));
    text.family(
        "tollgate_refused_heads",
        MetricKind::Counter,
        "Connections closed because what came was no request that is taken.",
    )
    .sample(&[], sum(|core| &core.heads_refused));
    text.family(
        "tollgate_http2_buffered_bytes",
        MetricKind::Gauge,
        "Bytes that HTTP/2 streams hold for clients and upstreams that have not taken them.",
    )
    .sample(&[], sum(|core| &core.http2_buffered));
    text.family(
        "tollgate_kept_body_bytes",
        MetricKind::Gauge,
        "Bytes of bodies that are kept because a middleware must see them whole.",
    )
    .sample(&[], sum(|core| &core.kept_body_bytes));
    text.family(
        "tollgate_refused_bodies",
        MetricKind::Counter,
        "Bodies that were not kept as others took all the memory for them.",
    )
    .sample(&[], sum(|core| &core.kept_bodies_refused));
    text.family(
        "tollgate_http2_misused_connections",
        MetricKind::Counter,
        "HTTP/2 connections that were ended because their clients made work for nothing.",
    )
    .sample(&[], sum(|core| &core.http2_misused));
    text.family(
        "tollgate_evicted_connections",
        MetricKind::Counter,
        "Idle client connections closed as no file descriptor was left.",
    )
    .sample(&[], sum(|core| &core.clients_evicted));
    text.family("tollgate_core_connections", MetricKind::Gauge, "Client connections of a thread of the data plane.");
    for (index, core) in cores.iter().enumerate() {
        text.sample(&[("core", &index.to_string())], core.clients_open.get() as f64);
    }
    text.family("tollgate_core_busy_ratio", MetricKind::Gauge, "Share of its time that a thread of the data plane worked lately.");
    for (index, core) in cores.iter().enumerate() {
        text.sample(&[("core", &index.to_string())], core.busy_permille.get() as f64 / 1000.0);
    }
}

fn records(text: &mut Exposition, observer: &tollgate_observe::Observer) {
    let log = &observer.log;
    text.family(
        "tollgate_log_lines",
        MetricKind::Counter,
        "Lines of the log: left out among many of their kind, or dropped as nobody read.",
    )
    .sample(&[("result", "written")], log.lines() as f64)
    .sample(&[("result", "left_out")], log.left_out() as f64)
    .sample(&[("result", "dropped")], log.dropped() as f64);
    if let Some(recording) = &observer.recording {
        let recorded = recording.recorded.iter().map(|count| count.get()).sum::<u64>();
        text.family("tollgate_records", MetricKind::Counter, "Records of requests.").sample(&[], recorded as f64);
    }
    text.family("tollgate_sink_records", MetricKind::Counter, "What sinks did with records; dropped ones found the sink too slow.");
    let recording = || observer.recording.iter().flat_map(|recording| &recording.sinks);
    for sink in recording().chain([&observer.statsd]).chain(&observer.otlp_metrics) {
        for (result, count) in [("written", &sink.written), ("dropped", &sink.dropped), ("failed", &sink.failed)] {
            text.sample(&[("sink", sink.name), ("result", result)], count.load(Ordering::Relaxed) as f64);
        }
    }
    text.family("tollgate_sink_waiting_records", MetricKind::Gauge, "Records on their way to a sink, or being written.");
    for sink in recording() {
        text.sample(&[("sink", sink.name)], sink.waiting.load(Ordering::Relaxed) as f64);
    }
}

fn configuration(text: &mut Exposition, shared: &GatewayState) {
    let reloads = &shared.observer.reloads;
    let load = |figure: &std::sync::atomic::AtomicU64| figure.load(Ordering::Relaxed) as f64;
    text.family("tollgate_apis", MetricKind::Gauge, "APIs that are served.").sample(&[], shared.current.load().apis.len() as f64);
    text.family("tollgate_keys", MetricKind::Gauge, "Keys that are known.").sample(&[], shared.keys.len() as f64);
    let patterns = &shared.registry.patterns;
    text.family("tollgate_patterns", MetricKind::Gauge, "Path patterns of endpoints and access rights; equal ones count once.")
        .sample(&[], patterns.len() as f64);
    text.family("tollgate_pattern_bytes", MetricKind::Gauge, "Memory that these patterns take.")
        .sample(&[], patterns.bytes() as f64);
    text.family("tollgate_config_reloads", MetricKind::Counter, "Reloads, by result.")
        .sample(&[("result", "ok")], load(&reloads.ok))
        .sample(&[("result", "failed")], load(&reloads.failed));
    text.family("tollgate_config_last_reload_success", MetricKind::Gauge, "1 if the last reload found no error.")
        .sample(&[], 1.0 - load(&reloads.last_failed));
    text.family(
        "tollgate_config_last_reload_success_timestamp_seconds",
        MetricKind::Gauge,
        "The last reload without an error, Unix time.",
    )
    .sample(&[], load(&reloads.last_ok_unix_s));
    text.family("tollgate_config_last_reload_duration_seconds", MetricKind::Gauge, "What the last reload took.")
        .sample(&[], load(&reloads.last_us) / 1e6);
    text.family("tollgate_config_problems", MetricKind::Gauge, "What the last reload found wrong, by level.")
        .sample(&[("level", "error")], load(&reloads.errors))
        .sample(&[("level", "warning")], load(&reloads.warnings));
}

fn process(text: &mut Exposition) {
    let figures = ProcessFigures::read();
    text.family("process_cpu_seconds", MetricKind::Counter, "Processor time used.").sample(&[], figures.cpu_s);
    let gauges = [
        ("process_resident_memory_bytes", "Memory in use.", figures.resident_bytes.map(|bytes| bytes as f64)),
        ("process_open_fds", "Open file descriptors.", figures.open_files.map(|count| count as f64)),
        ("process_max_fds", "File descriptors that may be open.", figures.open_files_max.map(|count| count as f64)),
    ];
    for (name, help, value) in gauges {
        if let Some(value) = value {
            text.family(name, MetricKind::Gauge, help).sample(&[], value);
        }
    }
}

fn unix_s(time: SystemTime) -> f64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_millis() as f64 / 1000.0)
}
