//! One route as a classic definition with `tollgate.route`.

use super::consumers::POLICY;
use super::settings::Sockets;
use super::{ORG, merge, put, shape, tidy};
use crate::pattern::escaped;
use crate::plan::{
    AuthWay, HeaderEdits, IssuedTokens, PathChange, PlannedAction, PlannedAddressRate, PlannedBalance, PlannedCompression,
    PlannedMatch, PlannedPath, PlannedRate, PlannedRedirect, PlannedRoute, PlannedStatusHeader, PlannedUpstream, PlannedValue,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

/// Longest window of a rate by address.
const WINDOW_S_MAX: f64 = 86_400.0;
/// Whatever the path is.
const ANY_PATH: &str = "/.*";

pub(super) fn definition(route: &PlannedRoute, id: &str, sockets: &Sockets) -> Value {
    let mut extended = Map::new();
    if !route.closed.is_empty() {
        extended.insert("black_list".to_owned(), json!([{ "path": ANY_PATH }]));
    }
    if let Some(shape) = &route.shape {
        extended.insert(
            "transform_jq_response".to_owned(),
            for_methods(route, &json!({ "path": ANY_PATH, "filter": shape::filter(shape) })),
        );
    }
    if let Some((failures, rest_s)) = route.breaker {
        let entry = json!({ "path": ANY_PATH, "threshold_percent": 1.0, "samples": failures, "return_to_service_after": rest_s });
        extended.insert("circuit_breakers".to_owned(), for_methods(route, &entry));
    }
    if let Some(schema) = &route.body_schema {
        let entry = json!({ "path": ANY_PATH, "schema": schema, "error_response_code": 400 });
        extended.insert("validate_json".to_owned(), for_methods(route, &entry));
    }
    let mut rule = json!({
        "matches": route.matches.iter().map(matched).collect::<Vec<_>>(),
        "request_headers": { "add": named(&route.request_headers.add) },
        "response_headers": { "add": named(&route.response_headers.add) },
        "status_headers": status_headers(&for_clients(route)),
        "response_rewrites": {
            "locations": starts(&route.locations),
            "cookie_paths": starts(&route.cookie_paths),
            "cookie_domains": starts(&route.cookie_domains),
        },
        "rewrite": { "host": route.upstream_host },
    });
    let mut target = String::new();
    let mut upstream = Value::Null;
    let mut accepts_any = false;
    match &route.action {
        PlannedAction::Forward(forward) => {
            target = forward.targets.first().map(|target| target.url.clone()).unwrap_or_default();
            upstream = balanced(route, forward);
            accepts_any = forward.accepts_any_certificate;
            if let Some(change) = &route.path_change {
                extended.insert("url_rewrites".to_owned(), for_methods(route, &rewrite(change)));
            }
            if let Some(method) = &route.upstream_method {
                let entry = json!({ "path": ANY_PATH, "to_method": method });
                extended.insert("method_transforms".to_owned(), without_preflights(for_methods(route, &entry)));
            }
            if route.merge.is_some() {
                extended.insert("virtual".to_owned(), without_preflights(for_methods(route, &merge::entry(ANY_PATH))));
            }
            if let Some((url, percent)) = &route.mirror {
                put(&mut rule, "mirrors", json!([{ "url": url, "numerator": percent, "denominator": 100 }]));
            }
        }
        PlannedAction::Answer { status, body, headers } => {
            let headers: Map<String, Value> = headers.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
            let answer = json!([{ "path": ANY_PATH, "code": status, "body": body, "headers": headers }]);
            extended.insert("mock_response".to_owned(), answer);
        }
        PlannedAction::Redirect(to) => {
            put(&mut rule, "redirect", redirect(to));
            put(&mut rule, "rewrite", Value::Null);
        }
    }
    let mut rule = tidy(rule);
    // An empty list says something here.
    if let Some(passes) = passes(route) {
        put(&mut rule, "passes", passes);
    }
    // A definition has a target, also where nothing is sent to it.
    let target = if target.is_empty() { "http://127.0.0.1:1".to_owned() } else { target };
    let mut definition = json!({
        "api_id": id,
        "name": route.name,
        "org_id": ORG,
        "active": true,
        "enable_context_vars": has_variables(route),
        "allowed_ips": route.allowed_ips,
        "enable_ip_whitelisting": !route.allowed_ips.is_empty(),
        "blacklisted_ips": route.blocked_ips,
        "enable_ip_blacklisting": !route.blocked_ips.is_empty(),
        "global_rate_limit": route.rate.map(|rate| json!({ "rate": rate.requests, "per": rate.per_s })),
        "error_overrides": refusals(route),
        "CORS": cors(route),
        "cache_options": cache_options(route),
        "response_processors": route.shape.iter().map(|_| json!({ "name": "response_body_transform_jq" })).collect::<Vec<_>>(),
        "version_data": {
            "not_versioned": true,
            "versions": {
                "Default": {
                    "name": "Default",
                    "use_extended_paths": true,
                    "extended_paths": extended,
                    "global_headers": by_name(&route.request_headers.set),
                    "global_headers_remove": route.request_headers.remove,
                    "global_response_headers": by_name(&route.response_headers.set),
                    "global_response_headers_remove": route.response_headers.remove,
                    "global_size_limit": route.body_bytes_max.filter(|most| *most > 0),
                    "global_enforce_timeout": Some(route.timeout_ms).filter(|time| *time > 0).map(|time| time.div_ceil(1000)),
                }
            }
        },
        "proxy": {
            "listen_path": "/",
            "target_url": target,
            "transport": { "ssl_insecure_skip_verify": accepts_any },
        },
        "tollgate": {
            "cache": shared_cache(route),
            "compression": route.compression.as_ref().map(compression),
            "request_limits": route.address_rates.iter().map(address_limit).collect::<Vec<_>>(),
            "route": {
                "precedence": format!("{:06}", route.precedence),
                "attached": sockets.attached(&route.listeners, &route.hosts),
                "rules": [rule],
            },
            "upstream": upstream,
            "on_store_failure": route.on_store_failure,
        },
    });
    authentication(route, &mut definition);
    let mut definition = tidy(definition);
    if let Some(merge) = &route.merge {
        put(&mut definition, "config_data", merge::data(merge));
    }
    // An empty object switches the cache on.
    if route.cache.as_ref().is_some_and(|cache| cache.time_s.is_none()) {
        put(&mut definition, "tollgate.cache", json!({ "by_headers": route.cache.as_ref().map(|cache| cache.by_headers.clone()) }));
    }
    definition
}

fn compression(planned: &PlannedCompression) -> Value {
    json!({
        "encodings": planned.encodings,
        "types": planned.types,
        "bytes_min": Some(planned.bytes_min).filter(|bytes| *bytes > 0),
        "statuses": planned.statuses,
        "gzip_level": Some(planned.gzip_level).filter(|level| *level > 0),
        "brotli_level": Some(planned.brotli_level).filter(|level| *level > 0),
        "event_streams": Some(planned.event_streams).filter(|streams| *streams),
    })
}

/// A longer window than a day would not be accepted.
fn address_limit(limit: &PlannedAddressRate) -> Value {
    let PlannedRate { requests, per_s } = limit.rate;
    let window_s = per_s.min(WINDOW_S_MAX);
    let requests = (requests * window_s / per_s).max(1.0);
    let by = if limit.header.is_some() { "header" } else { "address" };
    tidy(json!({ "requests": requests, "window_s": window_s, "by": by, "name": limit.header, "counter": limit.counter }))
}

fn matched(matched: &PlannedMatch) -> Value {
    let path = match &matched.path {
        PlannedPath::Any => json!({ "prefix": "/" }),
        PlannedPath::Exact(path) => json!({ "exact": path }),
        PlannedPath::Begins(path) if path == "/" => json!({ "prefix": "/" }),
        PlannedPath::Begins(path) => json!({ "regex": format!("{}.*", escaped(path)) }),
        PlannedPath::Pattern(pattern) => json!({ "regex": pattern }),
    };
    let values = |list: &[PlannedValue]| -> Vec<Value> {
        let one = |value: &PlannedValue| match value.is_pattern {
            true => json!({ "name": value.name, "regex": value.value }),
            false => json!({ "name": value.name, "exact": value.value }),
        };
        list.iter().map(one).collect()
    };
    tidy(json!({ "path": path, "method": matched.method, "headers": values(&matched.headers), "query": values(&matched.query) }))
}

/// An entry for each method of a route: lists that change requests name theirs.
fn for_methods(route: &PlannedRoute, entry: &Value) -> Value {
    let mut methods: Vec<&str> = route.matches.iter().map(|matched| matched.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    if methods.is_empty() || methods.contains(&"") {
        methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].to_vec();
    }
    let with = |method: &&str| {
        let mut entry = entry.clone();
        put(&mut entry, "method", json!(method));
        entry
    };
    methods.iter().map(with).collect()
}

/// What is done to requests is not done to those that ask whether they may come.
fn without_preflights(mut entries: Value) -> Value {
    if let Some(list) = entries.as_array_mut() {
        list.retain(|entry| entry.get("method").is_none_or(|method| method != "OPTIONS"));
    }
    entries
}

fn rewrite(change: &PathChange) -> Value {
    let (pattern, to) = match change {
        PathChange::Whole(path) => ("^[^?]*(\\?.*)?$".to_owned(), format!("{}$1", dollars(path))),
        // What is left must begin with a slash.
        PathChange::Beginning { from, to } if to.is_empty() || to.ends_with('/') => {
            (format!("^{}/?(.*)$", escaped(from.trim_end_matches('/'))), format!("{}/$1", dollars(to.trim_end_matches('/'))))
        }
        PathChange::Beginning { from, to } => (format!("^{}(.*)$", escaped(from)), format!("{}$1", dollars(to))),
        PathChange::Pattern { pattern, to } => (pattern.clone(), to.clone()),
    };
    json!({ "path": ANY_PATH, "match_pattern": pattern, "rewrite_to": to })
}

/// A path in which `$` stands for nothing.
fn dollars(path: &str) -> String {
    path.replace('$', "%24")
}

fn redirect(to: &PlannedRedirect) -> Value {
    if let Some(location) = &to.location {
        return json!({ "location": location, "status": to.status });
    }
    let path = to.path.as_ref().map(|path| json!({ "full": path }));
    let port = Some(to.port).filter(|port| *port > 0);
    tidy(json!({ "scheme": to.scheme, "host": to.host, "port": port, "path": path, "status": to.status }))
}

fn balanced(route: &PlannedRoute, upstream: &PlannedUpstream) -> Value {
    let targets: Vec<Value> = match upstream.targets.as_slice() {
        [] | [_] => Vec::new(),
        targets => targets.iter().map(|target| json!({ "url": target.url, "weight": target.weight })).collect(),
    };
    let (balance, hash) = match &upstream.balance {
        PlannedBalance::RoundRobin => ("", Value::Null),
        PlannedBalance::Random => ("random", Value::Null),
        PlannedBalance::LeastRequests => ("least_requests", Value::Null),
        PlannedBalance::Latency => ("peak_ewma", Value::Null),
        PlannedBalance::HashAddress => ("hash", json!({ "by": "address" })),
        PlannedBalance::HashHeader(name) => ("hash", json!({ "by": "header", "name": name })),
        PlannedBalance::HashCookie(name) => ("hash", json!({ "by": "cookie", "name": name })),
        PlannedBalance::HashPath => ("hash", json!({ "by": "path" })),
    };
    let health = upstream.health.map(|(faults, gone_s)| {
        json!({ "consecutive_faults": faults, "fault_percent": 0, "ejected_ms": gone_s.clamp(1, 3600) * 1000, "ejected_ms_max": gone_s.clamp(1, 3600) * 1000 })
    });
    let checks = upstream.checks.as_ref().map(|checks| {
        json!({
            "path": checks.path, "interval_ms": checks.interval_ms, "timeout_ms": checks.timeout_ms,
            "rise": checks.rise, "fall": checks.fall, "statuses": checks.statuses,
        })
    });
    let retries =
        route.retries.as_ref().map(|retries| json!({ "tries": retries.tries.clamp(1, 10), "statuses": retries.statuses }));
    let sticky = upstream.sticky_cookie.as_ref().map(|name| json!({ "name": name }));
    // With several targets, a balance that is not written is round robin.
    let mut written = tidy(json!({
        "targets": targets, "balance": balance, "hash": hash, "health": health, "checks": checks, "sticky_cookie": sticky,
    }));
    if let Some(retries) = retries {
        put(&mut written, "retries", retries);
    }
    if written.as_object().is_some_and(Map::is_empty) { Value::Null } else { written }
}

fn authentication(route: &PlannedRoute, definition: &mut Value) {
    let auth = &route.auth;
    if auth.ways.is_empty() {
        put(definition, "use_keyless", json!(true));
        return;
    }
    put(definition, "strip_auth_data", json!(auth.strips));
    let mut names = Vec::new();
    for way in &auth.ways {
        names.push(one_way(way, definition));
    }
    if let [first, _, ..] = names.as_slice() {
        put(definition, "base_identity_provided_by", json!(first.1));
        if auth.is_any_enough {
            put(definition, "tollgate.auth_alternatives", names.iter().map(|(name, _)| json!([name])).collect());
        }
    }
}

/// Adds a way; the result is its name in `auth_configs`, and that as a provider of the identity.
fn one_way(way: &AuthWay, definition: &mut Value) -> (&'static str, &'static str) {
    match way {
        AuthWay::Key { header, query, cookie } => {
            put(definition, "use_standard_auth", json!(true));
            put(definition, "auth_configs.authToken", place(Some(header), query.as_ref(), cookie.as_ref()));
            ("authToken", "auth_token")
        }
        AuthWay::Basic => {
            put(definition, "use_basic_auth", json!(true));
            ("basic", "basic_auth_user")
        }
        AuthWay::JwtOfConsumer { claim, algorithm, header, query, cookie, required } => {
            put(definition, "enable_jwt", json!(true));
            put(definition, "jwt_signing_method", json!(algorithm));
            put(definition, "jwt_skip_kid", json!(true));
            put(definition, "jwt_identity_base_field", json!(claim));
            put(definition, "auth_configs.jwt", place(header.as_ref(), query.as_ref(), cookie.as_ref()));
            if !required.is_empty() {
                let claims: Map<String, Value> =
                    required.iter().map(|claim| (claim.clone(), json!({ "type": "required" }))).collect();
                put(definition, "tollgate.jwt", json!({ "custom_claims": claims }));
            }
            ("jwt", "jwt_claim")
        }
        AuthWay::JwtOfIssuer(IssuedTokens { keys_url, algorithm, issuer, audiences, claim, required, header, cookie }) => {
            put(definition, "enable_jwt", json!(true));
            if header.is_some() || cookie.is_some() {
                put(definition, "auth_configs.jwt", place(header.as_ref(), None, cookie.as_ref()));
            }
            put(definition, "jwt_signing_method", json!(algorithm));
            put(definition, "jwt_source", json!(keys_url));
            put(definition, "jwt_identity_base_field", json!(claim));
            put(definition, "jwt_default_policies", json!([POLICY]));
            put(definition, "jwt_skip_kid", json!(true));
            let issuers: Vec<&String> = issuer.iter().collect();
            put(
                definition,
                "tollgate.jwt",
                json!({
                    "allowed_issuers": issuers,
                    "allowed_audiences": audiences,
                    "custom_claims": required
                        .iter()
                        .map(|(claim, values)| (claim.clone(), json!({ "type": "contains", "allowed_values": values })))
                        .collect::<Map<String, Value>>(),
                }),
            );
            ("jwt", "jwt_claim")
        }
        AuthWay::OpenId { issuer, audiences } => {
            put(definition, "use_openid", json!(true));
            let clients: Map<String, Value> =
                audiences.iter().map(|audience| (BASE64_STANDARD.encode(audience), json!(POLICY))).collect();
            put(definition, "openid_options.providers", json!([{ "issuer": issuer, "client_ids": clients }]));
            ("oidc", "oidc_user")
        }
        AuthWay::Asks { url, request_headers, response_headers } => {
            put(
                definition,
                "tollgate.forward_auth",
                json!({ "url": url, "request_headers": request_headers, "response_headers": response_headers }),
            );
            ("forwardAuth", "forward_auth")
        }
        AuthWay::Signed => {
            put(definition, "enable_signature_checking", json!(true));
            ("hmac", "hmac_key")
        }
    }
}

fn place(header: Option<&String>, query: Option<&String>, cookie: Option<&String>) -> Value {
    json!({
        "auth_header_name": header.map_or("Authorization", String::as_str),
        "use_param": query.is_some(),
        "param_name": query,
        "use_cookie": cookie.is_some(),
        "cookie_name": cookie,
    })
}

fn cors(route: &PlannedRoute) -> Value {
    let Some(cors) = &route.cors else { return Value::Null };
    json!({
        "enable": true,
        "allowed_origins": cors.origins,
        "allowed_methods": cors.methods,
        "allowed_headers": cors.headers,
        "exposed_headers": cors.exposed,
        "allow_credentials": cors.credentials,
        "max_age": cors.max_age_s,
        "options_passthrough": cors.passes_preflights,
    })
}

fn cache_options(route: &PlannedRoute) -> Value {
    let Some((cache, time_s)) = route.cache.as_ref().and_then(|cache| Some((cache, cache.time_s?))) else { return Value::Null };
    json!({
        "enable_cache": true,
        "cache_timeout": time_s,
        "cache_all_safe_requests": true,
        "cache_response_codes": cache.statuses,
        "cache_by_headers": cache.by_headers,
    })
}

fn shared_cache(route: &PlannedRoute) -> Value {
    let cache = route.cache.as_ref().filter(|cache| cache.time_s.is_none());
    cache.map_or(Value::Null, |cache| json!({ "by_headers": cache.by_headers }))
}

fn named(list: &[(String, String)]) -> Vec<Value> {
    list.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect()
}

/// Headers by status. A redirect is the gateway's own answer, which gets no others.
fn for_clients(route: &PlannedRoute) -> Vec<PlannedStatusHeader> {
    let mut list = route.status_headers.clone();
    if let PlannedAction::Redirect(_) = route.action {
        let HeaderEdits { set, add, .. } = &route.response_headers;
        let all = set.iter().map(|header| (header, true)).chain(add.iter().map(|header| (header, false)));
        list.extend(all.filter(|((_, value), _)| !value.contains('{')).map(|((name, value), replaces)| PlannedStatusHeader {
            statuses: Vec::new(),
            name: name.clone(),
            value: value.clone(),
            replaces,
        }));
    }
    list
}

/// Headers of the same statuses are one entry.
fn status_headers(list: &[PlannedStatusHeader]) -> Vec<Value> {
    let mut by_statuses: Vec<(&[u16], Vec<&PlannedStatusHeader>)> = Vec::new();
    for header in list {
        match by_statuses.iter_mut().find(|(statuses, _)| *statuses == header.statuses) {
            Some((_, headers)) => headers.push(header),
            None => by_statuses.push((&header.statuses, vec![header])),
        }
    }
    let entry = |(statuses, headers): (&[u16], Vec<&PlannedStatusHeader>)| {
        let of_kind = |replaces: bool| {
            let these = headers.iter().filter(move |header| header.replaces == replaces);
            these.map(|header| json!({ "name": header.name, "value": header.value })).collect::<Vec<_>>()
        };
        tidy(json!({ "statuses": statuses, "headers": { "set": of_kind(true), "add": of_kind(false) } }))
    };
    by_statuses.into_iter().map(entry).collect()
}

/// Other statuses in place of those of the gateway's refusals.
fn refusals(route: &PlannedRoute) -> Map<String, Value> {
    let entry = |(from, kind, to): &(u16, &str, u16)| {
        (from.to_string(), json!([{ "match": { "flag": kind }, "response": { "status_code": to } }]))
    };
    route.refusal_statuses.iter().map(entry).collect()
}

/// An empty list lets nothing pass.
fn passes(route: &PlannedRoute) -> Option<Value> {
    if !matches!(route.action, PlannedAction::Forward(_)) {
        return None;
    }
    let mut passes = Map::new();
    for (field, names) in [("headers", &route.passed_headers), ("query", &route.passed_query)] {
        if let Some(names) = names {
            passes.insert(field.to_owned(), json!(names));
        }
    }
    (!passes.is_empty()).then_some(Value::Object(passes))
}

fn starts(list: &[(String, String)]) -> Vec<Value> {
    list.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect()
}

fn by_name(list: &[(String, String)]) -> Map<String, Value> {
    list.iter().map(|(name, value)| (name.clone(), Value::from(variables(value)))).collect()
}

fn has_variables(route: &PlannedRoute) -> bool {
    route.request_headers.set.iter().chain(&route.response_headers.set).any(|(_, value)| variables(value) != *value)
}

/// A value with our variables in place of those of the plan.
fn variables(value: &str) -> String {
    let mut text = value.to_owned();
    for (name, variable) in
        [("{client_ip}", "$tyk_context.remote_addr"), ("{request_id}", "$tyk_context.request_id"), ("{path}", "$tyk_context.path")]
    {
        text = text.replace(name, variable);
    }
    while let Some((before, rest)) = text.split_once("{claim:") {
        let Some((name, behind)) = rest.split_once('}') else { break };
        text = format!("{before}$tyk_context.jwt_claims_{name}{behind}");
    }
    while let Some((before, rest)) = text.split_once("{header:") {
        let Some((name, behind)) = rest.split_once('}') else { break };
        // Variables name headers as Go does.
        let name: Vec<String> = name.split(['-', '_']).map(capitalised).collect();
        text = format!("{before}$tyk_context.headers_{}{behind}", name.join("_"));
    }
    text
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + &letters.as_str().to_ascii_lowercase()).unwrap_or_default()
}
