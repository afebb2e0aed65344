//! The OAuth 2.0 provider as clients, users and login pages meet it: every grant, what is refused, and the token as a way in.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, Response, Upstream, error_json, eventually, request};
use crate::keys::session_for;
use crate::oauth_clients::{Stage, make_client, policy, provider, stage, stage_with, with_policies};

/// Of RFC 7636, appendix B.
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

pub(crate) const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

pub(crate) fn basic(client: &str, secret: &str) -> String {
    format!("Authorization: Basic {}", STANDARD.encode(format!("{client}:{secret}")))
}

/// A request to an endpoint of the API `a`, as the client `shop`.
pub(crate) fn post(gateway: &Gateway, endpoint: &str, form: &str) -> Response {
    gateway.send(request("POST", &format!("/a/oauth/{endpoint}"), &[&basic("shop", "s3cret"), FORM], form))
}

pub(crate) fn token(gateway: &Gateway, form: &str) -> Value {
    let answer = post(gateway, "token/", form);
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()
}

/// What the login page asks when its user has consented.
pub(crate) fn consent(gateway: &Gateway, form: &str) -> Response {
    let secret = format!("x-tyk-authorization: {SECRET}");
    gateway.send(request("POST", "/a/tyk/oauth/authorize-client/", &[&secret, FORM], form))
}

pub(crate) fn code(gateway: &Gateway, more: &str) -> String {
    let answer = consent(gateway, &format!("response_type=code&client_id=shop{more}"));
    assert_eq!(answer.status, 200, "{answer}");
    text(&answer.json()["code"])
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

pub(crate) fn call(gateway: &Gateway, token: &str) -> Response {
    gateway.send(request("GET", "/a/x", &[&format!("Authorization: Bearer {token}")], ""))
}

pub(crate) fn error(answer: &Response) -> (u16, String) {
    (answer.status, text(&answer.json()["error"]))
}

#[test]
fn a_client_gets_a_token_in_its_own_name() {
    let Stage { gateway, upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let answer = post(&gateway, "token", "grant_type=client_credentials&scope=read+write");
    assert_eq!(answer.status, 200, "{answer}");
    let given = answer.json();
    let names: Vec<&String> = given.as_object().unwrap().keys().collect();
    assert_eq!(names, ["access_token", "expires_in", "scope", "token_type"]);
    assert_eq!(
        (&given["expires_in"], &given["scope"], &given["token_type"]),
        (&json!(3600), &json!("read write"), &json!("bearer"))
    );
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "no-cache, no-store, must-revalidate"),
        ("pragma", "no-cache"),
        ("expires", "0"),
        ("x-content-type-options", "nosniff"),
        ("x-xss-protection", "1; mode=block"),
        ("x-frame-options", "DENY"),
        ("strict-transport-security", "max-age=63072000; includeSubDomains"),
    ] {
        assert_eq!(answer.header(name), Some(value), "{name}");
    }
    let token = text(&given["access_token"]);
    assert_eq!(call(&gateway, &token).status, 200);
    assert_eq!(upstream.requests(), 1, "the provider's endpoints are not the upstream's");
    // It is a key like any other.
    let shown = gateway.control("GET", &format!("/tyk/keys/{token}"), "").json();
    assert_eq!((&shown["oauth_client_id"], &shown["apply_policies"]), (&json!("shop"), &json!(["gold"])));
    // As many as it wants, each good for itself.
    let other = text(&self::token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_ne!(token, other);
    assert_eq!((call(&gateway, &token).status, call(&gateway, &other).status), (200, 200));
    let listed = gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json();
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
    let expires = listed[0]["expires"].as_u64().unwrap();
    assert_eq!(shown["expires"].as_u64(), Some(expires));
    let page = gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens?page=1", "").json();
    assert_eq!((&page["Tokens"], &page["Pagination"]["page_total"]), (&listed, &json!(1)));
}

#[test]
fn a_code_is_redeemed_once_for_a_token_that_can_be_renewed() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let query = "response_type=code&client_id=shop&redirect_uri=https%3A%2F%2Fapp.test%2Fcb&state=a%20b&scope=read";
    let answer = gateway.get(&format!("/a/oauth/authorize/?{query}"));
    assert_eq!((answer.status, answer.header("location")), (307, Some(format!("https://login.test/start?{query}").as_str())));
    let posted = gateway.send(request("POST", "/a/oauth/authorize", &[FORM], query));
    assert_eq!((posted.status, posted.header("location")), (307, Some("https://login.test/start")));
    let answer = consent(&gateway, query);
    let told = answer.json();
    let code = text(&told["code"]);
    assert_eq!(code.len(), 22);
    let expected =
        format!("{{\"code\":\"{code}\",\"redirect_to\":\"https://app.test/cb?code={code}&state=a+b\",\"state\":\"a b\"}}\n");
    assert_eq!((answer.status, answer.text()), (200, expected));
    let form = format!("grant_type=authorization_code&code={code}&redirect_uri=https%3A%2F%2Fapp.test%2Fcb");
    let given = token(&gateway, &form);
    assert_eq!(given["scope"], "read");
    let first = text(&given["access_token"]);
    assert_eq!(call(&gateway, &first).status, 200);
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    let second = text(&renewed["access_token"]);
    assert_ne!(renewed["refresh_token"], given["refresh_token"], "refresh tokens change with each use");
    assert_eq!(renewed["scope"], "read");
    assert_eq!((call(&gateway, &first).status, call(&gateway, &second).status), (403, 200), "the old token ends");
    let again = post(&gateway, "token", &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(error(&again), (403, "invalid_grant".to_owned()));
    let wider =
        post(&gateway, "token", &format!("grant_type=refresh_token&scope=all&refresh_token={}", text(&renewed["refresh_token"])));
    assert_eq!(error(&wider), (403, "invalid_scope".to_owned()));
}

#[test]
fn a_code_that_comes_again_takes_its_token_back() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let form = format!("grant_type=authorization_code&code={}", code(&gateway, ""));
    let given = token(&gateway, &form);
    assert_eq!(call(&gateway, &text(&given["access_token"])).status, 200);
    assert_eq!(error(&post(&gateway, "token", &form)), (403, "invalid_grant".to_owned()));
    assert_eq!(call(&gateway, &text(&given["access_token"])).status, 403);
    let renewal = post(&gateway, "token", &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(error(&renewal), (403, "invalid_grant".to_owned()));
}

#[test]
fn of_many_who_redeem_a_code_at_once_one_is_given_a_token() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    for _ in 0..5 {
        let form = format!("grant_type=authorization_code&code={}", code(&gateway, ""));
        let given = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| post(&gateway, "token", &form).status)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).filter(|status| *status == 200).count()
        });
        assert_eq!(given, 1);
    }
}

