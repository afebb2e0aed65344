//! Guards of language models: what of requests and answers passes, what is taken out and put back, and who is told what.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::keys::{create, session_for};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request, skip};

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";
const CHAT: &str = "/m/v1/chat/completions";
const MESSAGES: &str = "/m/v1/messages";

fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

/// The text of the last message.
fn asked(body: &Value) -> String {
    let content = &body["messages"].as_array().and_then(|messages| messages.last()).unwrap_or(&Value::Null)["content"];
    content.as_str().or(content[0]["text"].as_str()).or(body["input"].as_str()).unwrap_or_default().to_owned()
}

/// A provider of OpenAI's API that says what it was asked, in a stream letter by letter.
fn echo() -> Upstream {
    Upstream::start(|seen| {
        let body = body_of(seen);
        let text = asked(&body);
        let usage = json!({"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8});
        if body["stream"] != true {
            let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
            return reply(
                "200 OK",
                &[JSON],
                &json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}).to_string(),
            );
        }
        let chunk = |delta: Value, stop: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": stop});
            format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}))
        };
        let mut events: String = text.chars().map(|letter| chunk(json!({"content": letter.to_string()}), Value::Null)).collect();
        events += &chunk(json!({}), json!("stop"));
        if body["stream_options"]["include_usage"] == true {
            let last = json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": usage});
            events += &format!("data: {last}\n\n");
        }
        reply("200 OK", &[EVENTS], &format!("{events}data: [DONE]\n\n"))
    })
}

fn models(upstream: &Upstream, guards: Value) -> Definition {
    let providers = json!([{"name": "p", "kind": "openai", "url": upstream.url(), "models": ["*"]}]);
    api("m", "/m/", "").set("tollgate/llm", json!({"providers": providers, "guards": guards}))
}

fn start(upstream: &Upstream, guards: Value) -> Gateway {
    Setup::new(json!({})).api(models(upstream, guards)).start()
}

fn post(gateway: &Gateway, path: &str, body: &Value) -> Response {
    gateway.connect().ask(request("POST", path, &[JSON], &body.to_string()))
}

fn ask(gateway: &Gateway, path: &str, text: &str, stream: bool) -> Response {
    let body = json!({"model": "m", "max_tokens": 999, "messages": [{"role": "user", "content": text}], "stream": stream});
    post(gateway, path, &body)
}

/// What an answer says, whole or in a stream, of both APIs.
fn said(answer: &Response) -> String {
    assert_eq!(answer.status, 200, "{answer}");
    let text = answer.text();
    if let Ok(whole) = serde_json::from_str::<Value>(&text) {
        return whole["choices"][0]["message"]["content"]
            .as_str()
            .or(whole["content"][0]["text"].as_str())
            .unwrap_or_default()
            .to_owned();
    }
    let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let pieces = events
        .filter_map(|event| Some(event["choices"][0]["delta"]["content"].as_str().or(event["delta"]["text"].as_str())?.to_owned()));
    pieces.collect()
}

fn count(gateway: &Gateway, guard: &str, outcome: &str) -> f64 {
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let begin = format!(r#"tollgate_llm_guards_total{{api="m",guard="{guard}",outcome="{outcome}"}} "#);
    metrics.lines().find_map(|line| line.strip_prefix(&begin)?.parse().ok()).unwrap_or_else(|| panic!("{begin}: {metrics}"))
}

#[test]
fn what_is_taken_out_of_a_request_is_put_back_in_its_answer() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "secrets", "kind": "secrets", "action": "redact"},
            {"name": "people", "kind": "personal_data", "action": "redact"},
        ]),
    );
    let text =
        "I am jane@example.com, card 4111 1111 1111 1111, key AKIAIOSFODNN7EXAMPLE; again jane@example.com. Own: [EMAIL_1] ü";
    let hidden = "I am [EMAIL_2], card [CARD_1], key [AWS_KEY_1]; again [EMAIL_2]. Own: [EMAIL_1] ü";
    for path in [CHAT, MESSAGES] {
        for stream in [false, true] {
            let answer = ask(&gateway, path, text, stream);
            assert_eq!(said(&answer), text, "{path} {stream}");
            assert_eq!(asked(&body_of(&upstream.last())), hidden, "{path} {stream}");
        }
    }
    assert!(!gateway.log().contains("jane@") && !gateway.log().contains("AKIA"), "{}", gateway.log());
    assert!(gateway.log().contains("a guard of language models has found something"));
    assert_eq!((count(&gateway, "people", "checked"), count(&gateway, "people", "matched")), (4.0, 4.0));
    gateway.expect_no_panic();
}

