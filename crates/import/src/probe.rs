//! Requests that show whether two gateways answer alike: safe ones, made from the routes.

use crate::plan::{AuthWay, ConsumerCredential, Plan, PlannedConsumer, PlannedMatch, PlannedPath, PlannedRoute};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// A request without a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeRequest {
    /// Name of the route that it is made for.
    pub route: String,
    /// GET, HEAD or OPTIONS, or a method that the route does not have.
    pub method: String,
    /// Host, without a port.
    pub host: String,
    /// Path with query.
    pub path: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Name of the listener that it belongs to; empty for any.
    pub listener: String,
}

/// The host of requests to routes that are for any.
const ANY_HOST: &str = "localhost";

/// A host that no configuration has.
const OTHER_HOST: &str = "other-host.invalid";

/// Headers of a browser that has something stored.
const BROWSER: [(&str, &str); 4] = [
    ("Accept-Language", "de, en;q=0.5"),
    ("Cookie", "probe=1; theme=dark"),
    ("If-None-Match", "\"probe\""),
    ("Referer", "https://probe.example/"),
];
/// Those of a client that goes on with a download.
const PART: [(&str, &str); 2] = [("Range", "bytes=0-9"), ("If-Range", "\"probe\"")];
/// That of a client that takes a compressed body.
const COMPRESSED: [(&str, &str); 1] = [("Accept-Encoding", "gzip")];
const PREFLIGHT: [(&str, &str); 2] = [("Origin", "https://probe.example"), ("Access-Control-Request-Method", "GET")];
const LARGE_PREFLIGHT: [(&str, &str); 3] = [
    ("Origin", "https://probe.example"),
    ("Access-Control-Request-Method", "DELETE"),
    ("Access-Control-Request-Headers", "authorization, x-probe"),
];

/// All requests for a plan: each route's hosts and paths and other hosts, with methods, paths below and next to them, missing, wrong and right
/// credentials, preflights, what browsers and downloads add, and compressed bodies where there are some.
pub(crate) fn probes(plan: &Plan) -> Vec<ProbeRequest> {
    let mut list: Vec<ProbeRequest> = plan.routes.iter().flat_map(|route| of_route(route, &plan.consumers)).collect();
    let mut seen = std::collections::BTreeSet::new();
    list.retain(|probe| {
        seen.insert((probe.method.clone(), probe.host.clone(), probe.path.clone(), probe.headers.clone(), probe.listener.clone()))
    });
    list
}

fn of_route(route: &PlannedRoute, consumers: &[PlannedConsumer]) -> Vec<ProbeRequest> {
    let any = [PlannedMatch::default()];
    let matches = if route.matches.is_empty() { any.as_slice() } else { route.matches.as_slice() };
    let hosts: Vec<String> = match route.hosts.as_slice() {
        [] => vec![ANY_HOST.to_owned()],
        hosts => hosts.iter().map(|host| host.replacen("*.", "probe.", 1)).collect(),
    };
    let mut list = Vec::new();
    let mut add = |method: &str, host: &str, path: String, headers: Vec<(String, String)>| {
        list.push(ProbeRequest {
            route: route.name.clone(),
            method: method.to_owned(),
            host: host.to_owned(),
            path,
            headers,
            listener: route.listeners.first().cloned().unwrap_or_default(),
        });
    };
    for host in &hosts {
        for matched in matches {
            let headers: Vec<(String, String)> = matched
                .headers
                .iter()
                .filter(|value| !value.is_pattern)
                .map(|value| (value.name.clone(), value.value.clone()))
                .collect();
            let query: Vec<String> = matched
                .query
                .iter()
                .filter(|value| !value.is_pattern)
                .map(|value| format!("{}={}", value.name, value.value))
                .collect();
            for path in paths(&matched.path) {
                let with_query = |extra: &str| {
                    let parts: Vec<&str> =
                        query.iter().map(String::as_str).chain(Some(extra).filter(|extra| !extra.is_empty())).collect();
                    if parts.is_empty() { path.clone() } else { format!("{path}?{}", parts.join("&")) }
                };
                add("GET", host, with_query(""), headers.clone());
                add("GET", host, with_query("probe=1&b=%20x"), headers.clone());
                add("GET", host, with_query("probe&probe=&probe=%2Fx+y"), headers.clone());
                add("GET", host, with_query(""), with(&headers, &BROWSER));
                add("GET", host, with_query(""), with(&headers, &PART));
                if route.compression.is_some() {
                    add("GET", host, with_query(""), with(&headers, &COMPRESSED));
                }
                add("HEAD", host, with_query(""), headers.clone());
                add("OPTIONS", host, with_query(""), headers.clone());
                add("OPTIONS", host, with_query(""), with(&headers, &PREFLIGHT));
                add("OPTIONS", host, with_query(""), with(&headers, &LARGE_PREFLIGHT));
                let wrong = route.auth.ways.iter().filter_map(wrong_credential);
                let right = route.auth.ways.iter().filter_map(|way| right_credential(way, consumers));
                for credential in wrong.chain(right) {
                    add("GET", host, with_query(""), headers.iter().cloned().chain([credential]).collect());
                }
                add("GET", OTHER_HOST, with_query(""), headers.clone());
                add("HEAD", OTHER_HOST, with_query(""), headers.clone());
            }
        }
    }
    list
}

