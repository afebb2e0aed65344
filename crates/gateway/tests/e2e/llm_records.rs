//! What requests to language models took: in records, the access log, the live tail, spans, metrics, and sums of spend.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::{Value, json};

use crate::commands::tollgate;
use crate::harness::collector::{Collector, attributes, to};
use crate::harness::definition::merge;
use crate::harness::keys::{create, session_for};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, reply, request};
use crate::servers::Server;
use crate::shared_keys::on;

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";
const PROMPT: &str = "my-secret-prompt";

/// A provider of OpenAI's API.
pub(crate) fn openai() -> Upstream {
    Upstream::start(|seen| {
        let body: Value = serde_json::from_slice(&seen.body).unwrap_or_default();
        let usage = json!({
            "prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500,
            "prompt_tokens_details": {"cached_tokens": 400}, "completion_tokens_details": {"reasoning_tokens": 100},
        });
        if body["stream"] != true {
            let choice = json!({"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"});
            let answer = json!({"id": "c", "object": "chat.completion", "model": "gpt-4o", "choices": [choice], "usage": usage});
            return reply("200 OK", &[JSON], &answer.to_string());
        }
        let chunk = |delta: Value, stop: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": stop});
            format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "model": "gpt-4o", "choices": [choice]}))
        };
        let last = json!({"id": "c", "object": "chat.completion.chunk", "model": "gpt-4o", "choices": [], "usage": usage});
        let text = chunk(json!({"content": "Hello"}), Value::Null) + &chunk(json!({}), json!("stop"));
        reply("200 OK", &[EVENTS], &format!("{text}data: {last}\n\ndata: [DONE]\n\n"))
    })
}

/// A provider that has failed, and repeats what it was asked.
pub(crate) fn failing() -> Upstream {
    Upstream::start(|seen| {
        let told = json!({"error": {"message": format!("cannot answer {}", seen.text()), "type": "server_error"}});
        reply("500 Internal Server Error", &[JSON], &told.to_string())
    })
}

/// Two providers of one model, of which the first fails.
pub(crate) fn models(id: &str, first: &Upstream, second: &Upstream) -> Definition {
    let llm = json!({
        "providers": [
            {"name": "broken", "kind": "vllm", "url": first.url()},
            {"name": "open", "kind": "openai", "url": second.url(), "models": ["gpt-*"]},
        ],
        "models": [{"name": "smart", "targets": [
            {"provider": "broken", "model": "llama"}, {"provider": "open", "model": "gpt-4o"},
        ]}],
        "budgets": [{"name": "mine", "of": "key", "max": 20000, "unit": "tokens", "per": "month"}],
    });
    api(id, &format!("/{id}/"), "").set("do_not_track", false).set("tollgate/llm", llm)
}

pub(crate) fn ask(gateway: &Gateway, key: &str, more: Value) -> Response {
    let mut body = json!({"model": "smart", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 600});
    merge(&mut body, &more);
    let line = format!("Authorization: {key}");
    gateway.connect().ask(request("POST", "/m/v1/chat/completions", &[JSON, &line], &body.to_string()))
}

pub(crate) fn recording(directory: &Path) -> Value {
    let (log, records) = (directory.join("access.log"), directory.join("records.log"));
    json!({
        "enable_analytics": true, "access_logs": {"enabled": true}, "log_format": "json",
        // Only an API can say that requests to models are stored.
        "analytics_config": {"enable_detailed_recording": true},
        "tollgate": {"threads": 1, "access_log": {"file": log}, "analytics": {"file": records}}
    })
}

pub(crate) fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[track_caller]
fn near(number: &Value, expected: f64) {
    assert!(number.as_f64().is_some_and(|number| (number - expected).abs() < 1e-9), "{number} is not {expected}");
}

