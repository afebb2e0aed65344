//! APIs that requests reach by rules (`tollgate.route`): which rule gets a request, and which backend.

use super::harness::{Definition, Gateway, Response, Upstream, api, reply, request};
use serde_json::{Value, json};

/// A route at the gateway's own port.
fn route(id: &str, rules: Value) -> Definition {
    api(id, "/", "").set("tollgate/route/rules", rules)
}

fn hosts(definition: Definition, hosts: &[&str]) -> Definition {
    definition.set("tollgate/route/attached", json!([{"hosts": hosts}]))
}

/// An upstream that answers with its name.
fn named(name: &'static str) -> Upstream {
    Upstream::start(move |_| reply("200 OK", &[], name))
}

fn backend(upstream: &Upstream) -> Value {
    json!([{"url": upstream.url()}])
}

fn ask(gateway: &Gateway, host: &str, method: &str, target: &str, lines: &[&str]) -> Response {
    gateway.send(request(method, target, lines, "").replace("Host: gateway.test", &format!("Host: {host}")))
}

#[test]
fn matches_are_tried_in_order_of_precedence_over_all_routes() {
    let ups: Vec<Upstream> = ["exact", "long", "regex", "any", "method", "header", "query"].map(named).into();
    let rule = |matches: Value, index: usize| json!({"matches": matches, "backends": backend(&ups[index])});
    // In an order that is none of precedence.
    let one = route(
        "one",
        json!([
            rule(json!([{}]), 3),
            rule(json!([{"path": {"regex": "/r/[0-9]+"}}]), 2),
            rule(json!([{"path": {"prefix": "/a/"}, "query": [{"name": "q", "exact": "1"}]}]), 6),
        ]),
    );
    let two = route(
        "two",
        json!([
            rule(json!([{"path": {"prefix": "/a"}, "headers": [{"name": "x", "exact": "1"}]}]), 5),
            rule(json!([{"path": {"prefix": "/a"}, "method": "PUT"}]), 4),
            rule(json!([{"path": {"prefix": "/a/long"}}]), 1),
            rule(json!([{"path": {"exact": "/a/long/one"}}]), 0),
        ]),
    );
    let gateway = Gateway::start(json!({}), [one, two]);
    for (method, target, lines, expect) in [
        ("GET", "/a/long/one", &[][..], "exact"),
        ("GET", "/a/long/one/", &[], "long"),
        ("GET", "/a/long", &["x: 1"], "long"),
        ("GET", "/a/longer", &["x: 1"], "header"),
        ("GET", "/a", &["x: 1"], "header"),
        ("PUT", "/a/x?q=1", &["x: 1"], "method"),
        ("GET", "/a/x?q=1", &["x: 1"], "header"),
        ("GET", "/a/x?q=1", &["x: 2"], "query"),
        ("GET", "/a/x?q=2", &[], "any"),
        ("GET", "/ab", &["x: 1"], "any"),
        ("GET", "/r/12", &[], "regex"),
        ("GET", "/r/12a", &[], "any"),
        ("GET", "/", &[], "any"),
    ] {
        let response = ask(&gateway, "h", method, target, lines);
        assert_eq!((response.status, response.text().as_str()), (200, expect), "{method} {target} {lines:?}");
    }
}

#[test]
fn the_most_specific_host_comes_first_and_others_follow() {
    let ups: Vec<Upstream> = ["exact", "near", "far", "any"].map(named).into();
    let rule = |prefix: &str, index: usize| json!([{"matches": [{"path": {"prefix": prefix}}], "backends": backend(&ups[index])}]);
    let gateway = Gateway::start(
        json!({}),
        [
            hosts(route("any", rule("/long/path", 3)), &[]),
            hosts(route("far", rule("/", 2)), &["*.test"]),
            hosts(route("near", rule("/", 1)), &["*.b.test"]),
            hosts(route("exact", rule("/x", 0)), &["a.b.test"]),
        ],
    );
    for (host, target, expect) in [
        ("a.b.test", "/x", Some("exact")),
        ("A.b.test:80", "/x", Some("exact")),
        ("a.b.test", "/long/path", Some("near")),
        ("c.a.b.test", "/x", Some("near")),
        ("b.test", "/x", Some("far")),
        ("test", "/long/path", Some("any")),
        ("test", "/x", None),
    ] {
        let response = ask(&gateway, host, "GET", target, &[]);
        assert_eq!(Some(response.text().as_str()).filter(|_| response.status == 200), expect, "{host}{target}: {response}");
    }
}

#[test]
fn equal_matches_are_decided_by_what_the_routes_say() {
    let (old, new) = (named("old"), named("new"));
    let rules = |upstream: &Upstream| json!([{"backends": backend(upstream)}]);
    let route =
        |id: &str, upstream: &Upstream, precedence: &str| route(id, rules(upstream)).set("tollgate/route/precedence", precedence);
    let gateway = Gateway::start(json!({}), [route("a", &new, "2026"), route("b", &old, "2025")]);
    assert_eq!(ask(&gateway, "h", "GET", "/", &[]).text(), "old");
}

#[test]
fn a_route_and_a_listen_path_share_the_port_by_the_length_of_their_paths() {
    let (classic, routed) = (named("classic"), named("routed"));
    let rules = json!([
        {"matches": [{"path": {"prefix": "/c/own"}}], "backends": backend(&routed)},
        {"backends": backend(&routed)}
    ]);
    let gateway = Gateway::start(json!({}), [api("c", "/c/", &classic.url()), route("r", rules)]);
    for (target, expect) in
        [("/c/x", "classic"), ("/c/own/x", "routed"), ("/c/ownx", "classic"), ("/d", "routed"), ("/c/", "classic")]
    {
        assert_eq!(ask(&gateway, "h", "GET", target, &[]).text(), expect, "{target}");
    }
    // The path goes on as it came, and the host is the client's.
    ask(&gateway, "some.test", "GET", "/c/own/a%20b?x=%2F", &[]);
    assert_eq!(routed.last().target, "/c/own/a%20b?x=%2F");
    assert_eq!(routed.last().header("host"), Some("some.test"));
}

