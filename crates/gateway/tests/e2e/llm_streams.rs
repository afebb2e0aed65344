//! Streams of language models, which the core of their client goes on with once they have begun.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::analytics::{recording, records, tracked};
use crate::harness::http2::{connect, converse, post, upload};
use crate::harness::{Definition, Gateway, Response, Upstream, reply, request};

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";
const HOOK: &str = r#"var late = new TykJS.TykMiddleware.NewMiddleware({});
late.NewProcessResponse(function (response, request, session, config) {
    response.SetHeaders["X-Seen"] = response.StatusCode + "";
    return late.ReturnResponseData(response, {});
});"#;

fn event(text: &str) -> String {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
}

/// A stream that says hello, and then this.
fn stream(text: &str) -> String {
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    format!("{}{}data: {end}\n\ndata: [DONE]\n\n", event("Hello"), event(text))
}

fn models(upstream: &Upstream) -> Definition {
    let llm = json!({"providers": [{"name": "p", "kind": "openai", "url": upstream.url(), "models": ["*"]}]});
    tracked("m", "/m/", upstream).set("tollgate/llm", llm).version("global_response_headers", json!({"X-Own": "1"}))
}

fn question() -> String {
    json!({"model": "gpt", "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Hi"}]}).to_string()
}

fn ask(gateway: &Gateway, path: &str) -> Response {
    gateway.connect().ask(request("POST", path, &[JSON], &question()))
}

#[test]
fn a_stream_is_whole_whoever_sees_the_answer_on_its_way() {
    let upstream = Upstream::start(|_| reply("200 OK", &[EVENTS], &stream(" again")));
    let expected = stream(" again");
    let script = tempfile::Builder::new().suffix(".js").tempfile().unwrap();
    fs::write(script.path(), HOOK).unwrap();
    let hooks = json!({"driver": "goja", "response": [{"name": "late", "path": script.path()}]});
    let cases = [
        ("plain", models(&upstream), None),
        ("a hook reads it", models(&upstream).set("custom_middleware", hooks), Some("200")),
        ("a cache", models(&upstream).set("cache_options", json!({"enable_cache": true})), None),
    ];
    for (name, definition, seen) in cases {
        let gateway = Gateway::start(json!({"enable_jsvm": true, "tollgate": {"threads": 1}}), [definition]);
        let answer = ask(&gateway, "/m/v1/chat/completions");
        assert_eq!((answer.status, answer.text()), (200, expected.clone()), "{name}: {answer}");
        let lines = ["content-type", "x-own", "x-tollgate-llm-provider", "x-seen"].map(|line| answer.header(line));
        assert_eq!(lines, [Some("text/event-stream"), Some("1"), Some("p"), seen], "{name}: {answer}");
        assert_eq!(answer.header("x-tollgate-offered-body"), None, "{name}");
        let old = request("POST", "/m/v1/chat/completions", &[JSON], &question());
        let old = gateway.connect().ask(old.replacen("HTTP/1.1", "HTTP/1.0", 1));
        assert_eq!((old.text(), old.header("transfer-encoding")), (expected.clone(), None), "{name}: {old}");
        converse(async {
            let client = connect(gateway.port).await;
            let answer = upload(&client, post("/m/v1/chat/completions"), question().as_bytes(), None).await.unwrap();
            assert_eq!((answer.status, answer.text(), answer.header("x-own")), (200, expected.clone(), Some("1")), "{name}");
        });
        gateway.expect_no_panic();
    }
}

#[test]
fn a_record_with_both_messages_has_the_whole_stream() {
    let upstream = Upstream::start(|_| reply("200 OK", &[EVENTS], &stream(" again")));
    let (directory, conf) = recording(json!({}));
    let gateway = Gateway::start(conf, [models(&upstream).set("enable_detailed_recording", true)]);
    ask(&gateway, "/m/v1/chat/completions");
    let record = records(&directory, 1).remove(0);
    let answer = String::from_utf8(STANDARD.decode(record["raw_response"].as_str().unwrap()).unwrap()).unwrap();
    assert!(answer.contains("Hello") && answer.contains(" again") && answer.contains("[DONE]"), "{answer}");
}

#[test]
fn an_event_of_some_megabytes_passes_whole_as_it_is_or_translated() {
    let long = "x".repeat(3 << 20);
    let (said, expected) = (stream(&long), stream(&long));
    let upstream = Upstream::start(move |_| reply("200 OK", &[EVENTS], &said));
    let gateway = Gateway::start(json!({"tollgate": {"threads": 1}}), [models(&upstream)]);
    assert!(ask(&gateway, "/m/v1/chat/completions").text() == expected);
    let translated = ask(&gateway, "/m/v1/messages").text();
    let events = translated.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let text: String = events.filter_map(|event| Some(event["delta"]["text"].as_str()?.to_owned())).collect();
    assert!(text == format!("Hello{long}") && translated.contains("message_stop"), "{} bytes of text", text.len());
    gateway.expect_no_panic();
}