#[test]
fn a_record_says_what_a_request_took_and_nothing_of_its_prompt() {
    let (first, second) = (failing(), openai());
    let directory = tempfile::tempdir().unwrap();
    let gateway = Setup::new(recording(directory.path())).api(models("m", &first, &second).with_keys()).start();
    let key = create(&gateway, &session_for(&["m"], json!({"alias": "ann"})));
    assert_eq!(ask(&gateway, &key, json!({"stream": true})).status, 200);
    assert_eq!(ask(&gateway, &key, json!({"model": "gpt-4o"})).status, 200);
    assert_eq!(ask(&gateway, &key, json!({"max_tokens": 19_999})).status, 200, "the rest is its bound");
    let refused = ask(&gateway, &key, json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "x".repeat(18_000)}]}));
    assert_eq!(refused.status, 429, "{refused}");
    assert_eq!(ask(&gateway, &key, json!({"model": "none"})).status, 404);

    let (log, records) = (directory.path().join("access.log"), directory.path().join("records.log"));
    eventually("all are written", || lines(&log).len() == 5 && lines(&records).len() == 5);
    let stats: Vec<Value> = lines(&records).iter().map(|record| record["llm_stats"].clone()).collect();
    let of_first = &stats[0];
    let shown = ["operation", "stream", "model", "provider", "provider_model", "outcome", "finish", "estimated"]
        .map(|name| of_first[name].clone());
    assert_eq!(json!(shown), json!(["chat", true, "smart", "open", "gpt-4o", "ok", "stop", false]), "{of_first}");
    let tokens = ["input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens"].map(|name| of_first[name].clone());
    assert_eq!(json!(tokens), json!([1000, 500, 400, 100]));
    near(&of_first["cost_usd"], 0.6 * 0.0025 + 0.4 * 0.00125 + 0.5 * 0.01);
    assert!(of_first["first_token_ms"].as_f64().is_some_and(|ms| ms > 0.0), "{of_first}");
    let attempts = of_first["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{of_first}");
    assert_eq!(attempts[0]["reason"], "the provider answered with status 500");
    assert_eq!((&attempts[0]["provider"], &attempts[0]["outcome"]), (&json!("broken"), &json!("failed")));
    assert_eq!(
        (&stats[1]["stream"], &stats[1]["first_token_ms"], &stats[1]["outcome"]),
        (&json!(false), &Value::Null, &json!("ok"))
    );
    assert_eq!(
        (&stats[3]["outcome"], &stats[3]["budget"], &stats[3]["attempts"]),
        (&json!("no_budget"), &json!("mine"), &json!([]))
    );
    assert!(stats[3]["reason"].as_str().unwrap().contains("the budget `mine` of the key"), "{}", stats[3]);
    assert_eq!((&stats[4]["outcome"], &stats[4]["model"]), (&json!("unknown_model"), &json!("none")));

    let line = &lines(&log)[0];
    let names =
        ["llm_provider", "llm_model", "llm_provider_model", "llm_outcome", "llm_input_tokens", "llm_output_tokens", "llm_attempts"];
    let shown = names.map(|name| line[name].clone());
    assert_eq!(json!(shown), json!(["open", "smart", "gpt-4o", "ok", 1000, 500, attempts.len()]), "{line}");
    near(&line["llm_cost_usd"], 0.007);
    assert_eq!(lines(&log)[3]["llm_budget"], "mine");
    assert!(lines(&records).iter().all(|record| record["raw_request"] == "" && record["raw_response"] == ""));
    for path in [&log, &records] {
        assert!(!fs::read_to_string(path).unwrap().contains(PROMPT), "a prompt is in {path:?}");
    }
    assert!(!gateway.log().contains(PROMPT), "{}", gateway.log());
    // What was refused is there for whoever asks why.
    let tail = gateway.control("GET", "/tyk/tail", "").json();
    let kept: Vec<&Value> = tail["entries"].as_array().unwrap().iter().filter(|entry| entry["status"] == 429).collect();
    assert_eq!((kept.len(), &kept[0]["llm"]["budget"], &kept[0]["alias"]), (1, &json!("mine"), &json!("ann")), "{tail}");
    gateway.expect_no_panic();
}

