//! Several ways in, of which one is enough: who is let in, with whose limits, and what the others are told.

use aws_lc_rs::hmac;
use serde_json::{Value, json};

use super::harness::jws::{hs256, now};
use super::harness::keys::basic;
use super::harness::keys::{create, session};
use super::harness::signatures::signature;
use super::harness::start_with;
use super::harness::tokens::{policy, with_tokens};
use super::harness::{Definition, Gateway, Response, Upstream, error_json, reply, request};

const SECRET: &[u8] = b"a secret that only the issuer and the gateway know";

/// The fields that switch methods on.
fn switch(name: &str) -> &'static str {
    match name {
        "authToken" => "use_standard_auth",
        "basic" => "use_basic_auth",
        "hmac" => "enable_signature_checking",
        "jwt" => "enable_jwt",
        _ => unreachable!(),
    }
}

/// An API with these alternatives and no other methods.
fn with_alternatives(upstream: &Upstream, alternatives: &[&[&str]]) -> Definition {
    let definition = with_tokens("a", upstream).set("enable_jwt", false).set("tollgate/auth_alternatives", json!(alternatives));
    alternatives.iter().flat_map(|names| names.iter()).fold(definition, |definition, name| definition.set(switch(name), true))
}

/// A gateway on which each method's session has a quota that tells it from the others: token 11, user 12, signer 13, identity 14.
struct Stage {
    upstream: Upstream,
    gateway: Gateway,
    key: String,
    signer: String,
}

fn stage(alternatives: &[&[&str]], change: impl Fn(Definition) -> Definition) -> Stage {
    let upstream = Upstream::ok();
    let quota = |quota: i64| json!({"quota_max": quota, "quota_renewal_rate": 3600});
    let definition = change(with_alternatives(&upstream, alternatives));
    let gateway = start_with([definition], &[policy("basic", quota(14))]);
    let with_quota = |max: i64, fields: Value| {
        let mut made = session(quota(max));
        super::harness::definition::merge(&mut made, &fields);
        made
    };
    let key = create(&gateway, &with_quota(11, json!({})));
    let user = with_quota(12, json!({"basic_auth_data": {"password": "open sesame"}})).to_string();
    assert_eq!(gateway.control("POST", "/tyk/keys/alice?org_id=default", &user).status, 200);
    let signer = create(&gateway, &with_quota(13, json!({"hmac_enabled": true, "hmac_string": "the shared secret"})));
    Stage { upstream, gateway, key, signer }
}

impl Stage {
    fn ask(&self, lines: &[&str]) -> Response {
        self.gateway.send(request("GET", "/a/x", lines, ""))
    }

    fn check(&self, lines: &[&str], status: u16, message: &str) {
        let response = self.ask(lines);
        assert_eq!((response.status, response.text()), (status, error_json(message)), "{lines:?}");
    }

    /// The header of a method's right or wrong credentials.
    fn credentials(&self, method: &str, is_right: bool) -> String {
        match method {
            "authToken" if is_right => format!("Authorization: {}", self.key),
            "authToken" => "Authorization: nobody's".to_owned(),
            "basic" => basic("alice", if is_right { "open sesame" } else { "wrong" }),
            "jwt" => format!("Authorization: Bearer {}", hs256(if is_right { SECRET } else { b"x" }, &json!({"sub": "joe"}))),
            _ => {
                let made = signature(hmac::HMAC_SHA256, if is_right { "x-test: one" } else { "x-test: two" });
                format!(
                    "Authorization: Signature keyId=\"{}\",algorithm=\"hmac-sha256\",headers=\"x-test\",signature=\"{made}\"",
                    self.signer
                )
            }
        }
    }
}

/// Each method's quota and what it tells those whom it refuses.
const METHODS: [(&str, &str, u16, &str); 4] = [
    ("authToken", "11", 403, "Access to this API has been disallowed"),
    ("basic", "12", 401, "User not authorised"),
    ("hmac", "13", 400, "Authorization field missing, malformed or invalid"),
    ("jwt", "14", 403, "Key not authorized"),
];