#[test]
fn a_challenge_must_be_met() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let s256 = format!("&code_challenge={CHALLENGE}&code_challenge_method=S256");
    let plain = format!("&code_challenge={VERIFIER}");
    let redeem = |code: &str, more: &str| post(&gateway, "token", &format!("grant_type=authorization_code&code={code}{more}"));
    for challenge in [&s256, &plain] {
        let code = code(&gateway, challenge);
        for wrong in
            ["", "&code_verifier=", &format!("&code_verifier={}x", &VERIFIER[1..]), &format!("&code_verifier={}", "x".repeat(500))]
        {
            assert_eq!(error(&redeem(&code, wrong)), (403, "invalid_grant".to_owned()), "{challenge} {wrong:.60}");
        }
        assert_eq!(redeem(&code, &format!("&code_verifier={VERIFIER}")).status, 200, "{challenge}");
    }
    // Of the challenge that an attacker took out of the request the verifier tells.
    assert_eq!(error(&redeem(&code(&gateway, ""), &format!("&code_verifier={VERIFIER}"))), (403, "invalid_grant".to_owned()));
    for (challenge, why) in [
        ("&code_challenge=short", "code_challenge must have 43 to 128 letters, digits, '-', '.', '_' or '~'"),
        (&format!("&code_challenge={CHALLENGE}&code_challenge_method=S999"), "transform algorithm not supported"),
    ] {
        let answer = consent(&gateway, &format!("response_type=code&client_id=shop{challenge}"));
        assert_eq!(
            (error(&answer), text(&answer.json()["error_description"])),
            ((403, "invalid_request".to_owned()), why.to_owned())
        );
    }
}

#[test]
fn challenges_can_be_asked_for() {
    let rules = json!({"pkce_required": true, "pkce_methods": ["S256"], "exact_redirect_uris": true});
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api.set("tollgate/oauth", rules.clone()));
    make_client(&gateway, json!({}));
    let ask = |more: &str| gateway.get(&format!("/a/oauth/authorize?response_type=code&client_id=shop{more}"));
    let without = ask("");
    assert_eq!((without.status, without.json()), (403, json!({"status": "error", "message": "code challenge required"})));
    assert_eq!(ask(&format!("&code_challenge={VERIFIER}")).json()["message"], "transform algorithm not supported");
    let s256 = format!("&code_challenge={CHALLENGE}&code_challenge_method=S256");
    assert_eq!(ask(&s256).status, 307);
    assert_eq!(ask(&format!("{s256}&redirect_uri=https%3A%2F%2Fapp.test%2Fcb%2Fx")).status, 403);
    let code = code(&gateway, &s256);
    assert!(!token(&gateway, &format!("grant_type=authorization_code&code={code}&code_verifier={VERIFIER}")).is_null());
}

