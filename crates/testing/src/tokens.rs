//! APIs that take JSON Web Tokens, and the policies that apply to their callers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;

use crate::definition::merge;
use crate::{Definition, Upstream, api};

/// What tokens are signed with.
pub const SECRET: &[u8] = b"a secret that only the issuer and the gateway know";

/// An API for tokens that are signed with `SECRET`.
pub fn with_tokens(id: &str, upstream: &Upstream) -> Definition {
    api(id, &format!("/{id}/"), &upstream.url())
        .with_keys()
        .set("enable_jwt", true)
        .set("jwt_signing_method", "hmac")
        .set("jwt_source", STANDARD.encode(SECRET))
        .set("jwt_policy_field_name", "pol")
        .set("jwt_default_policies", json!(["basic"]))
}

/// A policy for the API `a`, with `fields` laid over it.
pub fn policy(id: &str, fields: Value) -> Value {
    let mut policy = json!({
        "id": id, "org_id": "default", "rate": 1000, "per": 1, "quota_max": -1,
        "access_rights": {"a": {"api_id": "a", "api_name": "a", "versions": ["Default"]}}
    });
    merge(&mut policy, &fields);
    policy
}

/// A file of policies, and the configuration that names it.
pub fn policy_file(policies: &[Value]) -> (NamedTempFile, Value) {
    let map: Map<String, Value> =
        policies.iter().map(|policy| (policy["id"].as_str().expect("an id").to_owned(), policy.clone())).collect();
    let file = NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), Value::Object(map).to_string()).expect("policies");
    let conf = json!({"policies": {"policy_record_name": file.path()}});
    (file, conf)
}
