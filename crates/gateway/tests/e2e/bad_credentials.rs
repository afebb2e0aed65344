//! Credentials that are cut off, swollen, of the wrong type, or come while servers that must be asked misbehave: refused with one of the
//! documented answers, soon, and without a trace in what is remembered.

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::time::Duration;

use crate::harness::jws::{Signer, compact, hs256, now};
use crate::harness::key_sets::with_key_set;
use crate::harness::tokens::{SECRET, policy, with_tokens};
use crate::harness::{Definition, Gateway, Upstream, error_json, eventually, reply, start_with};
use crate::keys::{call, with_key};

fn start(definition: impl Fn(&Upstream) -> Definition) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = start_with([definition(&upstream)], &[policy("basic", json!({}))]);
    (upstream, gateway)
}

fn start_jwt() -> (Upstream, Gateway) {
    start(|upstream| with_tokens("a", upstream))
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