#[test]
fn a_failed_alternative_leaves_nothing_of_its_caller() {
    let stage = stage(&[&["authToken", "hmac"], &["basic"]], |definition| {
        let headers = json!({"X-Token": "<$tyk_context.token>", "X-Claim": "<$tyk_context.jwt_claims_sub>"});
        let definition = definition.set("auth_configs/authToken", json!({"auth_header_name": "X-Key"}));
        definition.set("enable_context_vars", true).version("global_headers", headers)
    });
    let key = format!("X-Key: {}", stage.key);
    // The key is good, the signature is missing.
    let response = stage.ask(&[&key, &basic("alice", "open sesame")]);
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("12")), "{response}");
    let seen = stage.upstream.last();
    let token = seen.header("x-token").unwrap();
    assert!(!token.contains(&stage.key), "{token}");
    assert_eq!(seen.header("x-claim"), Some("<>"));
}

#[test]
fn any_method_lets_in_with_its_own_session_whatever_the_order() {
    let orders: [[usize; 4]; 4] = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2], [2, 0, 3, 1]];
    for order in orders {
        let names = order.map(|index| [METHODS[index].0]);
        let alternatives = [names[0].as_slice(), names[1].as_slice(), names[2].as_slice(), names[3].as_slice()];
        let stage = stage(&alternatives, |definition| definition);
        for (method, quota, status, message) in METHODS {
            let response = stage.ask(&[&stage.credentials(method, true), "X-Test: one"]);
            assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some(quota)), "{method} of {names:?}");
            assert_eq!(stage.upstream.last().header("www-authenticate"), None);
            let wrong = stage.credentials(method, false);
            let response = stage.ask(&[&wrong, "X-Test: one"]);
            assert_eq!((response.status, response.text()), (status, error_json(message)), "{method} of {names:?}");
            let challenge = (method == "basic").then_some("Basic realm=\"a\"");
            assert_eq!(response.header("www-authenticate"), challenge, "{method} of {names:?}");
        }
        let (_, _, _, first) = METHODS[order[0]];
        let response = stage.ask(&[]);
        let expect = if names[0] == ["hmac"] { first } else { "Authorization field missing" };
        assert_eq!(response.text(), error_json(expect), "nothing was sent: the first's word");
        assert_eq!(stage.upstream.requests(), 4);
    }
}

#[test]
fn every_pair_of_methods_lets_in_by_either() {
    for (first, first_quota, ..) in METHODS {
        for (second, second_quota, status, message) in METHODS {
            if first == second {
                continue;
            }
            let stage = stage(&[&[first], &[second]], |definition| definition);
            for (method, quota) in [(first, first_quota), (second, second_quota)] {
                let response = stage.ask(&[&stage.credentials(method, true), "X-Test: one"]);
                assert_eq!(
                    (response.status, response.header("x-ratelimit-limit")),
                    (200, Some(quota)),
                    "{method} of {first}, {second}"
                );
            }
            stage.check(&[&stage.credentials(second, false), "X-Test: one"], status, message);
            for (other, ..) in METHODS.iter().filter(|(name, ..)| *name != first && *name != second) {
                let response = stage.ask(&[&stage.credentials(other, true), "X-Test: one"]);
                assert_ne!(response.status, 200, "{other} is no way in with {first}, {second}");
            }
        }
    }
}

/// Places of their own, so that several credentials can be sent at once.
fn apart(definition: Definition) -> Definition {
    definition.set("auth_configs", json!({"authToken": {"auth_header_name": "X-Key"}, "jwt": {"auth_header_name": "X-Token"}}))
}

