//! What is spent of budgets at most: answers that are longer than they may be, resets among several gateways, and overruns that are shown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::{Gateway, Setup, Upstream, eventually, reply};
use crate::llm_budgets::{chat, models, post, question, spent, writer};
use crate::servers::Server;
use crate::shared_keys::on;
use crate::shared_limits::all_count;

const EVENTS: &str = "Content-Type: text/event-stream";

fn shown(gateway: &Gateway, query: &str) -> Value {
    gateway.control("GET", &format!("/tyk/llm/budgets?{query}"), "").json()["budgets"][0].clone()
}

#[test]
fn events_of_many_words_are_within_the_bound() {
    let upstream = Upstream::start(|_| {
        let words = "word ".repeat(50);
        let choice = json!({"index": 0, "delta": {"content": words}});
        let chunk =
            format!("data: {}\n\n", json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}));
        reply("200 OK", &[EVENTS], &format!("{}data: [DONE]\n\n", chunk.repeat(60)))
    });
    let budgets = json!([{"name": "all", "max": 600, "unit": "tokens", "per": "month"}]);
    let gateway = Setup::new(json!({})).api(models("m", &upstream, json!({"budgets": budgets}))).start();
    let answer = chat(&gateway, "", json!({"stream": true, "stream_options": {"include_usage": true}}));
    let text = answer.text();
    let words = text.matches("word ").count();
    assert!(words > 500 && words <= 600 && words.is_multiple_of(50), "{words} words");
    assert!(text.contains(r#""finish_reason":"length""#) && text.ends_with("data: [DONE]\n\n"), "{text}");
    assert!(!text.contains(r#""prompt_tokens":0"#), "{text}");
    eventually("it is paid", || spent(&gateway, "api", "all") > 590.0);
    assert!(spent(&gateway, "api", "all") <= 600.0);
    assert_eq!(chat(&gateway, "", json!({})).status, 429);
}

#[test]
fn a_stream_of_responses_ends_at_its_bound_too() {
    let upstream = Upstream::start(|_| {
        let event = |sequence: usize, mut data: Value| {
            data["sequence_number"] = sequence.into();
            format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
        };
        let response = json!({"id": "resp_9", "object": "response", "model": "m", "status": "in_progress", "output": []});
        let item = json!({"id": "msg_9", "type": "message", "status": "in_progress", "role": "assistant", "content": []});
        let mut text = event(0, json!({"type": "response.created", "response": response}));
        text += &event(1, json!({"type": "response.output_item.added", "output_index": 0, "item": item}));
        for at in 0..910 {
            let delta = json!({"type": "response.output_text.delta", "item_id": "msg_9", "output_index": 0, "content_index": 0, "delta": "word "});
            text += &event(2 + at, delta);
        }
        let usage = json!({"input_tokens": 5, "output_tokens": 910, "total_tokens": 915});
        let response = json!({"id": "resp_9", "object": "response", "status": "completed", "output": [], "usage": usage});
        text += &event(912, json!({"type": "response.completed", "response": response}));
        reply("200 OK", &[EVENTS], &text)
    });
    let budgets = json!([{"name": "all", "max": 600, "unit": "tokens", "per": "month"}]);
    let provider = json!([{"name": "p", "kind": "openai", "url": upstream.url(), "models": ["*"]}]);
    let definition = models("m", &upstream, json!({"budgets": budgets, "providers": provider}));
    let gateway = Setup::new(json!({})).api(definition).start();
    let answer = post(&gateway, "/m/v1/responses", "", &json!({"model": "m", "input": "Hi", "stream": true}));
    let text = answer.text();
    assert!(text.matches(r#""delta":"word ""#).count() <= 600, "{text}");
    let last = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).expect("an event");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!((&last["type"], &last["response"]["id"]), (&json!("response.incomplete"), &json!("resp_9")), "{last}");
    assert_eq!(last["response"]["incomplete_details"]["reason"], "max_output_tokens");
    eventually("it is paid", || spent(&gateway, "api", "all") > 500.0);
    assert!(spent(&gateway, "api", "all") <= 600.0);
}

#[test]
fn an_overrun_is_shown() {
    let server = Server::start(&[]);
    let upstream = writer(5_000, false);
    for conf in [json!({}), on(&server)] {
        let budgets = json!([{"name": "all", "max": 2_000, "unit": "tokens", "per": "month", "soft": true}]);
        let gateway = Setup::new(conf).api(models("m", &upstream, json!({"budgets": budgets}))).start();
        assert_eq!(chat(&gateway, "", json!({})).status, 200);
        eventually("all of it is shown", || shown(&gateway, "api_id=m")["spent"] == 5_005.0);
        eventually("also in metrics", || spent(&gateway, "api", "all") == 5_005.0);
        let overview = gateway.control("GET", "/tyk/llm/overview", "").json();
        let standing = &overview["budgets"][0]["standing"];
        assert_eq!((&standing["used"], &standing["left"]), (&json!(5_005.0), &json!(0.0)), "{overview}");
        assert_eq!(chat(&gateway, "", json!({})).status, 429);
    }
}

/// Each gateway holds some of the budget in advance. Nothing of it is left after a reset.
#[test]
fn after_a_reset_gateways_together_spend_no_more_than_the_budget() {
    const COST: u64 = 45;
    let (server, upstream) = (Server::start(&[]), writer(40, true));
    let conf = on(&server);
    let budgets = json!([{"name": "all", "max": 20_000, "unit": "tokens", "per": "month"}]);
    let gateways: Vec<Gateway> =
        (0..3).map(|_| Setup::new(conf.clone()).api(models("m", &upstream, json!({"budgets": budgets}))).start()).collect();
    all_count(&conf, gateways.len());
    let ask = |gateway: &Gateway| chat(gateway, "", json!({"max_tokens": 50})).status == 200;
    let used = (0..150).filter(|at| ask(&gateways[at % 3])).count() as u64 * COST;
    assert_eq!(used, 150 * COST);
    assert_eq!(gateways[0].control("DELETE", "/tyk/llm/budgets/all?api_id=m", "").status, 200);
    let mut again = 0;
    eventually("it is used up", || {
        let before = again;
        for gateway in &gateways {
            while ask(gateway) {
                again += COST;
            }
        }
        before == again
    });
    assert!((10_000..=20_000).contains(&again), "{again}");
    eventually("what nobody used is given back", || {
        let spent = shown(&gateways[1], "api_id=m")["spent"].as_f64().expect("a number");
        again as f64 <= spent && spent < again as f64 + 100.0
    });
}

#[test]
fn a_budget_counts_cached_and_reasoning_tokens() {
    let upstream = Upstream::start(|_| {
        let usage = json!({
            "prompt_tokens": 50, "completion_tokens": 30, "total_tokens": 80,
            "prompt_tokens_details": {"cached_tokens": 32}, "completion_tokens_details": {"reasoning_tokens": 20},
        });
        let choice = json!({"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"});
        let answer = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage});
        reply("200 OK", &["Content-Type: application/json"], &answer.to_string())
    });
    for soft in [true, false] {
        let budgets = json!([
            {"name": "cached", "max": 1_000, "unit": "cached_tokens", "per": "month", "soft": soft},
            {"name": "thoughts", "max": 100, "unit": "reasoning_tokens", "per": "month", "soft": soft},
        ]);
        let gateway = Setup::new(json!({})).api(models("m", &upstream, json!({"budgets": budgets}))).start();
        assert_eq!(post(&gateway, "/m/v1/chat/completions", "", &question(json!({}))).status, 200);
        eventually("they are counted", || (spent(&gateway, "api", "cached"), spent(&gateway, "api", "thoughts")) == (32.0, 20.0));
        for _ in 0..4 {
            assert_eq!(chat(&gateway, "", json!({"max_tokens": 20})).status, 200, "soft: {soft}");
        }
        eventually("the thoughts are used up", || {
            let refused = chat(&gateway, "", json!({"max_tokens": 20}));
            refused.status == 429 && refused.header("X-Tollgate-Llm-Budget") == Some("thoughts")
        });
    }
}

#[test]
fn prompts_are_counted_where_their_model_s_vocabulary_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("words.tiktoken");
    let tokens = (0..=u8::MAX).map(|byte| vec![byte]).chain([b" word".to_vec()]);
    let lines = tokens.enumerate().map(|(rank, token)| format!("{} {rank}\n", STANDARD.encode(token)));
    std::fs::write(&file, lines.collect::<String>()).unwrap();
    let upstream = writer(20, true);
    let budgets = json!([{"name": "all", "max": 400, "unit": "tokens", "per": "month"}]);
    let tokenizers = json!([{"file": file, "split": "o200k_base", "models": ["m"]}]);
    let conf = json!({"tollgate": {"tokenizers": tokenizers}});
    let gateway = Setup::new(conf).api(models("m", &upstream, json!({"budgets": budgets}))).start();
    // 1,500 bytes, 300 tokens.
    let long = json!({"max_tokens": 20, "messages": [{"role": "user", "content": " word".repeat(300)}]});
    assert_eq!(chat(&gateway, "", long.clone()).status, 200);
    eventually("what the provider tells is paid", || spent(&gateway, "api", "all") == 25.0);
    let longer = json!({"max_tokens": 20, "messages": [{"role": "user", "content": " word".repeat(380)}]});
    assert_eq!(chat(&gateway, "", longer).status, 429);
    assert_eq!(
        chat(&gateway, "", json!({"model": "other", "max_tokens": 20, "messages": long["messages"]})).status,
        429,
        "bytes of another model"
    );
    // Without it, bytes count.
    std::fs::write(&file, "no vocabulary").unwrap();
    assert_eq!(gateway.reload().status, 200);
    assert_eq!(chat(&gateway, "", long).status, 429);
    let log = gateway.log();
    assert!(log.contains("tollgate.tokenizers[0]") && log.contains("line 1 is no token in base64 with its rank"), "{log}");
}

/// A provider that resets, or whose events nobody can read, has generated what it sent of them.
#[test]
fn half_an_event_is_paid() {
    let upstream = Upstream::start(|_| {
        let event = |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
        let usage = json!({"input_tokens": 5, "output_tokens": 1});
        let message = json!({"id": "a", "type": "message", "role": "assistant", "model": "m", "content": [], "usage": usage});
        let text = [
            event(json!({"type": "message_start", "message": message})),
            event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
            event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "word "}})),
            format!(
                r#"data: {{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{}"#,
                "word ".repeat(600)
            ),
        ];
        reply("200 OK", &[EVENTS], &text.concat())
    });
    let budgets = json!([{"name": "all", "max": 5_000, "unit": "tokens", "per": "month"}]);
    let provider = json!([{"name": "p", "kind": "anthropic", "url": upstream.url(), "key": "k", "models": ["*"]}]);
    let definition = models("m", &upstream, json!({"budgets": budgets, "providers": provider}));
    let gateway = Setup::new(json!({})).api(definition).start();
    let answer = chat(&gateway, "", json!({"stream": true, "max_tokens": 2_000}));
    assert!(answer.text().contains("error"), "{answer}");
    eventually("half an event is paid", || (900.0..2_100.0).contains(&spent(&gateway, "api", "all")));
}
