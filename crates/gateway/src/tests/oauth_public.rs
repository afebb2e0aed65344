//! OAuth 2.0 clients that can keep no secret: codes with a proof and refresh tokens are for them, and nothing else is.

use serde_json::{Value, json};

use super::harness::oauth::{CHALLENGE, FORM, VERIFIER, basic, call, consent, error, make_client, text};
use super::harness::oauth_app::{S256, ask, code, log_in, make_clients, refused, renew};
use super::harness::request;
use super::oauth::{Stage, stage};

/// A gateway with the public client `app` and the client `shop` with a secret.
fn with_clients() -> Stage {
    let stage = stage(json!({}), |api| api);
    make_clients(&stage.gateway);
    stage
}

#[test]
fn a_code_with_a_proof_is_worth_a_token_that_can_be_renewed() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    let form = format!("grant_type=authorization_code&client_id=app&code={}&code_verifier={VERIFIER}", code(&gateway));
    let answer = ask(&gateway, &form);
    assert_eq!(answer.status, 200, "{answer}");
    let first = answer.json();
    assert_eq!(call(&gateway, &text(&first["access_token"])).status, 200);
    let renew = |token: &Value| ask(&gateway, &format!("grant_type=refresh_token&client_id=app&refresh_token={}", text(token)));
    let second = renew(&first["refresh_token"]).json();
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    assert_eq!(call(&gateway, &text(&first["access_token"])).status, 403);
    assert_eq!(call(&gateway, &text(&second["access_token"])).status, 200);
    assert_eq!(error(&renew(&first["refresh_token"])), (403, "invalid_grant".to_owned()), "it was changed for another one");
    assert_eq!(error(&ask(&gateway, &form)), (403, "invalid_grant".to_owned()), "a code is redeemed once");
}

#[test]
fn a_refresh_token_that_comes_again_ends_what_was_made_from_it() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    make_client(&gateway, json!({"client_id": "other", "secret": null, "public": true}));
    let (first, elsewhere) = (log_in(&gateway), log_in(&gateway));
    let second = renew(&gateway, &first).json();
    let third = renew(&gateway, &second).json();
    let newest = || call(&gateway, &text(&third["access_token"])).status;
    // At another client's word nothing ends, nor at the word of who has made a token up.
    let old = text(&first["refresh_token"]);
    let by_other = format!("grant_type=refresh_token&client_id=other&refresh_token={old}");
    assert_eq!((error(&ask(&gateway, &by_other)), newest()), (refused(), 200));
    for made_up in [old.replace('.', ""), format!("x{old}"), ".".to_owned(), "no.family".to_owned()] {
        assert_eq!((error(&renew(&gateway, &json!({"refresh_token": made_up}))), newest()), (refused(), 200), "{made_up}");
    }
    // The oldest is enough.
    assert_eq!((error(&renew(&gateway, &first)), newest()), (refused(), 403));
    for given in [&third, &second, &first] {
        assert_eq!(error(&renew(&gateway, given)), refused());
    }
    let listed = gateway.control("GET", "/tyk/oauth/clients/a/app/tokens", "").json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    // Another login of the same app goes on.
    assert_eq!(call(&gateway, &text(&elsewhere["access_token"])).status, 200);
    let renewed = renew(&gateway, &elsewhere).json();
    assert_eq!(call(&gateway, &text(&renewed["access_token"])).status, 200);
}

#[test]
fn a_refresh_token_whose_access_token_was_revoked_ends_too() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    let first = log_in(&gateway);
    let second = renew(&gateway, &first).json();
    let revoke = format!("token={}", text(&second["access_token"]));
    assert_eq!(gateway.send(request("POST", "/a/oauth/revoke", &[FORM], &revoke)).status, 200);
    assert_eq!(error(&renew(&gateway, &first)), refused());
    assert_eq!(error(&renew(&gateway, &second)), refused());
}

#[test]
fn a_client_with_a_secret_may_be_late_with_an_old_refresh_token() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    let answer = consent(&gateway, "response_type=code&client_id=shop").json();
    let by_shop = |form: &str| gateway.send(request("POST", "/a/oauth/token/", &[&basic("shop", "s3cret"), FORM], form));
    let first = by_shop(&format!("grant_type=authorization_code&code={}", text(&answer["code"]))).json();
    let renew = |given: &Value| by_shop(&format!("grant_type=refresh_token&refresh_token={}", text(&given["refresh_token"])));
    let second = renew(&first).json();
    assert_eq!(error(&renew(&first)), refused());
    assert_eq!(call(&gateway, &text(&second["access_token"])).status, 200, "as in Tyk");
}

