//! Which provider of a model is asked, and with which key: limits that are learnt, slow providers, conversations that stay where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::shared_limits::all_count;

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";
const CHAT: &str = r#"{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#;
const CHUNKS: &str = r#"data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"Hello"}}]}

data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

"#;
const MESSAGE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}"#;

fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

/// A whole answer or a stream of OpenAI's API.
fn answer(seen: &Seen) -> Vec<u8> {
    if body_of(seen)["stream"] == true { reply("200 OK", &[EVENTS], CHUNKS) } else { reply("200 OK", &[JSON], CHAT) }
}

fn openai() -> Upstream {
    Upstream::start(answer)
}

fn gateway_of(llm: Value) -> Definition {
    api("m", "/m/", "").set("tollgate/llm", llm)
}

fn start(llm: Value) -> Gateway {
    Setup::new(json!({"secrets": {"one": "sk-secret-one", "two": "sk-secret-two"}})).api(gateway_of(llm)).start()
}

fn ask(gateway: &Gateway, lines: &[&str], body: &Value) -> Response {
    let lines: Vec<&str> = [JSON].iter().chain(lines).copied().collect();
    gateway.connect().ask(request("POST", "/m/v1/chat/completions", &lines, &body.to_string()))
}

fn chat(gateway: &Gateway, model: &str) -> Response {
    ask(gateway, &[], &json!({"model": model, "messages": [{"role": "user", "content": "Hi"}]}))
}

fn chat_stream(gateway: &Gateway, model: &str) -> Response {
    ask(gateway, &[], &json!({"model": model, "stream": true, "messages": [{"role": "user", "content": "Hi"}]}))
}

