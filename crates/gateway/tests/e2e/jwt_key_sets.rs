//! Key sets of token issuers: fetched when needed, kept while they can't be, and never a way to keep the gateway busy.

use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::harness::jws::Signer;
use crate::harness::key_sets::{issuer, token, with_key_set};
use crate::harness::tokens::policy;
use crate::harness::{Gateway, Upstream, error_json, eventually, reply, start_with};
use crate::keys::call;

fn start(url: &str) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let gateway = start_with([with_key_set(&upstream, url)], &[policy("basic", json!({}))]);
    (upstream, gateway)
}

#[test]
fn requests_that_come_together_wait_for_one_fetch() {
    let signer = Signer::new("k");
    let body = json!({"keys": [signer.jwk()]}).to_string();
    let slow = Upstream::start(move |_| {
        std::thread::sleep(Duration::from_millis(300));
        reply("200 OK", &[], &body)
    });
    let (_upstream, gateway) = start(&slow.url());
    let token = token(&signer);
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..16).map(|_| scope.spawn(|| call(&gateway, "/a/x", &token).status)).collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), 200);
        }
    });
    assert_eq!(slow.requests(), 1);
}

#[test]
fn an_issuer_that_never_answers_lets_nobody_in() {
    let silent = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let (_upstream, gateway) = start(&silent.url());
    assert_eq!(call(&gateway, "/a/x", &token(&Signer::new("k"))).status, 403);
}

#[test]
fn an_issuer_that_misbehaves_lets_nobody_in_and_holds_nobody_up() {
    let signer = Signer::new("k");
    let good = json!({"keys": [signer.jwk()]}).to_string();
    let large = format!("{{\"keys\":[],\"x\":\"{}\"}}", "x".repeat(10 << 20));
    let weak = json!({"keys": [{"kty": "RSA", "kid": "k", "n": "AQAB", "e": "AQAB"}, 7, null]}).to_string();
    let cases = [
        ("10 MB", reply("200 OK", &[], &large)),
        ("an error", reply("500 Internal Server Error", &[], &good)),
        ("no JSON", reply("200 OK", &[], "<html>")),
        ("no list", reply("200 OK", &[], "{\"keys\":{}}")),
        ("weak keys", reply("200 OK", &[], &weak)),
        ("a broken body", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n{".to_vec()),
        ("no HTTP", b"hello\r\n\r\n".to_vec()),
    ];
    for (what, answer) in cases {
        let issuer = Upstream::once(answer);
        let (upstream, gateway) = start(&issuer.url());
        let response = call(&gateway, "/a/x", &token(&signer));
        assert_eq!((response.status, response.text()), (403, error_json("Key not authorized")), "{what}");
        assert_eq!(upstream.requests(), 0);
        assert!(gateway.log().contains("key set"), "{what} is said in the log:\n{}", gateway.log());
    }
}

#[test]
fn strangers_do_not_make_the_gateway_fetch_without_end() {
    let known = Signer::new("known");
    let issuer = issuer(Arc::new(Mutex::new(vec![known.jwk()])));
    let (_upstream, gateway) = start(&issuer.url());
    assert_eq!(call(&gateway, "/a/x", &token(&known)).status, 200);
    let (mut client, begun) = (gateway.connect(), Instant::now());
    for number in 0..200 {
        let response = client.ask(crate::keys::with_key("/a/x", &token(&Signer::new(&format!("unknown-{number}")))));
        assert_eq!((response.status, response.text()), (403, error_json("Key not authorized")));
    }
    // The first one, one for a name that is not known, and then one every ten seconds.
    let most = 3 + begun.elapsed().as_secs() / 10;
    assert!(issuer.requests() as u64 <= most, "{} fetches", issuer.requests());
}

#[test]
fn a_withdrawn_key_ends_its_remembered_tokens() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let keys = Arc::new(Mutex::new(vec![old.jwk()]));
    let issuer = issuer(keys.clone());
    let upstream = Upstream::ok();
    let gateway = {
        let file = tempfile::NamedTempFile::new().unwrap();
        let policies = json!({"basic": policy("basic", json!({}))}).to_string();
        std::fs::write(file.path(), policies).unwrap();
        let conf = json!({"jwks": {"cache": {"timeout": 1}}, "policies": {"policy_record_name": file.path()}});
        Gateway::start(conf, [with_key_set(&upstream, &issuer.url())])
    };
    let token = token(&old);
    assert_eq!(call(&gateway, "/a/x", &token).status, 200);
    *keys.lock().unwrap() = vec![new.jwk()];
    eventually("the old key is gone", || call(&gateway, "/a/x", &token).status == 403);
}

#[test]
fn the_last_keys_serve_while_the_issuer_is_down() {
    let signer = Signer::new("k");
    let body = json!({"keys": [signer.jwk()]}).to_string();
    let (down, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let issuer = {
        let (down, asked) = (down.clone(), asked.clone());
        Upstream::start(move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            if down.load(Ordering::Relaxed) { reply("503 Service Unavailable", &[], "") } else { reply("200 OK", &[], &body) }
        })
    };
    let upstream = Upstream::ok();
    let conf = json!({"jwks": {"cache": {"timeout": 1}}});
    let definition = with_key_set(&upstream, &issuer.url()).set("jwt_default_policies", json!([]));
    let gateway = Gateway::start(conf, [definition]);
    let refused = || call(&gateway, "/a/x", &token(&signer)).text();
    let passed_the_signature = error_json("key not authorized: no matching policy found");
    assert_eq!(refused(), passed_the_signature);
    down.store(true, Ordering::Relaxed);
    eventually("the set is fetched again", || {
        assert_eq!(refused(), passed_the_signature);
        asked.load(Ordering::Relaxed) >= 2
    });
    assert_eq!(refused(), passed_the_signature, "a failure takes nothing away");
}