#[test]
fn what_no_guard_changes_passes_byte_for_byte() {
    let answer = r#"{"id":"c",  "choices":[{"index":0,"message":{"role":"assistant","content":"Hello \u0041"},"finish_reason":"stop"}], "x":1.0}"#;
    let events = "data: {\"id\":\"c\",  \"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello, \"}}]}\n\n: ping\n\ndata: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\n\n";
    let upstream = Upstream::start(move |seen| match body_of(seen)["stream"] == true {
        true => reply("200 OK", &[EVENTS], events),
        false => reply("200 OK", &[JSON], answer),
    });
    let gateway = start(
        &upstream,
        json!([
            {"name": "secrets", "kind": "secrets", "on": "both", "action": "redact"},
            {"name": "people", "kind": "personal_data", "on": "both"},
            {"name": "words", "patterns": ["(?i)forbidden"], "on": "both"},
            {"name": "size", "kind": "size", "bytes_max": 1000, "on": "both"},
            {"name": "schema", "kind": "schema", "on": "answer"},
        ]),
    );
    let body = r#"{ "model":"m", "messages":[{"role":"user","content":"H\u0069"}],  "logit_bias":{"1":2.0} }"#;
    let whole = gateway.connect().ask(request("POST", CHAT, &[JSON], body));
    assert_eq!((whole.status, whole.text().as_str()), (200, answer), "{whole}");
    assert!(upstream.last().text().contains(body));
    let body = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"Hi"}]}"#;
    assert_eq!(gateway.connect().ask(request("POST", CHAT, &[JSON], body)).text(), events);
}

#[test]
fn a_refusal_names_the_guard_and_nothing_of_the_text() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "no-bombs", "patterns": ["(?i)\\bbombs?\\b"]},
            {"name": "topics", "kind": "allow", "patterns": ["invoice", "order"]},
            {"name": "keys", "kind": "secrets"},
            {"name": "short", "kind": "size", "tokens_max": 50},
        ]),
    );
    for (text, guard, status) in [
        ("an invoice for a BOMB", "no-bombs", 403),
        ("the weather", "topics", 403),
        ("order: ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "keys", 403),
        (&"order ".repeat(40), "short", 400),
    ] {
        for path in [CHAT, MESSAGES] {
            let answer = ask(&gateway, path, text, true);
            assert_eq!((answer.status, answer.header("X-Tollgate-Llm-Guard")), (status, Some(guard)), "{text}: {answer}");
            let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(&format!("`{guard}`")), "{message}");
            assert!(
                !answer.text().contains("BOMB") && !answer.text().contains("ghp_") && !answer.text().contains("weather"),
                "{answer}"
            );
        }
        assert_eq!(count(&gateway, guard, "refused"), 2.0);
    }
    assert_eq!(upstream.requests(), 0);
    assert_eq!(said(&ask(&gateway, CHAT, "an invoice", false)), "an invoice");
    // Nothing hides in a member that is not known, behind escapes, or in a call of a tool.
    for body in [
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"new_kind","stuff":{"deep":["order a bomb"]}}]}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"order a \u0062omb"}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"order"},{"role":"assistant","tool_calls":[{"id":"i","type":"function","function":{"name":"f","arguments":"{\"a\":\"bomb\"}"}}]}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"order"}],"tools":[{"type":"function","function":{"name":"f","description":"a bomb"}}]}"#,
        r#"{"model":"m","input":["order","bomb"]}"#,
    ] {
        let path = if body.contains("input") { "/m/v1/embeddings" } else { CHAT };
        let answer = gateway.connect().ask(request("POST", path, &[JSON], body));
        assert_eq!((answer.status, answer.header("X-Tollgate-Llm-Guard")), (403, Some("no-bombs")), "{body}: {answer}");
    }
    gateway.expect_no_panic();
}

#[test]
fn a_dry_run_changes_nothing_and_counts() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "words", "patterns": ["secret"], "dry_run": true, "on": "both"},
            {"name": "people", "kind": "personal_data", "action": "redact", "dry_run": true},
            {"name": "told", "patterns": ["secret"], "action": "report"},
        ]),
    );
    for stream in [false, true] {
        let text = "a secret of jane@example.com";
        assert_eq!(said(&ask(&gateway, CHAT, text, stream)), text);
        assert_eq!(asked(&body_of(&upstream.last())), text);
    }
    assert_eq!((count(&gateway, "words", "dry_run"), count(&gateway, "words", "refused")), (4.0, 0.0));
    assert_eq!(
        (count(&gateway, "people", "dry_run"), count(&gateway, "told", "matched"), count(&gateway, "told", "dry_run")),
        (2.0, 2.0, 0.0)
    );
}

