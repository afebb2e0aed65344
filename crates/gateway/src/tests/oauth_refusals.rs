//! What the OAuth 2.0 provider refuses and in which words, what it takes back, and what it tells of tokens.

use serde_json::{Value, json};

use super::harness::keys::session_for;
use super::harness::oauth::{FORM, basic, call, code, consent, error, make_client, post, text, token};
use super::harness::{CONTROL_SECRET, request};
use super::oauth::{Stage, stage};

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
    let key = super::harness::keys::create(&gateway, &session_for(&["plain"], json!({})));
    assert_eq!(post(&gateway, "revoke", &format!("token={key}")).status, 200);
    assert_eq!(gateway.send(super::harness::keys::with_key("/plain/", &key)).status, 200);
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
    let owner =
        gateway.send(request("POST", "/a/oauth/introspect", &[&format!("x-tyk-authorization: {CONTROL_SECRET}"), FORM], &refresh));
    assert_eq!(owner.json()["active"], true);
    assert_eq!(gateway.send(request("GET", &format!("/a/oauth/introspect?{form}"), &[&basic("shop", "s3cret")], "")).status, 405);
}

#[test]
fn a_body_that_no_request_for_a_token_has_is_refused() {
    let Stage { gateway, .. } = stage(json!({}), |api| api);
    make_client(&gateway, json!({}));
    let answer = post(&gateway, "token/", &format!("grant_type=client_credentials&x={}", "x".repeat(300 << 10)));
    assert_eq!(answer.status, 413, "{answer}");
}
