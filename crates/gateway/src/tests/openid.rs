//! OpenID Connect: tokens of providers found by discovery, with a policy for each of their clients.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

use super::harness::jws::{Signer, hs256, now};
use super::harness::keys::{call, keyed};
use super::harness::start_with;
use super::harness::tokens::policy;
use super::harness::{Gateway, Upstream, error_json, reply};

/// A provider that answers discovery and shows its keys.
fn provider(signer: &Signer) -> (Upstream, String) {
    let url: Arc<OnceLock<String>> = Arc::default();
    let keys = json!({"keys": [signer.jwk()]}).to_string();
    let server = {
        let url = url.clone();
        Upstream::start(move |seen| match seen.target.as_str() {
            "/.well-known/openid-configuration" => {
                let issuer = url.get().expect("its url");
                reply("200 OK", &[], &json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")}).to_string())
            }
            "/keys" => reply("200 OK", &[], &keys),
            _ => reply("404 Not Found", &[], ""),
        })
    };
    let issuer = server.url().trim_end_matches('/').to_owned();
    url.set(issuer.clone()).expect("once");
    (server, issuer)
}

fn start(issuer: &str, fields: Value) -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let mut options = json!({"providers": [{"issuer": issuer, "client_ids": {STANDARD.encode("shop"): "basic", STANDARD.encode("app"): "gold"}}]});
    super::harness::definition::merge(&mut options, &fields);
    let definition = keyed("a", &upstream).set("use_openid", true).set("openid_options", options);
    let gold = policy("gold", json!({"quota_max": 3, "quota_renewal_rate": 3600}));
    (upstream, start_with([definition], &[policy("basic", json!({})), gold]))
}

fn claims(issuer: &str, over: Value) -> Value {
    let mut claims = json!({"iss": issuer, "aud": "shop", "sub": "joe", "exp": now() + 600, "iat": now()});
    super::harness::definition::merge(&mut claims, &over);
    claims
}

#[test]
fn a_providers_token_for_a_known_client_is_let_in_with_the_clients_policy() {
    let signer = Signer::new("k1");
    let (server, issuer) = provider(&signer);
    let (_upstream, gateway) = start(&issuer, json!({}));
    let shop = call(&gateway, "/a/x", &signer.token(&claims(&issuer, json!({}))));
    assert_eq!((shop.status, shop.header("x-ratelimit-limit")), (200, Some("-1")), "{shop}");
    let app = call(&gateway, "/a/x", &signer.token(&claims(&issuer, json!({"aud": ["other", "app"], "sub": "ann"}))));
    assert_eq!((app.status, app.header("x-ratelimit-limit")), (200, Some("3")), "{app}");
    assert_eq!(server.requests(), 2, "discovery and keys once");
}

#[test]
fn everything_else_is_refused() {
    let signer = Signer::new("k1");
    let (_server, issuer) = provider(&signer);
    let (upstream, gateway) = start(&issuer, json!({}));
    let response = gateway.get("/a/x");
    assert_eq!((response.status, response.text()), (401, error_json("Authorization field missing")));
    for over in [
        json!({"aud": "stranger"}),
        json!({"aud": null}),
        json!({"aud": 7}),
        json!({"aud": []}),
        json!({"iss": "https://other.test"}),
        json!({"iss": null}),
        json!({"sub": ""}),
        json!({"sub": null}),
        json!({"exp": now() - 60}),
        json!({"exp": null}),
        json!({"nbf": now() + 600}),
        json!({"iat": now() + 600}),
    ] {
        let response = call(&gateway, "/a/x", &signer.token(&claims(&issuer, over.clone())));
        assert_eq!((response.status, response.text()), (401, error_json("Key not authorised")), "{over}");
    }
    let mut endless = claims(&issuer, json!({}));
    endless.as_object_mut().unwrap().remove("exp");
    for token in [
        signer.token(&endless),
        Signer::new("k1").token(&claims(&issuer, json!({}))),
        hs256(b"x", &claims(&issuer, json!({}))),
        "x".into(),
    ] {
        assert_eq!(call(&gateway, "/a/x", &token).status, 401, "{token}");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn users_of_several_clients_are_the_same_unless_segregated() {
    for (segregates, left) in [(false, "1"), (true, "2")] {
        let signer = Signer::new("k1");
        let (_server, issuer) = provider(&signer);
        let client_ids = json!({STANDARD.encode("shop"): "gold", STANDARD.encode("app"): "gold"});
        let options = json!({"segregate_by_client": segregates, "providers": [{"issuer": issuer, "client_ids": client_ids}]});
        let (_upstream, gateway) = start(&issuer, options);
        assert_eq!(call(&gateway, "/a/x", &signer.token(&claims(&issuer, json!({"aud": "shop"})))).status, 200);
        let second = call(&gateway, "/a/x", &signer.token(&claims(&issuer, json!({"aud": "app"}))));
        assert_eq!((second.status, second.header("x-ratelimit-remaining")), (200, Some(left)), "{second}");
    }
}

#[test]
fn a_document_of_another_issuer_is_not_believed() {
    let signer = Signer::new("k1");
    let (server, issuer) = provider(&signer);
    // The document says it is of 127.0.0.1, the definition of localhost.
    let alias = issuer.replace("127.0.0.1", "localhost");
    let (_upstream, gateway) = start(&alias, json!({}));
    assert_eq!(call(&gateway, "/a/x", &signer.token(&claims(&alias, json!({})))).status, 401);
    assert_eq!(server.take_targets(), ["/.well-known/openid-configuration"], "its keys are not asked for");
}

#[test]
fn a_client_without_a_policy_is_let_in_where_the_api_says_so() {
    let signer = Signer::new("k1");
    let (_server, issuer) = provider(&signer);
    let upstream = Upstream::ok();
    let options = json!({"providers": [{"issuer": issuer, "client_ids": {STANDARD.encode("shop"): ""}}]});
    let open = |id: &str, is_open: bool| {
        let definition = keyed(id, &upstream).set("use_openid", true).set("openid_options", options.clone());
        definition.set("tollgate", json!({"jwt": {"policies_optional": is_open}}))
    };
    let gateway = start_with([open("a", true), open("b", false)], &[policy("basic", json!({}))]);
    let token = signer.token(&claims(&issuer, json!({})));
    assert_eq!((call(&gateway, "/a/x", &token).status, call(&gateway, "/b/x", &token).status), (200, 401));
    assert_eq!(call(&gateway, "/a/x", &signer.token(&claims(&issuer, json!({"aud": "stranger"})))).status, 401);
}
