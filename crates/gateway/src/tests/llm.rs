//! One endpoint in front of many providers of language models, which speak their documented formats.

use serde_json::{Value, json};

use super::harness::llm::{JSON, always, chat, gateway_of, openai, post, said};
use super::harness::{Gateway, Setup, request};

fn start(llm: Value) -> Gateway {
    Setup::new(json!({"secrets": {"provider": "sk-provider-secret"}})).api(gateway_of("m", llm)).start()
}

#[test]
fn what_the_client_did_wrong_is_told_and_asked_of_nobody_else() {
    let strict =
        always("400 Bad Request", &[JSON], r#"{"error":{"message":"no such temperature","type":"invalid_request_error"}}"#);
    let good = openai();
    let gateway = start(json!({
        "providers": [
            {"name": "strict", "kind": "openai", "url": strict.url()}, {"name": "good", "kind": "openai", "url": good.url()},
        ],
        "models": [{"name": "m", "targets": [{"provider": "strict"}, {"provider": "good"}]}],
    }));
    let answer = chat(&gateway, "m");
    assert_eq!((answer.status, &answer.json()["error"]["message"]), (400, &json!("no such temperature")));
    let answer =
        post(&gateway, "/m/v1/messages", &json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]}));
    assert_eq!((answer.status, &answer.json()["error"]["type"]), (400, &json!("invalid_request_error")), "{answer}");
    assert_eq!(good.requests(), 0);
    let unknown = chat(&gateway, "other");
    assert_eq!(unknown.status, 404);
    let message = unknown.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`other`") && message.ends_with("there are: m"), "{message}");
    let unknown = post(&gateway, "/m/v1/messages", &json!({"model": "other", "max_tokens": 9, "messages": []}));
    assert_eq!(
        (unknown.status, &unknown.json()["type"], &unknown.json()["error"]["type"]),
        (404, &json!("error"), &json!("not_found_error"))
    );
    for body in ["", "[]", "{", r#"{"messages":[]}"#, r#"{"model":"m","model":"m"}"#] {
        let answer = gateway.connect().ask(request("POST", "/m/v1/chat/completions", &[JSON], body));
        assert_eq!(answer.status, 400, "{body}: {answer}");
    }
    let large = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{}"}}]}}"#, "x".repeat(8 << 20));
    let answer = gateway.connect().ask(request("POST", "/m/v1/chat/completions", &[JSON], &large));
    assert_eq!(answer.status, 413, "{}", answer.text());
    assert_eq!(gateway.get("/m/v1/chat/completions").status, 404);
    assert_eq!(gateway.get("/m/nothing").status, 404);
}

#[test]
fn a_provider_with_too_many_requests_is_left_alone_as_long_as_it_says() {
    let (busy, good) =
        (always("429 Too Many Requests", &[JSON, "Retry-After: 60"], r#"{"error":{"message":"slow down"}}"#), openai());
    let gateway = start(json!({
        "providers": [
            {"name": "busy", "kind": "openai", "url": busy.url(), "models": ["alone"]}, {"name": "good", "kind": "openai", "url": good.url()},
        ],
        "models": [{"name": "m", "targets": [{"provider": "busy", "model": "x"}, {"provider": "good", "model": "gpt-4o"}]}],
    }));
    for _ in 0..3 {
        assert_eq!(said(&chat(&gateway, "m")), "Hello");
    }
    assert_eq!((busy.requests(), good.requests()), (1, 3));
    let first = chat(&gateway, "alone");
    assert_eq!(
        (first.status, first.header("Retry-After"), &first.json()["error"]["message"]),
        (429, Some("60"), &json!("slow down"))
    );
    let second = chat(&gateway, "alone");
    assert_eq!(second.status, 429);
    let left: u64 = second.header("Retry-After").unwrap().parse().unwrap();
    assert!((1..=60).contains(&left), "{left}");
    assert_eq!(busy.requests(), 2, "nobody asks it before");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let line = r#"tollgate_llm_requests_total{api="m",model="m",provider="busy",outcome="rate_limited"} 1"#;
    assert!(metrics.contains(line), "{metrics}");
}

#[test]
fn a_provider_that_fails_again_and_again_is_skipped() {
    let (down, good) = (always("500 Internal Server Error", &[JSON], "{}"), openai());
    let gateway = start(json!({
        "providers": [{"name": "down", "kind": "openai", "url": down.url()}, {"name": "good", "kind": "openai", "url": good.url()}],
        "models": [{"name": "m", "targets": [{"provider": "down"}, {"provider": "good"}]}],
    }));
    for _ in 0..6 {
        assert_eq!(said(&chat(&gateway, "m")), "Hello");
    }
    assert_eq!((down.requests(), good.requests()), (3, 6));
}

/// Only what rules for paths have seen is called.
#[test]
fn nothing_stands_before_the_path_of_a_call() {
    let openai = openai();
    let gateway = start(json!({"providers": [{"name": "openai", "kind": "openai", "url": openai.url(), "models": ["*"]}]}));
    let body = json!({"model": "m", "input": "x", "messages": [{"role": "user", "content": "x"}]});
    for path in ["/m/x/v1/embeddings", "/m/zzv1/embeddings", "/m/v1/x/v1/chat/completions"] {
        assert_eq!(post(&gateway, path, &body).status, 404, "{path}");
    }
    let twice = json!({"model": "m", "MODEL": "secret", "messages": [{"role": "user", "content": "x"}]});
    assert_eq!(post(&gateway, "/m/v1/chat/completions", &twice).status, 400);
    assert!(openai.seen().is_empty());
}
