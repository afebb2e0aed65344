//! The response cache by Tyk's rules: what is stored, for whom, for how long, and what clients see of a hit. Rules are those of Tyk's
//! `mw_redis_cache.go` and `res_cache.go`; the tests of the crate name the functions.

use serde_json::{Value, json};

use super::harness::caching::{cached, counting, with_options};
use super::harness::keys::{call, create, keyed, session};
use super::harness::{Gateway, Response, Upstream, api, eventually, get, request};

fn start(upstream: &Upstream, options: Value) -> Gateway {
    Gateway::start(json!({}), [cached(upstream, options)])
}

fn is_hit(answer: &Response) -> bool {
    let header = answer.header("x-tyk-cached-response");
    assert!(matches!(header, None | Some("1")), "{answer}");
    header.is_some()
}

/// Sends a request three times. The number of those that the upstream saw.
fn asked(gateway: &Gateway, upstream: &Upstream, request: impl AsRef<[u8]>) -> usize {
    let before = upstream.requests();
    (0..3).for_each(|_| drop(gateway.send(request.as_ref())));
    upstream.requests() - before
}

#[test]
fn a_second_request_gets_the_first_ones_answer() {
    let upstream = counting();
    let gateway = start(&upstream, json!({}));
    let first = gateway.get("/a/x?q=1");
    assert!(!is_hit(&first));
    let second = gateway.get("/a/x?q=1");
    assert!(is_hit(&second));
    assert_eq!((second.status, second.text().as_str(), second.header("x-upstream")), (200, "answer 1 to GET", Some("1")));
    // Another query, and another path, are other things.
    assert_eq!(gateway.get("/a/x?q=2").text(), "answer 2 to GET");
    assert_eq!(gateway.get("/a/y?q=1").text(), "answer 3 to GET");
    // An unknown length, and no body at all.
    for (target, text) in [("/a/x?chunks", "answer 4 to GET"), ("/a/x?none", "")] {
        let [first, second] = [gateway.get(target), gateway.get(target)];
        assert_eq!((is_hit(&first), is_hit(&second)), (false, true), "{target}");
        assert_eq!((first.status, first.text()), (second.status, second.text()), "{target}");
        assert_eq!(second.text(), text);
    }
    assert_eq!(upstream.requests(), 5);
}

#[test]
fn without_enable_cache_nothing_is_stored() {
    let upstream = counting();
    let gateway = start(&upstream, json!({"enable_cache": false}));
    assert_eq!(asked(&gateway, &upstream, get("/a/x")), 3);
}

#[test]
fn each_key_has_answers_of_its_own_and_a_hit_counts_for_its_limits() {
    let upstream = counting();
    let gateway = Gateway::start(json!({}), [with_options(keyed("a", &upstream), json!({}))]);
    let one = create(&gateway, &session(json!({"quota_max": 3, "quota_remaining": 3, "quota_renewal_rate": 3600})));
    let other = create(&gateway, &session(json!({"rate": 2, "per": 3600})));
    let texts = |key: &str| {
        let answer = call(&gateway, "/a/x", key);
        (answer.status, answer.text(), answer.header("x-ratelimit-remaining").map(str::to_owned))
    };
    assert_eq!(texts(&one), (200, "answer 1 to GET".into(), Some("2".into())));
    assert_eq!(texts(&one), (200, "answer 1 to GET".into(), Some("1".into())));
    assert_eq!(texts(&other).1, "answer 2 to GET");
    assert_eq!(texts(&other).1, "answer 2 to GET");
    assert_eq!(texts(&other).0, 429);
    assert_eq!(texts(&one), (200, "answer 1 to GET".into(), Some("0".into())));
    assert_eq!(texts(&one).0, 403);
    assert_eq!(gateway.get("/a/x").status, 401);
    assert_eq!(upstream.requests(), 2);
}

#[test]
fn addresses_distinguish_callers_without_keys() {
    let upstream = counting();
    let gateway = Gateway::start(json!({"tollgate": {"trusted_proxies": ["127.0.0.1"]}}), [cached(&upstream, json!({}))]);
    let from = |address: &str| gateway.send(request("GET", "/a/x", &[&format!("X-Real-IP: {address}")], "")).text();
    assert_eq!([from("10.0.0.1"), from("10.0.0.2"), from("10.0.0.1")], ["answer 1 to GET", "answer 2 to GET", "answer 1 to GET"]);
}

