//! What a TrafficPolicy makes of definitions.

use super::backend_health::backend_members;
use super::{Effect, invalid, members, merge, version};
use crate::compile::http::milliseconds;
use crate::conditions::Fault;
use crate::objects::{
    BodyChange, CircuitBreakerSettings, ErrorRule, FirewallMode, FirewallPolicySettings, HeaderSettings, PluginDriverName,
    PluginPhase, Plugins, ResponseCacheSettings, TrafficSettings,
};
use ipnet::IpNet;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The members that also act on connections.
pub(super) const ADDRESS_MEMBERS: [&str; 2] = ["allowed_ips", "blacklisted_ips"];

/// Every path.
const ANY_PATH: &str = "/.*";
/// Methods whose requests have bodies.
const BODY_METHODS: [&str; 4] = ["POST", "PUT", "PATCH", "DELETE"];
/// Methods whose responses have bodies.
const ANSWERED_METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/// Methods that a circuit breaker counts, each for itself.
const BREAKER_METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// # Errors
/// It can't act.
pub(super) fn effect(settings: &TrafficSettings) -> Result<Effect, Fault> {
    let mut document = json!({});
    if let Some(clients) = &settings.clients {
        for (name, list) in ADDRESS_MEMBERS.into_iter().zip([&clients.allow, &clients.deny]) {
            let Some(list) = list else { continue };
            if list.is_empty() {
                return Err(invalid("A list of addresses is empty"));
            }
            list.iter().try_for_each(|text| address(text))?;
            merge(&mut document, json!({name: list}));
        }
    }
    if let Some(cache) = &settings.cache {
        merge(&mut document, json!({"tollgate": {"cache": cache_document(cache)}}));
    }
    let headers = [("global", &settings.request_headers), ("global_response", &settings.response_headers)];
    for (prefix, edits) in headers {
        if let Some(edits) = edits {
            merge(&mut document, header_edits(prefix, edits));
        }
    }
    let bodies = [
        ("transform_jq", &settings.request_body, BODY_METHODS.as_slice()),
        ("transform_jq_response", &settings.response_body, ANSWERED_METHODS.as_slice()),
    ];
    for (name, change, methods) in bodies {
        if let Some(change) = change {
            merge(&mut document, body_change(name, change, methods));
        }
    }
    if settings.response_body.is_some() {
        merge(&mut document, json!({"response_processors": [{"name": "response_body_transform_jq"}]}));
    }
    if let Some(plugins) = &settings.plugins {
        merge(&mut document, plugin_hooks(plugins)?);
    }
    if let Some(firewall) = &settings.firewall {
        merge(&mut document, json!({"tollgate": {"waf": firewall_document(firewall)?}}));
    }
    if let Some(breaker) = &settings.circuit_breaker {
        merge(&mut document, circuit_breakers(breaker)?);
    }
    for rule in &settings.errors {
        merge(&mut document, error_rule(rule)?);
    }
    if let Some(bytes) = settings.max_request_bytes {
        if bytes <= 0 {
            return Err(invalid("maxRequestBytes must be more than 0"));
        }
        merge(&mut document, json!({"version_data": version(json!({"global_size_limit": bytes}))}));
    }
    if let Some(timeout) = &settings.timeout {
        let timeout_ms = milliseconds(timeout).map_err(|fault| invalid(fault.message))?;
        let seconds = timeout_ms as f64 / 1000.0;
        merge(&mut document, json!({"version_data": version(json!({"global_enforce_timeout": seconds}))}));
    }
    let backend_members = settings.backend_health.as_ref().map(backend_members).transpose()?.unwrap_or_default();
    Ok(Effect { members: members(document), backend_members, unresolved: None })
}

/// # Errors
/// It is none.
pub(super) fn address(text: &str) -> Result<(), Fault> {
    let is_one = text.parse::<IpAddr>().is_ok() || text.parse::<IpNet>().is_ok();
    if is_one { Ok(()) } else { Err(invalid(format!("`{text}` is no address and no network"))) }
}

fn cache_document(cache: &ResponseCacheSettings) -> Value {
    json!({
        "by_caller": cache.by_caller,
        "by_headers": cache.by_headers,
        "ignore_request_directives": cache.ignore_request_directives,
    })
}