#[test]
fn answers_are_guarded_also_in_pieces() {
    let upstream = echo();
    let guards = |action: &str| json!([{"name": "out", "kind": "personal_data", "on": "answer", "action": action}]);
    let text = "It is jane@example.com, they say";
    let gateway = start(&upstream, guards("redact"));
    for path in [CHAT, MESSAGES] {
        for stream in [false, true] {
            assert_eq!(said(&ask(&gateway, path, text, stream)), "It is [EMAIL], they say", "{path} {stream}");
        }
    }
    let gateway = start(&upstream, guards("refuse"));
    for path in [CHAT, MESSAGES] {
        let whole = ask(&gateway, path, text, false);
        assert_eq!((whole.status, whole.header("X-Tollgate-Llm-Guard")), (403, Some("out")), "{whole}");
        let stream = ask(&gateway, path, text, true);
        let told = said(&stream);
        assert!("It is ".starts_with(&told) && !told.is_empty(), "{told}");
        let text = stream.text();
        assert!(text.contains("`out`") && !text.contains("finish_reason\":\"stop") && !text.contains("message_stop"), "{text}");
        assert!(!text.contains("jane"), "{text}");
    }
    let gateway = start(&upstream, json!([{"name": "size", "kind": "size", "bytes_max": 20, "on": "answer"}]));
    assert_eq!(ask(&gateway, CHAT, text, false).status, 403);
    let stream = ask(&gateway, CHAT, text, true);
    assert_eq!((said(&stream).len(), stream.text().contains("too long")), (20, true), "{stream}");
}

#[test]
fn a_stream_goes_on_event_by_event_through_its_guards() {
    let (go, may_go) = std::sync::mpsc::sync_channel::<()>(10);
    let may_go = std::sync::Mutex::new(may_go);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        let _ = wire.try_send(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nConnection: close\r\n\r\n"));
        for word in ["one, ", "two, ", "three "] {
            let _ = wire
                .try_send(format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{word}\"}}}}]}}\n\n"));
            let _ = may_go.lock().unwrap().recv_timeout(Duration::from_secs(20));
        }
        let _ = wire.try_send("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    });
    let gateway = start(
        &upstream,
        json!([
            {"name": "people", "kind": "personal_data", "on": "both", "action": "redact"},
            {"name": "secrets", "kind": "secrets", "on": "both"},
        ]),
    );
    let mut wire = gateway.connect();
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "jane@example.com"}]});
    wire.send(request("POST", CHAT, &[JSON], &body.to_string()));
    wire.head().unwrap();
    for word in ["one, ", "two, ", "three "] {
        let mut text = String::new();
        while !text.contains(word) {
            let chunk = wire.chunk().unwrap();
            assert!(!chunk.is_empty(), "{text}");
            text += &String::from_utf8_lossy(&chunk);
        }
        go.send(()).unwrap();
    }
}

/// Somebody who objects to texts with this word.
fn judge(word: &'static str, openai: bool) -> Upstream {
    Upstream::start(move |seen| {
        let body = body_of(seen);
        let texts = body[if openai { "input" } else { "texts" }].as_array().cloned().unwrap_or_default();
        let flagged: Vec<bool> = texts.iter().map(|text| text.as_str().unwrap_or_default().contains(word)).collect();
        let answer = match openai {
            true => json!({"results": flagged.iter().map(|flagged| json!({"flagged": flagged})).collect::<Vec<_>>()}),
            false => json!({"flagged": flagged.contains(&true), "reason": "because"}),
        };
        reply("200 OK", &[JSON], &answer.to_string())
    })
}