#[test]
fn safe_methods_are_stored_each_for_itself() {
    let upstream = counting();
    let gateway = start(&upstream, json!({}));
    for (method, count) in [("GET", 1), ("HEAD", 1), ("OPTIONS", 1), ("POST", 3), ("DELETE", 3)] {
        assert_eq!(asked(&gateway, &upstream, request(method, "/a/x", &[], "")), count, "{method}");
    }
    // Nobody knows how long the body of GET would be.
    let answer = gateway.send(request("HEAD", "/a/x", &[], ""));
    assert_eq!((is_hit(&answer), answer.status, answer.header("content-length")), (true, 200, None));
    assert_eq!(gateway.get("/a/x").text(), "answer 1 to GET");
    // What is in a body of GET is not in the key.
    assert_eq!(asked(&gateway, &upstream, request("GET", "/a/x", &[], "hi")), 3);
}

#[test]
fn without_all_safe_requests_only_listed_paths_are_stored() {
    let upstream = counting();
    let definition = cached(&upstream, json!({"cache_all_safe_requests": false, "cache_response_codes": [200]}))
        .list("cache", json!(["/plain"]))
        .list(
            "advance_cache_config",
            json!([
                {"path": "/safe", "method": "SAFE_METHODS"},
                {"path": "/post", "method": "POST", "cache_key_regex": "id=[0-9]+"},
                {"path": "/codes", "method": "GET", "cache_response_codes": [404]},
                {"path": "/off", "method": "GET", "disabled": true}
            ]),
        );
    let gateway = Gateway::start(json!({}), [definition]);
    let count = |method: &str, target: &str, body: &str| asked(&gateway, &upstream, request(method, target, &[], body));
    assert_eq!([count("GET", "/a/plain", ""), count("HEAD", "/a/plain", ""), count("POST", "/a/plain", "")], [1, 1, 3]);
    assert_eq!([count("GET", "/a/safe", ""), count("OPTIONS", "/a/safe", ""), count("PUT", "/a/safe", "")], [1, 1, 3]);
    assert_eq!([count("GET", "/a/off", ""), count("GET", "/a/other", "")], [3, 3]);
    // Of a body only what the pattern finds is in the key.
    assert_eq!(
        [count("POST", "/a/post", "id=1&at=1"), count("POST", "/a/post", "id=1&at=2"), count("POST", "/a/post", "id=2")],
        [1, 0, 1]
    );
    assert_eq!([count("GET", "/a/codes", ""), count("GET", "/a/codes?status=404", "")], [3, 1]);
}

#[test]
fn a_whole_body_is_in_the_key_and_reaches_the_upstream() {
    let upstream = counting();
    let definition = cached(&upstream, json!({})).list("advance_cache_config", json!([{"path": "/post", "method": "POST"}]));
    let gateway = Gateway::start(json!({}), [definition]);
    for body in ["one", "two"] {
        assert_eq!(asked(&gateway, &upstream, request("POST", "/a/post", &[], body)), 1);
        assert_eq!(upstream.last().text(), body);
    }
}

#[test]
fn a_request_with_a_large_body_is_not_answered_from_the_cache() {
    let upstream = counting();
    let definition = cached(&upstream, json!({})).list("advance_cache_config", json!([{"path": "/post", "method": "POST"}]));
    let gateway = Gateway::start(json!({}), [definition]);
    for (bytes, expected) in [(256 << 10, 1), ((256 << 10) + 1, 3)] {
        let body = "x".repeat(bytes);
        assert_eq!(asked(&gateway, &upstream, request("POST", "/a/post", &[], &body)), expected, "{bytes} bytes");
        assert!(upstream.last().text() == body);
    }
}

