//! What is keyed is what is forwarded: two requests that the upstream cannot tell apart by the parts that are keyed share a response, two that it
//! can tell apart never do. All pairs of ways to write a request, through both caches, in memory and in the Redis that gateways share.

use serde_json::{Value, json};

use crate::cache_tier;
use crate::harness::{Definition, Gateway, Response, Seen, Upstream, api, eventually, reply, request};
use crate::servers::Server;

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
fn view(seen: &Seen) -> Vec<(String, String)> {
    let lines = seen.head.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    lines.filter(|(name, _)| KEYED.contains(&name.as_str())).collect()
}

/// Says which keyed lines it has seen, and that its responses may be stored.
fn mirror(lines: &'static [&'static str]) -> Upstream {
    Upstream::start(move |seen: &Seen| reply("200 OK", lines, &format!("{:?}", view(seen))))
}

/// The API `a` that sets one header of the request, removes another, and has this cache.
fn edited(upstream: &Upstream, path: &str, value: Value) -> Definition {
    api("a", "/a/", &upstream.url())
        .version("global_headers", json!({"X-Set": "gateway"}))
        .version("global_headers_remove", json!(["X-Gone"]))
        .set(path, value)
}

fn ask(gateway: &Gateway, path: &str, way: &[&str]) -> Response {
    let answer = gateway.send(request("GET", path, way, ""));
    assert_eq!(answer.status, 200, "{path} {way:?}: {answer}");
    answer
}

/// Sends each pair of ways to a resource of its own. `settle` waits until a response is stored for the gateway that gets the second request.
fn all_pairs(upstream: &Upstream, first: &Gateway, second: &Gateway, settle: impl Fn()) {
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

#[test]
fn header_values_in_the_key_are_those_that_leave() {
    let upstream = mirror(&["Cache-Control: max-age=600"]);
    let rules = json!({"cache": {"by_headers": ["X-Tenant", "X-Set", "X-Gone"]}});
    let gateway = Gateway::start(json!({}), [edited(&upstream, "tollgate", rules)]);
    all_pairs(&upstream, &gateway, &gateway, || {});
}

#[test]
fn values_that_a_response_varies_by_are_those_that_leave() {
    let upstream = mirror(&["Cache-Control: max-age=600", "Vary: X-Tenant, X_Tenant, X-Set, X-Gone"]);
    let gateway = Gateway::start(json!({}), [edited(&upstream, "tollgate", json!({"cache": {}}))]);
    all_pairs(&upstream, &gateway, &gateway, || {});
}

fn tyk_rules() -> Value {
    json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true, "cache_by_headers": ["X-Tenant", "X-Set", "X-Gone"]})
}

#[test]
fn header_values_in_tyks_key_are_those_that_leave() {
    let upstream = mirror(&[]);
    let gateway = Gateway::start(json!({}), [edited(&upstream, "cache_options", tyk_rules())]);
    all_pairs(&upstream, &gateway, &gateway, || {});
}

#[test]
fn header_values_in_the_names_of_the_second_tier_are_those_that_leave() {
    let (server, upstream) = (Server::start(&[]), mirror(&[]));
    let [one, other] = cache_tier::two(&cache_tier::on(&server), &edited(&upstream, "cache_options", tyk_rules()));
    // Each request that reaches the upstream leaves an entry.
    let settle = || eventually("it is written", || cache_tier::names(&server).len() == upstream.requests());
    all_pairs(&upstream, &one, &other, settle);
}

#[test]
fn conditions_and_directives_that_do_not_leave_do_not_count() {
    let upstream = mirror(&["Cache-Control: max-age=600", "ETag: \"e\""]);
    for (path, cache) in [("tollgate", json!({"cache": {}})), ("cache_options", tyk_rules())] {
        let gateway = Gateway::start(json!({}), [edited(&upstream, path, cache)]);
        ask(&gateway, "/a/x", &[]);
        for line in ["If-None-Match: \"e\"", "Range: bytes=0-0"] {
            let name = line.split(':').next().unwrap();
            let before = upstream.requests();
            let answer = gateway.send(request("GET", "/a/x", &[line, &format!("Connection: {name}")], ""));
            assert_eq!((answer.status, upstream.requests() - before), (200, 0), "{path} {line}: {answer}");
        }
        let authorised = ["Authorization: Basic YTpi", "Connection: Authorization"];
        let before = upstream.requests();
        assert_eq!(ask(&gateway, "/a/x", &authorised).text(), "[(\"x-set\", \"gateway\")]");
        assert_eq!(upstream.requests(), before, "{path}: nobody is authorised");
        // And one without the Connection line is another caller's in the cache by RFC 9111.
        if path == "tollgate" {
            ask(&gateway, "/a/y", &["Authorization: Basic YTpi"]);
            ask(&gateway, "/a/y", &[]);
            assert_eq!(upstream.requests(), before + 2);
        }
    }
}

#[test]
fn a_path_that_a_rewrite_has_made_is_not_one_below_the_listen_path() {
    let upstream = Upstream::start(|seen: &Seen| reply("200 OK", &["Cache-Control: max-age=600"], &seen.target));
    let rewrite = json!([{"path": "/y", "method": "GET", "match_pattern": "/y", "rewrite_to": "tyk://self/a/x"}]);
    let rules = json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true});
    let whole = json!([{"path": "/z", "method": "GET", "match_pattern": "/z", "rewrite_to": format!("{}/a/x", upstream.url())}]);
    for (path, cache) in [("tollgate", json!({"cache": {}})), ("cache_options", rules)] {
        for list in [&rewrite, &whole] {
            let definition = api("a", "/a/", &upstream.url()).set(path, cache.clone()).list("url_rewrites", list.clone());
            let gateway = Gateway::start(json!({}), [definition]);
            let asked: Vec<_> = ["/a/x", "/a/y", "/a/z", "/a/x"].iter().map(|path| ask(&gateway, path, &[]).text()).collect();
            let direct = Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).list("url_rewrites", list.clone())]);
            let forwarded: Vec<_> = ["/a/x", "/a/y", "/a/z", "/a/x"].iter().map(|path| ask(&direct, path, &[]).text()).collect();
            assert_eq!(asked, forwarded, "{path} {list}");
        }
    }
}
