//! Cross-origin requests: preflights that the gateway answers, and the lines on ordinary answers.

use serde_json::{Value, json};

use super::harness::{Definition, Gateway, Response, Upstream, api, reply, request};

const ORIGIN: &str = "Origin: http://app.test";

fn with_cors(upstream: &Upstream, cors: Value) -> Definition {
    let mut all = json!({
        "enable": true,
        "allowed_origins": ["http://app.test"],
        "allowed_methods": ["GET", "POST"],
        "allowed_headers": ["X-Token", "Content-Type"],
        "exposed_headers": ["X-Shown"],
        "max_age": 24
    });
    super::harness::definition::merge(&mut all, &cors);
    api("a", "/a/", &upstream.url()).set("CORS", all)
}

fn preflight(gateway: &Gateway, origin: &str, method: &str, headers: &str) -> Response {
    let method = format!("Access-Control-Request-Method: {method}");
    let headers = format!("Access-Control-Request-Headers: {headers}");
    let lines = [origin, &method, &headers];
    gateway.send(request("OPTIONS", "/a/x", if headers.ends_with(": ") { &lines[..2] } else { &lines }, ""))
}

/// The names of all `Vary` lines, in lower case.
fn vary(response: &Response) -> Vec<String> {
    let mut names: Vec<String> = response
        .head
        .all("vary")
        .join(",")
        .split(',')
        .map(|name| name.trim().to_lowercase())
        .filter(|name| !name.is_empty())
        .collect();
    names.sort();
    names
}

const PREFLIGHT_VARY: [&str; 3] = ["access-control-request-headers", "access-control-request-method", "origin"];

#[test]
fn a_good_preflight_is_answered_by_the_gateway() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({})).with_keys()]);
    let response = preflight(&gateway, ORIGIN, "POST", "x-token");
    assert_eq!((response.status, response.text().as_str()), (204, ""));
    assert_eq!(response.header("access-control-allow-origin"), Some("http://app.test"));
    assert_eq!(response.header("access-control-allow-methods"), Some("POST"));
    assert!(
        response.header("access-control-allow-headers").is_some_and(|names| names.eq_ignore_ascii_case("x-token")),
        "{response}"
    );
    assert_eq!(response.header("access-control-max-age"), Some("24"));
    assert_eq!(response.header("access-control-allow-credentials"), None);
    assert_eq!(vary(&response), PREFLIGHT_VARY);
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_bad_preflight_is_answered_without_permission() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({}))]);
    for (origin, method, headers) in [
        (ORIGIN, "DELETE", ""),
        ("Origin: http://evil.test", "POST", ""),
        (ORIGIN, "POST", "x-other"),
        (ORIGIN, "POST", "x-token, x-other"),
    ] {
        let response = preflight(&gateway, origin, method, headers);
        assert_eq!(response.status, 204, "{response}");
        for name in response.head.names() {
            assert!(!name.to_lowercase().starts_with("access-control-"), "{origin} {method} {headers}: {response}");
        }
        assert_eq!(vary(&response), PREFLIGHT_VARY);
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn an_options_request_that_is_no_preflight_is_answered_empty() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({"allowed_methods": ["GET", "POST", "OPTIONS"]}))]);
    let response = gateway.send(request("OPTIONS", "/a/x", &[ORIGIN], ""));
    assert_eq!((response.status, response.text().as_str()), (200, ""));
    assert_eq!(response.header("access-control-allow-origin"), Some("http://app.test"));
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn an_ordinary_answer_carries_the_permission_in_place_of_the_upstreams() {
    let upstream = Upstream::start(|_| {
        reply("200 OK", &["Access-Control-Allow-Origin: *", "Access-Control-Allow-Credentials: true", "Vary: Accept"], "ok")
    });
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({}))]);
    let response = gateway.send(request("GET", "/a/x", &[ORIGIN], ""));
    assert_eq!((response.status, response.header("access-control-allow-origin")), (200, Some("http://app.test")));
    assert_eq!(response.header("access-control-expose-headers"), Some("X-Shown"));
    let vary = vary(&response);
    assert!(vary.contains(&"origin".to_owned()) && vary.contains(&"accept".to_owned()), "{response}");
}

#[test]
fn a_foreign_origin_gets_an_answer_without_permission() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({}))]);
    for line in ["Origin: http://evil.test", "Origin: http://app.test.evil.test", "Origin: null", "X-None: 1"] {
        let response = gateway.send(request("GET", "/a/x", &[line], ""));
        assert_eq!((response.status, response.header("access-control-allow-origin")), (200, None), "{line}");
        assert!(vary(&response).contains(&"origin".to_owned()), "{response}");
    }
}

#[test]
fn any_origin_and_credentials() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({"allowed_origins": ["*"]}))]);
    assert_eq!(gateway.send(request("GET", "/a/x", &[ORIGIN], "")).header("access-control-allow-origin"), Some("*"));
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({"allow_credentials": true}))]);
    let response = gateway.send(request("GET", "/a/x", &[ORIGIN], ""));
    assert_eq!(response.header("access-control-allow-credentials"), Some("true"));
    assert_eq!(preflight(&gateway, ORIGIN, "POST", "").header("access-control-allow-credentials"), Some("true"));
}

#[test]
fn an_origin_may_be_given_with_a_wildcard() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({"allowed_origins": ["http://*.app.test"]}))]);
    for (origin, allowed) in [("http://eu.app.test", true), ("http://app.test", false), ("http://eu.app.test.evil", false)] {
        let response = gateway.send(request("GET", "/a/x", &[&format!("Origin: {origin}")], ""));
        assert_eq!(response.header("access-control-allow-origin"), allowed.then_some(origin), "{origin}");
    }
}

#[test]
fn refusals_carry_the_permission_too() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({})).with_keys()]);
    let response = gateway.send(request("GET", "/a/x", &[ORIGIN], ""));
    assert_eq!((response.status, response.header("access-control-allow-origin")), (401, Some("http://app.test")));
}

#[test]
fn options_may_be_left_to_the_upstream() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Access-Control-Allow-Origin: http://own.test"], "from upstream"));
    let passing = with_cors(&upstream, json!({"options_passthrough": true})).with_keys();
    let gateway = Gateway::start(json!({}), [passing]);
    let response = gateway.send(request("OPTIONS", "/a/x", &[ORIGIN, "Access-Control-Request-Method: POST"], ""));
    assert_eq!((response.status, response.text().as_str()), (200, "from upstream"));
    assert_eq!(gateway.send(request("GET", "/a/x", &[], "")).status, 401);
}

#[test]
fn without_cors_nothing_is_added_and_options_are_forwarded() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Access-Control-Allow-Origin: http://own.test"], "ok"));
    let gateway = Gateway::start(json!({}), [with_cors(&upstream, json!({"enable": false}))]);
    let response = gateway.send(request("OPTIONS", "/a/x", &[ORIGIN, "Access-Control-Request-Method: POST"], ""));
    assert_eq!((response.text().as_str(), response.header("access-control-allow-origin")), ("ok", Some("http://own.test")));
    assert_eq!(vary(&response).len(), 0);
}