#[test]
fn what_an_answer_took_is_recorded_also_if_its_client_hangs_up() {
    let (go, may_end) = mpsc::channel::<()>();
    let may_end = std::sync::Mutex::new(may_end);
    let upstream = Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        let chunk =
            r#"data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"word "}}]}"#;
        let _ =
            wire.try_send(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\nConnection: close\r\n\r\n{}", format!("{chunk}\n\n").repeat(10)));
        let _ = may_end.lock().unwrap().recv_timeout(Duration::from_secs(30));
    });
    let directory = tempfile::tempdir().unwrap();
    let llm = json!({
        "providers": [{"name": "p", "kind": "vllm", "url": upstream.url(), "models": ["*"]}],
        "prices": [{"model": "m", "input": 1, "output": 100}],
    });
    let gateway = Setup::new(recording(directory.path()))
        .api(api("m", "/m/", "").set("do_not_track", false).set("tollgate/llm", llm))
        .start();
    let mut wire = gateway.connect();
    let body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": PROMPT}]});
    wire.send(request("POST", "/m/v1/chat/completions", &[JSON], &body.to_string()));
    assert!(wire.head().unwrap().raw.starts_with(b"HTTP/1.1 200"));
    let mut text = String::new();
    while text.matches("word ").count() < 10 {
        text += &String::from_utf8_lossy(&wire.chunk().unwrap());
    }
    drop(wire);
    let records = directory.path().join("records.log");
    eventually("it is written", || lines(&records).len() == 1);
    let stats = lines(&records)[0]["llm_stats"].clone();
    assert_eq!(
        (&stats["outcome"], &stats["estimated"], &stats["output_tokens"]),
        (&json!("client_left"), &json!(true), &json!(13))
    );
    let likely = body.to_string().len() as u64 / 4;
    assert_eq!(stats["input_tokens"].as_u64(), Some(likely));
    near(&stats["cost_usd"], (13 * 100 + likely) as f64 / 1e6);
    assert!(!fs::read_to_string(&records).unwrap().contains(PROMPT));
    drop(go);
}

fn rows(gateway: &Gateway, query: &str) -> Vec<Value> {
    let answer = gateway.control("GET", &format!("/tyk/llm/spend?{query}"), "");
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()["rows"].as_array().unwrap().clone()
}

#[test]
fn spend_is_summed_by_key_model_and_provider_over_restarts() {
    let (first, second) = (failing(), openai());
    let data = tempfile::tempdir().unwrap();
    let start = || {
        let conf = json!({"enable_analytics": true, "hash_keys": false, "tollgate": {"threads": 2, "data_dir": data.path()}});
        Setup::new(conf).api(models("m", &first, &second).with_keys()).start()
    };
    let mut gateway = start();
    let keys = ["ann", "bob"].map(|alias| create(&gateway, &session_for(&["m"], json!({"alias": alias}))));
    for key in [&keys[0], &keys[0], &keys[1]] {
        assert_eq!(ask(&gateway, key, json!({})).status, 200);
    }
    let refused =
        ask(&gateway, &keys[1], json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "x".repeat(20_000)}]}));
    assert_eq!(refused.status, 429);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    gateway = start();
    let by_key = rows(&gateway, "by=key");
    let shown: Vec<Value> = by_key.iter().map(|row| json!([row["alias"], row["requests"], row["output_tokens"]])).collect();
    assert_eq!(json!(shown), json!([["ann", 2, 1000], ["bob", 2, 500]]));
    near(&by_key[0]["cost_usd"], 0.014);
    let by_provider = rows(&gateway, "by=provider&split=model");
    let shown: Vec<Value> = by_provider.iter().map(|row| json!([row["value"], row["split"], row["requests"]])).collect();
    assert!(shown.contains(&json!(["open", "gpt-4o", 3])) && shown.contains(&json!(["broken", "smart", 0])), "{shown:?}");
    let fallbacks = rows(&gateway, "by=instead_of&split=provider&outcome=ok");
    let shown: Vec<Value> = fallbacks.iter().map(|row| json!([row["value"], row["split"], row["requests"]])).collect();
    assert_eq!(json!(shown), json!([["broken", "open", 3]]));
    let refused = rows(&gateway, "by=budget&split=reason&outcome=no_budget");
    assert_eq!((&refused[0]["value"], refused[0]["requests"].as_u64()), (&json!("mine"), Some(1)));
    let month = gateway.control("GET", "/tyk/llm/spend", "").json()["month"].clone();
    near(&month["cost_usd"], 0.021);
    assert!(month["forecast_usd"].as_f64().unwrap() >= 0.021, "{month}");

    let csv = gateway.control("GET", "/tyk/llm/spend?by=model&format=csv", "");
    assert_eq!((csv.status, csv.header("Content-Type")), (200, Some("text/csv; charset=utf-8")));
    let text = csv.text();
    let second = text.lines().nth(1).unwrap();
    assert!(
        text.starts_with("value,split,alias,requests,attempts,input_tokens,") && second.starts_with("gpt-4o,,,3,3,3000,1500,1200,"),
        "{text}"
    );
    assert_eq!(gateway.control("GET", "/tyk/llm/spend?by=colour", "").status, 400);
    let told = tollgate(&gateway, "spend --by key --last 1d").ok();
    assert!(told.contains("ann") && told.contains("$0.0140") && told.contains("this month $0.0210"), "{told}");
    assert!(told.contains("list prices of 20"), "{told}");
    let told = tollgate(&gateway, "spend --csv").ok();
    assert!(told.starts_with("value,split,alias,requests,"), "{told}");
    gateway.expect_no_panic();
}