#[test]
fn nothing_else_is_for_a_public_client() {
    let Stage { gateway, upstream: _upstream, .. } = with_clients();
    let code_of = |proof: &str| format!("grant_type=authorization_code&client_id=app&code={}{proof}", code(&gateway));
    let proof = format!("&code_verifier={VERIFIER}");
    for (form, name) in [
        ("grant_type=client_credentials&client_id=app".to_owned(), "unauthorized_client"),
        ("grant_type=password&client_id=app&username=u&password=p".to_owned(), "unauthorized_client"),
        (code_of(""), "invalid_grant"),
        (code_of(&format!("&code_verifier={}", VERIFIER.replace('d', "e"))), "invalid_grant"),
        // An empty secret is none, and any other is wrong.
        ("grant_type=client_credentials&client_id=app&client_secret=".to_owned(), "unauthorized_client"),
        (code_of(&format!("{proof}&client_secret=guess")), "unauthorized_client"),
        // Who has a secret shows it; nobody learns which clients there are.
        (format!("{}{proof}", code_of("").replace("=app", "=shop")), "invalid_request"),
        (format!("{}{proof}", code_of("").replace("=app", "=nobody")), "invalid_request"),
        (format!("{}{proof}", code_of("").replace("client_id=app&", "")), "invalid_request"),
        ("grant_type=refresh_token&client_id=app".to_owned(), "invalid_grant"),
        ("grant_type=refresh_token&client_id=app&refresh_token=none".to_owned(), "invalid_grant"),
    ] {
        assert_eq!(error(&ask(&gateway, &form)), (403, name.to_owned()), "{form}");
    }
    for secret in ["", "guess", "s3cret"] {
        let form = format!("grant_type=authorization_code&code={}{proof}", code(&gateway));
        let answer = gateway.send(request("POST", "/a/oauth/token/", &[&basic("app", secret), FORM], &form));
        assert_eq!(error(&answer), (403, "unauthorized_client".to_owned()), "{secret:?}");
    }
    for (more, name, why) in [
        ("", "invalid_request", "code challenge required"),
        (&format!("&code_challenge={VERIFIER}"), "invalid_request", "transform algorithm not supported"),
        (
            &format!("&code_challenge={VERIFIER}&code_challenge_method=plain"),
            "invalid_request",
            "transform algorithm not supported",
        ),
    ] {
        let told = consent(&gateway, &format!("response_type=code&client_id=app{more}")).json();
        assert_eq!((&told["error"], &told["error_description"]), (&json!(name), &json!(why)), "{more}");
    }
    let implicit = consent(&gateway, "response_type=token&client_id=app");
    assert_eq!(error(&implicit), (403, "unauthorized_client".to_owned()));
    // Another client's code, and another client's refresh token.
    let of_shop = consent(&gateway, &format!("response_type=code&client_id=shop&code_challenge={CHALLENGE}{S256}")).json();
    let form = format!("grant_type=authorization_code&client_id=app&code={}{proof}", text(&of_shop["code"]));
    assert_eq!(error(&ask(&gateway, &form)), (403, "invalid_grant".to_owned()));
    let own = ask(&gateway, &code_of(&proof)).json();
    let renew = format!("grant_type=refresh_token&refresh_token={}", text(&own["refresh_token"]));
    let by_shop = gateway.send(request("POST", "/a/oauth/token/", &[&basic("shop", "s3cret"), FORM], &renew));
    assert_eq!(error(&by_shop), (403, "invalid_grant".to_owned()));
    // What a token is worth is told to those who prove who they are.
    let asked = format!("client_id=app&token={}", text(&own["access_token"]));
    let told = gateway.send(request("POST", "/a/oauth/introspect", &[FORM], &asked));
    assert_eq!(error(&told), (403, "invalid_request".to_owned()));
    let revoked = gateway.send(request("POST", "/a/oauth/revoke", &[FORM], &asked));
    assert_eq!((revoked.status, call(&gateway, &text(&own["access_token"])).status), (200, 403), "whoever has a token may end it");
}
