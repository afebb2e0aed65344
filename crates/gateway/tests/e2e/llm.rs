//! One endpoint in front of many providers of language models, which speak their documented formats.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::keys::{create, session_for};
use crate::harness::llm::{
    CHAT, CHAT_END, CHAT_EVENTS, EMBEDDINGS, EVENTS, JSON, MESSAGE, MESSAGE_EVENTS, RESPONSE, always, anthropic, chat, chat_stream,
    gateway_of, gemini, one_target, openai, post, said, streamed,
};
use crate::harness::{Connection, Gateway, Seen, Setup, Upstream, api, eventually, reply, request, skip};

fn start(llm: Value) -> Gateway {
    Setup::new(json!({"secrets": {"provider": "sk-provider-secret"}})).api(gateway_of("m", llm)).start()
}

#[test]
fn a_stream_without_a_first_token_in_time_is_the_next_provider_s() {
    let silent = Upstream::raw(|mut wire, _| {
        Seen::read(&mut wire);
        let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n");
        wire.expect_close();
    });
    let good = openai();
    let gateway = start(json!({
        "providers": [{"name": "silent", "kind": "openai", "url": silent.url()}, {"name": "good", "kind": "openai", "url": good.url()}],
        "models": [{"name": "m", "targets": [{"provider": "silent"}, {"provider": "good"}]}],
        "first_token_s": 0.3,
    }));
    let answer = chat_stream(&gateway, "m");
    assert_eq!((streamed(&answer).as_str(), answer.header("X-Tollgate-Llm-Provider")), ("Hello", Some("good")));
}

/// A provider of Anthropic's API whose stream goes on when the test says so, and tells when its connection is closed.
fn slow(steps: usize) -> (Upstream, mpsc::SyncSender<()>, mpsc::Receiver<()>) {
    let (go, may_go) = mpsc::sync_channel(100);
    let (closed, is_closed) = mpsc::channel();
    let channels = std::sync::Mutex::new((may_go, closed));
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        let (may_go, closed) = &*channels.lock().unwrap();
        let (begin, rest) = MESSAGE_EVENTS.split_at(MESSAGE_EVENTS.find("event: content_block_stop").unwrap());
        let _ = wire.try_send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{begin}"));
        for _ in 0..steps {
            while may_go.recv_timeout(Duration::from_millis(20)).is_err() {
                if wire.is_closed() {
                    let _ = closed.send(());
                    return;
                }
            }
            let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" again"}}"#;
            let _ = wire.try_send(format!("event: content_block_delta\ndata: {delta}\n\n"));
        }
        let _ = wire.try_send(rest);
    });
    (upstream, go, is_closed)
}

