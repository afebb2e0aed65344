//! HTTP basic authentication: users are keys with a password.

use serde_json::json;

use super::harness::keys::{keyed, session};
use super::harness::users::{ask, checks, put_user, refused, with_users};
use super::harness::{Definition, Gateway, Upstream, api, error_json, request};

fn start(change: impl Fn(Definition) -> Definition) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [change(with_users("a", &upstream))]);
    (upstream, gateway)
}

#[test]
fn a_user_with_the_right_password_is_let_in() {
    let (upstream, gateway) = start(|definition| definition);
    put_user(&gateway, "POST", "alice", json!({"password": "open: sesame"}));
    for _ in 0..3 {
        assert_eq!(ask(&gateway, "alice", "open: sesame").status, 200);
    }
    assert_eq!(upstream.requests(), 3);
    for (user, password) in
        [("alice", "wrong"), ("alice", ""), ("nobody-at-all", "open: sesame"), ("", ""), ("alice", "open: sesame ")]
    {
        refused(&ask(&gateway, user, password), "User not authorised");
    }
    refused(&gateway.get("/a/x"), "Authorization field missing");
    assert_eq!(upstream.requests(), 3);
    assert!(!gateway.log().contains("sesame"), "{}", gateway.log());
}

#[test]
fn a_changed_password_counts_at_once() {
    let (_upstream, gateway) = start(|definition| definition);
    put_user(&gateway, "POST", "alice", json!({"password": "old"}));
    assert_eq!(ask(&gateway, "alice", "old").status, 200);
    put_user(&gateway, "PUT", "alice", json!({"password": "new"}));
    refused(&ask(&gateway, "alice", "old"), "User not authorised");
    assert_eq!(ask(&gateway, "alice", "new").status, 200);
    assert_eq!(gateway.control("DELETE", "/tyk/keys/alice?org_id=default", "").status, 200);
    refused(&ask(&gateway, "alice", "new"), "User not authorised");
}

#[test]
fn hashes_made_elsewhere_are_taken_as_they_are() {
    let (_upstream, gateway) = start(|definition| definition.set("basic_auth/disable_caching", true));
    // Of the word `U*U`, from the vectors of bcrypt.
    let bcrypt = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";
    put_user(&gateway, "POST", "imported", json!({"password": bcrypt, "hash_type": "bcrypt"}));
    for _ in 0..2 {
        assert_eq!(ask(&gateway, "imported", "U*U").status, 200);
    }
    refused(&ask(&gateway, "imported", bcrypt), "User not authorised");
}

#[test]
fn a_key_without_a_password_is_no_user() {
    let (upstream, gateway) = start(|definition| definition);
    let key = super::harness::keys::create(&gateway, &session(json!({})));
    refused(&ask(&gateway, &key, ""), "User not authorised");
    refused(&ask(&gateway, &key, "x"), "User not authorised");
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn the_name_of_a_user_is_no_key() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [with_users("a", &upstream), keyed("b", &upstream)]);
    let session = super::harness::keys::session_for(&["a", "b"], json!({"basic_auth_data": {"password": "p"}})).to_string();
    assert_eq!(gateway.control("POST", "/tyk/keys/alice", &session).status, 200);
    assert_eq!(ask(&gateway, "alice", "p").status, 200);
    for name in ["alice", "defaultalice"] {
        assert_eq!(super::harness::keys::call(&gateway, "/b/x", name).status, 403, "{name}");
    }
}

#[test]
fn headers_that_cannot_be_read_are_told_apart() {
    let (_upstream, gateway) = start(|definition| definition);
    for (value, message) in [
        ("Basic", "Attempted access with malformed header, header not in basic auth format"),
        ("Digest abc", "Attempted access with malformed header, header not in basic auth format"),
        ("Basic ???", "Attempted access with malformed header, auth data not encoded correctly"),
        ("Basic YWxpY2U=", "Attempted access with malformed header, values not in basic auth format"),
    ] {
        let response = gateway.send(request("GET", "/a/x", &[&format!("Authorization: {value}")], ""));
        assert_eq!((response.status, response.text()), (400, error_json(message)), "{value}");
    }
}

#[test]
fn a_session_of_a_user_has_its_limits() {
    let (_upstream, gateway) = start(|definition| definition);
    let limited = session(json!({"quota_max": 1, "quota_renewal_rate": 3600, "basic_auth_data": {"password": "p"}})).to_string();
    assert_eq!(gateway.control("POST", "/tyk/keys/alice", &limited).status, 200);
    assert_eq!(ask(&gateway, "alice", "p").status, 200);
    assert_eq!(ask(&gateway, "alice", "p").text(), error_json("Quota exceeded"));
}

#[test]
fn users_who_do_not_exist_take_the_same_way_as_those_who_do() {
    let (upstream, gateway) = start(|definition| definition);
    put_user(&gateway, "POST", "alice", json!({"password": "right"}));
    let way = |user: &str, password: &str| {
        let before = checks(&gateway);
        refused(&ask(&gateway, user, password), "User not authorised");
        checks(&gateway) - before
    };
    for password in ["one", "two", ""] {
        for user in ["alice", "nobody", "somebody", "nobody-else"] {
            assert_eq!(way(user, password), 1, "{user}: what was found out of one user says nothing of another");
            assert_eq!(way(user, password), 0, "{user}: the same again costs nothing");
        }
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_password_that_was_wrong_is_right_when_it_becomes_the_users() {
    let (_upstream, gateway) = start(|definition| definition);
    refused(&ask(&gateway, "alice", "word"), "User not authorised");
    put_user(&gateway, "POST", "alice", json!({"password": "another"}));
    refused(&ask(&gateway, "alice", "word"), "User not authorised");
    put_user(&gateway, "PUT", "alice", json!({"password": "word"}));
    assert_eq!(ask(&gateway, "alice", "word").status, 200);
}

#[test]
fn patterns_for_bodies_must_find_something() {
    let upstream = Upstream::ok();
    for (user, password, field) in
        [("(a", "(b)", "body_user_regexp"), ("(a)", "b", "body_password_regexp"), ("", "(b)", "body_user_regexp")]
    {
        let patterns = json!({"extract_from_body": true, "body_user_regexp": user, "body_password_regexp": password});
        let broken = with_users("a", &upstream).set("basic_auth", patterns);
        let gateway = Gateway::start(json!({}), [broken, api("b", "/b/", &upstream.url())]);
        assert_eq!((gateway.get("/a/x").status, gateway.get("/b/x").status), (404, 200));
        assert!(gateway.log().contains(&format!("$.basic_auth.{field}")), "{}", gateway.log());
    }
}