#[test]
fn spend_of_all_gateways_on_a_redis_is_one_answer() {
    let (server, first, second) = (Server::start(&[]), failing(), openai());
    let mut conf = on(&server);
    merge(&mut conf, &json!({"enable_analytics": true}));
    let gateways: Vec<Gateway> = (0..2).map(|_| Setup::new(conf.clone()).api(models("m", &first, &second)).start()).collect();
    for gateway in &gateways {
        assert_eq!(ask(gateway, "", json!({})).status, 200);
    }
    eventually("both tell", || {
        let rows = rows(&gateways[0], "by=provider&nodes=all");
        rows.iter().any(|row| row["value"] == "open" && row["requests"] == 2)
    });
    assert_eq!(rows(&gateways[1], "by=provider")[0]["requests"], 1);
}

#[test]
fn providers_have_spans_and_metrics_by_the_conventions_for_generative_ai() {
    let (first, second, collector) = (failing(), openai(), Collector::http());
    let conf = to(&collector, json!({"metrics": {"enabled": true, "export_interval": 1}}));
    let gateway = Setup::new(conf).api(models("m", &first, &second)).start();
    assert_eq!(ask(&gateway, "", json!({"stream": true})).status, 200);
    // The request, its upstream within the process, and what was asked of providers.
    let spans = collector.spans(4);
    let asked: Vec<&Span> = spans.iter().filter(|span| span.name.starts_with("chat ")).collect();
    let of = |span: &Span, name: &str| attributes(&span.attributes).get(name).cloned();
    let last = asked.iter().find(|span| span.name == "chat gpt-4o").unwrap_or_else(|| panic!("{spans:?}"));
    assert_eq!(last.kind, SpanKind::Client as i32);
    let port = second.url().rsplit(':').next().unwrap().to_owned();
    for (name, value) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-4o"),
        ("gen_ai.usage.input_tokens", "1000"),
        ("gen_ai.usage.output_tokens", "500"),
        ("gen_ai.usage.cache_read.input_tokens", "400"),
        ("gen_ai.usage.reasoning.output_tokens", "100"),
        ("tollgate.llm.model", "smart"),
        ("server.port", port.as_str()),
    ] {
        assert_eq!(of(last, name).as_deref(), Some(value), "{name} of {last:?}");
    }
    let failed = asked.iter().find(|span| span.name == "chat llama").unwrap();
    assert_eq!(
        (of(failed, "error.type").as_deref(), of(failed, "gen_ai.provider.name").as_deref()),
        (Some("failed"), Some("vllm"))
    );
    assert!(failed.status.is_some() && failed.start_time_unix_nano <= last.start_time_unix_nano);
    assert!(spans.iter().any(|span| span.span_id == last.parent_span_id), "it is a child of the request's");
    assert!(!format!("{spans:?}").contains(PROMPT));

    let points = |metric: &str, wanted: &[(&str, &str)]| -> u64 {
        let metrics = collector.received().metrics;
        let found = metrics.iter().rev().find(|known| known.name == metric);
        let Some(Data::Histogram(histogram)) = found.and_then(|metric| metric.data.clone()) else { return 0 };
        let fits = |own: &std::collections::BTreeMap<String, String>| {
            wanted.iter().all(|(name, value)| own.get(*name).is_some_and(|own| own == value))
        };
        histogram.data_points.iter().filter(|point| fits(&attributes(&point.attributes))).map(|point| point.count).sum()
    };
    let openai = [("gen_ai.provider.name", "openai"), ("gen_ai.request.model", "smart"), ("gen_ai.operation.name", "chat")];
    eventually("metrics are there", || points("gen_ai.client.operation.duration", &openai) == 1);
    assert_eq!(points("gen_ai.client.operation.duration", &[("error.type", "failed")]), 1);
    assert_eq!(points("gen_ai.client.token.usage", &[("gen_ai.token.type", "output")]), 1);
    assert_eq!(points("gen_ai.server.time_to_first_token", &openai), 1);
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    let line = r#"tollgate_llm_first_token_seconds_count{api="m",model="smart",provider="open"} 1"#;
    assert!(metrics.lines().any(|known| known == line), "{metrics}");
}

