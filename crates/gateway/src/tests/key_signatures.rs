//! Signatures that come with keys, as clients of Mashery make them.

use std::time::{SystemTime, UNIX_EPOCH};

use md5::Md5;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::harness::keys::{keyed, session};
use super::harness::{Definition, Gateway, Response, Upstream, error_json, request};

const KEY: &str = "the-key-of-alice";

fn hash<D: Digest>(text: String) -> String {
    D::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// A signature that was made so many seconds ago.
fn signed(key: &str, secret: &str, ago_s: i64) -> String {
    hash::<Sha256>(format!("{key}{secret}{}", unix_s().checked_add_signed(-ago_s).unwrap()))
}

fn with_signatures(id: &str, upstream: &Upstream) -> Definition {
    keyed(id, upstream)
        .set("auth/validate_signature", true)
        .set("auth/signature/algorithm", "MasherySha256")
        .set("auth/signature/header", "X-Signature")
        .set("auth/signature/secret", "shared")
        .set("auth/signature/allowed_clock_skew", 60)
}

fn start(definitions: impl IntoIterator<Item = Definition>) -> Gateway {
    let gateway = Gateway::start(json!({}), definitions);
    let rights = session(json!({"access_rights": {"b": {"api_id": "b", "versions": ["Default"]}}, "meta_data": {"sign": "own"}}));
    for key in [KEY, "default-less"] {
        assert_eq!(gateway.control("POST", &format!("/tyk/keys/{key}"), &rights.to_string()).status, 200);
    }
    gateway
}

fn ask(gateway: &Gateway, target: &str, key: &str, line: &str) -> Response {
    let lines = [format!("Authorization: {key}"), line.to_owned()];
    let lines: Vec<&str> = lines.iter().map(String::as_str).filter(|line| !line.is_empty()).collect();
    gateway.send(request("GET", target, &lines, ""))
}

fn refused(answer: &Response) {
    let expected = (401, error_json("Request signature verification failed"));
    assert_eq!((answer.status, answer.text()), expected);
}

#[test]
fn a_key_is_good_with_its_signature_alone() {
    let upstream = Upstream::ok();
    let gateway = start([with_signatures("a", &upstream)]);
    let line = |signature: &str| format!("X-Signature: {signature}");
    for key in [KEY, "default-less", &format!("default{KEY}"), &format!("Bearer {KEY}")] {
        let bare = key.trim_start_matches("Bearer ");
        assert_eq!(ask(&gateway, "/a/", key, &line(&signed(bare, "shared", 0))).status, 200, "{key}");
    }
    let of_inner = signed(KEY, "shared", 0);
    assert_eq!(ask(&gateway, "/a/", &format!("default{KEY}"), &line(&of_inner)).status, 200, "signed without the organisation");
    assert_eq!(ask(&gateway, "/a/", KEY, &line(&of_inner.to_uppercase())).status, 200);
    for ago_s in [-50, 50] {
        assert_eq!(ask(&gateway, "/a/", KEY, &line(&signed(KEY, "shared", ago_s))).status, 200, "{ago_s}");
    }
    let passed = upstream.requests();
    for wrong in [
        String::new(),
        line(""),
        line("not hexadecimal"),
        line(&signed(KEY, "guess", 0)),
        line(&signed("other", "shared", 0)),
        line(&signed(KEY, "shared", 120)),
        line(&signed(KEY, "shared", -120)),
        line(&hash::<Md5>(format!("{KEY}shared{}", unix_s()))),
        line(&"0".repeat(10_000)),
        format!("X-Other: {}", signed(KEY, "shared", 0)),
    ] {
        refused(&ask(&gateway, "/a/", KEY, &wrong));
    }
    // A key that there is not is told first.
    let unknown = ask(&gateway, "/a/", "nobody", &line(&signed("nobody", "shared", 0)));
    assert_eq!((unknown.status, unknown.text()), (403, error_json("Access to this API has been disallowed")));
    assert_eq!(upstream.requests(), passed);
}

#[test]
fn secrets_places_statuses_and_messages_are_the_definitions() {
    let upstream = Upstream::ok();
    let own = with_signatures("a", &upstream)
        .set("auth/signature/algorithm", "MasheryMd5")
        .set("auth/signature/secret", "$tyk_meta.sign")
        .set("auth/signature/use_param", true)
        .set("auth/signature/param_name", "sig")
        .set("auth/signature/error_code", 418)
        .set("auth/signature/error_message", "sign it");
    let none = with_signatures("b", &upstream).set("auth/signature/algorithm", "Blake");
    let gateway = start([own, none]);
    let made = hash::<Md5>(format!("{KEY}own{}", unix_s()));
    assert_eq!(ask(&gateway, &format!("/a/?sig={made}"), KEY, "").status, 200);
    assert_eq!(ask(&gateway, "/a/", KEY, &format!("X-Signature: {made}")).status, 200);
    assert_eq!(ask(&gateway, &format!("/a/?sig={made}"), KEY, "X-Signature: other").status, 200, "the parameter counts first");
    assert_eq!(ask(&gateway, "/a/?sig=", KEY, &format!("X-Signature: {made}")).status, 200, "an empty one does not count");
    let wrong = ask(&gateway, "/a/?sig=other", KEY, &format!("X-Signature: {made}"));
    assert_eq!((wrong.status, wrong.text()), (418, error_json("sign it")));
    let unknown = ask(&gateway, "/b/", KEY, &format!("X-Signature: {}", signed(KEY, "shared", 0)));
    assert_eq!((unknown.status, unknown.text()), (500, error_json("internal server error")));
}

#[test]
fn without_a_secret_nobody_is_let_in() {
    let upstream = Upstream::ok();
    let gateway = start([with_signatures("a", &upstream).set("auth/signature/secret", "$tyk_meta.none")]);
    refused(&ask(&gateway, "/a/", KEY, &format!("X-Signature: {}", signed(KEY, "", 0))));
}
