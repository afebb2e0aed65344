//! What a request counts, it counts once: also when it is held on its way through several APIs. What is refused counts nothing, whichever
//! limit refuses it.

use serde_json::{Value, json};

use super::harness::keys::{basic, call, create, keyed, session, session_for};
use super::harness::{Definition, Gateway, Response, Upstream, api, request};

/// An API with a rate of its own that sends everything on to one where each request is held until its password is checked.
fn looping(upstream: &Upstream) -> [Definition; 2] {
    let outer = api("a", "/a/", "tyk://inner/").with_keys().set("auth/auth_header_name", "X-Key");
    let inner = keyed("inner", upstream).set("use_basic_auth", true).set("basic_auth/disable_caching", true);
    [outer, inner]
}

fn add_user(gateway: &Gateway) {
    let user = session_for(&["inner"], json!({"basic_auth_data": {"password": "word"}}));
    let answer = gateway.control("POST", "/tyk/keys/alice?org_id=default", &user.to_string());
    assert_eq!(answer.status, 200, "{answer}");
}

fn ask(gateway: &Gateway, key: &str) -> Response {
    gateway.send(request("GET", "/a/x", &[&format!("X-Key: {key}"), &basic("alice", "word")], ""))
}

fn left(gateway: &Gateway, key: &str) -> Value {
    gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["quota_remaining"].clone()
}

#[test]
fn a_dry_run_is_told_once_however_often_the_request_is_held() {
    let upstream = Upstream::ok();
    let [outer, inner] = looping(&upstream);
    let gateway = Gateway::start(json!({}), [outer, inner]);
    add_user(&gateway);
    let fields = json!({"rate": 1, "per": 3600, "quota_max": 10, "quota_renewal_rate": 3600, "dry_run": ["rate_limit"]});
    let key = create(&gateway, &session(fields));
    for (count, told) in [(1, &[][..]), (2, &["key_rate_limit"]), (3, &["key_rate_limit"])] {
        let response = ask(&gateway, &key);
        assert_eq!((response.status, response.head.all("tollgate-dry-run")), (200, told.to_vec()), "{response}");
        assert_eq!(left(&gateway, &key), 10 - count);
    }
}

#[test]
fn an_api_that_loops_to_itself_counts_each_turn_that_asks_for_it() {
    let upstream = Upstream::ok();
    let rewrite =
        json!([{"path": "/round", "method": "GET", "match_pattern": "/round", "rewrite_to": "tyk://self/there?check_limits=true"}]);
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream).list("url_rewrites", rewrite)]);
    let key = create(&gateway, &session(json!({"quota_max": 10, "quota_renewal_rate": 3600})));
    assert_eq!(call(&gateway, "/a/round", &key).status, 200);
    assert_eq!(left(&gateway, &key), 8);
}
