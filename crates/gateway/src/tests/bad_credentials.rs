//! Credentials that are cut off, swollen, of the wrong type, or come while servers that must be asked misbehave: refused with one of the
//! documented answers, soon, and without a trace in what is remembered.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use std::time::Duration;

use super::harness::jws::{hs256, now};
use super::harness::keys::{basic, call, keyed, session, with_key};
use super::harness::signatures::{date, signature};
use super::harness::tokens::{SECRET, policy, with_tokens};
use super::harness::{Client, Definition, Gateway, Upstream, pass, request, start_with};

fn start(definition: impl Fn(&Upstream) -> Definition) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = start_with([definition(&upstream)], &[policy("basic", json!({}))]);
    (upstream, gateway)
}

fn start_jwt() -> (Upstream, Gateway) {
    start(|upstream| with_tokens("a", upstream))
}

/// Sends a value and expects one of these statuses; the connection stays usable.
fn refused(client: &mut Client<'_>, line: &str, statuses: &[u16]) {
    let response = client.ask(request("GET", "/a/x", &[line], ""));
    assert!(statuses.contains(&response.status), "{line}: {response}");
    assert!(response.text().contains("\"error\""), "{line}: {response}");
}

#[test]
fn credentials_cut_off_anywhere_let_nobody_in() {
    let token = hs256(SECRET, &json!({"sub": "joe", "exp": now() + 600, "roles": ["a", "b"]}));
    let (upstream, gateway) = start_jwt();
    let mut client = gateway.connect();
    for end in 0..token.len() {
        refused(&mut client, &format!("Authorization: Bearer {}", &token[..end]), &[400, 403]);
    }
    assert_eq!(client.ask(with_key("/a/x", &token)).status, 200);
    assert_eq!(upstream.requests(), 1);

    let (upstream, gateway) = start(|upstream| keyed("a", upstream).set("use_basic_auth", true));
    // A hash of little cost, so that many can be tried.
    let data = json!({"password": "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "hash_type": "bcrypt"});
    let user = session(json!({"basic_auth_data": data})).to_string();
    assert_eq!(gateway.control("POST", "/tyk/keys/alice?org_id=default", &user).status, 200);
    let line = basic("alice", "U*U");
    let mut client = gateway.connect();
    for end in "Authorization:".len()..line.trim_end_matches('=').len() {
        refused(&mut client, &line[..end], &[400, 401]);
    }
    assert_eq!(client.ask(request("GET", "/a/x", &[&line], "")).status, 200);
    assert_eq!(upstream.requests(), 1);

    let (upstream, gateway) = start(|upstream| keyed("a", upstream).set("enable_signature_checking", true));
    let key = super::harness::keys::create(&gateway, &session(json!({"hmac_enabled": true, "hmac_string": "the shared secret"})));
    let date = date(0);
    let made = signature(hmac::HMAC_SHA256, &format!("date: {date}"));
    let line = format!("Authorization: Signature keyId=\"{key}\",algorithm=\"hmac-sha256\",headers=\"date\",signature=\"{made}\"");
    let mut client = gateway.connect();
    let dated = format!("Date: {date}");
    for end in "Authorization:".len()..line.len() {
        let response = client.ask(request("GET", "/a/x", &[&dated, &line[..end]], ""));
        assert_eq!(response.status, 400, "{}", &line[..end]);
    }
    assert_eq!(client.ask(request("GET", "/a/x", &[&dated, &line], "")).status, 200);
    assert_eq!(upstream.requests(), 1);
}

/// A token of any header and claims, rightly signed.
fn signed(header: &str, claims: &str) -> String {
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), text.as_bytes());
    format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

#[test]
fn tokens_of_the_wrong_form_are_refused_though_their_signature_is_good() {
    let (upstream, gateway) = start_jwt();
    let mut client = gateway.connect();
    let good = r#"{"alg":"HS256"}"#;
    let joe = r#"{"sub":"joe"}"#;
    assert_eq!(client.ask(with_key("/a/x", &signed(good, joe))).status, 200);
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(2000), close.repeat(2000));
    let wide = format!("{{\"sub\":\"joe\",\"x\":\"{}\"}}", "x".repeat(20_000));
    let many = format!("{{\"sub\":\"joe\"{}}}", (0..800).map(|index| format!(",\"claim{index}\":{index}")).collect::<String>());
    for (header, claims) in [
        (r#"{"alg":7}"#, joe),
        (r#"{"alg":["HS256"]}"#, joe),
        (r#"{"alg":null}"#, joe),
        (r#"{"alg":""}"#, joe),
        (r#"{"alg":"hs256"}"#, joe),
        (r#"{"alg":"HS256 "}"#, joe),
        (r#"{"alg":"HS256","crit":["x"],"x":1}"#, joe),
        (r#"{"alg":"HS256""#, joe),
        (r#"{"alg":"HS256"}}"#, joe),
        ("\u{feff}{\"alg\":\"HS256\"}", joe),
        ("[]", joe),
        ("", joe),
        (good, ""),
        (good, "null"),
        (good, "[]"),
        (good, "\"joe\""),
        (good, "{\"sub\":\"joe\""),
        (good, "{\"sub\":\"jo\u{0}e\"}x"),
        (good, r#"{"sub":["joe"]}"#),
        (good, r#"{"sub":{"name":"joe"}}"#),
        (good, r#"{"sub":1}"#),
        (good, r#"{"sub":true}"#),
        (good, r#"{"sub":"joe","exp":"never"}"#),
        (good, r#"{"sub":"joe","exp":true}"#),
        (good, r#"{"sub":"joe","exp":[9999999999]}"#),
        (good, r#"{"sub":"joe","exp":-1e300}"#),
        (good, r#"{"sub":"joe","nbf":1e300}"#),
        (good, r#"{"sub":"joe","nbf":{}}"#),
        (good, r#"{"sub":"joe","iat":"2030-01-01"}"#),
        (good, r#"{"sub":"joe","exp":1e400}"#),
        (good, deep("[", "]").as_str()),
        (good, deep("{\"a\":", "}").as_str()),
        (deep("[", "]").as_str(), joe),
    ] {
        let response = client.ask(with_key("/a/x", &signed(header, claims)));
        assert!([401, 403].contains(&response.status), "{header:.60} {claims:.60}: {response}");
    }
    for claims in [wide.as_str(), many.as_str()] {
        assert_eq!(client.ask(with_key("/a/x", &signed(good, claims))).status, 200, "large is not wrong");
    }
    let odd = |alphabet: &str| format!("{}.{}.{alphabet}", URL_SAFE_NO_PAD.encode(good), URL_SAFE_NO_PAD.encode(joe));
    for text in ["+/+/", "____====", "a b", "AAAA.AAAA", "\u{e4}", "%41%41", "\"AAAA\""] {
        refused(&mut client, &format!("Authorization: {}", odd(text)), &[400, 403]);
    }
    assert_eq!(upstream.requests(), 3);
}

#[test]
fn what_was_remembered_under_one_configuration_is_not_believed_under_the_next() {
    let (_upstream, gateway) = start_jwt();
    let token = hs256(SECRET, &json!({"sub": "joe"}));
    assert_eq!(call(&gateway, "/a/x", &token).status, 200);
    let changes: [fn(Definition) -> Definition; 3] = [
        |definition| definition.set("jwt_source", STANDARD.encode(b"a new secret")),
        |definition| definition.set("jwt_signing_method", "rsa").set("jwt_source", "http://127.0.0.1:1/"),
        |definition| definition.set("jwt_default_policies", json!([])),
    ];
    let upstream = Upstream::ok();
    for change in changes {
        gateway.write_api(&change(with_tokens("a", &upstream)));
        gateway.reload();
        assert_eq!(call(&gateway, "/a/x", &token).status, 403);
        gateway.write_api(&with_tokens("a", &upstream));
        gateway.reload();
        assert_eq!(call(&gateway, "/a/x", &token).status, 200, "and a refusal is not remembered either");
    }
}

#[test]
fn a_token_is_good_within_its_times_to_the_second_and_never_after() {
    let (_upstream, gateway) = start_jwt();
    // The clock runs on between here and the request, by less than a second beyond what passes.
    let from = now() + 10;
    let token = hs256(SECRET, &json!({"sub": "joe", "nbf": from, "exp": from + 100}));
    let mut client = gateway.connect();
    for (passed_s, status) in [(5, 401), (10, 200), (85, 200), (20, 401), (1000, 401)] {
        pass(Duration::from_secs(passed_s));
        assert_eq!(client.ask(with_key("/a/x", &token)).status, status, "{passed_s} s later");
    }
}
