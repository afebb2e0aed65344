//! A client of the OAuth 2.0 provider that can keep no secret: the app `app`, beside the client `shop`.

use serde_json::{Value, json};

use crate::keys::Served;
use crate::oauth::{CHALLENGE, FORM, VERIFIER, consent, make_client, text};
use crate::{Response, request};

pub const S256: &str = "&code_challenge_method=S256";

pub fn make_clients(gateway: &impl Served) {
    make_client(gateway, json!({}));
    let made = make_client(gateway, json!({"client_id": "app", "secret": null, "public": true}));
    assert_eq!((&made["public"], &made["secret"]), (&json!(true), &Value::Null));
}

/// A request for a token that shows no secret.
pub fn ask(gateway: &impl Served, form: &str) -> Response {
    gateway.answer(request("POST", "/a/oauth/token/", &[FORM], form).as_bytes())
}

pub fn code(gateway: &impl Served) -> String {
    let answer = consent(gateway, &format!("response_type=code&client_id=app&code_challenge={CHALLENGE}{S256}"));
    assert_eq!(answer.status, 200, "{answer}");
    text(&answer.json()["code"])
}

/// Logs in; what was given for the code.
pub fn log_in(gateway: &impl Served) -> Value {
    let form = format!("grant_type=authorization_code&client_id=app&code={}&code_verifier={VERIFIER}", code(gateway));
    let answer = ask(gateway, &form);
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()
}

pub fn renew(gateway: &impl Served, given: &Value) -> Response {
    ask(gateway, &format!("grant_type=refresh_token&client_id=app&refresh_token={}", text(&given["refresh_token"])))
}

/// What is told of a code or a token that is worth nothing.
pub fn refused() -> (u16, String) {
    (403, "invalid_grant".to_owned())
}