#[test]
fn a_user_logs_in_with_a_password_and_has_one_token_at_a_time() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({"meta_data": {"plan": "free", "own": "client"}}));
    let user =
        session_for(&["a"], json!({"basic_auth_data": {"password": "open sesame"}, "alias": "al", "meta_data": {"own": "user"}}));
    assert_eq!(gateway.control("POST", "/tyk/keys/alice?org_id=default", &user.to_string()).status, 200);
    let given = token(&gateway, "grant_type=password&username=alice&password=open+sesame");
    let first = text(&given["access_token"]);
    assert_eq!(call(&gateway, &first).status, 200);
    let shown = gateway.control("GET", &format!("/tyk/keys/{first}"), "").json();
    assert_eq!((&shown["alias"], &shown["meta_data"]), (&json!("al"), &json!({"own": "user", "plan": "free"})));
    assert!(shown.get("basic_auth_data").is_none_or(|data| data.get("password").is_none()), "{shown}");
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(gateway.control("GET", &format!("/tyk/keys/{}", text(&renewed["access_token"])), "").json()["alias"], "al");
    let second = text(&token(&gateway, "grant_type=password&username=alice&password=open+sesame")["access_token"]);
    let third = text(&token(&gateway, "grant_type=password&username=alice&password=open+sesame")["access_token"]);
    assert_eq!([&first, &second, &third].map(|token| call(&gateway, token).status), [403, 403, 200]);
    for (form, expected) in [
        ("username=alice&password=wrong", "access_denied"),
        ("username=nobody&password=open+sesame", "access_denied"),
        ("username=alice&password=", "invalid_grant"),
        ("username=&password=x", "invalid_grant"),
    ] {
        assert_eq!(error(&post(&gateway, "token", &format!("grant_type=password&{form}"))), (403, expected.to_owned()), "{form}");
    }
    // Neither of these was let in, and the password still is what it was.
    let off = session_for(&["a"], json!({"is_inactive": true}));
    assert_eq!(gateway.control("PUT", "/tyk/keys/alice?org_id=default", &off.to_string()).status, 200);
    let refused = post(&gateway, "token", "grant_type=password&username=alice&password=open+sesame");
    assert_eq!(error(&refused), (403, "access_denied".to_owned()));
    assert!(!gateway.log().contains("sesame"));
}

#[test]
fn a_token_can_be_given_at_once_in_the_fragment() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let told = consent(&gateway, "response_type=token&client_id=shop&state=s&scope=read").json();
    let names: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(names, ["access_token", "expires_in", "redirect_to", "scope", "state", "token_type"]);
    let token = text(&told["access_token"]);
    let expected = format!("https://app.test/cb#access_token={token}&expires_in=3600&scope=read&state=s&token_type=bearer");
    assert_eq!(told["redirect_to"], expected);
    assert_eq!(call(&gateway, &token).status, 200);
}