#[test]
fn status_codes_decide_what_is_stored() {
    let upstream = counting();
    let gateway = start(&upstream, json!({"cache_response_codes": [200, 404]}));
    for (target, count) in [("/a/x", 1), ("/a/x?status=404", 1), ("/a/x?status=500", 3), ("/a/x?none", 3)] {
        assert_eq!(asked(&gateway, &upstream, get(target)), count, "{target}");
    }
    let gateway = start(&upstream, json!({}));
    assert_eq!(asked(&gateway, &upstream, get("/a/x?status=500")), 1, "without a list errors are stored too");
}

#[test]
fn an_answer_is_used_for_its_time() {
    let upstream = counting();
    let definition =
        |id: &str, timeout: i64| with_options(api(id, &format!("/{id}/"), &upstream.url()), json!({"cache_timeout": timeout}));
    let gateway = Gateway::start(json!({}), [definition("none", 0), definition("less", -1), definition("short", 2)]);
    assert_eq!([asked(&gateway, &upstream, get("/none/x")), asked(&gateway, &upstream, get("/less/x"))], [3, 3]);
    let first = gateway.get("/short/x").text();
    eventually("the time is over", || gateway.get("/short/x").text() != first);
    // An endpoint's own time counts instead, in both directions.
    let endpoints = json!([{"path": "/short", "method": "GET", "timeout": 2}, {"path": "/long", "method": "GET", "timeout": 60}]);
    let of_endpoint = |id: &str, timeout: i64| {
        with_options(
            api(id, &format!("/{id}/"), &upstream.url()),
            json!({"cache_timeout": timeout, "cache_all_safe_requests": false}),
        )
        .list("advance_cache_config", endpoints.clone())
    };
    let gateway = Gateway::start(json!({}), [of_endpoint("none", 0), of_endpoint("minute", 60)]);
    assert_eq!([asked(&gateway, &upstream, get("/none/long")), asked(&gateway, &upstream, get("/none/other"))], [1, 3]);
    let first = gateway.get("/minute/short").text();
    eventually("the endpoint's time is over", || gateway.get("/minute/short").text() != first);
}

#[test]
fn the_upstream_decides_where_it_may() {
    let upstream = counting();
    let codes = json!({"cache_response_codes": [200], "enable_upstream_cache_control": true});
    let gateway = start(&upstream, codes);
    for (target, count) in [("/a/x?action", 1), ("/a/x?never", 3), ("/a/x?own", 1), ("/a/x?status=500", 3)] {
        assert_eq!(asked(&gateway, &upstream, get(target)), count, "{target}");
    }
    let gateway = start(&upstream, json!({"enable_upstream_cache_control": true, "cache_control_ttl_header": "x-my-ttl"}));
    for (target, count) in [("/a/x?never", 1), ("/a/x?own", 3)] {
        assert_eq!(asked(&gateway, &upstream, get(target)), count, "{target}");
    }
    let gateway = start(&upstream, json!({"cache_response_codes": [200]}));
    for (target, count) in [("/a/x?action", 3), ("/a/x?never", 1)] {
        assert_eq!(asked(&gateway, &upstream, get(target)), count, "{target}");
    }
}

#[test]
fn listed_headers_are_in_the_key() {
    let upstream = counting();
    let gateway = start(&upstream, json!({"cache_by_headers": ["X-Lang"]}));
    let with = |lines: &[&str]| asked(&gateway, &upstream, request("GET", "/a/x", lines, ""));
    assert_eq!([with(&["X-Lang: de"]), with(&["X-Lang: en"]), with(&[]), with(&["x-lang: de", "X-Other: 1"])], [1, 1, 1, 0]);
}

#[test]
fn a_host_that_the_upstream_sees_is_in_the_key_and_another_is_not() {
    let upstream = counting();
    let preserved = with_options(api("b", "/b/", &upstream.url()), json!({})).set("proxy/preserve_host_header", true);
    let gateway = Gateway::start(json!({}), [cached(&upstream, json!({})), preserved]);
    let of = |target: &str, host: &str| gateway.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).text();
    assert_eq!([of("/a/x", "one"), of("/a/x", "two")], ["answer 1 to GET", "answer 1 to GET"]);
    assert_eq!(
        [of("/b/x", "one"), of("/b/x", "two"), of("/b/x", "one")],
        ["answer 2 to GET", "answer 3 to GET", "answer 2 to GET"]
    );
}