#[test]
fn all_methods_of_one_alternative_are_needed() {
    let stage = stage(&[&["jwt", "basic"], &["authToken"]], apart);
    let token = format!("X-Token: {}", hs256(SECRET, &json!({"sub": "joe"})));
    let expired = format!("X-Token: {}", hs256(SECRET, &json!({"sub": "joe", "exp": now() - 9})));
    let (user, wrong_user) = (basic("alice", "open sesame"), basic("alice", "wrong"));
    let (key, wrong_key) = (format!("X-Key: {}", stage.key), "X-Key: nobody's".to_owned());
    let limit = |lines: &[&str]| {
        let response = stage.ask(lines);
        assert_eq!(response.status, 200, "{lines:?}: {response}");
        response.header("x-ratelimit-limit").map(str::to_owned)
    };
    assert_eq!(limit(&[&token, &user]).as_deref(), Some("14"), "of several the last one's session");
    assert_eq!(limit(&[&key]).as_deref(), Some("11"));
    assert_eq!(limit(&[&key, &token]).as_deref(), Some("11"), "half of an alternative harms nobody");
    assert_eq!(limit(&[&expired, &user, &key]).as_deref(), Some("11"));
    assert_eq!(limit(&[&token, &user, &wrong_key]).as_deref(), Some("14"));
    let let_in = stage.upstream.requests();
    stage.check(&[&expired, &user], 401, "Key not authorized: token has expired");
    stage.check(&[&token, &wrong_user], 401, "User not authorised");
    stage.check(&[&token, &wrong_key], 403, "Access to this API has been disallowed");
    stage.check(&[&token], 401, "Authorization field missing");
    stage.check(&[&user], 400, "Authorization field missing");
    stage.check(&[&expired, &wrong_user, &wrong_key], 401, "User not authorised");
    assert_eq!(stage.upstream.requests(), let_in);
}

#[test]
fn the_base_identity_counts_within_the_alternative_that_has_it() {
    let stage = stage(&[&["jwt", "basic"], &["authToken"]], |definition| {
        apart(definition).set("base_identity_provided_by", "basic_auth_user")
    });
    let token = format!("X-Token: {}", hs256(SECRET, &json!({"sub": "joe"})));
    let response = stage.ask(&[&token, &basic("alice", "open sesame")]);
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("12")), "{response}");
    let response = stage.ask(&[&format!("X-Key: {}", stage.key)]);
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("11")), "{response}");
}

#[test]
fn a_user_s_name_is_no_key() {
    // With alternatives more than one method is on, but where a key is enough it must be a secret.
    let stage = stage(&[&["basic"], &["authToken"]], |definition| definition);
    for name in ["alice".to_owned(), "defaultalice".to_owned(), stage.signer.clone()] {
        stage.check(&[&format!("Authorization: {name}")], 403, "Access to this API has been disallowed");
    }
    assert_eq!(stage.upstream.requests(), 0);
}

#[test]
fn quotas_and_rates_are_those_of_the_session_that_let_in() {
    let stage = stage(&[&["basic"], &["authToken"]], |definition| definition);
    let few = create(&stage.gateway, &session(json!({"quota_max": 2, "quota_renewal_rate": 3600})));
    let rare = create(&stage.gateway, &session(json!({"rate": 1, "per": 3600})));
    let statuses = |credentials: &str| [(); 3].map(|()| stage.ask(&[credentials]).status);
    assert_eq!(statuses(&format!("Authorization: {few}")), [200, 200, 403]);
    assert_eq!(statuses(&format!("Authorization: {rare}")), [200, 429, 429]);
    assert_eq!(statuses(&basic("alice", "open sesame")), [200; 3], "others have their own");
    assert_eq!(statuses(&basic("alice", "wrong")), [401; 3]);
    let response = stage.ask(&[&basic("alice", "open sesame")]);
    assert_eq!(response.header("x-ratelimit-remaining"), Some("8"), "refused requests used up nothing");
}

