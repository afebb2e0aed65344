//! Keys, and APIs that ask for them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::definition::merge;
use crate::{Definition, Response, Upstream, api, request};

/// A gateway that answers.
pub trait Served {
    /// The answer to one request on a connection of its own.
    fn answer(&self, request: &[u8]) -> Response;

    /// The answer of the control API to a call with the right secret.
    fn control_answer(&self, method: &str, target: &str, body: &str) -> Response;
}

/// An API that asks for a key.
pub fn keyed(id: &str, upstream: &Upstream) -> Definition {
    api(id, &format!("/{id}/"), &upstream.url()).with_keys()
}

/// A session that may call the APIs `ids`, with `fields` laid over it.
pub fn session_for(ids: &[&str], fields: Value) -> Value {
    let rights: serde_json::Map<String, Value> =
        ids.iter().map(|id| ((*id).to_owned(), json!({"api_id": id, "api_name": id, "versions": ["Default"]}))).collect();
    let mut session = json!({"org_id": "default", "expires": 0, "quota_max": -1, "access_rights": rights});
    merge(&mut session, &fields);
    session
}

/// The same for the API `a`.
pub fn session(fields: Value) -> Value {
    session_for(&["a"], fields)
}

/// Makes a key with a name of the gateway's.
pub fn create(gateway: &impl Served, session: &Value) -> String {
    let answer = gateway.control_answer("POST", "/tyk/keys/create", &session.to_string());
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()["key"].as_str().expect("a key").to_owned()
}

/// A GET that carries a key where it is looked for by default.
pub fn with_key(target: &str, key: &str) -> String {
    request("GET", target, &[&format!("Authorization: {key}")], "")
}

/// A GET with a key.
pub fn call(gateway: &impl Served, target: &str, key: &str) -> Response {
    gateway.answer(with_key(target, key).as_bytes())
}

/// The whole answer of a control call, as its callers compare it.
pub fn told(response: &Response) -> (u16, String) {
    assert_eq!(response.header("content-type"), Some("application/json"), "{response}");
    (response.status, response.text())
}

/// What the control API answers when it refuses.
pub fn refused(message: &str) -> String {
    format!("{{\"status\":\"error\",\"message\":{}}}\n", json!(message))
}

/// What the control API answers when it has done something with a key.
pub fn done(key: &str, action: &str) -> String {
    format!("{{\"key\":\"{key}\",\"status\":\"ok\",\"action\":\"{action}\"}}\n")
}

/// The header line of a user and a password.
pub fn basic(user: &str, password: &str) -> String {
    format!("Authorization: Basic {}", STANDARD.encode(format!("{user}:{password}")))
}