#[test]
fn what_was_kept_and_what_guards_refused_is_told_apart() {
    let upstream = openai();
    let directory = tempfile::tempdir().unwrap();
    let llm = json!({
        "providers": [{"name": "open", "kind": "openai", "url": upstream.url(), "models": ["gpt-*"]}],
        "cache": {"ttl_s": 60},
        "guards": [
            {"name": "words", "on": "request", "patterns": ["forbidden"], "action": "refuse"},
            {"name": "greetings", "on": "answer", "patterns": ["Hello"], "action": "refuse", "dry_run": false},
        ],
    });
    let definition = |guards: bool| {
        let mut llm = llm.clone();
        if !guards {
            llm["guards"] = json!([]);
        }
        api("m", "/m/", "").set("do_not_track", false).set("tollgate/llm", llm)
    };
    for (guards, stream, expect) in [
        (false, false, json!([["ok", 500], ["cached", 0]])),
        // The second one is a kept answer, which the guard sees as well.
        (true, false, json!([["guarded", 500], ["guarded", 0]])),
        (true, true, json!([["guarded", null], ["guarded", null]])),
    ] {
        let folder = directory.path().join(format!("{guards}{stream}"));
        fs::create_dir(&folder).unwrap();
        let gateway = Setup::new(recording(&folder)).api(definition(guards)).start();
        for _ in 0..2 {
            ask(&gateway, "", json!({"model": "gpt-4o", "stream": stream}));
        }
        let records = folder.join("records.log");
        eventually("both are written", || lines(&records).len() == 2);
        let shown: Vec<Value> = lines(&records).iter().map(|record| record["llm_stats"].clone()).collect();
        let told = |stats: &Value| json!([stats["outcome"], if stream { Value::Null } else { stats["output_tokens"].clone() }]);
        assert_eq!(json!(shown.iter().map(told).collect::<Vec<_>>()), expect, "{shown:?}");
        if guards {
            assert_eq!(shown[0]["reason"], "the guard `greetings` refuses it");
            let refused = ask(&gateway, "", json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "forbidden"}]}));
            assert_ne!(refused.status, 200);
            eventually("it is written", || lines(&records).len() == 3);
            let stats = lines(&records)[2]["llm_stats"].clone();
            assert_eq!((&stats["outcome"], &stats["reason"]), (&json!("guarded"), &json!("the guard `words` refuses it")));
        }
    }
}
