//! The OAuth 2.0 provider of the API `a`, and the client `shop` at its endpoints.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::definition::merge;
use crate::keys::{Served, keyed};
use crate::{CONTROL_SECRET, Definition, Response, Upstream, request};

/// Of RFC 7636, appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

pub const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

/// An API whose provider allows everything.
pub fn provider(id: &str, upstream: &Upstream) -> Definition {
    keyed(id, upstream)
        .set("use_oauth2", true)
        .set("oauth_meta/allowed_access_types", json!(["authorization_code", "refresh_token", "password", "client_credentials"]))
        .set("oauth_meta/allowed_authorize_types", json!(["code", "token"]))
        .set("oauth_meta/auth_login_redirect", "https://login.test/start")
}

/// The policy `gold` for the API `a`.
pub fn policy(fields: Value) -> Value {
    let mut policy = json!({
        "id": "gold", "org_id": "default", "active": true, "rate": 1000, "per": 60, "quota_max": -1,
        "access_rights": {"a": {"api_id": "a", "api_name": "a", "versions": ["Default"]}}
    });
    merge(&mut policy, &fields);
    policy
}

/// A folder of policies, and the configuration that names it, with `conf` laid over it.
pub fn with_policies(conf: Value, policies: &[Value]) -> (Value, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    for policy in policies {
        std::fs::write(folder.path().join(format!("{}.json", policy["id"].as_str().unwrap())), policy.to_string()).unwrap();
    }
    let mut whole = json!({"policies": {"policy_source": "file", "policy_path": folder.path()}});
    merge(&mut whole, &conf);
    (whole, folder)
}

/// Makes the client `shop` with the secret `s3cret` and the fields.
pub fn make_client(gateway: &impl Served, fields: Value) -> Value {
    let mut client = json!({
        "client_id": "shop", "secret": "s3cret", "api_id": "a", "policy_id": "gold", "redirect_uri": "https://app.test/cb"
    });
    merge(&mut client, &fields);
    let answer = gateway.control_answer("POST", "/tyk/oauth/clients/create", &client.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()
}

pub fn basic(client: &str, secret: &str) -> String {
    format!("Authorization: Basic {}", STANDARD.encode(format!("{client}:{secret}")))
}

/// A request to an endpoint of the API `a`, as the client `shop`.
pub fn post(gateway: &impl Served, endpoint: &str, form: &str) -> Response {
    gateway.answer(request("POST", &format!("/a/oauth/{endpoint}"), &[&basic("shop", "s3cret"), FORM], form).as_bytes())
}

pub fn token(gateway: &impl Served, form: &str) -> Value {
    let answer = post(gateway, "token/", form);
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()
}

/// What the login page asks when its user has consented.
pub fn consent(gateway: &impl Served, form: &str) -> Response {
    let secret = format!("x-tyk-authorization: {CONTROL_SECRET}");
    gateway.answer(request("POST", "/a/tyk/oauth/authorize-client/", &[&secret, FORM], form).as_bytes())
}

pub fn code(gateway: &impl Served, more: &str) -> String {
    let answer = consent(gateway, &format!("response_type=code&client_id=shop{more}"));
    assert_eq!(answer.status, 200, "{answer}");
    text(&answer.json()["code"])
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text")).to_owned()
}

pub fn call(gateway: &impl Served, token: &str) -> Response {
    gateway.answer(request("GET", "/a/x", &[&format!("Authorization: Bearer {token}")], "").as_bytes())
}

pub fn error(answer: &Response) -> (u16, String) {
    (answer.status, text(&answer.json()["error"]))
}

pub fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}
