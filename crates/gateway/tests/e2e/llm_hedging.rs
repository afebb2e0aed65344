//! Streams that are asked of two providers, and what records say of both.

use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Connection, Gateway, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::llm_records::{lines, openai, recording};

const JSON: &str = "Content-Type: application/json";
const PATIENCE: Duration = Duration::from_secs(60);

/// A gateway that asks a second provider soon, and the folder with its records.
fn start(first: &Upstream, second: &Upstream) -> (Gateway, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let llm = json!({
        "providers": [{"name": "first", "kind": "vllm", "url": first.url()}, {"name": "second", "kind": "openai", "url": second.url()}],
        "models": [{"name": "m", "targets": [{"provider": "first", "model": "llama"}, {"provider": "second", "model": "gpt-4o"}]}],
        "hedge_after_s": 0.1,
    });
    let definition = api("m", "/m/", "").set("do_not_track", false).set("tollgate/llm", llm);
    (Setup::new(recording(directory.path())).api(definition).start(), directory)
}

fn ask(gateway: &Gateway) -> u16 {
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    gateway.connect().ask(request("POST", "/m/v1/chat/completions", &[JSON], &body)).status
}

/// What the one record says.
fn recorded(directory: &tempfile::TempDir) -> Value {
    let records = directory.path().join("records.log");
    eventually("it is written", || lines(&records).len() == 1);
    lines(&records)[0]["llm_stats"].clone()
}

/// Provider, outcome and reason of each attempt.
fn outcomes(stats: &Value) -> Vec<[&str; 3]> {
    let attempts = stats["attempts"].as_array().unwrap().iter();
    attempts.map(|attempt| ["provider", "outcome", "reason"].map(|name| attempt[name].as_str().unwrap())).collect()
}

#[test]
fn the_record_has_the_provider_that_was_overtaken_and_what_both_took() {
    let silent = Upstream::raw(|mut wire, _| {
        Seen::read(&mut wire);
        wire.expect_close();
    });
    let second = openai();
    let (gateway, directory) = start(&silent, &second);
    assert_eq!(ask(&gateway), 200);
    let stats = recorded(&directory);
    assert_eq!(outcomes(&stats), [["first", "client_left", ""], ["second", "ok", ""]], "{stats}");
    assert_eq!((&stats["provider"], &stats["outcome"], &stats["estimated"]), (&json!("second"), &json!("ok"), &json!(true)));
    let prompts: u64 = stats["attempts"].as_array().unwrap().iter().map(|attempt| attempt["input_tokens"].as_u64().unwrap()).sum();
    assert!(prompts > 1000, "the first prompt costs too: {stats}");
    assert_eq!(stats["input_tokens"].as_u64(), Some(prompts));
    gateway.expect_no_panic();
}

#[test]
fn a_failure_while_another_is_asked_is_told_of_the_provider_that_failed() {
    let (asked, is_asked) = mpsc::channel();
    let (go, may_answer) = mpsc::channel::<()>();
    let (asked, is_asked, may_answer) = (Mutex::new(asked), Mutex::new(is_asked), Mutex::new(may_answer));
    let first = Upstream::start(move |_| {
        let _ = is_asked.lock().unwrap().recv_timeout(PATIENCE);
        reply("500 Internal Server Error", &[JSON], r#"{"error":{"message":"no"}}"#)
    });
    let good = openai();
    let good_port = good.port();
    let second = Upstream::raw(move |mut wire, _| {
        let Some(seen) = Seen::read(&mut wire) else { return };
        let _ = asked.lock().unwrap().send(());
        let _ = may_answer.lock().unwrap().recv_timeout(PATIENCE);
        let mut behind = Connection::open(good_port);
        let answer = behind.ask(request("POST", "/v1/chat/completions", &[JSON], &String::from_utf8_lossy(&seen.body)));
        let _ = wire.try_send(reply("200 OK", &["Content-Type: text/event-stream"], &answer.text()));
    });
    let (gateway, directory) = start(&first, &second);
    thread::scope(|scope| {
        let client = scope.spawn(|| ask(&gateway));
        let line = r#"tollgate_llm_requests_total{api="m",model="m",provider="first",outcome="failed"} 1"#;
        eventually("the first has failed", || gateway.control("GET", "/tyk/metrics", "").text().contains(line));
        go.send(()).unwrap();
        assert_eq!(client.join().unwrap(), 200);
    });
    let stats = recorded(&directory);
    let expected = [["first", "failed", "the provider answered with status 500"], ["second", "ok", ""]];
    assert_eq!(outcomes(&stats), expected, "{stats}");
    assert_eq!((&stats["provider"], &stats["outcome"], &stats["reason"]), (&json!("second"), &json!("ok"), &json!("")));
    gateway.expect_no_panic();
}
