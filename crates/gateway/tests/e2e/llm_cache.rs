//! Answers of language models that are kept: who gets them, in which form, and what is never kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::keys::{create, session_for};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::shared_limits::all_count;

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";
const CHAT: &str = "/m/v1/chat/completions";

fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

/// A provider of OpenAI's API whose answers are numbered.
fn numbered() -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen| answer_of(seen, count.fetch_add(1, Ordering::SeqCst) + 1))
}

fn answer_of(seen: &Seen, number: usize) -> Vec<u8> {
    let body = body_of(seen);
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8});
    let text = format!("answer {number}");
    if seen.target.ends_with("/embeddings") {
        let data = json!([{"object": "embedding", "index": 0, "embedding": [number]}]);
        return reply("200 OK", &[JSON], &json!({"object": "list", "data": data, "model": "e", "usage": usage}).to_string());
    }
    if seen.target.ends_with("/responses") {
        let part = json!({"type": "output_text", "text": text, "annotations": []});
        let item = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]});
        let usage = json!({"input_tokens": 5, "output_tokens": 3, "total_tokens": 8});
        let response =
            json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [item], "usage": usage});
        return reply("200 OK", &[JSON], &response.to_string());
    }
    let stop = if body["max_tokens"] == 1 || body["max_completion_tokens"] == 1 { "length" } else { "stop" };
    if body["stream"] != true {
        let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": stop});
        let answer = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage});
        return reply("200 OK", &[JSON], &answer.to_string());
    }
    let chunk = |choices: Value, usage: Value| {
        format!(
            "data: {}\n\n",
            json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": choices, "usage": usage})
        )
    };
    let mut events = chunk(json!([{"index": 0, "delta": {"content": text}, "finish_reason": null}]), Value::Null);
    events += &chunk(json!([{"index": 0, "delta": {}, "finish_reason": stop}]), Value::Null);
    if body["stream_options"]["include_usage"] == true {
        events += &chunk(json!([]), usage);
    }
    reply("200 OK", &[EVENTS], &format!("{events}data: [DONE]\n\n"))
}

fn models(id: &str, upstream: &Upstream, kind: &str, more: Value) -> Definition {
    let mut llm = json!({"providers": [{"name": "p", "kind": kind, "url": upstream.url(), "models": ["*"]}], "cache": {}});
    more.as_object().unwrap().iter().for_each(|(name, value)| llm[name] = value.clone());
    api(id, &format!("/{id}/"), "").set("tollgate/llm", llm)
}

fn start(upstream: &Upstream, more: Value) -> Gateway {
    Setup::new(json!({})).api(models("m", upstream, "openai", more)).start()
}

fn post(gateway: &Gateway, path: &str, lines: &[&str], body: &Value) -> Response {
    let lines = [&[JSON], lines].concat();
    gateway.connect().ask(request("POST", path, &lines, &body.to_string()))
}

fn question(more: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    more.as_object().unwrap().iter().for_each(|(name, value)| body[name] = value.clone());
    body
}

fn chat(gateway: &Gateway, more: Value) -> Response {
    post(gateway, CHAT, &[], &question(more))
}

/// Which answer it is, and where it came from.
fn told(answer: &Response) -> (String, Option<&str>) {
    let text = answer.text();
    let digits = |at: usize| text[at + 7..].chars().take_while(char::is_ascii_digit).collect::<String>();
    (text.find("answer ").map(digits).unwrap_or_else(|| panic!("{answer}")), answer.header("X-Tollgate-Llm-Cache"))
}

fn is(answer: &Response, number: &str, source: &str) {
    assert_eq!(told(answer), (number.to_owned(), Some(source)), "{answer}");
}