#[test]
fn weights_decide_about_shares_and_a_backend_that_does_not_exist_has_its_own() {
    let (a, b) = (named("a"), named("b"));
    let rules = json!([{"backends": [
        {"url": a.url(), "weight": 60}, {"url": b.url(), "weight": 30}, {"backend": "nobody", "weight": 10}, {"backend": "zero", "weight": 0}
    ]}]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    let answers: Vec<Response> = (0..600).map(|_| ask(&gateway, "h", "GET", "/", &[])).collect();
    let failed = answers.iter().filter(|answer| answer.status == 500).count();
    // Ten standard deviations to each side are too much.
    assert!((300..420).contains(&a.requests()), "{}", a.requests());
    assert!((120..240).contains(&b.requests()), "{}", b.requests());
    assert!((15..120).contains(&failed), "{failed}");
    assert_eq!(a.requests() + b.requests() + failed, 600);
}

#[test]
fn a_rule_without_a_backend_uses_the_target_of_the_definition_or_fails() {
    let upstream = named("own");
    let own = route("own", json!([{"matches": [{"path": {"prefix": "/own"}}]}])).set("proxy/target_url", upstream.url());
    let none = route("none", json!([{"matches": [{"path": {"prefix": "/none"}}]}]));
    let gateway = Gateway::start(json!({}), [own, none]);
    assert_eq!(ask(&gateway, "h", "GET", "/own/x", &[]).text(), "own");
    assert_eq!(ask(&gateway, "h", "GET", "/none", &[]).status, 500);
    assert_eq!(ask(&gateway, "h", "GET", "/other", &[]).status, 404);
}

#[test]
fn keys_and_limits_act_as_on_any_api() {
    let upstream = named("ok");
    let limited = route("r", json!([{"backends": backend(&upstream)}])).set("global_rate_limit", json!({"rate": 1, "per": 1000}));
    let gateway = Gateway::start(json!({}), [limited]);
    assert_eq!(ask(&gateway, "h", "GET", "/", &[]).status, 200);
    assert_eq!(ask(&gateway, "h", "GET", "/", &[]).status, 429);
    let keyed = route("k", json!([{"matches": [{"path": {"prefix": "/k"}}], "backends": backend(&upstream)}])).with_keys();
    gateway.write_api(&keyed);
    gateway.reload();
    assert_eq!(ask(&gateway, "h", "GET", "/k", &[]).status, 401);
}

#[test]
fn a_cookie_keeps_a_client_with_its_first_backend() {
    let (a, b) = (named("a"), named("b"));
    let rules = json!([{"sticky": {"cookie": "kept"}, "backends": [{"url": a.url()}, {"url": b.url(), "weight": 2}]}]);
    let gateway = Gateway::start(json!({}), [route("r", rules)]);
    for _ in 0..4 {
        let first = ask(&gateway, "h", "GET", "/", &[]);
        let cookie = first.header("set-cookie").and_then(|cookie| cookie.split(';').next()).unwrap().to_owned();
        assert!(cookie.starts_with("kept="), "{first}");
        let line = format!("Cookie: {cookie}");
        assert!((0..10).all(|_| ask(&gateway, "h", "GET", "/", &[&line]).text() == first.text()));
    }
}

#[test]
fn another_api_reaches_a_route_by_its_rules() {
    let (upstream, other) = (named("match"), named("other"));
    let rules = json!([
        {"matches": [{"path": {"prefix": "/x"}, "query": [{"name": "q", "exact": "1"}]}], "backends": backend(&upstream)},
        {"matches": [{"path": {"prefix": "/x/deep"}}], "backends": backend(&other)}
    ]);
    let gateway = Gateway::start(json!({}), [hosts(route("r", rules), &["r.test"]), api("loop", "/loop/", "tyk://r/")]);
    assert_eq!(ask(&gateway, "h", "GET", "/loop/x?q=1", &[]).text(), "match");
    assert_eq!(ask(&gateway, "h", "GET", "/loop/x/deep?q=1", &[]).text(), "other");
    assert_eq!(ask(&gateway, "h", "GET", "/loop/x?q=2", &[]).status, 404);
}

#[test]
fn rules_share_no_stored_responses() {
    for cache in [
        json!({"tollgate/cache": {}}),
        json!({"cache_options": {"enable_cache": true, "cache_timeout": 60, "cache_all_safe_requests": true}}),
    ] {
        let storable = |name: &'static str| Upstream::start(move |_| reply("200 OK", &["Cache-Control: max-age=60"], name));
        let (stable, beta) = (storable("stable"), storable("beta"));
        let rules = json!([
            {"matches": [{"headers": [{"name": "x-beta", "exact": "1"}]}], "backends": backend(&beta)},
            {"backends": backend(&stable)}
        ]);
        let cached = cache.as_object().unwrap().iter().fold(route("r", rules), |api, (path, value)| api.set(path, value.clone()));
        let gateway = Gateway::start(json!({}), [cached]);
        for _ in 0..2 {
            assert_eq!(ask(&gateway, "h", "GET", "/x", &["x-beta: 1"]).text(), "beta");
            assert_eq!(ask(&gateway, "h", "GET", "/x", &[]).text(), "stable");
            assert_eq!(ask(&gateway, "other", "GET", "/x", &[]).text(), "stable");
        }
        assert_eq!((beta.requests(), stable.requests()), (1, 2), "{cache}");
    }
}