fn provider_of(answer: &Response) -> String {
    assert_eq!(answer.status, 200, "{answer}");
    answer.header("X-Tollgate-Llm-Provider").unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn bearer(seen: &Seen) -> String {
    seen.header("Authorization").and_then(|line| line.strip_prefix("Bearer ")).unwrap_or_default().to_owned()
}

fn keys_seen(upstream: &Upstream) -> BTreeMap<String, usize> {
    upstream.seen().iter().fold(BTreeMap::new(), |mut counts, seen| {
        *counts.entry(bearer(seen)).or_default() += 1;
        counts
    })
}

fn two_keys(upstream: &Upstream, kind: &str) -> Value {
    json!({"providers": [{
        "name": "p", "kind": kind, "url": upstream.url(), "keys": ["$secret_conf.one", "$secret_conf.two"], "models": ["*"],
    }]})
}

#[test]
fn a_key_whose_limit_is_used_up_is_passed_over_before_it_is_refused() {
    let counts = Mutex::new(BTreeMap::<String, u32>::new());
    // Three requests for each key, as OpenAI tells it.
    let upstream = Upstream::start(move |seen| {
        let mut counts = counts.lock().unwrap();
        let count = counts.entry(bearer(seen)).or_default();
        *count += 1;
        if *count > 3 {
            return reply("429 Too Many Requests", &[JSON, "Retry-After: 600"], r#"{"error":{"message":"Rate limit reached"}}"#);
        }
        let left = format!("x-ratelimit-remaining-requests: {}", 3 - *count);
        reply("200 OK", &[JSON, "x-ratelimit-limit-requests: 3", &left, "x-ratelimit-reset-requests: 10m0s"], CHAT)
    });
    let gateway = start(two_keys(&upstream, "openai"));
    for _ in 0..6 {
        assert_eq!(chat(&gateway, "gpt-4o").status, 200);
    }
    assert_eq!(keys_seen(&upstream), BTreeMap::from([("sk-secret-one".to_owned(), 3), ("sk-secret-two".to_owned(), 3)]));
    let refused = chat(&gateway, "gpt-4o");
    assert_eq!((refused.status, upstream.requests()), (429, 6), "nobody asks for what would be refused: {refused}");
    let wait: u64 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!((1..=201).contains(&wait), "three in ten minutes: {wait}");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    for line in [
        r#"tollgate_llm_key_requests_total{api="m",provider="p",key="2"} 3"#,
        r#"tollgate_llm_key_refusals_total{api="m",provider="p",key="1",cause="limit"} 0"#,
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    gateway.expect_no_panic();
}

#[test]
fn a_request_goes_where_its_tokens_have_room() {
    let upstream = Upstream::start(|seen| {
        let left = if seen.header("X-Api-Key") == Some("sk-secret-one") { 20 } else { 900 };
        let lines = [
            JSON.to_owned(),
            "anthropic-ratelimit-input-tokens-limit: 1000".to_owned(),
            format!("anthropic-ratelimit-input-tokens-remaining: {left}"),
            "anthropic-ratelimit-input-tokens-reset: 2099-01-01T00:00:00Z".to_owned(),
        ];
        reply("200 OK", &lines.iter().map(String::as_str).collect::<Vec<_>>(), MESSAGE)
    });
    let gateway = start(two_keys(&upstream, "anthropic"));
    let keys = || upstream.seen().iter().map(|seen| seen.header("X-Api-Key").unwrap().to_owned()).collect::<BTreeSet<_>>();
    eventually("both are known", || {
        assert_eq!(chat(&gateway, "claude").status, 200);
        keys().len() == 2
    });
    let before = upstream.requests();
    let long = json!({"model": "claude", "messages": [{"role": "user", "content": "some words ".repeat(100)}]});
    for _ in 0..8 {
        assert_eq!(ask(&gateway, &[], &long).status, 200);
    }
    assert!(upstream.seen().iter().skip(before).all(|seen| seen.header("X-Api-Key") == Some("sk-secret-two")));
}

#[test]
fn what_one_key_is_refused_for_another_one_is_asked_with() {
    let cases = [
        ("429 Too Many Requests", "limit", r#"{"error":{"message":"slow down"}}"#),
        ("401 Unauthorized", "unknown_key", r#"{"error":{"message":"Incorrect API key provided: sk-secret-one"}}"#),
    ];
    for (status, cause, text) in cases {
        let upstream = Upstream::start(move |seen| match bearer(seen).as_str() {
            "sk-secret-one" => reply(status, &[JSON, "Retry-After: 600"], text),
            _ => answer(seen),
        });
        let gateway = start(two_keys(&upstream, "openai"));
        eventually("the first key is tried", || {
            let answer = chat(&gateway, "gpt-4o");
            assert_eq!(answer.status, 200, "{answer}");
            keys_seen(&upstream).contains_key("sk-secret-one")
        });
        for _ in 0..10 {
            assert_eq!(chat(&gateway, "gpt-4o").status, 200);
        }
        assert_eq!(keys_seen(&upstream).get("sk-secret-one"), Some(&1), "{status}");
        let line = format!(r#"tollgate_llm_key_refusals_total{{api="m",provider="p",key="1",cause="{cause}"}} 1"#);
        let metrics = gateway.control("GET", "/tyk/metrics", "").text();
        assert!(metrics.contains(&line), "{line}: {metrics}");
        let log = gateway.log();
        assert!(!log.contains("sk-secret") && !metrics.contains("sk-secret"), "{log}");
        assert_eq!(log.contains("does not accept the gateway's key"), cause == "unknown_key", "{log}");
    }
}

#[test]
fn a_limit_of_one_model_rests_no_other_of_its_pattern() {
    let upstream = Upstream::start(|seen| match body_of(seen)["model"].as_str() {
        Some("gpt-a") => reply("429 Too Many Requests", &[JSON, "Retry-After: 60"], r#"{"error":{"message":"slow down"}}"#),
        _ => answer(seen),
    });
    let gateway = start(json!({"providers": [{"name": "p", "kind": "openai", "url": upstream.url(), "models": ["gpt-*"]}]}));
    for _ in 0..3 {
        assert_eq!((chat(&gateway, "gpt-a").status, chat(&gateway, "gpt-b").status), (429, 200));
    }
    assert_eq!(upstream.requests(), 4, "the limited model is asked for once");
}

#[test]
fn a_request_waits_for_room_that_is_there_soon() {
    let upstream = Upstream::start(|_| {
        let lines =
            [JSON, "x-ratelimit-limit-requests: 200", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1m0s"];
        reply("200 OK", &lines, CHAT)
    });
    let gateway = start(json!({"providers": [{"name": "p", "kind": "openai", "url": upstream.url(), "models": ["*"]}]}));
    for _ in 0..3 {
        assert_eq!(chat(&gateway, "gpt-4o").status, 200);
    }
}

#[test]
fn a_provider_s_key_never_reaches_a_client_whatever_the_status() {
    let fault = r#"{"error":{"message":"Incorrect API key provided: sk-secret-one","type":"x","code":401}}"#;
    let first = CHUNKS.split_inclusive("\n\n").next().unwrap();
    let upstream = Upstream::raw(move |mut wire, _| {
        let Some(seen) = Seen::read(&mut wire) else { return };
        if body_of(&seen)["stream"] != true {
            let _ = wire.try_send(reply("200 OK", &[JSON], fault));
            return;
        }
        let begin = if body_of(&seen)["model"] == "late" { first } else { "" };
        let text = format!("{begin}data: {fault}\n\n");
        let (one, two) = text.split_at(text.find("secret").unwrap());
        let _ = wire.try_send(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nConnection: close\r\n\r\n{one}"));
        thread::sleep(Duration::from_millis(200));
        let _ = wire.try_send(two);
    });
    let gateway = start(json!({"providers": [
        {"name": "p", "kind": "openai", "url": upstream.url(), "key": "$secret_conf.one", "models": ["*"]},
    ]}));
    for (model, stream) in [("early", true), ("late", true), ("whole", false)] {
        let answer =
            ask(&gateway, &[], &json!({"model": model, "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}));
        let text = answer.to_string();
        assert!(text.contains("error") && !text.contains("sk-secret") && !text.contains("secret-one"), "{model}: {text}");
        assert_eq!(answer.status, if model == "late" { 200 } else { 502 }, "{text}");
        assert_eq!(text.contains("provided: *************"), model == "late", "{text}");
        let body = json!({"model": model, "stream": stream, "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
        let answer = gateway.connect().ask(request("POST", "/m/v1/messages", &[JSON], &body.to_string())).to_string();
        assert!(answer.contains("error") && !answer.contains("sk-secret"), "{model}: {answer}");
    }
    assert!(!gateway.log().contains("sk-secret"), "{}", gateway.log());
    gateway.expect_no_panic();
}

#[test]
fn priorities_costs_and_latencies_say_who_is_asked_first() {
    let (one, two) = (openai(), openai());
    let slow = Upstream::start(|seen| {
        thread::sleep(Duration::from_secs(2));
        answer(seen)
    });
    let down = Upstream::start(|_| reply("500 Internal Server Error", &[JSON], "{}"));
    let provider = |name: &str, upstream: &Upstream| json!({"name": name, "kind": "openai", "url": upstream.url()});
    let gateway = start(json!({
        "providers": [provider("one", &one), provider("two", &two), provider("slow", &slow), provider("down", &down)],
        "models": [
            {"name": "priority", "targets": [
                {"provider": "one", "priority": 2}, {"provider": "two", "priority": 1}, {"provider": "down", "weight": 5},
            ]},
            {"name": "cost", "prefer": "cost", "targets": [
                {"provider": "one", "model": "dear"}, {"provider": "slow", "model": "unknown"}, {"provider": "two", "model": "cheap"},
            ]},
            {"name": "latency", "prefer": "latency", "targets": [{"provider": "slow"}, {"provider": "one"}]},
        ],
        "prices": [{"model": "dear", "input": 5, "output": 9}, {"model": "cheap", "input": 1, "output": 2}],
    }));
    assert_eq!((provider_of(&chat(&gateway, "priority")).as_str(), down.requests()), ("two", 1));
    assert_eq!(provider_of(&chat(&gateway, "cost")), "two");
    for _ in 0..2 {
        chat_stream(&gateway, "latency");
    }
    assert_eq!((slow.requests(), one.requests()), (1, 1), "both are asked to be known");
    for _ in 0..3 {
        assert_eq!(provider_of(&chat_stream(&gateway, "latency")), "one");
    }
}

#[test]
fn a_provider_whose_first_tokens_are_late_is_passed_over() {
    let good = openai();
    let late = Upstream::start(|seen| {
        thread::sleep(Duration::from_millis(300));
        answer(seen)
    });
    let gateway = start(json!({
        "providers": [{"name": "late", "kind": "openai", "url": late.url()}, {"name": "good", "kind": "openai", "url": good.url()}],
        "models": [{"name": "m", "targets": [{"provider": "late"}, {"provider": "good"}]}, {"name": "only", "targets": [{"provider": "late", "model": "m"}]}],
        "slow": {"first_token_s": 0.2, "rest_s": 600},
    }));
    for number in 0..8 {
        let answered = provider_of(&chat_stream(&gateway, "m"));
        assert_eq!(answered, if number < 5 { "late" } else { "good" }, "{number}");
    }
    assert_eq!(provider_of(&chat_stream(&gateway, "only")), "late", "it is better than nobody");
    assert!(gateway.log().contains("a model is passed over"), "{}", gateway.log());
}

#[test]
fn a_conversation_stays_where_it_is_at_every_gateway() {
    let (one, two) = (openai(), openai());
    for (sticky, line) in [("conversation", None), ("header:X-Thread", Some("X-Thread"))] {
        let llm = json!({
            "providers": [
                {"name": "one", "kind": "openai", "url": one.url(), "keys": ["$secret_conf.one", "$secret_conf.two"]},
                {"name": "two", "kind": "openai", "url": two.url()},
            ],
            "models": [{"name": "m", "targets": [{"provider": "one", "weight": 1}, {"provider": "two", "weight": 1}]}],
            "sticky": sticky,
        });
        let gateways = [start(llm.clone()), start(llm)];
        let mut used = BTreeSet::new();
        for number in 0..12 {
            let mut messages = vec![
                json!({"role": "system", "content": "You are kind."}),
                json!({"role": "user", "content": if line.is_none() { format!("Question {number}") } else { "Hi".to_owned() }}),
            ];
            let header = line.map(|line| format!("{line}: {number}")).unwrap_or_default();
            let mut places = BTreeSet::new();
            for turn in 0..4 {
                let body = json!({"model": "m", "messages": messages});
                let lines: Vec<&str> = [header.as_str()].into_iter().filter(|line| !line.is_empty()).collect();
                let provider = provider_of(&ask(&gateways[turn % 2], &lines, &body));
                let key = bearer(&if provider == "one" { one.last() } else { two.last() });
                places.insert((provider, key));
                messages.push(json!({"role": "assistant", "content": "Hello"}));
                messages.push(json!({"role": "user", "content": format!("More {turn}")}));
            }
            assert_eq!(places.len(), 1, "{sticky} {number}: {places:?}");
            used.extend(places);
        }
        assert_eq!(used.len(), 3, "all targets and keys are used: {used:?}");
    }
}

#[test]
fn what_one_gateway_is_refused_the_others_do_not_try() {
    let server = Server::start(&[]);
    let count = AtomicUsize::new(0);
    let upstream = Upstream::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => reply("429 Too Many Requests", &[JSON, "Retry-After: 300"], r#"{"error":{"message":"slow down"}}"#),
        _ => reply("200 OK", &[JSON], CHAT),
    });
    let llm = json!({"providers": [{"name": "p", "kind": "openai", "url": upstream.url(), "key": "k", "models": ["*"]}]});
    let conf = on(&server);
    let gateways: Vec<Gateway> = (0..2).map(|_| Setup::new(conf.clone()).api(gateway_of(llm.clone())).start()).collect();
    all_count(&conf, gateways.len());
    assert_eq!(chat(&gateways[0], "m").status, 429);
    // The other one asks until it is told.
    eventually("it knows", || chat(&gateways[1], "m").status == 429);
    let (asked, refused) = (upstream.requests(), chat(&gateways[1], "m"));
    let wait_s: u64 = refused.header("Retry-After").unwrap().parse().unwrap();
    assert!((1..=300).contains(&wait_s) && refused.text().contains("too many requests"), "{refused}");
    assert_eq!((chat(&gateways[1], "other").status, upstream.requests()), (200, asked + 1), "another model has its own limit");
    assert!(!gateways.iter().any(|gateway| gateway.log().contains("panicked")));
}

#[test]
fn a_stream_is_asked_of_two_only_where_the_definition_wants_it() {
    let (closed, is_closed) = mpsc::channel();
    let closed = Mutex::new(closed);
    let silent = Upstream::raw(move |mut wire, _| {
        while Seen::read(&mut wire).is_some_and(|seen| body_of(&seen)["stream"] != true) {
            let _ = wire.try_send(reply("200 OK", &[JSON], CHAT));
        }
        wire.expect_close();
        let _ = closed.lock().unwrap().send(());
    });
    let good = openai();
    let llm = |hedge_after_s: f64| {
        json!({
            "providers": [{"name": "silent", "kind": "openai", "url": silent.url()}, {"name": "good", "kind": "openai", "url": good.url()}],
            "models": [{"name": "m", "targets": [{"provider": "silent"}, {"provider": "good"}]}],
            "hedge_after_s": hedge_after_s,
        })
    };
    let gateway = start(llm(0.2));
    assert_eq!(provider_of(&chat_stream(&gateway, "m")), "good");
    is_closed.recv_timeout(Duration::from_secs(20)).expect("who was slower is not waited for");
    assert_eq!((provider_of(&chat(&gateway, "m")).as_str(), good.requests()), ("silent", 1), "whole answers are asked of one");
    let line = r#"tollgate_llm_requests_total{api="m",model="m",provider="silent",outcome="client_left"} 1"#;
    assert!(gateway.control("GET", "/tyk/metrics", "").text().contains(line));

    let gateway = start(llm(0.0));
    let mut wire = gateway.connect();
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]}).to_string();
    wire.send(request("POST", "/m/v1/chat/completions", &[JSON], &body));
    thread::sleep(Duration::from_millis(500));
    assert_eq!(good.requests(), 1, "nobody else is asked");
    gateway.expect_no_panic();
}

#[test]
fn routing_that_cannot_be_is_refused_by_name() {
    let gateway = Setup::new(json!({})).api(api("other", "/other/", "http://127.0.0.1:1")).start();
    let provider = json!({"name": "p", "models": ["*"]});
    let with = |name: &str, value: Value| {
        let mut llm = json!({"providers": [provider]});
        llm[name] = value;
        llm
    };
    let cases = [
        (json!({"providers": [{"name": "p", "models": ["*"], "key": "a", "keys": ["b"]}]}), "$.tollgate.llm.providers[0].keys"),
        (json!({"providers": [{"name": "p", "models": ["*"], "keys": ["b", "b"]}]}), "$.tollgate.llm.providers[0].keys[1]"),
        (json!({"providers": [{"name": "p", "models": ["*"], "keys": [""]}]}), "$.tollgate.llm.providers[0].keys[0]"),
        (with("sticky", json!("cookie")), "$.tollgate.llm.sticky"),
        (with("sticky", json!("header:a b")), "$.tollgate.llm.sticky"),
        (with("slow", json!({"share": 0.5})), "$.tollgate.llm.slow.first_token_s"),
        (with("slow", json!({"first_token_s": 1, "share": 2})), "$.tollgate.llm.slow.share"),
        (with("slow", json!({"first_token_s": 1, "shape": 1})), "$.tollgate.llm.slow.shape"),
        (json!({"providers": [provider], "first_token_s": 5, "hedge_after_s": 5}), "$.tollgate.llm.hedge_after_s"),
        (json!({"providers": [provider], "first_token_s": 5, "slow": {"first_token_s": 6}}), "$.tollgate.llm.slow.first_token_s"),
        (
            with("models", json!([{"name": "m", "prefer": "cost", "targets": [{"provider": "p", "weight": 1}]}])),
            "$.tollgate.llm.models[0].prefer",
        ),
        (
            with("models", json!([{"name": "m", "prefer": "luck", "targets": [{"provider": "p"}]}])),
            "$.tollgate.llm.models[0].prefer",
        ),
    ];
    for (llm, expected) in cases {
        let definition = gateway_of(llm.clone()).set("name", "m");
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert!(answer.status == 400 && answer.text().contains(expected), "{llm}: {answer}");
    }
}