#[test]
fn a_hit_is_served_while_the_breaker_is_open() {
    let upstream = counting();
    let entry = json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 2, "return_to_service_after": 60, "disable_half_open_state": true});
    let definition = cached(&upstream, json!({"cache_response_codes": [200]})).list("circuit_breakers", json!([entry]));
    let gateway = Gateway::start(json!({}), [definition]);
    let status = |target: &str| gateway.get(target).status;
    assert_eq!([status("/a/x"), status("/a/x?status=500")], [200, 500]);
    assert_eq!([status("/a/x?other"), status("/a/x")], [503, 200]);
}

#[test]
fn a_client_that_has_the_answer_gets_304() {
    let upstream = counting();
    let gateway = start(&upstream, json!({}));
    gateway.get("/a/x?etag");
    let of = |tag: &str| gateway.send(request("GET", "/a/x?etag", &[&format!("If-None-Match: {tag}")], ""));
    let has = of("W/\"d\", \"e\"");
    assert_eq!((has.status, has.body.len(), has.header("etag"), is_hit(&has)), (304, 0, Some("\"e\""), true));
    let has_not = of("\"f\"");
    assert_eq!((has_not.status, has_not.text().as_str()), (200, "answer 1 to GET"));
    // The age of the answer can be seen.
    assert_eq!(has_not.head.all("date"), ["Sun, 06 Nov 1994 08:49:37 GMT"]);
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn what_an_answer_says_of_caching_is_ignored_as_in_tyk_and_limits_are_told_anew() {
    let upstream = counting();
    let gateway = start(&upstream, json!({}));
    gateway.get("/a/x?cookie");
    let hit = gateway.get("/a/x?cookie");
    assert_eq!((is_hit(&hit), hit.header("set-cookie"), hit.header("cache-control")), (true, Some("a=b"), Some("no-store")));
    assert_eq!(hit.head.all("x-ratelimit-limit"), ["0"]);
}

#[test]
fn a_hit_gets_the_header_changes_of_its_own_request() {
    let upstream = counting();
    let definition = cached(&upstream, json!({}))
        .set("enable_context_vars", true)
        .version("global_response_headers", json!({"X-Global": "g"}))
        .version("global_response_headers_remove", json!(["X-Upstream"]))
        .list(
            "transform_response_headers",
            json!([{"path": "/x", "method": "GET", "add_headers": {"X-Who": "$tyk_context.headers_X_Who"}}]),
        );
    let gateway = Gateway::start(json!({}), [definition]);
    for who in ["one", "two"] {
        let answer = gateway.send(request("GET", "/a/x", &[&format!("X-Who: {who}")], ""));
        assert_eq!(answer.head.all("x-who"), [who]);
        assert_eq!((answer.head.all("x-global"), answer.header("x-upstream")), (vec!["g"], None));
        assert_eq!(is_hit(&answer), who == "two");
    }
}

#[test]
fn the_control_api_empties_one_apis_cache() {
    let upstream = counting();
    let other = with_options(api("b", "/b/", &upstream.url()), json!({}));
    let gateway = Gateway::start(json!({}), [cached(&upstream, json!({})), other]);
    let texts = || [gateway.get("/a/x").text(), gateway.get("/b/x").text()];
    assert_eq!(texts(), ["answer 1 to GET", "answer 2 to GET"]);
    assert_eq!(gateway.control("DELETE", "/tyk/cache/a", "").status, 200);
    assert_eq!(texts(), ["answer 3 to GET", "answer 2 to GET"]);
    assert_eq!(texts(), ["answer 3 to GET", "answer 2 to GET"]);
}

#[test]
fn a_reload_keeps_the_cache_unless_the_definition_has_changed() {
    let upstream = counting();
    let gateway = start(&upstream, json!({}));
    let text = || gateway.get("/a/x").text();
    assert_eq!(text(), "answer 1 to GET");
    gateway.reload();
    assert_eq!(text(), "answer 1 to GET");
    gateway.write_api(&cached(&upstream, json!({})).version("global_response_headers", json!({"X-New": "1"})));
    gateway.reload();
    assert_eq!(text(), "answer 2 to GET");
}
