//! The control API beside Tyk's: the same calls in the same order, and what Tyk 5.14.0 answered to each. Where the answer here is another one,
//! the record says which and why.

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::oauth::{FORM, provider, with_policies};
use crate::harness::tokens::with_tokens;
use crate::harness::{Gateway, Upstream, api, request};
use crate::keys::keyed;
use crate::servers::Server;
use crate::shared_keys::on;

/// A call, Tyk's answer (status, media type, and the body if it is a short one), and if it differs, the answer here with its reason.
struct Recorded(Vec<Value>);

impl Recorded {
    fn text(&self, place: usize) -> &str {
        self.0[place].as_str().expect("a text")
    }

    fn body(&self) -> String {
        match &self.0[2] {
            Value::Null => String::new(),
            Value::String(text) if text == "CERT" => include_str!("tyk_certificate.pem").to_owned(),
            Value::String(text) => text.clone(),
            document => document.to_string(),
        }
    }

    /// The expected status, media type and short body.
    fn expected(&self) -> (&Value, &Value, &Value) {
        match self.0.get(6) {
            Some(here) => (&here[0], &here[1], &here[2]),
            None => (&self.0[3], &self.0[4], &self.0[5]),
        }
    }
}

/// The part of a short body that is compared: without what is random, and what Tyk does not have.
fn short(text: &str) -> Value {
    let Ok(Value::Object(mut body)) = serde_json::from_str(text) else { return Value::Null };
    if !body.contains_key("status") || ["schema", "details", "apis"].iter().any(|name| body.contains_key(*name)) {
        return Value::Null;
    }
    for name in ["key_hash", "shared", "node"] {
        body.remove(name);
    }
    let is_random = |key: &str| {
        let digits = key.strip_prefix("default").unwrap_or(key);
        digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if body.get("key").and_then(Value::as_str).is_some_and(is_random) {
        body.insert("key".to_owned(), json!("*"));
    }
    Value::Object(body)
}

#[test]
fn every_call_of_the_control_api_is_answered_as_by_tyk_or_differs_for_a_reason() {
    let (server, upstream) = (Server::start(&[]), Upstream::ok());
    let mut conf = on(&server);
    conf["health_check"] = json!({"enable_health_checks": true});
    let rights = |id: &str| (id.to_owned(), json!({"api_id": id, "api_name": id, "versions": ["Default"]}));
    let rights: serde_json::Map<String, Value> = ["a", "jwt", "oauth", "basic"].map(rights).into_iter().collect();
    let policy = |id: &str| json!({"id": id, "org_id": "default", "active": true, "name": id, "rate": 1000, "per": 1, "quota_max": -1, "access_rights": rights});
    let (conf, _folder) = with_policies(conf, &[policy("basic"), policy("gold")]);
    let gateway = Gateway::start(
        conf,
        [
            keyed("a", &upstream),
            provider("oauth", &upstream),
            keyed("basic", &upstream).set("use_standard_auth", false).set("use_basic_auth", true),
            with_tokens("jwt", &upstream),
            api("cache", "/cache/", &upstream.url()),
        ],
    );
    let recorded: Vec<Vec<Value>> = serde_json::from_str(include_str!("tyk_control.json")).expect("recorded calls");
    assert!(recorded.len() > 320);
    let secret = format!("x-tyk-authorization: {SECRET}");
    let mut wrong = Vec::new();
    for call in recorded.into_iter().map(Recorded) {
        let (method, path) = (call.text(0), call.text(1));
        let is_form = matches!(&call.0[2], Value::String(text) if text.contains('='));
        let lines = [secret.as_str(), "Connection: close", if is_form { FORM } else { "Content-Type: application/json" }];
        let answer = gateway.send(request(method, path, &lines, &call.body()));
        let media = answer.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        let (status, kind, body) = call.expected();
        // HEAD has no body to compare.
        let is_body = body.is_null() || short(&answer.text()) == *body;
        if json!(answer.status) != *status || json!(media) != *kind || !is_body {
            wrong.push(format!("{method} {path} {}: expected {status} {kind} {body}, got {answer}", call.0[2]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
