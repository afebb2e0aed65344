//! Ways to write the same request, and an upstream that tells which of the keyed lines it has seen.

use serde_json::{Value, json};

use crate::keys::Served;
use crate::{Definition, Response, Seen, Upstream, api, reply, request};

/// Ways to write a request to the same resource.
const WAYS: [&[&str]; 16] = [
    &[],
    &["X-Tenant: acme"],
    &["x-TENANT: acme"],
    &["X-Tenant: acme", "Connection: X-Tenant"],
    &["X-Tenant: acme", "Connection: close, x-tenant"],
    &["X-Tenant: acme", "Connection: keep-alive", "Connection: X-TENANT"],
    &["X-Tenant: other"],
    &["X-Tenant: other", "Connection: X-Tenant"],
    &["X-Tenant: acme", "X-Tenant: other"],
    &["X-Tenant: "],
    &["X_Tenant: acme"],
    &["X_Tenant: acme", "Connection: X_Tenant"],
    &["X-Set: client"],
    &["X-Set: client", "Connection: X-Set"],
    &["X-Gone: client"],
    &["X-Other: 1", "Connection: X-Other, X-Gone", "X-Gone: 1"],
];
const KEYED: [&str; 4] = ["x-tenant", "x_tenant", "x-set", "x-gone"];

/// The keyed lines of a request as the upstream has received them.
pub fn view(seen: &Seen) -> Vec<(String, String)> {
    let lines = seen.head.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    lines.filter(|(name, _)| KEYED.contains(&name.as_str())).collect()
}

/// Says which keyed lines it has seen, and that its responses may be stored.
pub fn mirror(lines: &'static [&'static str]) -> Upstream {
    Upstream::start(move |seen: &Seen| reply("200 OK", lines, &format!("{:?}", view(seen))))
}

/// The API `a` that sets one header of the request, removes another, and has this cache.
pub fn edited(upstream: &Upstream, path: &str, value: Value) -> Definition {
    api("a", "/a/", &upstream.url())
        .version("global_headers", json!({"X-Set": "gateway"}))
        .version("global_headers_remove", json!(["X-Gone"]))
        .set(path, value)
}

pub fn ask(gateway: &impl Served, path: &str, way: &[&str]) -> Response {
    let answer = gateway.answer(request("GET", path, way, "").as_bytes());
    assert_eq!(answer.status, 200, "{path} {way:?}: {answer}");
    answer
}

/// Sends each pair of ways to a resource of its own. `settle` waits until a response is stored for the gateway that gets the second request.
pub fn all_pairs(upstream: &Upstream, first: &impl Served, second: &impl Served, settle: impl Fn()) {
    let views: Vec<_> = WAYS
        .iter()
        .enumerate()
        .map(|(number, way)| {
            ask(first, &format!("/a/view-{number}"), way);
            view(&upstream.last())
        })
        .collect();
    for (one, one_view) in WAYS.iter().zip(&views) {
        for (other, other_view) in WAYS.iter().zip(&views) {
            let path = format!("/a/{}", upstream.requests());
            ask(first, &path, one);
            settle();
            let before = upstream.requests();
            let answer = ask(second, &path, other);
            let is_hit = upstream.requests() == before;
            assert_eq!(answer.text(), format!("{other_view:?}"), "{one:?} was stored, {other:?} got what is not for it");
            assert_eq!(is_hit, one_view == other_view, "{one:?} {one_view:?}, then {other:?} {other_view:?}");
        }
    }
}

pub fn tyk_rules() -> Value {
    json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true, "cache_by_headers": ["X-Tenant", "X-Set", "X-Gone"]})
}