#[test]
fn a_login_page_may_say_what_session_the_token_has() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({"policy_id": ""}));
    let rules = session_for(&["a"], json!({"alias": "joe", "org_id": "", "rate": 2, "per": 60}));
    let code = code(&gateway, &format!("&key_rules={}", encoded(&rules.to_string())));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={code}"));
    let shown = gateway.control("GET", &format!("/tyk/keys/{}", text(&given["access_token"])), "").json();
    assert_eq!((&shown["alias"], &shown["org_id"], &shown["oauth_client_id"]), (&json!("joe"), &json!("default"), &json!("shop")));
    let token = text(&given["access_token"]);
    assert_eq!([(); 3].map(|()| call(&gateway, &token).status), [200, 200, 429]);
    // Neither a policy nor rules, and rules that would open everything.
    for more in ["".to_owned(), format!("&key_rules={}", encoded(r#"{"org_id":"default"}"#))] {
        let code = self::code(&gateway, &more);
        let answer = post(&gateway, "token", &format!("grant_type=authorization_code&code={code}"));
        assert_eq!(error(&answer), (403, "server_error".to_owned()), "{more}");
    }
}

pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[test]
fn what_is_wrong_at_the_token_endpoint_is_told() {
    let Stage { gateway, upstream: _upstream, .. } =
        stage(json!({}), |api| api.set("oauth_meta/allowed_access_types", json!(["client_credentials", "authorization_code"])));
    make_client(&gateway, json!({}));
    make_client(&gateway, json!({"client_id": "other", "secret": "other"}));
    let code = code(&gateway, "&redirect_uri=https%3A%2F%2Fapp.test%2Fcb%2Fhere");
    let redeem = format!("grant_type=authorization_code&code={code}");
    let (own, others, wrong) = (basic("shop", "s3cret"), basic("other", "other"), basic("shop", "guess"));
    let json_type = "Content-Type: application/json";
    let long = format!("grant_type={}", "x".repeat(100_000));
    for (lines, body, expected) in [
        (vec![&*own, FORM], "grant_type=sorcery", "unsupported_grant_type"),
        (vec![&own, FORM], "grant_type=password&username=a&password=b", "unsupported_grant_type"),
        (vec![&own, FORM], "grant_type=assertion", "unsupported_grant_type"),
        (vec![&own, FORM], "", "unsupported_grant_type"),
        (vec![&own, FORM], "grant_type=client_credentials&grant_type=client_credentials", "invalid_request"),
        (vec![&own, FORM], "grant_type=%zz", "invalid_request"),
        (vec![&own, FORM], &long, "invalid_request"),
        (vec![&own, FORM], "grant_type=client_credentials&scope=%22", "invalid_scope"),
        (vec![&own, "Content-Type: text/plain"], "grant_type=client_credentials", "invalid_request"),
        (vec![&own, json_type], "{", "invalid_request"),
        (vec![&own, json_type], r#"{"grant_type":7}"#, "invalid_request"),
        (vec![FORM], "grant_type=client_credentials", "invalid_request"),
        (vec!["Authorization: Bearer x", FORM], "grant_type=client_credentials", "invalid_request"),
        (vec!["Authorization: Basic !", FORM], "grant_type=client_credentials", "invalid_request"),
        (vec![&wrong, FORM], "grant_type=client_credentials", "unauthorized_client"),
        (vec![&basic("none", "s3cret"), FORM], "grant_type=client_credentials", "unauthorized_client"),
        (vec![&basic("", ""), FORM], "grant_type=client_credentials", "unauthorized_client"),
        (vec![&own, FORM], "grant_type=client_credentials&client_id=shop&client_secret=guess", "invalid_request"),
        (vec![FORM], "grant_type=client_credentials&client_id=shop&client_secret=guess", "unauthorized_client"),
        (vec![&own, FORM], "grant_type=authorization_code", "invalid_grant"),
        (vec![&own, FORM], "grant_type=authorization_code&code=none", "invalid_grant"),
        (vec![&others, FORM], &redeem, "invalid_grant"),
        (vec![&own, FORM], &redeem, "invalid_request"),
        (vec![&own, FORM], &format!("{redeem}&redirect_uri=https%3A%2F%2Fevil.test%2F"), "invalid_request"),
    ] {
        let answer = gateway.send(request("POST", "/a/oauth/token", &lines, body));
        assert_eq!(error(&answer), (403, expected.to_owned()), "{body:.80} {answer}");
        assert_eq!(answer.header("cache-control"), Some("no-cache, no-store, must-revalidate"));
        assert!(answer.json()["error_description"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    }
    assert_eq!(
        post(&gateway, "token", "grant_type=sorcery").text(),
        "{\"error\":\"unsupported_grant_type\",\"error_description\":\"The authorization grant type is not supported by the \
         authorization server.\"}\n"
    );
    // What was refused has not used the code up.
    let right = format!("{redeem}&redirect_uri=https%3A%2F%2Fapp.test%2Fcb%2Fhere");
    assert_eq!(gateway.send(request("POST", "/a/oauth/token", &[&own, FORM], &right)).status, 200);
    // The body, JSON and no type at all do as well.
    for (lines, body) in [
        (vec![FORM], "grant_type=client_credentials&client_id=shop&client_secret=s3cret"),
        (vec![&own, json_type], r#"{"grant_type":"client_credentials"}"#),
        (vec![&own], "grant_type=client_credentials"),
    ] {
        assert_eq!(gateway.send(request("POST", "/a/oauth/token", &lines, body)).status, 200, "{body}");
    }
    let got = gateway.send(request("GET", "/a/oauth/token?grant_type=client_credentials", &[&own], ""));
    assert_eq!(error(&got), (403, "invalid_request".to_owned()));
    assert_eq!(gateway.send(request("DELETE", "/a/oauth/token", &[&own], "")).status, 405);
    let endless = format!("grant_type=client_credentials&x={}", "y".repeat(2 << 20));
    assert_eq!(gateway.send(request("POST", "/a/oauth/token", &[&own, FORM], &endless)).status, 413);
    for secret in ["s3cret", "guess"] {
        assert!(!gateway.log().contains(secret), "{}", gateway.log());
    }
}

#[test]
fn the_status_of_refusals_and_the_life_of_tokens_are_configured() {
    let conf = json!({"oauth_error_status_code": 400, "oauth_token_expire": 1, "oauth_refresh_token_expire": 2});
    let Stage { gateway, upstream: _upstream, .. } = stage(conf, |api| api);
    make_client(&gateway, json!({}));
    assert_eq!(error(&post(&gateway, "token", "grant_type=x")), (400, "unsupported_grant_type".to_owned()));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={}", code(&gateway, "")));
    assert_eq!(given["expires_in"], 1);
    eventually("the token ends", || {
        let answer = call(&gateway, &text(&given["access_token"]));
        answer.status == 401 && answer.text() == error_json("Key has expired, please renew")
    });
    // In its last second it is in the list, as in Tyk.
    eventually("the token is not listed", || gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json() == json!([]));
    eventually("the refresh token ends", || {
        let shown = post(&gateway, "introspect", &format!("token={}&token_type_hint=refresh_token", text(&given["refresh_token"])));
        shown.json() == json!({"active": false})
    });
    let renewal = post(&gateway, "token", &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(error(&renewal), (400, "invalid_grant".to_owned()));
}

#[test]
fn what_is_wrong_at_the_authorisation_endpoint_is_told() {
    let Stage { gateway, upstream: _upstream, .. } =
        stage(json!({}), |api| api.set("oauth_meta/allowed_authorize_types", json!(["code"])));
    make_client(&gateway, json!({}));
    make_client(&gateway, json!({"client_id": "nowhere", "redirect_uri": ""}));
    let unsupported = "The authorization server does not support obtaining a token using this method.";
    let unauthorized = "The client is not authorized to request a token using this method.";
    let invalid = "The request is missing a required parameter, includes an invalid parameter value, includes a parameter more than once, \
                   or is otherwise malformed.";
    for (query, message) in [
        ("client_id=shop", unsupported),
        ("response_type=token&client_id=shop", unsupported),
        ("response_type=code", unauthorized),
        ("response_type=code&client_id=none", unauthorized),
        ("response_type=code&client_id=nowhere", unauthorized),
        ("response_type=code&client_id=shop&redirect_uri=https%3A%2F%2Fevil.test%2Fcb", invalid),
        ("response_type=code&client_id=shop&redirect_uri=https%3A%2F%2Fapp.test%2Fcb%2F..%2Fother", invalid),
        ("response_type=code&client_id=shop&redirect_uri=https%3A%2F%2Fapp.test%2Fcbx", invalid),
        ("response_type=code&client_id=shop&client_id=shop", "a parameter comes more than once"),
    ] {
        let answer = gateway.get(&format!("/a/oauth/authorize?{query}"));
        assert_eq!((answer.status, answer.json()), (403, json!({"status": "error", "message": message})), "{query}");
    }
    let told = consent(&gateway, "response_type=code&client_id=shop&state=s&redirect_uri=https%3A%2F%2Fevil.test%2F").json();
    let to = text(&told["redirect_to"]);
    assert!(
        to.starts_with("https://app.test/cb?error=invalid_request&error_description=The+request") && to.ends_with("&state=s"),
        "{to}"
    );
    for secret in [vec![], vec!["x-tyk-authorization: guess"]] {
        let answer = gateway.send(request("POST", "/a/tyk/oauth/authorize-client", &secret, "response_type=code&client_id=shop"));
        let message = "Attempted administrative access with invalid or missing key!";
        assert_eq!((answer.status, answer.json()), (403, json!({"status": "error", "message": message})));
    }
    for method in ["PUT", "DELETE"] {
        assert_eq!(gateway.send(request(method, "/a/oauth/authorize", &[], "")).status, 405);
    }
    // At the control API too, with the API's id.
    let answer = gateway.control("POST", "/tyk/oauth/authorize-client/?api_id=a", "response_type=code&client_id=shop");
    assert_eq!(answer.status, 200, "{answer}");
}

#[test]
fn a_revoked_token_is_refused_by_the_next_request() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    make_client(&gateway, json!({"client_id": "other", "secret": "other"}));
    let fresh = || token(&gateway, &format!("grant_type=authorization_code&code={}", code(&gateway, "")));
    let is_good = |given: &Value| call(&gateway, &text(&given["access_token"])).status == 200;
    let can_renew = |given: &Value| {
        let form = format!("token={}&token_type_hint=refresh_token", text(&given["refresh_token"]));
        post(&gateway, "introspect", &form).json()["active"] == true
    };
    let ok = "{\"status\":\"ok\",\"message\":\"token revoked successfully\"}\n";
    for (hint, kind) in
        [("", "access_token"), ("&token_type_hint=access_token", "access_token"), ("&token_type_hint=junk", "access_token")]
    {
        let given = fresh();
        assert!(is_good(&given));
        let answer = gateway.send(request("POST", "/a/oauth/revoke", &[FORM], &format!("token={}{hint}", text(&given[kind]))));
        assert_eq!((answer.status, answer.text()), (200, ok.to_owned()));
        assert!(!is_good(&given), "{hint}");
        assert!(can_renew(&given));
    }
    for hint in ["", "&token_type_hint=refresh_token"] {
        let given = fresh();
        let answer = post(&gateway, "revoke", &format!("token={}{hint}", text(&given["refresh_token"])));
        assert_eq!(answer.status, 200);
        assert!(!is_good(&given) && !can_renew(&given), "{hint}");
    }
    // Not with a hint that says it is something else, by another client, or with a wrong secret.
    let given = fresh();
    let form = format!("token={}", text(&given["access_token"]));
    assert_eq!(post(&gateway, "revoke", &format!("{form}&token_type_hint=refresh_token")).status, 200);
    assert_eq!(gateway.send(request("POST", "/a/oauth/revoke", &[&basic("other", "other"), FORM], &form)).status, 200);
    assert_eq!(gateway.send(request("POST", "/a/oauth/revoke", &[&basic("shop", "guess"), FORM], &form)).status, 403);
    assert!(is_good(&given));
    // A key that is no token of the API stays.
    let key = crate::keys::create(&gateway, &session_for(&["plain"], json!({})));
    assert_eq!(post(&gateway, "revoke", &format!("token={key}")).status, 200);
    assert_eq!(gateway.send(crate::keys::with_key("/plain/", &key)).status, 200);
    // Through the control API, by client and by token.
    let revoke = format!("client_id=shop&{form}");
    assert_eq!(gateway.control("POST", "/tyk/oauth/revoke", &revoke).text(), ok);
    assert!(!is_good(&given));
    let all = [fresh(), fresh(), token(&gateway, "grant_type=client_credentials")];
    assert!(all.iter().all(is_good));
    let answer = gateway.send(request("POST", "/a/oauth/revoke_all", &[FORM], "client_id=shop&client_secret=s3cret"));
    assert_eq!(answer.text(), "{\"status\":\"ok\",\"message\":\"tokens revoked successfully\"}\n");
    assert!(!all.iter().any(is_good) && !can_renew(&all[0]));
    for (form, status, message) in [
        ("", 401, "client_id is required"),
        ("client_id=shop", 401, "client_secret is required"),
        ("client_id=none&client_secret=x", 404, "error getting oauth client"),
        ("client_id=shop&client_secret=x", 401, "client secret is wrong"),
        ("client_id=%zz", 400, "error parsing form. Form malformed"),
    ] {
        let answer = gateway.send(request("POST", "/a/oauth/revoke_all", &[FORM], form));
        assert_eq!((answer.status, answer.json()), (status, json!({"status": "error", "message": message})), "{form}");
    }
    let given = fresh();
    assert_eq!(gateway.control("DELETE", "/tyk/oauth/clients/a/shop/tokens", "").status, 200);
    assert!(!is_good(&given) && !can_renew(&given));
    let given = fresh();
    let target = format!("/tyk/oauth/refresh/{}?api_id=a", text(&given["refresh_token"]));
    assert_eq!(gateway.control("DELETE", &target, "").status, 200);
    assert!(is_good(&given) && !can_renew(&given));
}

#[test]
fn with_its_client_a_token_goes() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={}", code(&gateway, "")));
    let token = text(&given["access_token"]);
    assert_eq!(call(&gateway, &token).status, 200);
    assert_eq!(gateway.control("DELETE", "/tyk/oauth/clients/a/shop", "").status, 200);
    assert_eq!(call(&gateway, &token).status, 403);
    // Also not for a new client of the same name.
    make_client(&gateway, json!({}));
    assert_eq!(call(&gateway, &token).status, 403);
    let renewal = post(&gateway, "token", &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(error(&renewal), (403, "invalid_grant".to_owned()));
    // Another policy ends what was given for the old one.
    let token = text(&self::token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_eq!(call(&gateway, &token).status, 200);
    assert_eq!(gateway.control("PUT", "/tyk/oauth/clients/a/shop", r#"{"redirect_uri":"https://app.test/cb"}"#).status, 200);
    assert_eq!(call(&gateway, &token).status, 403);
}

#[test]
fn what_a_token_is_worth_is_told_to_clients() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={}", code(&gateway, "&scope=read")));
    let form = format!("token={}", text(&given["access_token"]));
    let told = post(&gateway, "introspect", &form).json();
    let names: Vec<&String> = told.as_object().unwrap().keys().collect();
    assert_eq!(names, ["active", "client_id", "exp", "iat", "scope", "token_type"]);
    assert_eq!((&told["client_id"], &told["scope"], &told["token_type"]), (&json!("shop"), &json!("read"), &json!("bearer")));
    assert_eq!(told["exp"].as_u64().unwrap() - told["iat"].as_u64().unwrap(), 3600);
    let refresh = format!("token={}", text(&given["refresh_token"]));
    assert_eq!(post(&gateway, "introspect", &refresh).json()["token_type"], "refresh_token");
    for form in ["token=none", "token=none&token_type_hint=refresh_token"] {
        assert_eq!(post(&gateway, "introspect", form).text(), "{\"active\":false}\n");
    }
    let target = format!("/tyk/keys/{}?suppress_reset=1", text(&given["access_token"]));
    let mut session = gateway.control("GET", &target, "").json();
    session["is_inactive"] = json!(true);
    assert_eq!(gateway.control("PUT", &target, &session.to_string()).status, 200);
    assert_eq!(post(&gateway, "introspect", &form).json(), json!({"active": false}));
    assert_eq!(error(&post(&gateway, "introspect", "")), (403, "invalid_request".to_owned()));
    let nobody = gateway.send(request("POST", "/a/oauth/introspect", &[FORM], &form));
    assert_eq!(error(&nobody), (403, "invalid_request".to_owned()));
    let wrong = gateway.send(request("POST", "/a/oauth/introspect", &[&basic("shop", "x"), FORM], &form));
    assert_eq!(error(&wrong), (403, "unauthorized_client".to_owned()));
    let owner = gateway.send(request("POST", "/a/oauth/introspect", &[&format!("x-tyk-authorization: {SECRET}"), FORM], &refresh));
    assert_eq!(owner.json()["active"], true);
    assert_eq!(gateway.send(request("GET", &format!("/a/oauth/introspect?{form}"), &[&basic("shop", "s3cret")], "")).status, 405);
}

#[test]
fn a_token_is_asked_for_as_tyk_asks() {
    let Stage { gateway, upstream, .. } =
        stage(json!({}), |api| api.set("auth_configs/oauth", json!({"use_param": true, "param_name": "access_token"})));
    make_client(&gateway, json!({}));
    let token = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    let key = crate::keys::create(&gateway, &session_for(&["a"], json!({})));
    let missing = (400, "Authorization field missing", "Bearer");
    let malformed = (400, "Bearer token malformed", "Bearer error=\"invalid_request\"");
    let unknown = (403, "Key not authorised", "Bearer error=\"invalid_token\"");
    let gone = (403, "Key not authorised. OAuth client access was revoked", "Bearer error=\"invalid_token\"");
    for (line, (status, message, challenge)) in [
        ("X-Nothing: here".to_owned(), missing),
        (format!("Authorization: {token}"), missing),
        ("Authorization: Bearer".to_owned(), missing),
        (format!("Authorization: Basic {token}"), malformed),
        ("Authorization: Bearer none".to_owned(), unknown),
        (format!("Authorization: Bearer  {token}"), unknown),
        (format!("Authorization: Bearer {key}"), gone),
    ] {
        let answer = gateway.send(request("GET", "/a/x", &[&line], ""));
        assert_eq!((answer.status, answer.text()), (status, error_json(message)), "{line}");
        assert_eq!(answer.header("www-authenticate"), Some(challenge), "{line}");
    }
    assert_eq!(upstream.requests(), 0);
    for line in [format!("Authorization: Bearer {token}"), format!("authorization: bEARER {token}")] {
        assert_eq!(gateway.send(request("GET", "/a/x", &[&line], "")).status, 200);
    }
    assert_eq!(gateway.get(&format!("/a/x?access_token={token}")).status, 200);
    assert!(!gateway.log().contains(&token));
}

#[test]
fn limits_quotas_rights_and_dry_runs_hold_for_tokens() {
    let limited = policy(json!({"quota_max": 3, "quota_renewal_rate": 3600, "access_rights": {
        "a": {"api_id": "a", "api_name": "a", "versions": ["Default"], "allowed_urls": [{"url": "/x", "methods": ["GET"]}]}
    }}));
    let Stage { gateway, upstream: _upstream, .. } = stage_with(json!({}), limited, |api| api);
    make_client(&gateway, json!({}));
    let fresh = || text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    let token = fresh();
    let answers = [(); 4].map(|()| call(&gateway, &token));
    assert_eq!(answers.each_ref().map(|answer| answer.status), [200, 200, 200, 403]);
    assert_eq!(answers[0].header("x-ratelimit-remaining"), Some("2"));
    assert_eq!(answers[3].text(), error_json("Quota exceeded"));
    let other = fresh();
    assert_eq!(call(&gateway, &other).status, 200, "each token has its own");
    let elsewhere = gateway.send(request("GET", "/a/other", &[&format!("Authorization: Bearer {other}")], ""));
    assert_eq!((elsewhere.status, elsewhere.text()), (403, error_json("Access to this resource has been disallowed")));
    let dry = policy(json!({"rate": 1, "per": 60, "dry_run": ["rate_limit"]}));
    let Stage { gateway, upstream: _upstream, .. } = stage_with(json!({}), dry, |api| api);
    make_client(&gateway, json!({}));
    let token = text(&self::token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_eq!(call(&gateway, &token).header("tollgate-dry-run"), None);
    let over = call(&gateway, &token);
    assert_eq!((over.status, over.header("tollgate-dry-run")), (200, Some("key_rate_limit")));
}

#[test]
fn tokens_survive_a_restart_and_end_for_good() {
    let (upstream, data) = (Upstream::ok(), tempfile::tempdir().unwrap());
    let conf = json!({"hash_keys": true, "tollgate": {"data_dir": data.path()}});
    let (conf, _folder) = with_policies(conf, &[policy(json!({}))]);
    let start = || Gateway::start(conf.clone(), [provider("a", &upstream)]);
    let mut gateway = start();
    make_client(&gateway, json!({}));
    let given = token(&gateway, &format!("grant_type=authorization_code&code={}", code(&gateway, "")));
    let revoked = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_eq!(post(&gateway, "revoke", &format!("token={revoked}")).status, 200);
    let listed = gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1));
    gateway.signal("KILL");
    gateway.wait_for_exit();
    let gateway = start();
    assert_eq!(call(&gateway, &text(&given["access_token"])).status, 200);
    assert_eq!(call(&gateway, &revoked).status, 403);
    assert_eq!(gateway.control("GET", "/tyk/oauth/clients/a/shop/tokens", "").json(), listed);
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    assert_eq!(call(&gateway, &text(&renewed["access_token"])).status, 200);
    // In the file there is nothing that opens anything.
    let mut stored = Vec::new();
    for file in std::fs::read_dir(data.path()).unwrap() {
        stored.extend(std::fs::read(file.unwrap().path()).unwrap_or_default());
    }
    for secret in [text(&renewed["access_token"]), text(&renewed["refresh_token"])] {
        let is_there = stored.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_there, "a token is stored");
    }
}

#[test]
fn the_owner_is_told_of_new_tokens() {
    let owner = Upstream::ok();
    let url = format!("{}/told", owner.url());
    let Stage { gateway, upstream: _upstream, .. } =
        stage(json!({}), |api| api.set("notifications", json!({"shared_secret": "between us", "oauth_on_keychange_url": url})));
    make_client(&gateway, json!({}));
    let code = code(&gateway, "");
    let given = token(&gateway, &format!("grant_type=authorization_code&code={code}"));
    let old = text(&given["refresh_token"]);
    let renewed = token(&gateway, &format!("grant_type=refresh_token&refresh_token={}", old));
    eventually("both are told", || owner.requests() == 2);
    let told: Vec<Value> = owner.seen().iter().map(|seen| serde_json::from_slice(&seen.body).unwrap()).collect();
    let first = json!({
        "auth_code": code, "new_oauth_token": given["access_token"], "refresh_token": given["refresh_token"], "old_refresh_token": "",
        "notification_type": "new"
    });
    let second = json!({
        "auth_code": "", "new_oauth_token": renewed["access_token"], "refresh_token": renewed["refresh_token"],
        "old_refresh_token": old, "notification_type": "refresh"
    });
    assert!(told.contains(&first) && told.contains(&second), "{told:?}");
    let seen = &owner.seen()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", "/told"));
    assert_eq!(seen.header("x-tyk-shared-secret"), Some("between us"));
    assert_eq!(seen.header("user-agent"), Some("Tyk-Gatewy-Notifications"));
}

#[test]
fn cross_origin_rules_and_address_lists_hold_for_the_endpoints() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| {
        api.set("CORS", json!({"enable": true, "allowed_origins": ["https://app.test"], "allowed_methods": ["POST"]}))
    });
    make_client(&gateway, json!({}));
    let preflight = gateway.send(request(
        "OPTIONS",
        "/a/oauth/token",
        &["Origin: https://app.test", "Access-Control-Request-Method: POST"],
        "",
    ));
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some("https://app.test")));
    let lines = [&*basic("shop", "s3cret"), FORM, "Origin: https://app.test"];
    let given = gateway.send(request("POST", "/a/oauth/token", &lines, "grant_type=client_credentials"));
    assert_eq!((given.status, given.header("access-control-allow-origin")), (200, Some("https://app.test")));
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api.set("allowed_ips", json!(["10.0.0.1"])));
    let refused = post(&gateway, "token", "grant_type=client_credentials");
    assert_eq!((refused.status, refused.text()), (403, error_json("access from this IP has been disallowed")));
}