#[test]
fn somebody_else_says_what_passes() {
    let (upstream, hook, openai) = (echo(), judge("evil", false), judge("bad", true));
    let guards = json!([
        {"name": "hook", "kind": "moderation", "url": hook.url(), "key": "hook-key", "on": "both"},
        {"name": "openai", "kind": "moderation", "url": format!("{}/v1/moderations", openai.url()), "api": "openai", "model": "omni"},
    ]);
    let gateway = Setup::new(json!({})).api(models(&upstream, guards).with_keys()).start();
    let key = create(&gateway, &session_for(&["m"], json!({"alias": "team a"})));
    let line = format!("Authorization: Bearer {key}");
    let ask = |text: &str, stream: bool| {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": text}], "stream": stream});
        gateway.connect().ask(request("POST", CHAT, &[JSON, &line], &body.to_string()))
    };
    for stream in [false, true] {
        assert_eq!(said(&ask("all is good", stream)), "all is good");
        for (text, guard) in [("an evil plan", "hook"), ("a bad plan", "openai")] {
            let answer = ask(text, stream);
            assert_eq!((answer.status, answer.header("X-Tollgate-Llm-Guard")), (403, Some(guard)), "{answer}");
        }
    }
    assert_eq!(upstream.requests(), 2);
    let seen = hook.seen();
    let told = body_of(&seen[0]);
    assert_eq!(told, json!({"texts": ["all is good"], "api": "m", "key": "team a", "on": "request"}));
    assert_eq!(seen[0].header("Authorization"), Some("Bearer hook-key"));
    assert_eq!(body_of(&seen[1])["on"], "answer");
    assert_eq!(body_of(&openai.last())["model"], "omni");
    gateway.expect_no_panic();
}

#[test]
fn an_answer_that_somebody_objects_to_never_reaches_its_client() {
    let upstream = Upstream::start(|seen| {
        let stream = body_of(seen)["stream"] == true;
        let event = |delta: &str, stop: &str| {
            format!("data: {{\"id\":\"c\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\"finish_reason\":{stop}}}]}}\n\n")
        };
        match stream {
            true => reply(
                "200 OK",
                &[EVENTS],
                &format!(
                    "{}{}{}data: [DONE]\n\n",
                    event("\"content\":\"ev\"", "null"),
                    event("\"content\":\"il\"", "null"),
                    event("", "\"stop\"")
                ),
            ),
            false => reply(
                "200 OK",
                &[JSON],
                r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"evil"},"finish_reason":"stop"}]}"#,
            ),
        }
    });
    let hook = judge("evil", false);
    let of = |dry_run: bool| json!([{"name": "hook", "kind": "moderation", "url": hook.url(), "on": "answer", "dry_run": dry_run}]);
    let gateway = start(&upstream, of(false));
    for stream in [false, true] {
        let answer = ask(&gateway, CHAT, "Hi", stream);
        assert_eq!((answer.status, answer.text().contains("evil")), (403, false), "{answer}");
    }
    let gateway = start(&upstream, of(true));
    for stream in [false, true] {
        assert_eq!(said(&ask(&gateway, CHAT, "Hi", stream)), "evil");
    }
    eventually("both are counted", || count(&gateway, "hook", "dry_run") == 2.0);
}

#[test]
fn without_a_word_of_somebody_else_the_definition_decides() {
    let upstream = echo();
    let slow = Arc::new(AtomicBool::new(true));
    let is_slow = slow.clone();
    let silent = Upstream::start(move |_| {
        if is_slow.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_secs(2));
        }
        reply("200 OK", &[JSON], "nothing that is understood")
    });
    let of = |on_failure: &str| json!([{"name": "hook", "kind": "moderation", "url": silent.url(), "timeout_s": 0.3, "on_failure": on_failure}]);
    for (on_failure, status) in [("refuse", 503), ("pass", 200)] {
        let gateway = start(&upstream, of(on_failure));
        for is_slow in [true, false] {
            slow.store(is_slow, Ordering::SeqCst);
            assert_eq!(ask(&gateway, CHAT, "Hi", false).status, status, "{on_failure} {is_slow}");
        }
        assert_eq!(count(&gateway, "hook", "failed"), 2.0);
    }
}