fn firewall_document(written: &FirewallPolicySettings) -> Result<Value, Fault> {
    if written.without_core_rules && written.rules.is_none() {
        return Err(invalid("The firewall has no rules: without core rules it needs its own"));
    }
    let mut document = Map::new();
    let mode = match written.mode {
        FirewallMode::Enforcing => "enforcing",
        FirewallMode::Detection => "detection",
    };
    let exclusions: Vec<Value> = written
        .exclusions
        .iter()
        .map(|exclusion| {
            json!({
                "rules": exclusion.rules,
                "tags": exclusion.tags,
                "parameters": exclusion.parameters,
                "paths": exclusion.paths,
            })
        })
        .collect();
    let members = [
        ("mode", Some(json!(mode))),
        ("core_rules", Some(json!(!written.without_core_rules))),
        ("exclusions", Some(json!(exclusions)).filter(|_| !exclusions.is_empty())),
        ("rules", written.rules.as_ref().map(|rules| json!(rules))),
        ("paranoia_level", written.paranoia_level.map(|level| json!(level))),
        ("inbound_threshold", written.inbound_threshold.map(|threshold| json!(threshold))),
        ("body_max", written.max_body_bytes.map(|bytes| json!(bytes))),
        ("larger_bodies", written.passes_larger_bodies.then(|| json!("inspect_start"))),
        ("responses", written.inspects_responses.then(|| json!(true))),
    ];
    document.extend(members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    Ok(Value::Object(document))
}

fn circuit_breakers(written: &CircuitBreakerSettings) -> Result<Value, Fault> {
    if !(1..=100).contains(&written.failure_percent) || written.min_requests == 0 {
        return Err(invalid("circuitBreaker needs a failurePercent from 1 to 100, and at least one of minRequests"));
    }
    let open_ms = milliseconds(&written.open_for).map_err(|fault| invalid(fault.message))?;
    if open_ms < 1_000 {
        return Err(invalid(format!("circuitBreaker.openFor is {}, and must be at least 1s", written.open_for)));
    }
    let entries: Vec<Value> = BREAKER_METHODS
        .iter()
        .map(|method| {
            json!({
                "path": ANY_PATH,
                "method": method,
                "threshold_percent": f64::from(written.failure_percent) / 100.0,
                "samples": written.min_requests,
                "return_to_service_after": open_ms / 1_000,
                "disable_half_open_state": written.without_probes,
            })
        })
        .collect();
    Ok(json!({"version_data": version(json!({"extended_paths": {"circuit_breakers": entries}}))}))
}

fn header_edits(prefix: &str, edits: &HeaderSettings) -> Value {
    let set: BTreeMap<&str, &str> = edits.set.iter().map(|header| (header.name.as_str(), header.value.as_str())).collect();
    let (set_name, remove_name) = (format!("{prefix}_headers"), format!("{prefix}_headers_remove"));
    json!({"version_data": version(json!({set_name: set, remove_name: edits.remove}))})
}

fn body_change(name: &str, change: &BodyChange, methods: &[&str]) -> Value {
    let entries: Vec<Value> =
        methods.iter().map(|method| json!({"path": ANY_PATH, "method": method, "filter": change.jq})).collect();
    json!({"version_data": version(json!({"extended_paths": {name: entries}}))})
}

fn plugin_hooks(plugins: &Plugins) -> Result<Value, Fault> {
    let driver = match plugins.driver {
        PluginDriverName::JavaScript => "otto",
        PluginDriverName::WebAssembly => "wasm",
        PluginDriverName::Grpc => "grpc",
    };
    let mut middleware: Map<String, Value> = members(json!({"driver": driver}));
    for hook in &plugins.hooks {
        let phase = match hook.phase {
            PluginPhase::BeforeAuthentication => "pre",
            PluginPhase::AfterAuthentication => "post_key_auth",
            PluginPhase::Request => "post",
            PluginPhase::Response => "response",
        };
        let path = match (&hook.path, plugins.driver) {
            (None, PluginDriverName::Grpc) => "",
            (None, _) => return Err(invalid(format!("The plugin {} has no path", hook.name))),
            (Some(path), _) => plugin_path(path)?,
        };
        let hooks = middleware.entry(phase).or_insert_with(|| json!([]));
        merge(hooks, json!([{"name": hook.name, "path": path}]));
    }
    let mut document = json!({"custom_middleware": middleware});
    if let Some(config) = &plugins.config {
        merge(&mut document, json!({"config_data": config}));
    }
    Ok(document)
}

/// Whoever may write policies must not name other files of the gateway.
fn plugin_path(path: &str) -> Result<&str, Fault> {
    let is_below = !path.starts_with('/') && !path.contains('\\') && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if is_below { Ok(path) } else { Err(invalid(format!("`{path}` is no path below the gateway's folder of plugins"))) }
}

fn error_rule(rule: &ErrorRule) -> Result<Value, Fault> {
    let mut response = Map::new();
    if let Some(status) = rule.status {
        response.insert("status_code".to_owned(), json!(status));
    }
    if let Some(body) = &rule.body {
        response.insert("body".to_owned(), json!(body));
    }
    if let Some(headers) = &rule.headers {
        let headers: BTreeMap<&str, &str> = headers.iter().map(|header| (header.name.as_str(), header.value.as_str())).collect();
        response.insert("headers".to_owned(), json!(headers));
    }
    if response.is_empty() {
        return Err(invalid("An entry of errors changes nothing"));
    }
    let rules: Map<String, Value> =
        rule.statuses.iter().map(|status| (status.clone(), json!([{"response": response.clone()}]))).collect();
    Ok(json!({"error_overrides": rules}))
}
