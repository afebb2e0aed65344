//! Servers that are asked about requests: one that decides, and one that introspects tokens.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::harness::jws::now;
use super::harness::keys::{call, keyed};
use super::harness::start_with;
use super::harness::tokens::policy;
use super::harness::{Gateway, Response, Seen, Upstream, error_json, ok, reply, request};

/// Lets `Cookie: user=…` in, sends others to a login page, and forbids what is under `/a/closed`.
fn decider() -> Upstream {
    Upstream::start(|seen| {
        let user = seen.header("cookie").and_then(|cookie| cookie.strip_prefix("user="));
        match (user, seen.header("x-forwarded-uri")) {
            (_, Some(uri)) if uri.starts_with("/a/closed") => reply("403 Forbidden", &["Content-Type: text/plain"], "not for you"),
            (Some(user), _) => reply("200 OK", &[&format!("X-User: {user}"), "X-Inner: not for the upstream"], ""),
            (None, _) => reply("302 Found", &["Location: https://login.test/", "X-Secret: hidden"], ""),
        }
    })
}

fn with_decider(decider: &Upstream, fields: Value) -> (Upstream, Gateway) {
    with_decider_at(&decider.url(), fields)
}

fn with_decider_at(url: &str, fields: Value) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let mut rules = json!({"url": url, "request_headers": ["Cookie"], "response_headers": ["X-User"]});
    super::harness::definition::merge(&mut rules, &fields);
    let definition = keyed("a", &upstream).set("tollgate/forward_auth", rules);
    let gold = policy("gold", json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    (upstream, start_with([definition], &[gold]))
}

fn ask(gateway: &Gateway, target: &str, user: &str) -> Response {
    gateway.send(request("POST", target, &[&format!("Cookie: user={user}"), "X-User: root", "X-Other: x"], "a body"))
}

#[test]
fn the_decider_sees_the_request_and_its_word_goes_upstream() {
    let decider = decider();
    let (upstream, gateway) = with_decider(&decider, json!({}));
    let response = ask(&gateway, "/a/x?y=1", "joe");
    assert_eq!(response.status, 200, "{response}");
    let asked = decider.last();
    let said = ["x-forwarded-method", "x-forwarded-uri", "x-forwarded-host", "x-forwarded-for", "cookie", "x-other"]
        .map(|name| asked.header(name).map(str::to_owned));
    let expect = [Some("POST"), Some("/a/x?y=1"), Some("gateway.test"), Some("127.0.0.1"), Some("user=joe"), None];
    assert_eq!(said, expect.map(|value| value.map(str::to_owned)));
    let seen = upstream.last();
    assert_eq!(
        (seen.header("x-user"), seen.header("x-inner"), seen.text().as_str()),
        (Some("joe"), None, "a body"),
        "not the client's own word"
    );
}

#[test]
fn a_refusal_is_the_deciders_own_answer() {
    let decider = decider();
    let (upstream, gateway) = with_decider(&decider, json!({}));
    let response = gateway.get("/a/x");
    assert_eq!(
        (response.status, response.header("location"), response.header("x-secret")),
        (302, Some("https://login.test/"), None)
    );
    let response = gateway.get("/a/closed/y");
    assert_eq!((response.status, response.text().as_str()), (403, "not for you"));
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn without_a_decider_nobody_gets_in_and_nobody_waits_for_one() {
    let silent = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let failing = Upstream::once(reply("500 Internal Server Error", &[], ""));
    let large = Upstream::once(reply("200 OK", &["X-User: joe"], &"x".repeat(1 << 20)));
    let broken = Upstream::once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nx");
    for url in [silent.url(), failing.url(), large.url(), broken.url(), "http://127.0.0.1:1/".to_owned()] {
        let (upstream, gateway) = with_decider_at(&url, json!({"timeout_ms": 300}));
        let response = ask(&gateway, "/a/x", "joe");
        assert_eq!((response.status, response.text()), (503, error_json("Authentication is not available")), "{url}");
        assert_eq!(upstream.requests(), 0);
    }
}

#[test]
fn good_answers_are_remembered_when_that_is_asked_for() {
    let decider = decider();
    let (_upstream, gateway) = with_decider(&decider, json!({"cache_ttl_s": 600}));
    for _ in 0..5 {
        assert_eq!(ask(&gateway, "/a/x", "joe").status, 200);
    }
    assert_eq!(decider.requests(), 1);
    assert_eq!(ask(&gateway, "/a/y", "joe").status, 200);
    assert_eq!(ask(&gateway, "/a/closed", "joe").status, 403, "another path is another question");
    assert_eq!(decider.requests(), 3);
    for _ in 0..2 {
        assert_eq!(gateway.get("/a/x").status, 302);
    }
    assert_eq!(decider.requests(), 5, "refusals are not remembered");
}

#[test]
fn identities_have_sessions_of_their_own() {
    let decider = decider();
    let (_upstream, gateway) = with_decider(&decider, json!({"identity_header": "X-User", "policies": ["gold"]}));
    for left in ["2", "1", "0"] {
        assert_eq!(ask(&gateway, "/a/x", "joe").header("x-ratelimit-remaining"), Some(left));
    }
    assert_eq!(ask(&gateway, "/a/x", "joe").text(), error_json("Quota exceeded"));
    assert_eq!(ask(&gateway, "/a/x", "ann").status, 200);
    assert_eq!(ask(&gateway, "/a/x", "").status, 503, "nobody has no session");
}

fn introspecting(server: &Upstream, cache: Value) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let introspection = json!({"enabled": true, "url": server.url(), "client_id": "gw", "client_secret": "s&cret", "cache": cache});
    let definition =
        keyed("a", &upstream).set("external_oauth", json!({"enabled": true, "providers": [{"introspection": introspection}]}));
    (upstream, Gateway::start(json!({}), [definition]))
}

