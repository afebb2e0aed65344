//! JSON Web Tokens: who is let in, as whom, and what the others are told.

use serde_json::{Value, json};

use super::harness::jws::{compact, hs256, now};
use super::harness::keys::{call, create, session};
use super::harness::start_with;
use super::harness::tokens::{SECRET, policy, with_tokens};
use super::harness::{Definition, Gateway, Response, Upstream, error_json, request};

fn start(change: impl Fn(Definition) -> Definition) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gold = policy("gold", json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    let policies = [policy("basic", json!({})), gold, policy("closed", json!({"is_inactive": true}))];
    let gateway = start_with([change(with_tokens("a", &upstream))], &policies);
    (upstream, gateway)
}

fn ask(gateway: &Gateway, claims: &Value) -> Response {
    call(gateway, "/a/x", &hs256(SECRET, claims))
}

fn check(gateway: &Gateway, token: &str, status: u16, message: &str) {
    let response = call(gateway, "/a/x", token);
    assert_eq!((response.status, response.text()), (status, error_json(message)), "{token}");
}

#[test]
fn a_good_token_is_let_in_and_forwarded() {
    let (upstream, gateway) = start(|definition| definition);
    let token = hs256(SECRET, &json!({"sub": "joe", "exp": now() + 60}));
    for scheme in ["", "Bearer ", "bearer "] {
        let response = call(&gateway, "/a/x", &format!("{scheme}{token}"));
        assert_eq!(response.status, 200, "{response}");
    }
    assert_eq!(upstream.last().header("authorization"), Some(format!("bearer {token}").as_str()));
}

#[test]
fn what_is_wrong_with_a_token_is_said_in_tyks_words() {
    let (upstream, gateway) = start(|definition| definition);
    let response = gateway.get("/a/x");
    assert_eq!((response.status, response.text()), (400, error_json("Authorization field missing")));
    let good = json!({"sub": "joe"});
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        hs256(SECRET, &claims)
    };
    let unsigned = |alg: &str| compact(&json!({"alg": alg}), &good, |_| Vec::new());
    let method = "Key not authorized: Unexpected signing method";
    for (token, status, message) in [
        (with("exp", json!(now() - 1)), 401, "Key not authorized: token has expired"),
        (with("exp", json!("soon")), 401, "Key not authorized: token has expired"),
        (with("nbf", json!(now() + 600)), 401, "Key not authorized: token is not valid yet"),
        (with("iat", json!(now() + 600)), 401, "Key not authorized: token used before issued"),
        (hs256(b"another secret", &good), 403, "Key not authorized"),
        (hs256(SECRET, &json!({})), 403, "no suitable claims for user ID were found"),
        (hs256(SECRET, &json!({"sub": ""})), 403, "found an empty user ID in sub claim"),
        (hs256(SECRET, &json!({"sub": "joe", "pol": "nowhere"})), 403, "key not authorized: no matching policy"),
        (hs256(SECRET, &json!({"sub": "eve", "pol": "closed"})), 403, "Key is inactive, please renew"),
        (hs256(SECRET, &json!(["sub"])), 403, "Key not authorized"),
        (unsigned("none"), 403, method),
        (unsigned("RS256"), 403, method),
        (unsigned("ES256"), 403, method),
        (unsigned("EdDSA"), 403, method),
        (unsigned("NONE"), 403, "Key not authorized"),
        (unsigned("HS256"), 403, "Key not authorized"),
        ("x".to_owned(), 403, "Key not authorized"),
        ("a.b.c".to_owned(), 403, "Key not authorized"),
        (format!("{}x", hs256(SECRET, &good)), 403, "Key not authorized"),
        ("A".repeat(20_000), 403, "Key not authorized"),
    ] {
        check(&gateway, &token, status, message);
    }
    assert_eq!(upstream.requests(), 0, "nobody of them got through");
    assert!(!gateway.log().contains("eyJ"), "a token in the log:\n{}", gateway.log());
}

#[test]
fn a_remembered_token_ends_when_it_says() {
    let (_upstream, gateway) = start(|definition| definition);
    let token = hs256(SECRET, &json!({"sub": "joe", "exp": now() + 2}));
    assert_eq!(call(&gateway, "/a/x", &token).status, 200);
    super::harness::eventually("the token ends", || call(&gateway, "/a/x", &token).status == 401);
    check(&gateway, &token, 401, "Key not authorized: token has expired");
}