#[test]
fn the_same_request_is_answered_once_whole_or_as_a_stream() {
    for kind in ["openai", "vllm"] {
        let upstream = numbered();
        let gateway = Setup::new(json!({})).api(models("m", &upstream, kind, json!({}))).start();
        let mut asked = 0;
        for path in [CHAT, "/m/v1/messages", "/m/v1/responses"] {
            for first in [false, true] {
                // OpenAI's own stream of responses is another test's.
                if path.ends_with("responses") && kind == "openai" && first {
                    continue;
                }
                asked += 1;
                let number = asked.to_string();
                let text = format!("{path} {first}");
                let ask = |stream: bool| {
                    let body = match path {
                        "/m/v1/responses" => json!({"model": "m", "input": text, "stream": stream}),
                        _ => {
                            json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": text}], "stream": stream})
                        }
                    };
                    post(&gateway, path, &[], &body)
                };
                is(&ask(first), &number, "miss");
                for stream in [first, !first] {
                    let answer = ask(stream);
                    is(&answer, &number, "hit");
                    let content_type = if stream { "text/event-stream" } else { "application/json" };
                    assert_eq!((answer.status, answer.header("Content-Type")), (200, Some(content_type)));
                    assert_eq!(
                        (answer.header("X-Tollgate-Llm-Provider"), answer.header("X-Tollgate-Llm-Model")),
                        (Some("p"), Some("m"))
                    );
                    let text = answer.text();
                    match (path, stream) {
                        (_, false) => assert_eq!(answer.header("X-Tollgate-Llm-Tokens-Out"), Some("3"), "{path} {first}: {answer}"),
                        (CHAT, true) => {
                            assert!(text.contains(r#""finish_reason":"stop""#) && text.ends_with("data: [DONE]\n\n"), "{text}")
                        }
                        ("/m/v1/messages", true) => {
                            assert!(text.contains(r#""output_tokens":3"#) && text.contains("message_stop"), "{text}")
                        }
                        (_, true) => assert!(text.contains("event: response.completed"), "{text}"),
                    }
                }
            }
        }
        assert_eq!(upstream.requests(), asked);
        let embed = || post(&gateway, "/m/v1/embeddings", &[], &json!({"model": "m", "input": "Hi"}));
        let (first, second) = (embed(), embed());
        assert_eq!((first.text(), second.header("X-Tollgate-Llm-Cache")), (second.text(), Some("hit")));
        let metrics = gateway.control("GET", "/tyk/metrics", "").text();
        let line = format!(r#"tollgate_llm_cache_requests_total{{api="m",outcome="hit"}} {}"#, asked * 2 + 1);
        assert!(metrics.contains(&line), "{line}: {metrics}");
        gateway.expect_no_panic();
    }
}

#[test]
fn a_stream_passes_event_by_event_while_it_is_kept() {
    let (go, may_go) = std::sync::mpsc::sync_channel::<()>(1);
    let may_go = std::sync::Mutex::new(may_go);
    let upstream = Upstream::raw(move |mut wire, connection| {
        while Seen::read(&mut wire).is_some() {
            let event = |delta: &str, stop: &str| {
                let data = format!(r#"data: {{"id":"c","choices":[{{"index":0,"delta":{{{delta}}},"finish_reason":{stop}}}]}}"#);
                format!("{:x}\r\n{data}\n\n\r\n", data.len() + 2)
            };
            let head = format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nTransfer-Encoding: chunked\r\n\r\n");
            let _ = wire.try_send(format!("{head}{}", event(r#""content":"answer 1""#, "null")));
            // The first one goes on for nobody.
            let goes_on = || {
                if connection == 0 {
                    thread::sleep(Duration::from_millis(20));
                    return false;
                }
                may_go.lock().unwrap().recv_timeout(Duration::from_millis(20)).is_ok()
            };
            while !goes_on() {
                if wire.is_closed() {
                    return;
                }
            }
            let _ = wire.try_send(format!("{}e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n", event("", "\"stop\"")));
        }
    });
    let gateway = start(&upstream, json!({}));
    let body = question(json!({"stream": true})).to_string();
    let begin = || {
        let mut wire = gateway.connect();
        wire.send(request("POST", CHAT, &[JSON], &body));
        wire.head().unwrap();
        let first = String::from_utf8_lossy(&wire.chunk().unwrap()).into_owned();
        assert!(first.contains("answer 1") && !first.contains("stop"), "{first}");
        wire
    };
    // A client that leaves leaves nothing behind.
    drop(begin());
    eventually("the first one is over", || {
        let line = r#"tollgate_llm_requests_total{api="m",model="*",provider="p",outcome="client_left"} 1"#;
        gateway.control("GET", "/tyk/metrics", "").text().contains(line)
    });
    let mut wire = begin();
    // One more for the first, which may not have seen yet that its client has left.
    (0..2).for_each(|_| go.send(()).unwrap());
    while !wire.chunk().unwrap().is_empty() {}
    is(&chat(&gateway, json!({})), "1", "hit");
}

#[test]
fn each_tenant_has_its_own_answers() {
    for (by, others) in [("key", [2, 3, 4]), ("organisation", [1, 2, 1]), ("api", [1, 1, 1])] {
        let upstream = numbered();
        let gateway = Setup::new(json!({})).api(models("m", &upstream, "openai", json!({"cache": {"by": by}})).with_keys()).start();
        let key = |org: &str| create(&gateway, &session_for(&["m"], json!({"org_id": org})));
        let ask = |key: &str| post(&gateway, CHAT, &[&format!("Authorization: Bearer {key}")], &question(json!({})));
        let first = key("default");
        is(&ask(&first), "1", "miss");
        // Nobody is somebody else by a header.
        let forged = ["X-Tollgate-Caller: x", "X-Tollgate-Llm-Organisation: x", &format!("Authorization: Bearer {first}")];
        is(&post(&gateway, CHAT, &forged, &question(json!({}))), "1", "hit");
        let keys = [key("default"), key("other"), key("default")];
        let mut known = vec![1];
        for (key, number) in keys.iter().zip(others) {
            let source = if known.contains(&number) { "hit" } else { "miss" };
            known.push(number);
            is(&ask(key), &number.to_string(), source);
        }
        is(&ask(&first), "1", "hit");
    }
}

#[test]
fn what_differs_or_cannot_be_played_again_is_asked_anew() {
    let upstream = numbered();
    let gateway = start(&upstream, json!({}));
    is(&chat(&gateway, json!({})), "1", "miss");
    is(&chat(&gateway, json!({"temperature": 0})), "2", "miss");
    is(&chat(&gateway, json!({"max_tokens": 100})), "3", "miss");
    is(&chat(&gateway, json!({"tools": [{"type": "function", "function": {"name": "f"}}]})), "4", "miss");
    // A line that changes answers is a part of what is asked.
    for (line, number) in [("Anthropic-Beta: a", "5"), ("Anthropic-Beta: b", "6"), ("OpenAI-Beta: a", "7")] {
        is(&post(&gateway, CHAT, &[line], &question(json!({}))), number, "miss");
        is(&post(&gateway, CHAT, &[line], &question(json!({}))), number, "hit");
    }
    is(&chat(&gateway, json!({"user": "somebody", "metadata": {"a": "b"}})), "1", "hit");
    // Randomness, what the one form does not have, what is to be understood in two ways, and what the client does not want.
    for more in [json!({"temperature": 0.5}), json!({"n": 2}), json!({"logit_bias": {"1": 2}})] {
        let (first, second) = (chat(&gateway, more.clone()), chat(&gateway, more.clone()));
        assert_eq!((told(&first).1, told(&second).1), (None, None), "{more}");
        assert_ne!(told(&first).0, told(&second).0, "{more}");
    }
    let twice = r#"{"model":"m","messages":[{"role":"user","content":"evil","content":"Hi"}]}"#;
    let answer = gateway.connect().ask(request("POST", CHAT, &[JSON], twice));
    assert_eq!(told(&answer).1, None);
    let no_store = post(&gateway, CHAT, &["Cache-Control: no-store"], &question(json!({})));
    assert_eq!((told(&no_store).1, told(&no_store).0 == "1"), (None, false));
    let fresh = post(&gateway, CHAT, &["Cache-Control: no-cache"], &question(json!({})));
    assert_eq!(told(&fresh).1, Some("miss"));
    let gateway = start(&upstream, json!({"cache": {"any_temperature": true}}));
    let random = chat(&gateway, json!({"temperature": 0.5}));
    is(&chat(&gateway, json!({"temperature": 0.5})), &told(&random).0, "hit");
}

#[test]
fn only_good_and_whole_answers_are_kept() {
    let count = AtomicUsize::new(0);
    let upstream = Upstream::raw(move |mut wire, _| {
        while let Some(seen) = Seen::read(&mut wire) {
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            let text = seen.text();
            let good = answer_of(&seen, number);
            if text.contains("wrong") {
                let _ =
                    wire.try_send(reply("400 Bad Request", &[JSON], &format!(r#"{{"error":{{"message":"answer {number}"}}}}"#)));
            } else if text.contains("broken") {
                let events = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"answer {number}\"}}}}]}}\n\n");
                let _ = wire.try_send(reply("200 OK", &[EVENTS], &events));
            } else if text.contains("refused") {
                let choice = json!({"index": 0, "message": {"content": null, "refusal": format!("answer {number}")}, "finish_reason": "stop"});
                let _ = wire.try_send(reply("200 OK", &[JSON], &json!({"id": "c", "choices": [choice]}).to_string()));
            } else {
                let _ = wire.try_send(good);
            }
        }
    });
    let gateway = start(&upstream, json!({}));
    let ask = |text: &str, stream: bool| chat(&gateway, json!({"messages": [{"role": "user", "content": text}], "stream": stream}));
    for (text, stream) in [("wrong", false), ("broken", true), ("refused", false)] {
        let (first, second) = (ask(text, stream), ask(text, stream));
        assert_ne!(told(&first).0, told(&second).0, "{text}: {second}");
        assert_eq!(told(&second).1, Some("miss"), "{text}: {second}");
    }
    // An answer that its own bound ended is what the same request gets; one that a budget ended is not.
    let short = chat(&gateway, json!({"max_tokens": 1}));
    is(&chat(&gateway, json!({"max_tokens": 1})), &told(&short).0, "hit");
    let budgets = json!([{"name": "all", "max": 10_000, "unit": "tokens", "per": "month"}]);
    let gateway = start(&upstream, json!({"budgets": budgets}));
    let short = chat(&gateway, json!({"max_tokens": 1}));
    assert_ne!(told(&chat(&gateway, json!({"max_tokens": 1}))).0, told(&short).0);
}

#[test]
fn a_kept_answer_costs_no_budget() {
    let upstream = numbered();
    let budgets = json!([{"name": "all", "max": 1, "unit": "requests", "per": "month"}]);
    let gateway = start(&upstream, json!({"budgets": budgets}));
    is(&chat(&gateway, json!({})), "1", "miss");
    is(&chat(&gateway, json!({})), "1", "hit");
    assert_eq!(chat(&gateway, json!({"seed": 1})).status, 429);
}

#[test]
fn purges_meet_kept_answers_and_those_under_way() {
    let hold = Arc::new(AtomicUsize::new(0));
    let (held, count) = (hold.clone(), AtomicUsize::new(0));
    let upstream = Upstream::start(move |seen| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        while held.load(Ordering::SeqCst) > 0 {
            thread::sleep(Duration::from_millis(20));
        }
        answer_of(seen, number)
    });
    let gateway = start(&upstream, json!({}));
    let mut number = 0;
    for scope in [
        json!({"everything": true}),
        json!({"urls": ["/v1/chat/completions"]}),
        json!({"prefixes": ["/v1"]}),
        json!({"tags": ["llm-model:m"]}),
    ] {
        number += 1;
        is(&chat(&gateway, json!({})), &number.to_string(), "miss");
        is(&chat(&gateway, json!({})), &number.to_string(), "hit");
        let answer = gateway.control("POST", "/tyk/cache/m/purge", &scope.to_string());
        assert_eq!(answer.status, 200, "{answer}");
    }
    hold.store(1, Ordering::SeqCst);
    thread::scope(|scope| {
        let asked = scope.spawn(|| chat(&gateway, json!({})));
        eventually("it is asked", || upstream.requests() == number + 1);
        assert_eq!(gateway.control("DELETE", "/tyk/cache/m", "").status, 200);
        hold.store(0, Ordering::SeqCst);
        is(&asked.join().unwrap(), &(number + 1).to_string(), "miss");
    });
    is(&chat(&gateway, json!({})), &(number + 2).to_string(), "miss");
}

#[test]
fn an_answer_expires_and_outlives_a_changed_definition() {
    let upstream = numbered();
    let gateway = start(&upstream, json!({"cache": {"ttl_s": 2}}));
    is(&chat(&gateway, json!({})), "1", "miss");
    gateway.write_api(&models("m", &upstream, "openai", json!({"cache": {"ttl_s": 2}, "first_token_s": 5})));
    assert_eq!(gateway.reload().status, 200);
    eventually("it expires", || told(&chat(&gateway, json!({}))).1 == Some("miss"));
    let other = numbered();
    gateway.write_api(&models(
        "m",
        &upstream,
        "openai",
        json!({
            "cache": {}, "providers": [{"name": "q", "kind": "openai", "url": other.url(), "models": ["*"]}],
        }),
    ));
    assert_eq!(gateway.reload().status, 200);
    eventually("another provider gives other answers", || other.requests() == 1 || chat(&gateway, json!({})).status != 200);
}

#[test]
fn many_clients_with_one_question_ask_once() {
    let count = AtomicUsize::new(0);
    let upstream = Upstream::start(move |seen| {
        thread::sleep(Duration::from_millis(500));
        answer_of(seen, count.fetch_add(1, Ordering::SeqCst) + 1)
    });
    let gateway = start(&upstream, json!({}));
    thread::scope(|scope| {
        let asking: Vec<_> = (0..8)
            .map(|at| {
                scope.spawn({
                    let gateway = &gateway;
                    move || chat(gateway, json!({"stream": at % 2 == 0}))
                })
            })
            .collect();
        asking.into_iter().for_each(|answer| assert_eq!(told(&answer.join().unwrap()).0, "1"));
    });
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn gateways_on_one_redis_share_answers_and_purges() {
    let (server, upstream) = (Server::start(&[]), numbered());
    let conf = on(&server);
    let gateways: Vec<Gateway> =
        (0..2).map(|_| Setup::new(conf.clone()).api(models("m", &upstream, "openai", json!({}))).start()).collect();
    all_count(&conf, gateways.len());
    let [one, other] = gateways.as_slice() else { panic!("there are two") };
    is(&chat(one, json!({})), "1", "miss");
    eventually("it is shared", || {
        let keys = server.cli(&["KEYS", "cache-mm-llm-*"]);
        keys.contains("cache-mm-llm-")
    });
    is(&chat(other, json!({"stream": true})), "1", "hit");
    eventually("a purge is confirmed", || one.control("DELETE", "/tyk/cache/m", "").status == 200);
    is(&chat(other, json!({})), "2", "miss");
    one.expect_no_panic();
    other.expect_no_panic();
}

#[test]
fn a_cache_that_cannot_be_is_refused_by_name() {
    let upstream = numbered();
    let gateway = Setup::new(json!({})).api(api("other", "/other/", "http://127.0.0.1:1")).start();
    for (cache, expected) in [
        (json!({"ttl_s": 1e9 as u64 * 10}), "$.tollgate.llm.cache.ttl_s"),
        (json!({"by": "user"}), "$.tollgate.llm.cache.by"),
        (json!({"ttl": 5}), "$.tollgate.llm.cache.ttl"),
    ] {
        let definition = models("m", &upstream, "openai", json!({"cache": cache})).set("name", "m");
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert!(answer.status == 400 && answer.text().contains(expected), "{cache}: {answer}");
    }
}
