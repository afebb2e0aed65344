use super::{DiscoveredEndpoints, discovery_url};
use serde_json::{Value, json};

const ISSUER: &str = "https://id.example/tenant";

fn document() -> Value {
    json!({"issuer": ISSUER, "authorization_endpoint": "https://id.example/auth", "token_endpoint": "https://id.example/token"})
}

#[test]
fn a_document_is_read_if_it_is_of_the_issuer_and_leads_nowhere_unsafe() {
    let read = |document: &Value| DiscoveredEndpoints::read(document.to_string().as_bytes(), ISSUER);
    let endpoints = read(&document()).expect("it is right");
    assert_eq!((&*endpoints.authorization, endpoints.takes_body_secret), ("https://id.example/auth", false));
    for (name, value) in [
        ("issuer", json!("https://id.example/other")),
        ("issuer", json!("https://id.example/tenant/")),
        ("issuer", Value::Null),
        ("authorization_endpoint", json!("http://id.example/auth")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("token_endpoint", json!("/token")),
        ("token_endpoint", json!("file:///etc/passwd")),
        ("token_endpoint", json!(7)),
    ] {
        let mut wrong = document();
        wrong[name] = value;
        assert!(read(&wrong).is_err(), "{wrong}");
    }
    assert!(DiscoveredEndpoints::read(b"<html>", ISSUER).is_err());
    // What not every provider has is left out if it is unsafe.
    for (place, is_taken) in
        [("https://id.example/x", true), ("http://id.example/x", false), ("javascript:alert(1)", false), ("/x", false)]
    {
        let mut more = document();
        more["userinfo_endpoint"] = json!(place);
        more["end_session_endpoint"] = json!(place);
        let endpoints = read(&more).expect("it is right");
        assert_eq!((endpoints.userinfo.is_some(), endpoints.end_session.is_some()), (is_taken, is_taken), "{place}");
    }
}

#[test]
fn a_client_names_itself_as_the_provider_takes_it() {
    for (methods, in_body) in [
        (json!(["client_secret_post"]), true),
        (json!(["client_secret_post", "client_secret_basic"]), false),
        (json!([]), false),
        (Value::Null, false),
    ] {
        let mut document = document();
        document["token_endpoint_auth_methods_supported"] = methods;
        let endpoints = DiscoveredEndpoints::read(document.to_string().as_bytes(), ISSUER).expect("it is right");
        assert_eq!(endpoints.takes_body_secret, in_body, "{document}");
    }
}

#[test]
fn the_document_is_below_the_issuer() {
    assert_eq!(discovery_url("https://id.example/a/"), "https://id.example/a/.well-known/openid-configuration");
    assert_eq!(discovery_url("https://id.example"), "https://id.example/.well-known/openid-configuration");
}
