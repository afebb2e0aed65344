//! Keys that are in no store: APIs that name their ring accept them.

use super::harness::keys::{call, create, keyed, session_for};
use super::harness::{Gateway, Upstream};
use serde_json::json;
use std::collections::BTreeMap;
use tollgate_access::keys::RingKey;

const KEY: &str = "0123456789abcdef";

fn set(gateway: &Gateway, ring: &str, keys: &[&str]) {
    let key = |text: &&str| RingKey {
        digest: RingKey::digest_of(text),
        shown: format!("test/{}", text.len()),
        alias: "alice".to_owned(),
        tags: Vec::new(),
        quota_max: 3,
        quota_renewal_s: 86_400,
    };
    gateway.keys().set_rings(BTreeMap::from([(ring.to_owned(), keys.iter().map(key).collect())]));
}

#[test]
fn an_api_accepts_keys_of_its_ring_as_long_as_they_are_there() {
    let upstream = Upstream::ok();
    let ringed = |id: &str, ring: &str, stored: bool| {
        keyed(id, &upstream).set("tollgate", json!({"key_ring": {"name": ring, "stored_keys": stored}}))
    };
    let apis = [ringed("a", "r", false), ringed("b", "other", false), ringed("c", "r", true), keyed("d", &upstream)];
    let gateway = Gateway::start(json!({}), apis);
    let stored = ["a", "c", "d"].map(|api| create(&gateway, &session_for(&[api], json!({}))));
    let of_ring = |api: &str| call(&gateway, &format!("/{api}/"), KEY).status;
    assert_eq!(["a", "b", "c", "d"].map(of_ring), [403; 4]);
    set(&gateway, "r", &[KEY]);
    assert_eq!(["a", "b", "c", "d"].map(of_ring), [200, 403, 200, 403]);
    let of_store: Vec<u16> =
        ["a", "c", "d"].iter().zip(&stored).map(|(api, key)| call(&gateway, &format!("/{api}/"), key).status).collect();
    assert_eq!(of_store, [403, 200, 200], "stored keys");
    set(&gateway, "r", &["another key of it"]);
    assert_eq!(["a", "c"].map(of_ring), [403, 403]);
    assert_eq!(gateway.get("/a/").status, 401);
}

#[test]
fn nothing_tells_a_key_of_a_ring() {
    let upstream = Upstream::ok();
    let api = keyed("a", &upstream).set("tollgate", json!({"key_ring": {"name": "r"}})).set("strip_auth_data", true);
    let gateway = Gateway::start(json!({}), [api]);
    set(&gateway, "r", &[KEY]);
    assert_eq!(call(&gateway, "/a/", KEY).status, 200);
    for target in ["/tyk/apis", "/tyk/keys"] {
        let shown = gateway.control("GET", target, "");
        assert_eq!(shown.status, 200, "{target}");
        assert!(!shown.text().contains(KEY), "{target}: {shown}");
    }
    assert!(!gateway.log().contains(KEY), "{}", gateway.log());
    assert_eq!(upstream.last().header("authorization"), None);
}

#[test]
fn a_ring_without_a_name_is_refused() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream).set("tollgate", json!({"key_ring": {}}))]);
    assert_eq!(gateway.get("/a/").status, 404);
    assert!(gateway.log().contains("$.tollgate.key_ring.name"), "{}", gateway.log());
}

#[test]
fn a_quota_goes_on_when_its_ring_changes() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream).set("tollgate", json!({"key_ring": {"name": "r"}}))]);
    let other = "another key of it";
    set(&gateway, "r", &[KEY]);
    assert_eq!([(); 2].map(|()| call(&gateway, "/a/", KEY).status), [200; 2]);
    set(&gateway, "r", &[KEY, other]);
    assert_eq!([(); 2].map(|()| call(&gateway, "/a/", KEY).status), [200, 403], "the quota began anew");
    assert_eq!(call(&gateway, "/a/", other).status, 200);
}