#[test]
fn what_a_failed_alternative_did_is_taken_back() {
    let decider = Upstream::start(|seen| match seen.header("cookie") {
        Some(_) => reply("200 OK", &["X-User: root"], ""),
        None => reply("302 Found", &["Location: https://login.test/"], "log in"),
    });
    let start = |alternatives: &[&[&str]]| {
        let upstream = Upstream::ok();
        let rules = json!({"url": decider.url(), "request_headers": ["Cookie"], "response_headers": ["X-User"]});
        let definition = with_tokens("a", &upstream)
            .set("use_standard_auth", true)
            .set("tollgate", json!({"forward_auth": rules, "auth_alternatives": alternatives}));
        let gateway = start_with([apart(definition)], &[policy("basic", json!({}))]);
        (upstream, gateway)
    };
    let token = format!("X-Token: {}", hs256(SECRET, &json!({"sub": "joe"})));
    let (upstream, gateway) = start(&[&["forward", "authToken"], &["jwt"]]);
    // The service says who it is, but the key beside its word is none: its word must not go upstream.
    let response = gateway.send(request("GET", "/a/x", &["Cookie: a=b", "X-Key: nobody's", "X-User: me", &token], ""));
    assert_eq!((response.status, upstream.last().header("x-user")), (200, Some("me")), "{response}");
    // Its refusal does not show in an answer of the upstream.
    let response = gateway.send(request("GET", "/a/x", &[&token], ""));
    assert_eq!((response.status, response.header("location"), response.text().as_str()), (200, None, "ok"), "{response}");
    // Where nothing else fits better it is the client's answer.
    let response = gateway.send(request("GET", "/a/x", &[], ""));
    assert_eq!(
        (response.status, response.header("location"), response.text().as_str()),
        (302, Some("https://login.test/"), "log in")
    );
    let response = gateway.send(request("GET", "/a/x", &["X-Token: a.b.c"], ""));
    assert_eq!((response.status, response.header("location"), response.text()), (403, None, error_json("Key not authorized")));

    let (_upstream, gateway) = start(&[&["jwt"], &["forward", "authToken"]]);
    let response = gateway.send(request("GET", "/a/x", &[], ""));
    assert_eq!((response.status, response.header("location")), (400, None), "the first one's word: {response}");
}

#[test]
fn a_body_is_looked_into_before_the_next_way_is_tried() {
    let stage = stage(&[&["basic"], &["authToken"]], |definition| {
        let patterns =
            json!({"extract_from_body": true, "body_user_regexp": "user=([^&]+)", "body_password_regexp": "pass=([^&]+)"});
        apart(definition).set("basic_auth", patterns)
    });
    let key = format!("X-Key: {}", stage.key);
    let post = |lines: &[&str], body: &str| {
        let response = stage.gateway.send(request("POST", "/a/x", lines, body));
        (response.status, response.header("x-ratelimit-limit").map(str::to_owned))
    };
    assert_eq!(post(&[&key], "nothing in it"), (200, Some("11".to_owned())));
    assert_eq!(stage.upstream.last().text(), "nothing in it");
    assert_eq!(post(&[], "user=alice&pass=open sesame"), (200, Some("12".to_owned())));
    assert_eq!(post(&[], "user=alice&pass=wrong"), (401, None));
    assert_eq!(post(&[&key], "user=alice&pass=wrong"), (200, Some("11".to_owned())));
}

#[test]
fn credentials_of_all_alternatives_are_stripped_and_open_endpoints_stay_open() {
    let stage = stage(&[&["jwt"], &["authToken"]], |definition| {
        apart(definition).set("strip_auth_data", true).list("ignored", json!([{"path": "/open"}]))
    });
    let key = format!("X-Key: {}", stage.key);
    assert_eq!(stage.ask(&[&key, "X-Token: none"]).status, 200);
    let seen = stage.upstream.last();
    assert_eq!((seen.header("x-key"), seen.header("x-token")), (None, None));
    assert_eq!(stage.gateway.get("/a/open").status, 200);
}

#[test]
fn a_mistake_in_the_alternatives_leaves_the_api_out() {
    let upstream = Upstream::ok();
    for (alternatives, expect) in [
        (json!([["jwt"], []]), "$.tollgate.auth_alternatives[1]"),
        (json!([["jwt", "magic"]]), "$.tollgate.auth_alternatives[0][1]"),
        (json!([["jwt"], ["basic"]]), "$.tollgate.auth_alternatives[1][0]"),
    ] {
        let definition = with_tokens("a", &upstream).set("tollgate/auth_alternatives", alternatives);
        let gateway = start_with([definition], &[policy("basic", json!({}))]);
        assert_eq!(gateway.get("/a/x").status, 404);
        assert!(gateway.log().contains(expect), "{}", gateway.log());
    }
}