#[test]
fn versions_do_not_stand_between_a_client_and_its_token() {
    let versioned = |api: crate::harness::Definition| {
        api.set(
            "version_data",
            json!({"not_versioned": false, "versions": {"v1": {"name": "v1", "use_extended_paths": true,
            "extended_paths": {"white_list": [{"path": "/x", "method_actions": {"GET": {"action": "no_action"}}}]}}}}),
        )
    };
    let open = policy(json!({"access_rights": {"a": {"api_id": "a", "api_name": "a", "versions": ["v1"]}}}));
    let Stage { gateway, upstream: _upstream, .. } = stage_with(json!({}), open, versioned);
    make_client(&gateway, json!({}));
    let token = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    let line = format!("Authorization: Bearer {token}");
    let call = |target: &str, version: &str| {
        gateway.send(request("GET", target, &[&line, &format!("x-api-version: {version}")], "")).status
    };
    assert_eq!((call("/a/x", "v1"), call("/a/y", "v1"), call("/a/x", "v2")), (200, 403, 403));
    // What only begins like an endpoint is none, and the inner path of the endpoints is nobody's.
    for target in ["/a/oauth/token/more", "/a/oauth", "/a/oauth/tokens"] {
        assert_eq!(call(target, "v1"), 403, "{target}");
    }
    assert_eq!(
        gateway.send(request("POST", "/oauth/a/token", &[&basic("shop", "s3cret"), FORM], "grant_type=client_credentials")).status,
        404
    );
}

