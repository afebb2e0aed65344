//! Key sets of token issuers: fetched when needed, kept while they can't be, and never a way to keep the gateway busy.

use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::harness::jws::Signer;
use super::harness::key_sets::{issuer, token, with_key_set};
use super::harness::keys::call;
use super::harness::tokens::policy;
use super::harness::{Gateway, Upstream, eventually, reply, start_with};

fn start(url: &str) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = start_with([with_key_set(&upstream, url)], &[policy("basic", json!({}))]);
    (upstream, gateway)
}

#[test]
fn keys_are_fetched_once_and_again_for_a_name_that_is_new() {
    let (first, second) = (Signer::new("first"), Signer::new("second"));
    let keys = Arc::new(Mutex::new(vec![first.jwk()]));
    let issuer = issuer(keys.clone());
    let (_upstream, gateway) = start(&format!("{}/jwks.json", issuer.url()));
    assert_eq!(issuer.requests(), 0, "nothing is fetched before it is needed");
    for _ in 0..5 {
        assert_eq!(call(&gateway, "/a/x", &token(&first)).status, 200);
    }
    assert_eq!((issuer.requests(), issuer.last().target.as_str()), (1, "/jwks.json"));
    // The issuer changes its keys. The pause between fetches for unknown names has to pass.
    keys.lock().unwrap().push(second.jwk());
    eventually("the new key is known", || call(&gateway, "/a/x", &token(&second)).status == 200);
    assert_eq!(issuer.requests(), 2);
}

#[test]
fn an_issuer_cannot_send_the_gateway_to_a_private_address() {
    let signer = Signer::new("k");
    let inner = issuer(Arc::new(Mutex::new(vec![signer.jwk()])));
    for location in
        [inner.url(), inner.url().replace("127.0.0.1", "localhost"), inner.url().replace("127.0.0.1", "[::ffff:127.0.0.1]")]
    {
        let line = format!("Location: {location}");
        let issuer = Upstream::start(move |_| reply("302 Found", &[&line], ""));
        let (_upstream, gateway) = start(&issuer.url());
        assert_eq!(call(&gateway, "/a/x", &token(&signer)).status, 403, "{location}");
        assert!(issuer.requests() > 0, "{location}");
    }
    assert_eq!(inner.requests(), 0);
    // Its own address is no other one.
    let (keys, seen) = (json!({"keys": [signer.jwk()]}).to_string(), AtomicUsize::new(0));
    let issuer = Upstream::start(move |_| match seen.fetch_add(1, Ordering::AcqRel) {
        0 => reply("302 Found", &["Location: /keys"], ""),
        _ => reply("200 OK", &[], &keys),
    });
    let (_upstream, gateway) = start(&issuer.url());
    assert_eq!(call(&gateway, "/a/x", &token(&signer)).status, 200);
    assert_eq!(issuer.last().target, "/keys");
}

#[test]
fn an_issuer_that_is_not_there_lets_nobody_in() {
    let (_upstream, gateway) = start("http://127.0.0.1:1/jwks");
    assert_eq!(call(&gateway, "/a/x", &token(&Signer::new("k"))).status, 403);
}

#[test]
fn several_issuers_serve_one_api_and_a_name_may_be_used_twice() {
    let (one, other, twin) = (Signer::new("one"), Signer::new("other"), Signer::new("other"));
    let first = issuer(Arc::new(Mutex::new(vec![one.jwk(), twin.jwk()])));
    let second = issuer(Arc::new(Mutex::new(vec![other.jwk()])));
    let upstream = Upstream::ok();
    let uris = json!([{"url": first.url()}, {"url": second.url()}]);
    let definition = with_key_set(&upstream, "").set("jwt_jwks_uris", uris);
    let gateway = start_with([definition], &[policy("basic", json!({}))]);
    for signer in [&one, &other, &twin] {
        assert_eq!(call(&gateway, "/a/x", &token(signer)).status, 200);
    }
    let stranger = Signer::new("other");
    assert_eq!(call(&gateway, "/a/x", &token(&stranger)).status, 403, "a known name with another key");
}

#[test]
fn key_sets_can_be_forgotten_at_once() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    for path in ["/tyk/cache/jwks", "/tyk/cache/jwks/a"] {
        let keys = Arc::new(Mutex::new(vec![old.jwk(), new.jwk()]));
        let issuer = issuer(keys.clone());
        let (_upstream, gateway) = start(&issuer.url());
        let (withdrawn, kept) = (token(&old), token(&new));
        assert_eq!((call(&gateway, "/a/x", &withdrawn).status, call(&gateway, "/a/x", &kept).status), (200, 200));
        *keys.lock().unwrap() = vec![new.jwk()];
        assert_eq!(call(&gateway, "/a/x", &withdrawn).status, 200, "the set is not old yet");
        assert_eq!(gateway.control("DELETE", "/tyk/cache/jwks/other", "").status, 200);
        assert_eq!((call(&gateway, "/a/x", &withdrawn).status, issuer.requests()), (200, 1), "another API's");
        let answer = gateway.control("DELETE", path, "");
        assert_eq!((answer.status, answer.json()), (200, json!({"status": "ok", "message": "cache invalidated"})));
        assert_eq!(call(&gateway, "/a/x", &withdrawn).status, 403, "{path}");
        assert_eq!(call(&gateway, "/a/x", &kept).status, 200, "{path}");
        assert_eq!(issuer.requests(), 2, "{path}");
    }
}