#[test]
fn clocks_may_differ_by_the_skews() {
    let (_upstream, gateway) = start(|definition| {
        let definition = definition.set("jwt_expires_at_validation_skew", 100).set("jwt_issued_at_validation_skew", 100);
        definition.set("jwt_not_before_validation_skew", 100)
    });
    assert_eq!(ask(&gateway, &json!({"sub": "joe", "exp": now() - 50})).status, 200);
    assert_eq!(ask(&gateway, &json!({"sub": "joe", "iat": now() + 50, "nbf": now() + 50})).status, 200);
    assert_eq!(ask(&gateway, &json!({"sub": "joe", "exp": now() - 150})).status, 401);
}

#[test]
fn times_can_be_left_unchecked() {
    let (_upstream, gateway) = start(|definition| {
        let definition = definition.set("jwt_disable_expires_at_validation", true).set("jwt_disable_issued_at_validation", true);
        definition.set("jwt_disable_not_before_validation", true)
    });
    assert_eq!(ask(&gateway, &json!({"sub": "joe", "exp": 1, "iat": now() + 999, "nbf": now() + 999})).status, 200);
}

#[test]
fn a_policy_of_the_token_decides_for_its_identity() {
    let (_upstream, gateway) = start(|definition| definition);
    let gold = |sub: &str| ask(&gateway, &json!({"sub": sub, "pol": "gold", "jti": now()}));
    for left in ["2", "1", "0"] {
        let response = gold("joe");
        assert_eq!((response.status, response.header("x-ratelimit-remaining")), (200, Some(left)), "{response}");
    }
    let response = gold("joe");
    assert_eq!((response.status, response.text()), (403, error_json("Quota exceeded")));
    let other_token = ask(&gateway, &json!({"sub": "joe", "pol": "gold", "nonce": "another token"}));
    assert_eq!(other_token.status, 403, "the quota is the identity's");
    assert_eq!(gold("ann").status, 200, "and nobody else's");
    assert_eq!(ask(&gateway, &json!({"sub": "joe"})).status, 200, "the default policy has none");
}

#[test]
fn the_session_of_an_identity_is_seen_and_switched_off_by_the_control_api() {
    let (_upstream, gateway) = start(|definition| definition);
    let claims = json!({"sub": "joe", "pol": "gold"});
    assert_eq!(ask(&gateway, &claims).status, 200);
    // The name of the session is made of the organisation and the MD5 of the identity.
    let name = "default8ff32489f92f33416694be8fdc2d4c22";
    let shown = gateway.control("GET", &format!("/tyk/keys/{name}"), "");
    assert_eq!((shown.status, &shown.json()["alias"]), (200, &json!("joe")), "{shown}");
    assert_eq!(shown.json()["quota_remaining"], 2);
    assert_eq!(shown.json()["meta_data"]["TykJWTSessionID"], name);
    let mut session = shown.json();
    session["is_inactive"] = json!(true);
    assert_eq!(gateway.control("PUT", &format!("/tyk/keys/{name}"), &session.to_string()).status, 200);
    let refused = ask(&gateway, &claims);
    assert_eq!((refused.status, refused.text()), (403, error_json("Key is inactive, please renew")));
    assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{name}"), "").status, 200);
    assert_eq!(ask(&gateway, &claims).status, 200, "a good token makes it again");
}

#[test]
fn the_name_of_a_session_is_no_key() {
    let upstream = Upstream::ok();
    let keyed = super::harness::keys::keyed("b", &upstream);
    let rights = json!({"a": {"api_id": "a", "versions": ["Default"]}, "b": {"api_id": "b", "versions": ["Default"]}});
    let gateway = start_with([with_tokens("a", &upstream), keyed], &[policy("basic", json!({"access_rights": rights}))]);
    assert_eq!(ask(&gateway, &json!({"sub": "joe"})).status, 200);
    // Whoever knows the identity knows the name.
    let name = "default8ff32489f92f33416694be8fdc2d4c22";
    let session = gateway.control("GET", &format!("/tyk/keys/{name}"), "");
    assert_eq!(session.status, 200, "{session}");
    assert_eq!(call(&gateway, "/b/x", name).status, 403);
    assert_eq!(gateway.control("PUT", &format!("/tyk/keys/{name}"), &session.text()).status, 200);
    assert_eq!(call(&gateway, "/b/x", name).status, 403, "also when it was written by an operator");
    assert_eq!(ask(&gateway, &json!({"sub": "joe"})).status, 200);
}