fn with(headers: &[(String, String)], further: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().cloned().chain(further.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).collect()
}

/// What a stranger would send.
fn wrong_credential(way: &AuthWay) -> Option<(String, String)> {
    match way {
        AuthWay::Key { header, .. } => Some((header.clone(), "no-such-key".to_owned())),
        AuthWay::Basic => Some(("Authorization".to_owned(), "Basic bm9ib2R5Om5vdGhpbmc=".to_owned())),
        AuthWay::JwtOfConsumer { .. } | AuthWay::JwtOfIssuer(_) | AuthWay::OpenId { .. } => {
            Some(("Authorization".to_owned(), "Bearer a.b.c".to_owned()))
        }
        AuthWay::Asks { .. } | AuthWay::Signed => None,
    }
}

/// What the first consumer sends that has something for it in clear.
fn right_credential(way: &AuthWay, consumers: &[PlannedConsumer]) -> Option<(String, String)> {
    consumers.iter().flat_map(|consumer| &consumer.credentials).find_map(|credential| match (way, credential) {
        (AuthWay::Key { header, .. }, ConsumerCredential::Key(key)) => Some((header.clone(), key.clone())),
        (AuthWay::Basic, ConsumerCredential::Basic { user, password, hash_type }) if hash_type.is_empty() => {
            Some(("Authorization".to_owned(), format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))))
        }
        _ => None,
    })
}

/// Paths that fit, below and in other spellings, and those next to them.
fn paths(path: &PlannedPath) -> Vec<String> {
    match path {
        PlannedPath::Any => vec!["/".to_owned(), "/probe/a.txt".to_owned()],
        PlannedPath::Exact(path) => vec![path.clone(), format!("{}x", path)],
        PlannedPath::Begins(path) => {
            let bare = path.trim_end_matches('/');
            let mut list = vec![path.clone(), format!("{bare}/probe/a.txt"), format!("{bare}/probe%20b/%41"), format!("{bare}x")];
            // The folder without its slash.
            if !bare.is_empty() && bare != path {
                list.push(bare.to_owned());
            }
            list
        }
        PlannedPath::Pattern(pattern) => sample(pattern).into_iter().collect(),
    }
}

/// A path that fits a simple expression: its letters, with something in place of what fits anything.
fn sample(pattern: &str) -> Option<String> {
    let simple =
        pattern.trim_start_matches("(?i)").replace("[^/]+", "probe").replace(".*", "").replace(".+", "probe").replace("\\d+", "1");
    let simple = simple.replace("[0-9]+", "1").replace("\\.", ".").replace("(?:/)?", "");
    let has_syntax = simple.contains(['(', ')', '[', ']', '*', '+', '?', '|', '\\', '^', '$', '{', '}']);
    (!has_syntax && simple.starts_with('/')).then_some(simple)
}