fn begin_stream(gateway: &Gateway, path: &str, model: &str) -> Connection {
    let body = json!({"model": model, "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    let mut wire = gateway.connect();
    wire.send(request("POST", path, &[JSON], &body.to_string()));
    assert!(wire.head().unwrap().raw.starts_with(b"HTTP/1.1 200"));
    wire
}

/// Reads chunks until one has this text.
fn read_until(wire: &mut Connection, text: &str) -> String {
    let mut all = String::new();
    while !all.contains(text) {
        let chunk = wire.chunk().unwrap_or_else(|error| panic!("{error:?} after {all}"));
        assert!(!chunk.is_empty(), "the stream ended: {all}");
        all.push_str(&String::from_utf8_lossy(&chunk));
    }
    all
}

/// A stream that its provider ends before the answer is over is shown as broken, also if it passes as it is.
#[test]
fn a_stream_that_ends_too_early_is_never_shown_as_complete() {
    let (begun, half) = (CHAT_EVENTS.split("data: ").nth(2).unwrap(), r#"data: {"id":"chatcmpl-1","ch"#);
    for (sent, asks_usage) in [("", false), (half, false), (half, true)].map(|(half, asks)| (format!("data: {begun}{half}"), asks))
    {
        let provider = Upstream::raw(move |mut wire, _| {
            while Seen::read(&mut wire).is_some() {
                let size = sent.len();
                let chunk =
                    format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n{sent}\r\n0\r\n\r\n");
                let _ = wire.try_send(chunk);
            }
        });
        let gateway = start(json!({"providers": [{"name": "own", "kind": "openai", "url": provider.url(), "models": ["*"]}]}));
        let mut body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
        if asks_usage {
            body["stream_options"] = json!({"include_usage": true});
        }
        let mut wire = gateway.connect();
        wire.send(request("POST", "/m/v1/chat/completions", &[JSON], &body.to_string()));
        wire.head().unwrap();
        let mut text = String::new();
        let is_whole = loop {
            match wire.chunk() {
                Ok(chunk) if chunk.is_empty() => break true,
                Ok(chunk) => text.push_str(&String::from_utf8_lossy(&chunk)),
                Err(_) => break false,
            }
        };
        assert!(text.contains("Hello"), "{text}");
        // Half an event that the client has got cannot be followed by another: the connection breaks.
        assert_eq!((text.contains("broke off"), is_whole), (!asks_usage, !asks_usage), "{text}");
    }
}

/// A client gets one error, whoever tells it.
#[test]
fn an_error_that_the_provider_tells_in_its_stream_is_told_once() {
    let begun = CHAT_EVENTS.split("data: ").nth(2).unwrap();
    let sent = format!("data: {begun}data: {{\"error\":{{\"message\":\"too much to do\",\"type\":\"server_error\"}}}}\n\n");
    let provider = Upstream::start(move |_| reply("200 OK", &[EVENTS], &sent));
    let gateway = start(json!({"providers": [{"name": "own", "kind": "openai", "url": provider.url(), "models": ["*"]}]}));
    for more in [json!({}), json!({"include_usage": true})] {
        let body = json!({"model": "m", "stream": true, "stream_options": more, "messages": [{"role": "user", "content": "Hi"}]});
        let text = post(&gateway, "/m/v1/chat/completions", &body).text();
        assert_eq!((text.matches("\"error\"").count(), text.contains("too much to do")), (1, true), "{text}");
    }
    eventually("it is no answer", || gateway.control("GET", "/tyk/metrics", "").text().contains("outcome=\"broken\"} 2"));
}

/// Requests that wait for a slow provider have a share of memory each.
#[test]
fn one_client_cannot_fill_the_memory() {
    let provider = Upstream::start(|_| {
        thread::sleep(Duration::from_secs(3));
        reply("200 OK", &[JSON], MESSAGE)
    });
    let gateway = start(json!({"providers": [{"name": "slow", "kind": "anthropic", "url": provider.url(), "models": ["*"]}]}));
    let before = gateway.rss_kib();
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}], "stop": vec!["a"; 500_000]});
    let statuses: Vec<u16> = thread::scope(|scope| {
        let all: Vec<_> = (0..24).map(|_| scope.spawn(|| post(&gateway, "/m/v1/chat/completions", &body).status)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(statuses.contains(&503), "{statuses:?}");
    let grown = gateway.rss_kib().saturating_sub(before) >> 10;
    assert!(grown < 800, "{grown} MiB");
    assert_eq!(chat(&gateway, "m").status, 200, "small requests are served");
    gateway.expect_no_panic();
}

/// A provider's own limit holds for its answers, not the one for other upstreams.
#[test]
fn an_answer_may_take_longer_than_other_responses() {
    let provider = Upstream::start(|_| {
        thread::sleep(Duration::from_millis(2_500));
        reply("200 OK", &[JSON], CHAT)
    });
    let llm = json!({"providers": [{"name": "own", "kind": "openai", "url": provider.url(), "models": ["*"]}]});
    let gateway = Setup::new(json!({"proxy_default_timeout": 1})).api(gateway_of("m", llm)).start();
    let answer = gateway.connect().ask(request(
        "POST",
        "/m/v1/chat/completions",
        &[JSON],
        &json!({"model": "m", "messages": [{"role": "user", "content": "x"}]}).to_string(),
    ));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn a_client_that_leaves_ends_the_provider_s_stream() {
    for path in ["/m/v1/messages", "/m/v1/chat/completions"] {
        let (upstream, _go, is_closed) = slow(1);
        let gateway =
            start(json!({"providers": [{"name": "claude", "kind": "anthropic", "url": upstream.url(), "models": ["*"]}]}));
        let mut wire = begin_stream(&gateway, path, "claude-x");
        read_until(&mut wire, "Hello");
        drop(wire);
        is_closed.recv_timeout(Duration::from_secs(20)).unwrap_or_else(|_| panic!("{path}: the provider goes on"));
        let line = r#"tollgate_llm_requests_total{api="m",model="*",provider="claude",outcome="client_left"} 1"#;
        eventually("it is counted", || gateway.control("GET", "/tyk/metrics", "").text().contains(line));
    }
}

#[test]
fn a_stream_goes_on_while_its_definition_changes() {
    let (upstream, go, _) = slow(1);
    let other = anthropic();
    let terms = |url: String| json!({"providers": [{"name": "claude", "kind": "anthropic", "url": url, "models": ["*"]}]});
    let gateway = start(terms(upstream.url()));
    let mut wire = begin_stream(&gateway, "/m/v1/chat/completions", "claude-x");
    read_until(&mut wire, "Hello");
    gateway.write_api(&gateway_of("m", terms(other.url())));
    assert_eq!(gateway.reload().status, 200);
    eventually("the new provider answers", || chat(&gateway, "claude-x").status == 200 && other.requests() > 0);
    go.send(()).unwrap();
    let rest = read_until(&mut wire, "[DONE]");
    assert!(rest.contains(" again"), "{rest}");
    let line = r#"tollgate_llm_tokens_total{api="m",model="*",provider="claude",kind="input"} "#;
    let counted = || {
        let metrics = gateway.control("GET", "/tyk/metrics", "").text();
        let found = metrics.lines().find_map(|metric| metric.strip_prefix(line)?.parse::<u64>().ok());
        found.unwrap_or_else(|| panic!("{metrics}"))
    };
    eventually("both are counted", || counted() == 11 * (other.requests() as u64 + 1));
}

#[test]
fn a_hostile_provider_costs_its_own_answer_and_nothing_else() {
    // An event without end, to a client of another API; a connection that breaks in the middle of an event; one between two.
    let endless = Arc::new(AtomicUsize::new(0));
    let sent = endless.clone();
    let first = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n";
    let hostile = Upstream::raw(move |mut wire, _| {
        let Some(seen) = Seen::read(&mut wire) else { return };
        let _ = wire.try_send(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n",
            first.len()
        ));
        let text = seen.text();
        if text.contains("endless") {
            let piece = "x".repeat(1 << 16);
            while wire.try_send(format!("10000\r\n{piece}\r\n")).is_ok() {
                if sent.fetch_add(piece.len(), Ordering::Relaxed) > 256 << 20 {
                    return;
                }
            }
        } else if text.contains("middle") {
            let _ = wire.try_send("10\r\ndata: {\"choices\"\r\n");
            thread::sleep(Duration::from_millis(100));
            wire.reset();
        }
    });
    let gateway = start(json!({"providers": [{"name": "h", "kind": "openai", "url": hostile.url(), "models": ["*"]}]}));
    for model in ["endless", "middle", "between"] {
        let body = json!({"model": model, "max_tokens": 9, "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
        let answer = post(&gateway, "/m/v1/messages", &body);
        let text = answer.text();
        assert!(text.contains("Hello") && text.contains("event: error") && !text.contains("message_stop"), "{model}: {text}");
    }
    assert!(endless.load(Ordering::Relaxed) < 64 << 20, "an event has a bound");
    for model in ["middle", "between"] {
        let answer = chat_stream(&gateway, model).text();
        assert!(answer.contains("Hello") && answer.contains("\"error\"") && !answer.contains("finish_reason"), "{model}: {answer}");
    }
    let line = r#"tollgate_llm_requests_total{api="m",model="*",provider="h",outcome="broken"} 5"#;
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(metrics.contains(line), "{metrics}");
    gateway.expect_no_panic();
}

#[test]
fn keys_limits_and_figures_are_the_api_s() {
    let (openai, anthropic) = (openai(), anthropic());
    let llm = json!({
        "providers": [
            {"name": "open", "kind": "openai", "url": openai.url(), "key": "provider-key", "models": ["gpt-4o"]},
            {"name": "claude", "kind": "anthropic", "url": anthropic.url(), "key": "provider-key"},
        ],
        "models": [{"name": "smart", "targets": one_target("claude", "claude-sonnet-4-5")}],
    });
    let gateway = Setup::new(json!({})).api(gateway_of("m", llm).with_keys()).start();
    assert_eq!(chat(&gateway, "gpt-4o").status, 401);
    assert_eq!((openai.requests(), gateway.get("/m/v1/models").status), (0, 401));
    let key = create(&gateway, &session_for(&["m"], json!({"rate": 5, "per": 60})));
    let line = format!("Authorization: Bearer {key}");
    let ask = |path: &str, body: Value| gateway.connect().ask(request("POST", path, &[JSON, &line], &body.to_string()));
    let question = json!([{"role": "user", "content": "Hi"}]);
    for stream in [false, true] {
        let answer = ask("/m/v1/chat/completions", json!({"model": "gpt-4o", "messages": question, "stream": stream}));
        assert_eq!(answer.status, 200, "{answer}");
        let answer = ask("/m/v1/messages", json!({"model": "smart", "max_tokens": 9, "messages": question, "stream": stream}));
        assert_eq!(answer.status, 200, "{answer}");
    }
    assert!(openai.seen().iter().chain(&anthropic.seen()).all(|seen| !seen.text().contains(&key)));
    let list = gateway.connect().ask(request("GET", "/m/v1/models", &[&line], "")).json();
    let names: Vec<&str> = list["data"].as_array().unwrap().iter().map(|model| model["id"].as_str().unwrap()).collect();
    assert_eq!((list["object"].as_str(), names), (Some("list"), vec!["smart", "gpt-4o"]));
    assert_eq!(ask("/m/v1/chat/completions", json!({"model": "gpt-4o", "messages": question})).status, 429, "the key's own limit");

    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    for line in [
        r#"tollgate_llm_requests_total{api="m",model="gpt-4o",provider="open",outcome="ok"} 2"#,
        r#"tollgate_llm_tokens_total{api="m",model="gpt-4o",provider="open",kind="input"} 14"#,
        r#"tollgate_llm_tokens_total{api="m",model="gpt-4o",provider="open",kind="output"} 6"#,
        r#"tollgate_llm_tokens_total{api="m",model="smart",provider="claude",kind="input"} 22"#,
        r#"tollgate_llm_tokens_total{api="m",model="smart",provider="claude",kind="output"} 10"#,
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let cost = metrics.lines().find_map(|metric| {
        metric.strip_prefix(r#"tollgate_llm_cost_usd_total{api="m",model="smart",provider="claude"} "#)?.parse::<f64>().ok()
    });
    // 3 and 15 dollars for a million tokens.
    assert!(cost.is_some_and(|cost| (cost - 2.0 * (11.0 * 3.0 + 5.0 * 15.0) / 1e6).abs() < 1e-9), "{cost:?}");
}

#[test]
fn a_definition_that_cannot_be_is_refused_by_name() {
    let gateway = Setup::new(json!({})).api(api("other", "/other/", "http://127.0.0.1:1")).start();
    let provider = json!({"name": "p", "kind": "openai"});
    let cases = [
        (json!({"providers": []}), "$.tollgate.llm.providers"),
        (json!({"providers": [provider]}), "serves no model"),
        (json!({"providers": [{"name": "p", "kind": "azure", "models": ["*"]}]}), "$.tollgate.llm.providers[0].url"),
        (json!({"providers": [{"name": "p", "kind": "bedrock", "models": ["*"]}]}), "region"),
        (json!({"providers": [{"name": "p", "kind": "soothsayer", "models": ["*"]}]}), "$.tollgate.llm.providers[0].kind"),
        (
            json!({"providers": [provider], "models": [{"name": "m", "targets": [{"provider": "q"}]}]}),
            "models[0].targets[0].provider",
        ),
        (json!({"providers": [provider, provider], "models": [{"name": "m", "targets": [{"provider": "p"}]}]}), "another provider"),
        (json!({"providers": [{"name": "p", "models": ["*"], "kee": "x"}]}), "$.tollgate.llm.providers[0].kee"),
        (json!({"providers": [{"name": "p", "models": ["*"]}], "budgets": [{"name": "b"}]}), "$.tollgate.llm.budgets[0].max"),
        (
            json!({"providers": [{"name": "p", "models": ["*"]}], "budgets": [{"name": "b", "max": 1, "unit": "euro"}]}),
            "$.tollgate.llm.budgets[0].unit",
        ),
        (
            json!({"providers": [{"name": "p", "models": ["*"]}], "budgets": [{"name": "b", "max": 1, "perr": "day"}]}),
            "$.tollgate.llm.budgets[0].perr",
        ),
        (
            json!({"providers": [{"name": "p", "models": ["*"]}], "prices": [{"model": "m", "input": -1}]}),
            "$.tollgate.llm.prices[0].input",
        ),
    ];
    for (llm, expected) in cases {
        let mut definition = gateway_of("m", llm.clone());
        definition = definition.set("name", "m");
        let answer = gateway.control("POST", "/tyk/apis", &definition.0.to_string());
        assert!(answer.status == 400 && answer.text().contains(expected), "{llm}: {answer}");
    }
}

#[test]
fn the_official_clients_reach_every_provider() {
    let target = std::env::current_exe().expect("this program").ancestors().nth(3).expect("the target directory").to_owned();
    let venv = target.join("test-venv");
    if let Ok(reason) = std::fs::read_to_string(venv.join("models-unavailable")) {
        return skip(&reason);
    }
    let (openai, anthropic, gemini) = (openai(), anthropic(), gemini());
    let llm = json!({
        "providers": [
            {"name": "open", "kind": "openai", "url": openai.url(), "models": ["e"]},
            {"name": "claude", "kind": "anthropic", "url": anthropic.url()},
            {"name": "google", "kind": "gemini", "url": gemini.url()},
        ],
        "models": [
            {"name": "a", "targets": one_target("open", "gpt-4o")},
            {"name": "b", "targets": one_target("claude", "claude-sonnet-4-5")},
            {"name": "c", "targets": one_target("google", "gemini-2.5-flash")},
        ],
    });
    let gateway = Setup::new(json!({})).api(gateway_of("m", llm).with_keys()).start();
    let key = create(&gateway, &session_for(&["m"], json!({})));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_clients.py");
    let url = format!("http://127.0.0.1:{}/m", gateway.port);
    let none = json!({"llm_budgets": [{"name": "tiny", "max": 1, "unit": "tokens", "per": "month"}]});
    let poor = create(&gateway, &session_for(&["m"], none));
    let output = Command::new(venv.join("bin/python")).args([script, &url, &key, &poor]).output().expect("python");
    let (told, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.ends_with("all is well\n"), "{told}{complained}");
}

#[test]
fn the_next_provider_answers_where_one_cannot() {
    let good = openai();
    let cut = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            let _ = wire.try_send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"id\":");
        }
    });
    let in_stream = always("200 OK", &[EVENTS], "data: {\"error\":{\"message\":\"too much to do\",\"code\":503}}\n\n");
    let html = always("200 OK", &["Content-Type: text/html"], "<html>Please sign in</html>");
    let half = always("200 OK", &[JSON], r#"{"id":"half"#);
    let down = always("503 Service Unavailable", &[JSON], r#"{"error":{"message":"down"}}"#);
    let locked = always("401 Unauthorized", &[JSON], r#"{"error":{"message":"Incorrect API key provided: sk-provider-secret"}}"#);
    let bad = [
        ("cut", cut.url()),
        ("stream", in_stream.url()),
        ("html", html.url()),
        ("half", half.url()),
        ("down", down.url()),
        ("locked", locked.url()),
        ("gone", "http://127.0.0.1:1".to_owned()),
    ];
    let mut providers = vec![json!({"name": "good", "kind": "openai", "url": good.url()})];
    providers
        .extend(bad.iter().map(|(name, url)| json!({"name": name, "kind": "openai", "url": url, "key": "$secret_conf.provider"})));
    let targets = |name: &str| json!([{"provider": name, "model": "x"}, {"provider": "good", "model": "gpt-4o"}]);
    let mut models: Vec<Value> = bad.iter().map(|(name, _)| json!({"name": name, "targets": targets(name)})).collect();
    models.extend(bad.iter().map(|(name, _)| json!({"name": format!("only-{name}"), "targets": one_target(name, "x")})));
    let gateway = start(json!({"providers": providers, "models": models}));
    for (name, _) in &bad {
        assert_eq!(streamed(&chat_stream(&gateway, name)), "Hello", "{name}");
        if *name != "stream" {
            let answer = chat(&gateway, name);
            assert_eq!((said(&answer).as_str(), answer.header("X-Tollgate-Llm-Provider")), ("Hello", Some("good")), "{name}");
        }
    }
    for name in ["cut", "html", "half", "locked", "gone"] {
        let answer = chat(&gateway, &format!("only-{name}"));
        assert_eq!(answer.status, 502, "{name}: {answer}");
        assert!(answer.json()["error"]["message"].is_string(), "{answer}");
        assert!(!answer.text().contains("sk-") && !answer.text().contains("127.0.0.1"), "{answer}");
    }
    assert_eq!(chat(&gateway, "only-down").status, 503);
    let log = gateway.log();
    assert!(log.contains("a provider of a model gave no answer") && !log.contains("sk-provider-secret"), "{log}");
    gateway.expect_no_panic();
}

#[test]
fn every_client_api_reaches_every_provider() {
    let (openai, anthropic, gemini) = (openai(), anthropic(), gemini());
    let gateway = start(json!({
        "providers": [
            {"name": "open", "kind": "openai", "url": openai.url()},
            {"name": "claude", "kind": "anthropic", "url": anthropic.url()},
            {"name": "google", "kind": "gemini", "url": gemini.url(), "key": "$secret_conf.provider"},
        ],
        "models": [
            {"name": "a", "targets": one_target("open", "gpt-4o")},
            {"name": "b", "targets": one_target("claude", "claude-sonnet-4-5")},
            {"name": "c", "targets": one_target("google", "gemini-2.5-flash")},
        ],
        "output_tokens_max": 77,
    }));
    for model in ["a", "b", "c"] {
        for stream in [false, true] {
            let question = json!([{"role": "user", "content": "Hi"}]);
            let body = json!({"model": model, "messages": question, "stream": stream});
            let answer = post(&gateway, "/m/v1/chat/completions", &body);
            assert_eq!(if stream { streamed(&answer) } else { said(&answer) }, "Hello", "{model} {stream}");

            let body = json!({"model": model, "input": "Hi", "stream": stream});
            // This provider speaks it itself, and its stream is another test's.
            if !(model == "a" && stream) {
                let answer = post(&gateway, "/m/v1/responses", &body);
                assert_eq!(answer.status, 200, "{answer}");
                let last = answer.text().lines().filter_map(|line| line.strip_prefix("data: ")).next_back().map(str::to_owned);
                let whole: Value = if stream { serde_json::from_str(&last.unwrap()).unwrap() } else { answer.json() };
                let whole = if stream { &whole["response"] } else { &whole };
                assert_eq!(whole["output"][0]["content"][0]["text"], "Hello", "{model} {stream}: {answer}");
            }

            let body = json!({"model": model, "max_tokens": 9, "messages": question, "stream": stream});
            let answer = post(&gateway, "/m/v1/messages", &body);
            assert_eq!(answer.status, 200, "{answer}");
            match stream {
                false => assert_eq!(answer.json()["content"][0]["text"], "Hello", "{model}"),
                true => {
                    let text = answer.text();
                    assert!(text.contains(r#""text":"Hello""#) && text.contains("event: message_stop"), "{model}: {text}");
                }
            }

            let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            let body = json!({"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]});
            let answer = post(&gateway, &format!("/m/v1beta/models/{model}:{verb}"), &body);
            let text = answer.text();
            assert_eq!(answer.status, 200, "{answer}");
            assert!(text.contains(r#""text":"Hello""#) && text.contains(r#""finishReason":"STOP""#), "{model}: {text}");
        }
    }
    assert_eq!(gemini.last().header("X-Goog-Api-Key"), Some("sk-provider-secret"));
    chat(&gateway, "b");
    let sent: Value = serde_json::from_slice(&anthropic.last().body).unwrap();
    assert_eq!((&sent["max_tokens"], &sent["model"]), (&json!(77), &json!("claude-sonnet-4-5")));
    let refused =
        post(&gateway, "/m/v1/chat/completions", &json!({"model": "b", "messages": [{"role": "user", "content": "Hi"}], "n": 2}));
    assert_eq!(refused.status, 400);
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("`n`"), "{refused}");
    let refused = post(&gateway, "/m/v1/messages/count_tokens", &json!({"model": "a", "messages": []}));
    assert_eq!((refused.status, &refused.json()["error"]["type"]), (404, &json!("not_found_error")), "{refused}");
    gateway.expect_no_panic();
}

#[test]
fn what_the_provider_speaks_itself_passes_byte_for_byte() {
    let (openai, anthropic) = (openai(), anthropic());
    let gateway = start(json!({
        "providers": [
            {"name": "open", "kind": "openai", "url": openai.url(), "key": "$secret_conf.provider", "models": ["gpt-*", "e"]},
            {"name": "claude", "kind": "anthropic", "url": anthropic.url(), "key": "$secret_conf.provider", "models": ["claude-*"]},
        ],
    }));
    let body = r#"{ "messages":[{"role":"user","content":"Hi"}],"logit_bias":{"1":2},  "model":"gpt-4o" }"#;
    let lines = [JSON, "Authorization: Bearer client-secret", "X-Api-Key: client-secret", "Cookie: client-secret"];
    let answer = gateway.connect().ask(request("POST", "/m/v1/chat/completions", &lines, body));
    assert_eq!((answer.status, answer.text().as_str()), (200, CHAT), "{answer}");
    assert_eq!((answer.header("X-Tollgate-Llm-Tokens-In"), answer.header("X-Tollgate-Llm-Tokens-Out")), (Some("7"), Some("3")));
    assert_eq!((answer.header("X-Tollgate-Llm-Provider"), answer.header("X-Tollgate-Llm-Model")), (Some("open"), Some("gpt-4o")));
    let seen = openai.last();
    assert_eq!((seen.text().contains(body), seen.header("Authorization")), (true, Some("Bearer sk-provider-secret")));
    assert!(!seen.text().contains("client-secret"), "a client's credentials are for the gateway alone: {}", seen.text());
    assert!(!answer.to_string().contains("sk-provider-secret"));

    let answer = chat_stream(&gateway, "gpt-4o");
    assert_eq!(answer.text(), format!("{CHAT_EVENTS}{CHAT_END}"), "the client did not ask for usage");
    assert!(openai.last().text().contains("include_usage"), "the gateway did");

    let answer = post(&gateway, "/m/v1/responses", &json!({"model": "gpt-4o", "input": "Hi"}));
    assert_eq!((answer.status, answer.text().as_str(), answer.header("X-Tollgate-Llm-Tokens-In")), (200, RESPONSE, Some("7")));
    let answer = post(&gateway, "/m/v1/embeddings", &json!({"model": "e", "input": "Hi"}));
    assert_eq!((answer.status, answer.text().as_str(), answer.header("X-Tollgate-Llm-Tokens-In")), (200, EMBEDDINGS, Some("4")));

    let question = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}]});
    let lines = [JSON, "Anthropic-Beta: some-beta", "X-Api-Key: client-secret"];
    let answer = gateway.connect().ask(request("POST", "/m/v1/messages", &lines, &question.to_string()));
    assert_eq!((answer.status, answer.text().as_str(), answer.header("X-Tollgate-Llm-Tokens-Out")), (200, MESSAGE, Some("5")));
    let seen = anthropic.last();
    assert_eq!((seen.header("X-Api-Key"), seen.header("Anthropic-Beta")), (Some("sk-provider-secret"), Some("some-beta")));
    let answer = post(&gateway, "/m/v1/messages/count_tokens", &question);
    assert_eq!((answer.status, answer.json()["input_tokens"].as_u64()), (200, Some(42)));
    let mut question = question;
    question["stream"] = true.into();
    assert_eq!(post(&gateway, "/m/v1/messages", &question).text(), MESSAGE_EVENTS);
    assert!(!gateway.log().contains("sk-provider-secret"));
    gateway.expect_no_panic();
}
