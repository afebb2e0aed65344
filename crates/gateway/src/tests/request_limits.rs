//! Rates for each client, address, header or claim.

use super::harness::jws::hs256;
use super::harness::keys::{create, keyed, session_for};
use super::harness::tokens::{SECRET, policy, with_tokens};
use super::harness::{Definition, Gateway, Response, Upstream, api, error_json, pass, request, start_with};
use serde_json::{Value, json};
use std::time::Duration;

fn limited(id: &str, upstream: &Upstream, limits: Value) -> Definition {
    let definition = api(id, &format!("/{id}/"), &upstream.url());
    definition.set("tollgate", json!({"request_limits": limits}))
}

fn statuses(gateway: &Gateway, target: &str, lines: &[&str]) -> Vec<u16> {
    lines.iter().map(|line| gateway.send(request("GET", target, &[line], "")).status).collect()
}

#[test]
fn each_value_of_a_header_has_a_rate_of_its_own() {
    let upstream = Upstream::ok();
    let limit = json!([{"requests": 2, "window_s": 60, "by": "header", "name": "X-Tenant"}]);
    let conf = json!({"rate_limit_response_headers": "rate_limits", "tollgate": {"rate_limit_headers": "both"}});
    let gateway = Gateway::start(conf, [limited("a", &upstream, limit)]);
    let lines = ["X-Tenant: a", "x-tenant: a", "X-Tenant: a", "X-Tenant: b", "Y: 1", "Y: 2", "Y: 3"];
    assert_eq!(statuses(&gateway, "/a/", &lines), [200, 200, 429, 200, 200, 200, 429]);
    let refused = gateway.send(request("GET", "/a/", &["X-Tenant: a"], ""));
    assert_eq!(refused.text(), error_json("Rate Limit Exceeded"));
    let header = |name: &str| refused.header(name).unwrap_or_default().to_owned();
    assert_eq!((header("x-ratelimit-limit"), header("x-ratelimit-remaining")), ("2".to_owned(), "0".to_owned()));
    assert_eq!((header("ratelimit-policy").as_str(), header("retry-after").as_str()), (r#""header";q=2;w=60"#, "30"));
    pass(Duration::from_secs(61));
    assert_eq!(statuses(&gateway, "/a/", &["X-Tenant: a"]), [200]);
}

#[test]
fn addresses_count_alone_and_a_network_of_ipv6_is_one() {
    let upstream = Upstream::ok();
    let limit = json!([{"requests": 1, "window_s": 60, "by": "address"}]);
    let conf = json!({"tollgate": {"trusted_proxies": ["127.0.0.0/8"]}});
    let gateway = Gateway::start(conf, [limited("a", &upstream, limit)]);
    let lines = ["10.0.0.1", "10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"];
    let lines: Vec<String> = lines.iter().map(|address| format!("X-Forwarded-For: {address}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(statuses(&gateway, "/a/", &lines), [200, 429, 200, 200, 429, 200]);
}

#[test]
fn a_client_is_a_key_or_the_user_of_a_token_or_else_an_address() {
    let upstream = Upstream::ok();
    let limit = json!([{"requests": 1, "window_s": 60, "by": "client"}]);
    let tokens = with_tokens("a", &upstream).set("tollgate", json!({"request_limits": limit}));
    let keyed = keyed("k", &upstream).set("tollgate", json!({"request_limits": limit}));
    let gateway = start_with([limited("o", &upstream, limit.clone()), tokens, keyed], &[policy("basic", json!({}))]);
    let bearer = |user: &str, more: i64| format!("Authorization: {}", hs256(SECRET, &json!({"sub": user, "n": more})));
    // Two tokens of one user are one client.
    let lines = [bearer("joe", 1), bearer("joe", 2), bearer("eve", 1)];
    assert_eq!(statuses(&gateway, "/a/", &lines.iter().map(String::as_str).collect::<Vec<_>>()), [200, 429, 200]);
    let session = session_for(&["k"], json!({}));
    let keys: Vec<String> = (0..2).map(|_| format!("Authorization: {}", create(&gateway, &session))).collect();
    assert_eq!(statuses(&gateway, "/k/", &[&keys[0], &keys[0], &keys[1]]), [200, 429, 200]);
    assert_eq!(statuses(&gateway, "/o/", &["A: 1", "A: 2"]), [200, 429]);
}

#[test]
fn a_claim_counts_all_tokens_that_have_it() {
    let upstream = Upstream::ok();
    let limit = json!([{"requests": 1, "window_s": 60, "by": "claim", "name": "team"}]);
    let tokens = with_tokens("a", &upstream).set("tollgate", json!({"request_limits": limit}));
    let gateway = start_with([tokens], &[policy("basic", json!({}))]);
    let bearer = |user: &str, team: &str| format!("Authorization: {}", hs256(SECRET, &json!({"sub": user, "team": team})));
    let lines = [bearer("joe", "red"), bearer("eve", "red"), bearer("joe", "blue")];
    assert_eq!(statuses(&gateway, "/a/", &lines.iter().map(String::as_str).collect::<Vec<_>>()), [200, 429, 200]);
}

#[test]
fn who_is_refused_by_one_limit_counts_for_none() {
    let upstream = Upstream::ok();
    let limits = json!([
        {"requests": 2, "window_s": 60},
        {"requests": 1, "window_s": 60, "by": "header", "name": "X"},
    ]);
    let gateway = Gateway::start(json!({}), [limited("a", &upstream, limits)]);
    assert_eq!(statuses(&gateway, "/a/", &["X: 1", "X: 1", "X: 1", "X: 2", "X: 3"]), [200, 429, 429, 200, 429]);
    let last = gateway.send(request("GET", "/a/", &["X: 4"], ""));
    assert_eq!(last.text(), error_json("API Rate Limit Exceeded"));
}

#[test]
fn limits_with_one_counter_are_one_limit() {
    let upstream = Upstream::ok();
    let limit = json!([{"requests": 1, "window_s": 60, "by": "header", "name": "X", "counter": "both"}]);
    let gateway = Gateway::start(json!({}), [limited("a", &upstream, limit.clone()), limited("b", &upstream, limit)]);
    assert_eq!(statuses(&gateway, "/a/", &["X: 1"]), [200]);
    assert_eq!(statuses(&gateway, "/b/", &["X: 1", "X: 2"]), [429, 200]);
}

#[test]
fn a_reload_keeps_counts_and_a_dry_run_refuses_nobody() {
    let upstream = Upstream::ok();
    let limit = |dry: bool| json!([{"requests": 1, "window_s": 60, "by": "header", "name": "X", "dry_run": dry}]);
    let gateway = Gateway::start(json!({}), [limited("a", &upstream, limit(false))]);
    assert_eq!(statuses(&gateway, "/a/", &["X: 1"]), [200]);
    gateway.write_api(&limited("a", &upstream, limit(false)).set("name", "another"));
    gateway.reload();
    assert_eq!(statuses(&gateway, "/a/", &["X: 1"]), [429]);
    gateway.write_api(&limited("a", &upstream, limit(true)));
    gateway.reload();
    let response: Response = gateway.send(request("GET", "/a/", &["X: 1"], ""));
    assert_eq!((response.status, response.header("tollgate-dry-run")), (200, Some("key_rate_limit")));
}
