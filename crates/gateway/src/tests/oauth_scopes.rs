//! Tokens of another authorization server: rules for their claims, scopes of the document and of its operations, the metadata of the resource.
//! The cases of `oauth_scopes_tyk.json` are recorded from Tyk 5.14.0 with the same document.

use serde_json::{Value, json};

use super::harness::jws::{compact, hs256, now};
use super::harness::tokens::policy;
use super::harness::{Gateway, Setup, Upstream, error_json, request};

const SECRET: &[u8] = b"the secret of an issuer in a test";

fn recorded() -> Value {
    serde_json::from_str(include_str!("oauth_scopes_tyk.json")).expect("JSON")
}

/// A gateway with the document of the recordings.
fn start(change: impl Fn(&mut Value)) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let mut document = recorded()["document"].clone();
    document["x-tyk-api-gateway"]["upstream"]["url"] = json!(upstream.url());
    change(&mut document);
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), json!({"basic": policy("basic", json!({}))}).to_string()).expect("policies");
    let gateway = Setup::new(json!({"policies": {"policy_record_name": file.path()}})).start();
    gateway.write_file("a-oas.json", document.to_string());
    gateway.reload();
    (upstream, gateway)
}

/// Claims with times that are relative to now.
fn claims(written: &Value) -> Value {
    let mut claims = written.clone();
    for name in ["exp", "nbf", "iat"] {
        if let Some(relative) = claims[name].as_str().map(str::to_owned) {
            claims[name] = json!(now() + relative.parse::<i64>().expect("seconds"));
        }
    }
    if let Value::Object(members) = &mut claims {
        members.retain(|name, value| !value.is_null() || written.get(name).is_some());
    }
    claims
}

fn ask(gateway: &Gateway, method: &str, path: &str, token: Option<&str>) -> super::harness::Response {
    let line = token.map(|token| format!("Authorization: Bearer {token}"));
    let lines: Vec<&str> = line.as_deref().into_iter().collect();
    gateway.send(request(method, path, &lines, "").replace("gateway.test", "gw.test"))
}

fn good() -> Value {
    recorded()["cases"][0]["claims"].clone()
}

#[test]
fn tokens_are_judged_as_in_tyk() {
    let (upstream, gateway) = start(|_| {});
    for case in recorded()["cases"].as_array().expect("a list") {
        let name = case["name"].as_str().expect("a name");
        let of_good = claims(&good());
        let token = match (case.get("claims"), name) {
            (Some(written), _) => Some(hs256(SECRET, &claims(written))),
            (None, "none") => Some(compact(&json!({"alg": "none"}), &of_good, |_| Vec::new())),
            (None, "wrong key") => Some(hs256(b"x", &of_good)),
            (None, "RS256") => Some(compact(&json!({"alg": "RS256"}), &of_good, |_| vec![1; 32])),
            (None, "unknown alg") => Some(compact(&json!({"alg": "XX"}), &of_good, |_| vec![1; 32])),
            (None, "not a token") => Some("abc".to_owned()),
            (None, _) => None,
        };
        let method = case["method"].as_str().unwrap_or("GET");
        let before = upstream.requests();
        let answer = ask(&gateway, method, case["path"].as_str().expect("a path"), token.as_deref());
        // Clients sign their users in after 401 alone, which Tyk has from 5.15 on.
        let status = if case["status"] == 400 && token.is_none() { json!(401) } else { case["status"].clone() };
        assert_eq!(json!(answer.status), status, "{name}: {answer}");
        assert_eq!(answer.header("www-authenticate"), case["challenge"].as_str(), "{name}");
        if let Some(body) = case["body"].as_str() {
            assert_eq!(answer.text(), body, "{name}");
            assert_eq!(answer.header("content-type"), Some("application/json"), "{name}");
        }
        assert_eq!(
            upstream.requests() - before,
            usize::from(answer.status == 200 && !case["path"].as_str().unwrap().contains("well-known")),
            "{name}"
        );
    }
}

#[test]
fn scopes_count_only_from_the_token_that_was_verified() {
    // The verified token is in the query: what is in the header was made by the caller.
    let (_upstream, gateway) = start(|document| {
        let schemes = &mut document["x-tyk-api-gateway"]["server"]["authentication"]["securitySchemes"];
        schemes["token"]["header"] = json!({"enabled": false, "name": ""});
        schemes["token"]["query"] = json!({"enabled": true, "name": "t"});
    });
    let mut poor = good();
    poor["scope"] = json!("nothing");
    let forged = hs256(b"x", &claims(&good()));
    let poor = hs256(SECRET, &claims(&poor));
    assert_eq!(ask(&gateway, "GET", &format!("/a/x?t={poor}"), Some(&forged)).status, 403);
    assert_eq!(ask(&gateway, "GET", &format!("/a/x?t={}", hs256(SECRET, &claims(&good()))), None).status, 200);
}

#[test]
fn keys_have_no_scopes_and_the_gateway_is_never_the_server_itself() {
    let (upstream, gateway) = start(|document| document["security"] = json!([{"corp": ["api:use"]}]));
    let session = json!({"access_rights": {"a": {"api_id": "a", "api_name": "a", "versions": ["Default"]}}, "org_id": "default"});
    let made: Value = serde_json::from_str(&gateway.control("POST", "/tyk/keys/create", &session.to_string()).text()).unwrap();
    let answer = ask(&gateway, "GET", "/a/x", made["key"].as_str());
    let message = "parsing inbound token claims: token contains an invalid number of segments";
    assert_eq!((answer.status, answer.text()), (401, error_json(message)));
    let challenge = answer.header("www-authenticate").unwrap_or_default();
    assert!(
        challenge.starts_with("Bearer error=\"invalid_token\", error_description=\"token is not a parseable JWT\""),
        "{challenge}"
    );
    assert_eq!(ask(&gateway, "GET", "/a/x", Some(&hs256(SECRET, &claims(&good())))).status, 403);
    assert_eq!(ask(&gateway, "POST", "/a/oauth/token/", None).status, 401, "no token endpoint");
    assert_eq!(upstream.requests(), 0);
}
