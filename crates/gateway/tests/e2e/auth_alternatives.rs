//! Several ways in, of which one is enough: who is let in, with whose limits, and what the others are told.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::basic_auth::line as basic;
use crate::harness::jws::hs256;
use crate::harness::openapi::{document, extended};
use crate::harness::start_with;
use crate::harness::tokens::policy;
use crate::harness::{Upstream, error_json, request};
use crate::keys::create;

const SECRET: &[u8] = b"a secret that only the issuer and the gateway know";

/// An OpenAPI document with these security requirements, of which one is enough.
fn with_requirements(id: &str, target: &str, requirements: &Value) -> Value {
    let is_used = |name: &str| requirements.as_array().unwrap().iter().any(|requirement| requirement.get(name).is_some());
    let mut document = document(id, target);
    let (mut schemes, mut own) = (json!({}), json!({}));
    let jwt = json!({
        "enabled": true, "header": {"enabled": true, "name": "Authorization"}, "source": STANDARD.encode(SECRET),
        "signingMethod": "hmac", "identityBaseField": "sub", "policyFieldName": "pol", "defaultPolicies": ["basic"],
    });
    for (name, scheme, settings) in [
        ("key", json!({"type": "apiKey", "in": "header", "name": "X-Key"}), json!({"enabled": true})),
        (
            "basic",
            json!({"type": "http", "scheme": "basic"}),
            json!({"enabled": true, "header": {"enabled": true, "name": "Authorization"}}),
        ),
        ("jwt", json!({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}), jwt),
    ] {
        if is_used(name) {
            (schemes[name], own[name]) = (scheme, settings);
        }
    }
    document["security"] = requirements.clone();
    document["components"] = json!({"securitySchemes": schemes});
    let authentication = json!({"enabled": true, "securityProcessingMode": "compliant", "securitySchemes": own});
    extended(document, "server/authentication", authentication)
}

/// Recorded from Tyk 5.14.0: when no requirement of a document is met, the answer is that of the last one.
#[test]
fn requirements_of_a_document_that_are_not_met_are_answered_as_by_tyk() {
    let upstream = Upstream::ok();
    let gateway = start_with([], &[policy("basic", json!({}))]);
    for (id, requirements) in [
        ("kb", json!([{"key": []}, {"basic": []}])),
        ("bk", json!([{"basic": []}, {"key": []}])),
        ("jk", json!([{"jwt": []}, {"key": []}])),
        ("kj", json!([{"key": []}, {"jwt": []}])),
    ] {
        let document = with_requirements(id, &upstream.url(), &requirements);
        gateway.write_file(&format!("{id}-oas.json"), document.to_string());
    }
    gateway.reload();
    let key = create(&gateway, &crate::keys::session_for(&["kb", "bk", "jk", "kj"], json!({})));
    let user = crate::keys::session_for(&["kb", "bk"], json!({"basic_auth_data": {"password": "open sesame"}}));
    assert_eq!(gateway.control("POST", "/tyk/keys/alice?org_id=default", &user.to_string()).status, 200);
    let lines = |credentials: &str| match credentials {
        "none" => Vec::new(),
        "key" => vec![format!("X-Key: {key}")],
        "bad key" => vec!["X-Key: nobody".to_owned()],
        "basic" => vec![basic("alice", "open sesame")],
        "bad basic" => vec![basic("alice", "x")],
        "bad both" => vec!["X-Key: nobody".to_owned(), basic("alice", "x")],
        "key and bad basic" => vec![format!("X-Key: {key}"), basic("alice", "x")],
        "bad token" => vec!["Authorization: Bearer a.b.c".to_owned()],
        "expired" => vec![format!("Authorization: Bearer {}", hs256(SECRET, &json!({"sub": "x", "exp": 1})))],
        _ => unreachable!(),
    };
    let missing = "Authorization field missing";
    let (user, unknown, form) = (
        "User not authorised",
        "Access to this API has been disallowed",
        // Tyk takes any scheme for `Basic`, and then misses the encoding.
        "Attempted access with malformed header, header not in basic auth format",
    );
    for (id, credentials, status, message) in [
        ("kb", "none", 401, missing),
        ("kb", "key", 200, ""),
        ("kb", "bad key", 401, missing),
        ("kb", "basic", 200, ""),
        ("kb", "bad basic", 401, user),
        ("kb", "bad both", 401, user),
        ("kb", "key and bad basic", 200, ""),
        ("kb", "bad token", 400, form),
        ("bk", "none", 401, missing),
        ("bk", "bad key", 403, unknown),
        ("bk", "basic", 200, ""),
        ("bk", "bad basic", 401, missing),
        ("bk", "bad both", 403, unknown),
        ("bk", "bad token", 401, missing),
        ("jk", "none", 401, missing),
        ("jk", "bad key", 403, unknown),
        ("jk", "key", 200, ""),
        ("jk", "bad token", 401, missing),
        ("jk", "expired", 401, missing),
        ("kj", "none", 400, missing),
        ("kj", "key", 200, ""),
        ("kj", "bad key", 400, missing),
        ("kj", "bad basic", 403, "Key not authorized"),
        ("kj", "bad token", 403, "Key not authorized"),
        ("kj", "expired", 401, "Key not authorized: token has expired"),
    ] {
        let lines = lines(credentials);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let response = gateway.send(request("GET", &format!("/{id}/x"), &lines, ""));
        assert_eq!(response.status, status, "{id} {credentials}: {response}");
        if status != 200 {
            assert_eq!(response.text(), error_json(message), "{id} {credentials}");
        }
    }
}