#[test]
fn scopes_stand_for_policies() {
    let (_upstream, gateway) = start(|definition| {
        definition.set("scopes/jwt/scope_claim_name", "access.scope").set("scopes/jwt/scope_to_policy", json!({"buy": "gold"}))
    });
    let response = ask(&gateway, &json!({"sub": "joe", "access": {"scope": "look buy"}}));
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("3")), "{response}");
    let response = ask(&gateway, &json!({"sub": "ann", "access": {"scope": ["look"]}}));
    let expect = (403, error_json("key not authorized: no matching policy found in scope claim"));
    assert_eq!((response.status, response.text()), expect);
    assert_eq!(ask(&gateway, &json!({"sub": "eve"})).status, 200, "without scopes the default policy");
}

/// Recorded from Tyk 5.14.0: a claim that is there and stands for no policy never gets the default policy.
#[test]
fn a_scope_claim_that_is_there_and_empty_gets_no_default_policy() {
    let (_upstream, gateway) = start(|definition| definition.set("jwt_scope_to_policy_mapping", json!({"buy": "gold"})));
    for (scope, status) in [
        (json!(""), 403),
        (json!(" "), 403),
        (json!([""]), 403),
        (json!([" "]), 403),
        (json!(["", 7]), 403),
        (json!([["look"]]), 403),
        (json!("look"), 403),
        (json!("Buy"), 403),
        (json!([["buy"]]), 200),
        (json!(" buy"), 200),
        (json!("buy "), 200),
        (json!([]), 200),
        (json!([7]), 200),
        (json!(7), 200),
        (json!(null), 200),
        (json!({"scope": ""}), 200),
        (json!(false), 200),
    ] {
        for policy in [None, Some(json!("")), Some(json!(7)), Some(json!(null))] {
            let mut claims = json!({"sub": format!("user of {scope} and {policy:?}"), "scope": scope});
            // A policy claim without a text counts as absent.
            policy.into_iter().for_each(|policy| claims["pol"] = policy);
            assert_eq!(ask(&gateway, &claims).status, status, "{claims}");
        }
        let claims = json!({"sub": format!("own {scope}"), "scope": scope, "pol": "basic"});
        assert_eq!(ask(&gateway, &claims).status, 200, "the token's own policy stays: {claims}");
        let claims = json!({"sub": format!("gone {scope}"), "scope": scope, "pol": "nowhere"});
        assert_eq!(ask(&gateway, &claims).status, 403, "{claims}");
    }
}

#[test]
fn scopes_alone_can_stand_for_policies() {
    let (_upstream, gateway) = start(|definition| {
        definition
            .set("jwt_default_policies", json!([]))
            .set("jwt_scope_to_policy_mapping", json!({"buy": "gold", "gone": "nowhere"}))
    });
    let response = ask(&gateway, &json!({"sub": "joe", "scope": "look buy"}));
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("3")), "{response}");
    for (claims, message) in [
        (json!({"sub": "joe"}), "key not authorized: no scope or policy in token"),
        (json!({"sub": "joe", "scope": 7}), "key not authorized: no scope or policy in token"),
        (json!({"sub": "joe", "scope": "look"}), "key not authorized: no matching policy found in scope claim"),
        (json!({"sub": "joe", "scope": "gone"}), "key not authorized: no matching policy"),
    ] {
        let response = ask(&gateway, &claims);
        assert_eq!((response.status, response.text()), (403, error_json(message)), "{claims}");
    }
}

#[test]
fn identity_and_policy_may_stand_within_objects() {
    let (_upstream, gateway) =
        start(|definition| definition.set("jwt_identity_base_field", "user.name").set("jwt_policy_field_name", "access.policy"));
    let claims = json!({"sub": "x", "user": {"name": "joe"}, "access": {"policy": "gold"}});
    let response = ask(&gateway, &claims);
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("3")), "{response}");
    let name = "default8ff32489f92f33416694be8fdc2d4c22";
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{name}"), "").json()["alias"], "joe");
}

