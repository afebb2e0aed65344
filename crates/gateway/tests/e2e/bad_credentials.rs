//! Credentials that are cut off, swollen, of the wrong type, or come while servers that must be asked misbehave: refused with one of the
//! documented answers, soon, and without a trace in what is remembered.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::time::Duration;

use crate::basic_auth::line as basic;
use crate::harness::jws::{Signer, compact, hs256, now};
use crate::harness::signatures::{date, signature};
use crate::harness::start_with;
use crate::harness::tokens::{policy, with_tokens};
use crate::harness::{Connection, Definition, Gateway, Upstream, error_json, eventually, reply, request};
use crate::jwt_key_sets::with_key_set;
use crate::keys::{call, keyed, session, with_key};

const SECRET: &[u8] = b"a secret that only the issuer and the gateway know";

fn start(definition: impl Fn(&Upstream) -> Definition) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = start_with([definition(&upstream)], &[policy("basic", json!({}))]);
    (upstream, gateway)
}

fn start_jwt() -> (Upstream, Gateway) {
    start(|upstream| with_tokens("a", upstream))
}

/// Sends a value and expects one of these statuses; the connection stays usable.
fn refused(client: &mut Connection, line: &str, statuses: &[u16]) {
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
    let key = crate::keys::create(&gateway, &session(json!({"hmac_enabled": true, "hmac_string": "the shared secret"})));
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
fn credentials_larger_than_a_head_may_be_are_refused_before_anything_looks_at_them() {
    let (upstream, gateway) = start_jwt();
    for bytes in [40_000, 200_000, 5_000_000] {
        let token = compact(&json!({"alg": "HS256"}), &json!({"sub": "j".repeat(bytes)}), |_| vec![0; 32]);
        let answer = gateway.raw_or_reset(with_key("/a/x", &token));
        let status = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
        assert!(status.is_empty() || status.contains(" 431 ") || status.contains(" 403 "), "{bytes}: {status}");
    }
    assert_eq!(call(&gateway, "/a/x", &hs256(SECRET, &json!({"sub": "joe"}))).status, 200);
    assert_eq!(upstream.requests(), 1);
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
fn a_key_set_that_drips_without_end_is_given_up() {
    let dripping = Upstream::raw(|mut wire, _| {
        if crate::harness::Seen::read(&mut wire).is_none() {
            return;
        }
        wire.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{\"keys\":[");
        while wire.try_send(" ").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let (upstream, gateway) = start(|upstream| with_key_set(upstream, &dripping.url()));
    let token = Signer::new("k").token(&json!({"sub": "joe", "exp": now() + 600}));
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| call(&gateway, "/a/x", &token))).collect();
        for call in calls {
            let response = call.join().unwrap();
            assert_eq!((response.status, response.text()), (403, error_json("Key not authorized")));
        }
    });
    assert_eq!((dripping.connections(), upstream.requests()), (1, 0), "all waited for one");
}

#[test]
fn keys_that_must_not_be_used_are_not_and_the_others_of_their_set_are() {
    let (good, twin) = (Signer::new("k"), Signer::new("k"));
    let weak = json!({"kty": "RSA", "kid": "weak", "n": URL_SAFE_NO_PAD.encode([0xc5; 128]), "e": "AQAB"});
    let mut for_encryption = good.jwk();
    for_encryption["kid"] = json!("enc");
    for_encryption["use"] = json!("enc");
    let secret = json!({"kty": "oct", "kid": "oct", "k": URL_SAFE_NO_PAD.encode(SECRET)});
    let many: Vec<Value> = (0..300).map(|number| json!({"kty": "oct", "kid": number.to_string(), "k": "AAAA"})).collect();
    let set = json!({"keys": [weak, secret, for_encryption, {"kid": "k"}, {"kid": 7}, null, good.jwk(), twin.jwk()]}).to_string();
    let issuer = Upstream::once(reply("200 OK", &[], &set));
    let (_upstream, gateway) = start(|upstream| with_key_set(upstream, &issuer.url()));
    let claims = json!({"sub": "joe", "exp": now() + 600});
    for signer in [&good, &twin] {
        assert_eq!(call(&gateway, "/a/x", &signer.token(&claims)).status, 200, "two keys of one name are both tried");
    }
    assert_eq!(call(&gateway, "/a/x", &Signer::new("k").token(&claims)).status, 403);
    for (kid, alg) in [("weak", "RS256"), ("oct", "HS256"), ("enc", "ES256"), ("oct", "ES256"), ("", "ES256")] {
        let token = compact(&json!({"alg": alg, "kid": kid}), &claims, |signed| {
            hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), signed).as_ref().to_vec()
        });
        assert_eq!(call(&gateway, "/a/x", &token).status, 403, "{kid} {alg}");
    }
    assert!(gateway.log().contains("less than 2048 bits"), "{}", gateway.log());

    let issuer = Upstream::once(reply("200 OK", &[], &json!({ "keys": many }).to_string()));
    let (_upstream, gateway) = start(|upstream| with_key_set(upstream, &issuer.url()));
    assert_eq!(call(&gateway, "/a/x", &good.token(&claims)).status, 403);
    eventually("it is said", || gateway.log().contains("at most 256"));
}

#[test]
fn a_token_is_good_within_its_times_to_the_second_and_never_after() {
    let (_upstream, gateway) = start_jwt();
    let from = now() + 2;
    let token = hs256(SECRET, &json!({"sub": "joe", "nbf": from, "exp": from + 3}));
    let mut seen = Vec::new();
    let mut client = gateway.connect();
    // Until it was judged after its end, and beyond.
    while now() < from + 5 || !seen.iter().any(|(second, _)| *second >= 3) {
        let before = now();
        let status = client.ask(with_key("/a/x", &token)).status;
        // A request that began and ended within one second was judged in it.
        if now() == before {
            seen.push((before - from, status));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    for (second, status) in &seen {
        assert_eq!(*status, if (0..3).contains(second) { 200 } else { 401 }, "{seen:?}");
    }
    assert!(seen.iter().any(|(_, status)| *status == 200) && seen.last().is_some_and(|(_, status)| *status == 401), "{seen:?}");
}
