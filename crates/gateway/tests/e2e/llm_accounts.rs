//! Providers that want access tokens, which the gateway gets with the key of a service account.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::harness::{Gateway, Response, Setup, Upstream, api, reply, request};

const JSON: &str = "Content-Type: application/json";
const GEMINI: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11},"modelVersion":"gemini-2.5-flash"}"#;

fn account(token_url: &str) -> Value {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der = AsDer::<Pkcs8V1Der>::as_der(&pair).unwrap();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(der.as_ref()));
    json!({"type": "service_account", "client_email": "me@example.com", "private_key_id": "k", "private_key": pem, "token_uri": token_url})
}

fn llm(url: &str) -> Value {
    let url = format!("{url}/v1/projects/p/locations/l/publishers/google");
    json!({"providers": [{"name": "google", "kind": "vertex", "url": url, "key": "$secret_conf.account", "models": ["gemini-*"]}]})
}

fn start(secret: &str, llm: Value) -> Gateway {
    Setup::new(json!({"secrets": {"account": secret}})).api(api("m", "/m/", "").set("tollgate/llm", llm)).start()
}

fn chat(gateway: &Gateway) -> Response {
    let body = json!({"model": "gemini-2.5-flash", "messages": [{"role": "user", "content": "Hi"}]});
    gateway.connect().ask(request("POST", "/m/v1/chat/completions", &[JSON], &body.to_string()))
}

#[test]
fn a_service_account_gets_its_tokens_itself() {
    let given = Arc::new(AtomicUsize::new(0));
    let number = given.clone();
    let tokens = Upstream::start(move |_| {
        thread::sleep(Duration::from_millis(200));
        let number = number.fetch_add(1, Ordering::SeqCst) + 1;
        reply(
            "200 OK",
            &[JSON],
            &json!({"access_token": format!("ya29.token-{number}"), "expires_in": 3599, "token_type": "Bearer"}).to_string(),
        )
    });
    let refused = Arc::new(AtomicUsize::new(0));
    let refuses = refused.clone();
    let google = Upstream::start(move |seen| {
        let path = "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-flash:generateContent";
        let token = seen.header("Authorization").unwrap_or_default().to_owned();
        let is_bad = refuses.load(Ordering::SeqCst) == 1 && token.ends_with("token-1");
        match seen.target.as_str() == path && token.starts_with("Bearer ya29.token-") && !is_bad {
            true => reply("200 OK", &[JSON], GEMINI),
            false => reply("401 Unauthorized", &[JSON], &json!({"error": {"code": 401, "message": token}}).to_string()),
        }
    });
    let file = account(&format!("{}/token", tokens.url())).to_string();
    let gateway = start(&file, llm(&google.url()));
    let statuses: Vec<u16> = thread::scope(|scope| {
        let all: Vec<_> = (0..5).map(|_| scope.spawn(|| chat(&gateway).status)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!((statuses, tokens.requests()), (vec![200; 5], 1), "they share one token");
    let form = tokens.last().text();
    assert!(form.contains("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="), "{form}");
    let claims = form.rsplit_once("assertion=").unwrap().1.split('.').nth(1).unwrap().to_owned();
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
    assert_eq!((&claims["iss"], &claims["aud"]), (&json!("me@example.com"), &json!(format!("{}/token", tokens.url()))));

    // A token that is not accepted any more is replaced.
    refused.store(1, Ordering::SeqCst);
    let (first, second) = (chat(&gateway), chat(&gateway));
    assert_eq!((second.status, tokens.requests()), (200, 2), "{first} {second}");
    let log = gateway.log();
    for text in [log, first.to_string()] {
        assert!(!text.contains("ya29.") && !text.contains("PRIVATE KEY"), "{text}");
    }
    gateway.expect_no_panic();
}

#[test]
fn an_account_without_a_token_is_told_and_asked_for_seldom() {
    let tokens = Upstream::start(|_| reply("400 Bad Request", &[JSON], r#"{"error":"invalid_grant"}"#));
    let gateway = start(&account(&tokens.url()).to_string(), llm("http://127.0.0.1:1"));
    for _ in 0..3 {
        let answer = chat(&gateway);
        assert_eq!(answer.status, 502, "{answer}");
        assert!(answer.text().contains("does not accept the gateway's credential"), "{answer}");
    }
    assert_eq!(tokens.requests(), 1);
    assert!(gateway.log().contains("the service account got no access token: status 400"), "{}", gateway.log());
}

#[test]
fn a_key_that_is_no_service_account_is_refused_by_name() {
    let gateway = start("{}", json!({"providers": [{"name": "p", "models": ["*"]}]}));
    let definition = api("n", "/n/", "").set("name", "n").set("tollgate/llm", llm("http://127.0.0.1:1"));
    let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
    assert!(answer.text().contains("$.tollgate.llm.providers[0].key"), "{answer}");
}