/// Knows the tokens `good` and `short`.
fn authorization_server(asked: Arc<AtomicUsize>) -> Upstream {
    Upstream::start(move |seen: &Seen| {
        asked.fetch_add(1, Ordering::Relaxed);
        let body = seen.text();
        assert!(body.ends_with("&client_id=gw&client_secret=s%26cret"), "{body}");
        let said = match body.split('&').next() {
            Some("token=good") => json!({"active": true, "sub": "joe"}),
            Some("token=short") => json!({"active": true, "sub": "joe", "exp": now() + 2}),
            Some("token=ended") => json!({"active": true, "sub": "joe", "exp": now() - 1}),
            Some("token=strange") => json!({"active": "true", "sub": "joe"}),
            Some("token=nobody") => json!({"active": true}),
            Some("token=broken") => return ok(),
            _ => json!({"active": false}),
        };
        reply("200 OK", &["Content-Type: application/json"], &said.to_string())
    })
}

#[test]
fn a_token_that_its_server_calls_active_is_let_in() {
    let asked: Arc<AtomicUsize> = Arc::default();
    let server = authorization_server(asked.clone());
    let (upstream, gateway) = introspecting(&server, json!({"enabled": true}));
    let response = gateway.get("/a/x");
    assert_eq!((response.status, response.text()), (400, error_json("authorization field missing")));
    for _ in 0..5 {
        assert_eq!(call(&gateway, "/a/x", "Bearer good").status, 200);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1, "a good token is remembered");
    for token in ["bad", "ended", "strange", "nobody", "broken", "a&client_id=x"] {
        let response = call(&gateway, "/a/x", token);
        assert_eq!((response.status, response.text()), (401, error_json("access token is not valid")), "{token}");
    }
    assert_eq!(upstream.requests(), 5);
    assert!(!gateway.log().contains("cret") && !gateway.log().contains("ended"), "{}", gateway.log());
}

#[test]
fn a_remembered_token_ends_and_without_the_cache_each_is_asked_for() {
    let asked: Arc<AtomicUsize> = Arc::default();
    let server = authorization_server(asked.clone());
    let (_upstream, gateway) = introspecting(&server, json!({"enabled": true, "timeout": 1}));
    assert_eq!(call(&gateway, "/a/x", "good").status, 200);
    super::harness::eventually("it is asked again", || {
        assert_eq!(call(&gateway, "/a/x", "good").status, 200);
        asked.load(Ordering::Relaxed) >= 2
    });
    let (_upstream, gateway) = introspecting(&server, json!({}));
    let before = asked.load(Ordering::Relaxed);
    for _ in 0..3 {
        assert_eq!(call(&gateway, "/a/x", "good").status, 200);
    }
    assert_eq!(asked.load(Ordering::Relaxed) - before, 3);
}

#[test]
fn an_outage_of_the_server_lets_nobody_in() {
    let server = Upstream::once(reply("503 Service Unavailable", &[], "{\"active\":true,\"sub\":\"joe\"}"));
    let (upstream, gateway) = introspecting(&server, json!({}));
    assert_eq!(call(&gateway, "/a/x", "good").status, 401);
    assert_eq!(upstream.requests(), 0);
}