#[test]
fn claims_are_values_of_variables() {
    let (upstream, gateway) = start(|definition| {
        let add = json!({
            "X-Sub": "user $tyk_context.jwt_claims_sub", "X-Roles": "$tyk_context.jwt_claims_realm.roles", "X-Bad": "$tyk_context.jwt_claims_bad",
            "X-Alg": "$tyk_context.jwt_claims_alg", "X-None": "[$tyk_context.jwt_claims_none]"
        });
        let is_admin = json!({"jwt_claims_role": {"match_rx": "^admin$"}});
        let rewrite = json!([{
            "path": "/rewrite", "method": "GET", "match_pattern": "/rewrite", "rewrite_to": "/users?sub=$tyk_context.jwt_claims_sub",
            "triggers": [{"on": "all", "rewrite_to": "/admins", "options": {"request_context_matches": is_admin}}]
        }]);
        definition
            .set("enable_context_vars", true)
            .list("transform_headers", json!([{"path": "/", "method": "GET", "add_headers": add}]))
            .list("url_rewrites", rewrite)
    });
    let claims = json!({"sub": "jo e&x=1", "realm": {"roles": ["a", "b c"]}, "bad": "a\r\nX-Evil: 1"});
    // The second time from memory.
    for _ in 0..2 {
        assert_eq!(ask(&gateway, &claims).status, 200);
        let seen = upstream.last();
        let values = ["x-sub", "x-roles", "x-alg", "x-none"].map(|name| seen.header(name).map(str::to_owned));
        assert_eq!(values, ["user jo e&x=1", "a,b+c", "HS256", "[]"].map(|value| Some(value.to_owned())));
        assert_eq!((seen.header("x-bad"), seen.header("x-evil")), (None, None), "a claim makes no header lines");
    }
    let rewritten = |claims: &Value| {
        assert_eq!(call(&gateway, "/a/rewrite", &hs256(SECRET, claims)).status, 200);
        upstream.last().target
    };
    assert_eq!(rewritten(&claims), "/users?sub=jo+e%26x%3D1");
    assert_eq!(rewritten(&json!({"sub": "ann", "role": "admin"})), "/admins");
}

#[test]
fn without_any_policy_nobody_gets_in() {
    let (upstream, gateway) = start(|definition| definition.set("jwt_default_policies", json!([])));
    let response = ask(&gateway, &json!({"sub": "joe"}));
    let expect = (403, error_json("key not authorized: no matching policy found"));
    assert_eq!((response.status, response.text()), expect);
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn the_policy_of_a_client_is_that_of_its_key() {
    let (_upstream, gateway) = start(|definition| {
        definition.set("jwt_policy_field_name", "").set("jwt_client_base_field", "azp").set("jwt_default_policies", json!([]))
    });
    let key = |policies: Value| session(json!({"apply_policies": policies})).to_string();
    assert_eq!(gateway.control("POST", "/tyk/keys/shop", &key(json!(["gold"]))).status, 200);
    let claims = json!({"sub": "joe", "azp": "shop"});
    assert_eq!(ask(&gateway, &claims).header("x-ratelimit-limit"), Some("3"));
    assert_eq!(ask(&gateway, &json!({"sub": "joe", "azp": "other"})).status, 403);
    assert_eq!(gateway.control("PUT", "/tyk/keys/shop?org_id=default", &key(json!(["basic"]))).status, 200);
    let response = ask(&gateway, &claims);
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("-1")), "{response}");
}

#[test]
fn without_a_source_each_key_has_its_own_secret() {
    let (_upstream, gateway) = start(|definition| definition.set("jwt_source", ""));
    let key = create(&gateway, &session(json!({"jwt_data": {"secret": "its own"}})));
    let header = json!({"alg": "HS256", "kid": key});
    let sign = |secret: &'static [u8]| {
        compact(&header, &json!({"sub": "joe"}), |signed| {
            aws_lc_rs::hmac::sign(&aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, secret), signed).as_ref().to_vec()
        })
    };
    assert_eq!(call(&gateway, "/a/x", &sign(b"its own")).status, 200);
    check(&gateway, &sign(b"another"), 403, "Key not authorized");
    let by_sub = hs256(b"its own", &json!({"sub": key}));
    assert_eq!(call(&gateway, "/a/x", &by_sub).status, 200, "sub names the key when there is no kid");
    let changed = session(json!({"jwt_data": {"secret": "a new one"}})).to_string();
    assert_eq!(gateway.control("PUT", &format!("/tyk/keys/{key}"), &changed).status, 200);
    check(&gateway, &by_sub, 403, "Key not authorized");
    assert_eq!(gateway.control("DELETE", &format!("/tyk/keys/{key}"), "").status, 200);
    check(&gateway, &sign(b"a new one"), 403, "Key not authorized");
}