#[test]
fn an_answer_must_fit_the_schema_of_its_request() {
    let upstream = echo();
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"]});
    let body = |text: &str, stream: bool| {
        json!({
            "model": "m", "stream": stream, "messages": [{"role": "user", "content": text}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}},
        })
    };
    let good = r#"{"name":"Jane","age":30}"#;
    let gateway = start(&upstream, json!([{"name": "shape", "kind": "schema", "on": "answer"}]));
    for stream in [false, true] {
        assert_eq!(said(&post(&gateway, CHAT, &body(good, stream))), good);
    }
    for bad in [r#"{"name":7,"age":30,"more":"text that never comes"}"#, r#"{"name":"Jane"}"#, "Sure, here it is", "```json"] {
        let whole = post(&gateway, CHAT, &body(bad, false));
        assert_eq!((whole.status, whole.header("X-Tollgate-Llm-Guard")), (502, Some("shape")), "{whole}");
        let stream = post(&gateway, CHAT, &body(bad, true));
        let text = stream.text();
        assert!(text.contains("`shape`") && !text.contains("\"finish_reason\":\"stop\""), "{text}");
        assert!(!said(&stream).contains("text that never"), "{text}");
    }
    // Without a schema there is nothing to fit.
    assert_eq!(said(&ask(&gateway, CHAT, "Sure", true)), "Sure");
    let mut broken = body(good, false);
    broken["response_format"]["json_schema"]["schema"] = json!({"type": "nothing"});
    assert_eq!(post(&gateway, CHAT, &broken).status, 400);
    let gateway = start(&upstream, json!([{"name": "shape", "kind": "schema", "on": "answer", "action": "report"}]));
    assert_eq!(said(&post(&gateway, CHAT, &body("Sure", true))), "Sure");
    assert_eq!(count(&gateway, "shape", "matched"), 1.0);
}

