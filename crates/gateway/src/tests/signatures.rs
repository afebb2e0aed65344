//! Requests signed with a shared secret.

use aws_lc_rs::hmac;
use serde_json::{Value, json};

use super::harness::keys::{create, keyed, session};
use super::harness::signatures::{date, signature};
use super::harness::{Definition, Gateway, Response, Upstream, error_json, request};

const REFUSED: &str = "Authorization field missing, malformed or invalid";

fn start(change: impl Fn(Definition) -> Definition) -> (Upstream, Gateway, String) {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [change(keyed("a", &upstream).set("enable_signature_checking", true))]);
    let key = create(&gateway, &session(json!({"hmac_enabled": true, "hmac_string": "the shared secret"})));
    (upstream, gateway, key)
}

fn escaped(signature: &str) -> String {
    signature.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

fn ask(gateway: &Gateway, target: &str, fields: &str, lines: &[&str]) -> Response {
    let line = format!("Authorization: Signature {fields}");
    let lines: Vec<&str> = lines.iter().copied().chain([line.as_str()]).collect();
    gateway.send(request("GET", target, &lines, ""))
}

fn refused(response: &Response) {
    assert_eq!((response.status, response.text()), (400, error_json(REFUSED)), "{response}");
}

#[test]
fn every_algorithm_lets_in_who_has_the_secret() {
    let (_upstream, gateway, key) = start(|definition| definition);
    let date = date(0);
    let text = format!("(request-target): get /a/x\ndate: {date}\nx-test: one");
    for (name, algorithm) in [
        ("hmac-sha1", hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY),
        ("hmac-sha256", hmac::HMAC_SHA256),
        ("hmac-sha384", hmac::HMAC_SHA384),
        ("hmac-sha512", hmac::HMAC_SHA512),
    ] {
        let made = signature(algorithm, &text);
        let fields = |signature: &str| {
            format!("keyId=\"{key}\",algorithm=\"{name}\",headers=\"(request-target) date x-test\",signature=\"{signature}\"")
        };
        let lines = [format!("Date: {date}"), "X-Test: one".to_owned()];
        let lines = [lines[0].as_str(), lines[1].as_str()];
        let lower = made.replace('+', "%2b").replace('/', "%2f").replace('=', "%3d");
        for form in [made.clone(), escaped(&made), lower] {
            assert_eq!(ask(&gateway, "/a/x", &fields(&form), &lines).status, 200, "{name} {form}");
        }
        refused(&ask(&gateway, "/a/y", &fields(&made), &lines));
        refused(&ask(&gateway, "/a/x", &fields(&made), &[lines[0], "X-Test: two"]));
        refused(&ask(&gateway, "/a/x", &fields(&signature(hmac::HMAC_SHA256, "something else")), &lines));
    }
}

#[test]
fn a_query_may_be_signed_as_the_draft_says() {
    let (_upstream, gateway, key) = start(|definition| definition);
    let date = date(0);
    let line = format!("Date: {date}");
    let fields = |target: &str| {
        let made = signature(hmac::HMAC_SHA256, &format!("(request-target): get {target}\ndate: {date}"));
        format!("keyId=\"{key}\",algorithm=\"hmac-sha256\",headers=\"(request-target) date\",signature=\"{made}\"")
    };
    assert_eq!(ask(&gateway, "/a/x?b=1", &fields("/a/x?b=1"), &[&line]).status, 200);
    assert_eq!(ask(&gateway, "/a/x?b=1", &fields("/a/x"), &[&line]).status, 200, "as Tyk signs");
    refused(&ask(&gateway, "/a/x?b=2", &fields("/a/x?b=1"), &[&line]));
}

#[test]
fn the_date_alone_is_signed_when_no_headers_are_named() {
    let (_upstream, gateway, key) = start(|definition| definition);
    for name in ["Date", "x-aux-date"] {
        let date = date(0);
        let made = signature(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &format!("{}: {date}", name.to_lowercase()));
        let response = ask(&gateway, "/a/x", &format!("keyId=\"{key}\",signature=\"{made}\""), &[&format!("{name}: {date}")]);
        assert_eq!(response.status, 200, "{response}");
    }
}

#[test]
fn a_date_outside_the_skew_is_refused_and_so_is_one_that_is_not_signed() {
    let (_upstream, gateway, key) = start(|definition| definition.set("hmac_allowed_clock_skew", 60_000));
    let ask_at = |date: &str, headers: &str, text: &str| {
        let made = signature(hmac::HMAC_SHA256, text);
        let fields = format!("keyId=\"{key}\",algorithm=\"hmac-sha256\",headers=\"{headers}\",signature=\"{made}\"");
        ask(&gateway, "/a/x", &fields, &[&format!("Date: {date}")])
    };
    for offset in [0, -30, 30] {
        let date = date(offset);
        assert_eq!(ask_at(&date, "date", &format!("date: {date}")).status, 200, "{offset}");
    }
    for date in [date(-600), date(600), "yesterday".to_owned(), String::new()] {
        refused(&ask_at(&date, "date", &format!("date: {date}")));
    }
    refused(&ask_at(&date(0), "(request-target)", "(request-target): get /a/x"));
}

#[test]
fn only_allowed_algorithms_and_enabled_keys_are_let_in() {
    let (upstream, gateway, key) = start(|definition| definition.set("hmac_allowed_algorithms", json!(["hmac-sha512"])));
    let date = date(0);
    let text = format!("date: {date}");
    let line = format!("Date: {date}");
    let ask_with = |key: &str, name: &str, algorithm: hmac::Algorithm| {
        let made = signature(algorithm, &text);
        ask(&gateway, "/a/x", &format!("keyId=\"{key}\",algorithm=\"{name}\",headers=\"date\",signature=\"{made}\""), &[&line])
    };
    assert_eq!(ask_with(&key, "hmac-sha512", hmac::HMAC_SHA512).status, 200);
    refused(&ask_with(&key, "hmac-sha256", hmac::HMAC_SHA256));
    refused(&ask_with(&key, "hmac-sha1", hmac::HMAC_SHA512));
    refused(&ask_with(&key, "", hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY));
    refused(&ask_with("nobody", "hmac-sha512", hmac::HMAC_SHA512));
    let closed = |fields: Value| create(&gateway, &session(fields));
    refused(&ask_with(&closed(json!({"hmac_string": "the shared secret"})), "hmac-sha512", hmac::HMAC_SHA512));
    refused(&gateway.get("/a/x"));
    assert_eq!(upstream.requests(), 1);
    assert!(!gateway.log().contains("the shared secret"));
}

#[test]
fn a_key_that_must_sign_gets_a_secret() {
    let (_upstream, gateway, _) = start(|definition| definition);
    let key = create(&gateway, &session(json!({"hmac_enabled": true})));
    let shown = gateway.control("GET", &format!("/tyk/keys/{key}"), "").json();
    assert!(shown["hmac_string"].as_str().is_some_and(|secret| secret.len() >= 32), "{shown}");
}

#[test]
fn a_key_that_signs_with_rsa_is_no_key_by_itself() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [keyed("a", &upstream)]);
    let key = create(&gateway, &session(json!({"enable_http_signature_validation": true, "rsa_certificate_id": "x"})));
    assert_eq!(super::harness::keys::call(&gateway, "/a/x", &key).status, 403);
}