#[test]
fn the_name_of_a_key_in_a_tokens_header_can_be_passed_over() {
    for (skips, expect) in [(true, 200), (false, 403)] {
        let (_upstream, gateway) = start(|definition| definition.set("jwt_source", "").set("jwt_skip_kid", skips));
        let key = create(&gateway, &session(json!({"jwt_data": {"secret": "its own"}})));
        let token = compact(&json!({"alg": "HS256", "kid": "somebody else"}), &json!({"sub": key}), |signed| {
            aws_lc_rs::hmac::sign(&aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, b"its own"), signed).as_ref().to_vec()
        });
        assert_eq!(call(&gateway, "/a/x", &token).status, expect, "{skips}");
    }
}

#[test]
fn tokens_are_found_in_queries_and_cookies_and_can_be_stripped() {
    let (upstream, gateway) = start(|definition| {
        let places = json!({"auth_header_name": "X-Token", "use_param": true, "param_name": "jwt", "use_cookie": true, "cookie_name": "jwt"});
        definition.set("auth_configs", json!({"jwt": places})).set("strip_auth_data", true)
    });
    let token = hs256(SECRET, &json!({"sub": "joe"}));
    assert_eq!(gateway.get(&format!("/a/x?jwt={token}&y=1")).status, 200);
    assert_eq!(upstream.last().target, "/x?y=1");
    let cookie = format!("Cookie: a=b; jwt={token}");
    assert_eq!(gateway.send(request("GET", "/a/x", &[&cookie], "")).status, 200);
    assert_eq!(upstream.last().header("cookie"), Some("a=b"));
    assert_eq!(gateway.send(request("GET", "/a/x", &[&format!("X-Token: {token}")], "")).status, 200);
    assert_eq!(upstream.last().header("x-token"), None);
}

#[test]
fn a_token_and_a_key_can_both_be_asked_for() {
    let (_upstream, gateway) = start(|definition| {
        let places = json!({"jwt": {"auth_header_name": "X-Token"}, "authToken": {"auth_header_name": "X-Key"}});
        definition.set("use_standard_auth", true).set("auth_configs", places).set("base_identity_provided_by", "jwt_claim")
    });
    let key = create(&gateway, &session(json!({})));
    let token = hs256(SECRET, &json!({"sub": "joe", "pol": "gold"}));
    let (key, token) = (format!("X-Key: {key}"), format!("X-Token: {token}"));
    let status = |lines: &[&str]| gateway.send(request("GET", "/a/x", lines, "")).status;
    assert_eq!((status(&[&key]), status(&[&token])), (400, 401), "one is not enough");
    let response = gateway.send(request("GET", "/a/x", &[&key, &token], ""));
    assert_eq!((response.status, response.header("x-ratelimit-limit")), (200, Some("3")), "the session is the token's");
}

#[test]
fn a_method_that_gives_no_session_lets_nobody_in() {
    let (upstream, gateway) = start(|definition| definition.set("base_identity_provided_by", "auth_token"));
    let response = ask(&gateway, &json!({"sub": "joe"}));
    assert_eq!(response.status, 400, "{response}");
    assert!(response.text().contains("Session state is missing or unset!"), "{response}");
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn a_token_without_policies_may_call_the_api_alone_that_lets_it() {
    let upstream = Upstream::ok();
    let open = |id: &str, is_open: bool| {
        let definition = with_tokens(id, &upstream).set("jwt_default_policies", json!([]));
        definition.set("tollgate", json!({"jwt": {"policies_optional": is_open}}))
    };
    let gateway = start_with([open("a", true), open("b", false)], &[policy("basic", json!({}))]);
    let token = hs256(SECRET, &json!({"sub": "joe"}));
    assert_eq!(call(&gateway, "/a/x", &token).status, 200);
    assert_eq!(call(&gateway, "/a/x", &token).status, 200, "from the cache");
    assert_eq!(call(&gateway, "/b/x", &token).status, 403);
    // Who names a policy has it, or nothing.
    assert_eq!(call(&gateway, "/a/x", &hs256(SECRET, &json!({"sub": "joe", "pol": "nowhere"}))).status, 403);
    assert_eq!(call(&gateway, "/a/x", &hs256(b"another secret", &json!({"sub": "joe"}))).status, 403);
}