#[test]
fn kept_answers_are_guarded_for_each_who_gets_them() {
    let upstream = echo();
    let guards = json!([{"name": "people", "kind": "personal_data", "action": "redact"}]);
    let definition = models(&upstream, guards).set("tollgate/llm/cache", json!({"by": "api"}));
    let gateway = Setup::new(json!({})).api(definition).start();
    let mails = ["jane@example.com", "john@example.org"];
    for (at, mail) in mails.iter().enumerate() {
        for stream in [false, true] {
            let answer = ask(&gateway, CHAT, &format!("mail {mail}"), stream);
            assert_eq!(said(&answer), format!("mail {mail}"), "each has its own put back");
            let is_first = at == 0 && !stream;
            assert_eq!(answer.header("X-Tollgate-Llm-Cache"), Some(if is_first { "miss" } else { "hit" }), "{answer}");
        }
    }
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn the_official_clients_get_kept_and_guarded_answers() {
    let target = std::env::current_exe().expect("this program").ancestors().nth(3).expect("the target directory").to_owned();
    let venv = target.join("test-venv");
    if let Ok(reason) = std::fs::read_to_string(venv.join("models-unavailable")) {
        return skip(&reason);
    }
    let upstream = echo();
    // It speaks Chat Completions alone, so that answers of the other two APIs are translated.
    let llm = json!({
        "providers": [{"name": "p", "kind": "vllm", "url": upstream.url(), "models": ["*"]}],
        "cache": {"by": "api"},
        "guards": [
            {"name": "people", "kind": "personal_data", "action": "redact"},
            {"name": "words", "patterns": ["forbidden"]},
            {"name": "answers", "patterns": ["unwanted"], "on": "answer"},
        ],
    });
    let gateway = Setup::new(json!({})).api(api("m", "/m/", "").set("tollgate/llm", llm)).start();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_guarded_clients.py");
    let url = format!("http://127.0.0.1:{}/m", gateway.port);
    let output = Command::new(venv.join("bin/python")).args([script, &url]).output().expect("python");
    let (told, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.ends_with("all is well\n"), "{told}{complained}");
    let kept = upstream.seen().iter().filter(|seen| seen.text().contains("[EMAIL_1]")).count();
    assert_eq!(kept, 3, "one of each API");
    assert!(!upstream.seen().iter().any(|seen| seen.text().contains("@example")), "no address has left");
}

#[test]
fn changed_guards_hold_from_the_next_request_on() {
    let upstream = echo();
    let gateway = start(&upstream, json!([{"name": "words", "patterns": ["first"]}]));
    assert_eq!((ask(&gateway, CHAT, "first", false).status, ask(&gateway, CHAT, "second", false).status), (403, 200));
    gateway.write_api(&models(&upstream, json!([{"name": "words", "patterns": ["second"]}])));
    assert_eq!(gateway.reload().status, 200);
    eventually("the new ones hold", || ask(&gateway, CHAT, "second", false).status == 403);
    assert_eq!(ask(&gateway, CHAT, "first", false).status, 200);
    assert!(count(&gateway, "words", "refused") >= 2.0, "figures go on");
}

#[test]
fn other_answers_of_a_request_with_several_are_guarded_each() {
    let upstream = Upstream::start(|seen| {
        let text = |choice: usize, text: &str| {
            format!(
                "data: {}\n\n",
                json!({"id": "c", "choices": [{"index": choice, "delta": {"content": text}, "finish_reason": null}]})
            )
        };
        let end = |choice: usize| {
            format!("data: {}\n\n", json!({"id": "c", "choices": [{"index": choice, "delta": {}, "finish_reason": "stop"}]}))
        };
        assert_eq!(body_of(seen)["n"], 2);
        // The pieces of the two are mixed.
        let events = [
            text(0, "a ja"),
            text(1, "b jo"),
            text(0, "ne@exa"),
            text(1, "hn@exa"),
            text(0, "mple.com"),
            end(0),
            text(1, "mple.org c"),
            end(1),
        ];
        reply("200 OK", &[EVENTS], &format!("{}data: [DONE]\n\n", events.concat()))
    });
    let gateway = start(&upstream, json!([{"name": "out", "kind": "personal_data", "on": "answer", "action": "redact"}]));
    let body = json!({"model": "m", "n": 2, "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let answer = post(&gateway, CHAT, &body);
    let said = |choice: usize| -> String {
        let text = answer.text();
        let events = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
        let of = events.filter(|event| event["choices"][0]["index"] == choice);
        of.filter_map(|event| Some(event["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect()
    };
    assert_eq!((said(0).as_str(), said(1).as_str()), ("a [EMAIL]", "b [EMAIL] c"), "{answer}");
}

#[test]
fn much_text_and_bad_patterns_hold_up_nobody() {
    let upstream = echo();
    let gateway = start(
        &upstream,
        json!([
            {"name": "people", "kind": "personal_data", "action": "redact", "on": "both"},
            {"name": "hard", "patterns": ["(a*)*b(c|d)*x{3}", "(x+x+)+y"], "on": "both"},
        ]),
    );
    let mails: String = (0..200_000).map(|number| format!("a{number}@b.com ")).collect();
    assert_eq!(ask(&gateway, CHAT, &mails, false).status, 403, "more than can be put back");
    let text = "x".repeat(200_000);
    assert_eq!(said(&ask(&gateway, CHAT, &text, false)).len(), text.len());
    assert_eq!(said(&ask(&gateway, CHAT, &"x".repeat(3_000), true)).len(), 3_000);
    let brackets = format!(r#"{{"model":"m","messages":{}{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(gateway.connect().ask(request("POST", CHAT, &[JSON], &brackets)).status, 400);
    gateway.expect_no_panic();
}

#[test]
fn a_guard_that_cannot_be_is_refused_by_name() {
    let upstream = echo();
    let gateway = Setup::new(json!({})).api(api("other", "/other/", "http://127.0.0.1:1")).start();
    for (guard, expected) in [
        (json!({"name": "g"}), "guards[0].patterns"),
        (json!({"name": "g", "patterns": ["("]}), "guards[0].patterns[0]"),
        (json!({"name": "g", "patterns": ["a*"]}), "finds empty texts"),
        (json!({"name": "a b", "patterns": ["a"]}), "guards[0].name"),
        (json!({"name": "g", "kind": "secrets", "patterns": ["a"]}), "guards[0].patterns"),
        (json!({"name": "g", "kind": "secrets", "only": ["passwords"]}), "guards[0].only[0]"),
        (json!({"name": "g", "kind": "size"}), "bytes_max or tokens_max"),
        (json!({"name": "g", "kind": "size", "bytes_max": 1, "action": "redact"}), "guards[0].action"),
        (json!({"name": "g", "kind": "schema"}), "guards[0].on"),
        (json!({"name": "g", "kind": "moderation"}), "guards[0].url"),
        (json!({"name": "g", "kind": "moderation", "url": "http://h", "timeout_s": 100}), "guards[0].timeout_s"),
        (json!({"name": "g", "kind": "magic"}), "guards[0].kind"),
        (json!({"name": "g", "patterns": ["a"], "dryrun": true}), "guards[0].dryrun"),
    ] {
        let definition = models(&upstream, json!([guard])).set("name", "m");
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert!(answer.status == 400 && answer.text().contains(expected), "{guard}: {answer}");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m.json");
        std::fs::write(&file, definition.0.to_string()).unwrap();
        let checked = Command::new(env!("CARGO_BIN_EXE_tollgate")).arg("check").arg(&file).output().unwrap();
        let told = format!("{}{}", String::from_utf8_lossy(&checked.stdout), String::from_utf8_lossy(&checked.stderr));
        assert!(!checked.status.success() && told.contains(expected), "{guard}: {told}");
    }
}