#[test]
fn records_name_the_client_and_never_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("records.json");
    let conf = json!({"enable_analytics": true, "hash_keys": true, "tollgate": {"analytics": {"file": file}}});
    let Stage { gateway, upstream: _upstream, .. } =
        stage(conf, |api| api.set("do_not_track", false).set("enable_detailed_recording", true));
    make_client(&gateway, json!({}));
    let token = text(&token(&gateway, "grant_type=client_credentials")["access_token"]);
    assert_eq!(call(&gateway, &token).status, 200);
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    eventually("the call is recorded", || read().ends_with("}\n"));
    let records = read();
    assert_eq!(records.lines().count(), 1, "what goes to the provider is no call of the API: {records}");
    let record: Value = serde_json::from_str(&records).unwrap();
    assert_eq!((&record["oauth_id"], &record["api_id"]), (&json!("shop"), &json!("a")));
    let raw = String::from_utf8(STANDARD.decode(text(&record["raw_request"])).unwrap()).unwrap();
    assert!(raw.contains("Authorization: ***") && !records.contains(&token) && !raw.contains(&token), "{raw}");
}

#[test]
fn a_client_may_show_itself_in_the_header_and_in_the_body() {
    let Stage { gateway, upstream: _upstream, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let same = "grant_type=client_credentials&client_id=shop&client_secret=s3cret";
    assert_eq!(call(&gateway, &text(&token(&gateway, same)["access_token"])).status, 200);
    for other in ["client_id=shop&client_secret=s3cre", "client_id=shop2&client_secret=s3cret"] {
        let answer = post(&gateway, "token/", &format!("grant_type=client_credentials&{other}"));
        assert_eq!(answer.json()["error"], "invalid_request", "{answer}");
    }
}

#[test]
fn a_body_that_no_request_for_a_token_has_is_refused() {
    let Stage { gateway, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let answer = post(&gateway, "token/", &format!("grant_type=client_credentials&x={}", "x".repeat(300 << 10)));
    assert_eq!(answer.status, 413, "{answer}");
}
