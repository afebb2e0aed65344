//! What a request counts, it counts once: also when it is held on its way through several APIs. What is refused counts nothing, whichever
//! limit refuses it.

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Response, Upstream, api, error_json, request};
use crate::keys::{call, create, keyed, session, session_for};
use crate::servers::Server;
use crate::{basic_auth, shared_keys};

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
    gateway.send(request("GET", "/a/x", &[&format!("X-Key: {key}"), &basic_auth::line("alice", "word")], ""))
}

fn left(gateway: &Gateway, key: &str) -> Value {
    gateway.control("GET", &format!("/tyk/keys/{key}"), "").json()["quota_remaining"].clone()
}

/// Without a store that is shared, and with one.
fn each_store(check: impl Fn(&Value)) {
    check(&json!({}));
    let server = Server::start(&[]);
    check(&shared_keys::on(&server));
}

#[test]
fn a_request_that_is_held_after_a_loop_counts_once() {
    each_store(|conf| {
        let upstream = Upstream::ok();
        let [outer, inner] = looping(&upstream);
        let outer = outer.set("global_rate_limit", json!({"rate": 3, "per": 3600}));
        let gateway = Gateway::start(conf.clone(), [outer, inner]);
        add_user(&gateway);
        let key = create(&gateway, &session(json!({"rate": 3, "per": 3600, "quota_max": 10, "quota_renewal_rate": 3600})));
        for count in 1..=3 {
            let response = ask(&gateway, &key);
            assert_eq!(response.status, 200, "{response}");
            assert_eq!(left(&gateway, &key), 10 - count);
        }
        let refused = ask(&gateway, &key);
        assert_eq!((refused.status, refused.text()), (429, error_json("Rate Limit Exceeded")), "the key's comes first");
        let other = create(&gateway, &session(json!({})));
        let refused = ask(&gateway, &other);
        assert_eq!((refused.status, refused.text()), (429, error_json("API Rate Limit Exceeded")));
    });
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

#[test]
fn what_an_apis_rate_refuses_no_key_counts() {
    each_store(|conf| {
        let upstream = Upstream::ok();
        let limited = keyed("a", &upstream).set("global_rate_limit", json!({"rate": 1, "per": 3600}));
        let gateway = Gateway::start(conf.clone(), [limited, keyed("b", &upstream)]);
        let fields = json!({"rate": 3, "per": 3600, "quota_max": 10, "quota_renewal_rate": 3600});
        let key = create(&gateway, &session_for(&["a", "b"], fields));
        let served = call(&gateway, "/a/", &key);
        assert_eq!((served.status, served.header("x-ratelimit-remaining")), (200, Some("9")));
        for _ in 0..8 {
            let refused = call(&gateway, "/a/", &key);
            assert_eq!((refused.status, refused.text()), (429, error_json("API Rate Limit Exceeded")));
            assert_eq!(refused.header("x-ratelimit-remaining"), Some("9"));
        }
        assert_eq!(left(&gateway, &key), 9);
        // Two are left of the key's own rate.
        let statuses: Vec<u16> = (0..3).map(|_| call(&gateway, "/b/", &key).status).collect();
        assert_eq!(statuses, [200, 200, 429]);
        assert_eq!(left(&gateway, &key), 7);
        // Tyk's order: what the key is over is told first.
        assert_eq!(call(&gateway, "/a/", &key).text(), error_json("Rate Limit Exceeded"));
    });
}

#[test]
fn a_quota_that_is_given_back_is_what_the_next_process_finds() {
    let upstream = Upstream::ok();
    let data = tempfile::tempdir().expect("a folder");
    let start = || {
        let limited = keyed("a", &upstream).set("global_rate_limit", json!({"rate": 1, "per": 3600}));
        Gateway::start(json!({"tollgate": {"data_dir": data.path()}}), [limited])
    };
    let mut gateway = start();
    let key = create(&gateway, &session(json!({"quota_max": 10, "quota_renewal_rate": 3600})));
    let statuses: Vec<u16> = (0..4).map(|_| call(&gateway, "/a/", &key).status).collect();
    assert_eq!(statuses, [200, 429, 429, 429]);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    let gateway = start();
    assert_eq!(call(&gateway, "/a/", &key).header("x-ratelimit-remaining"), Some("8"));
}
