//! A provider of language models that says what it was asked, and an API with guards in front of it.

use serde_json::{Value, json};

use crate::keys::Served;
use crate::{Definition, Response, Seen, Upstream, api, reply, request};

pub const JSON: &str = "Content-Type: application/json";
pub const EVENTS: &str = "Content-Type: text/event-stream";
pub const CHAT: &str = "/m/v1/chat/completions";
pub const MESSAGES: &str = "/m/v1/messages";

pub fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

/// The text of the last message.
pub fn asked(body: &Value) -> String {
    let content = &body["messages"].as_array().and_then(|messages| messages.last()).unwrap_or(&Value::Null)["content"];
    content.as_str().or(content[0]["text"].as_str()).or(body["input"].as_str()).unwrap_or_default().to_owned()
}

/// A provider of OpenAI's API that says what it was asked, in a stream letter by letter.
pub fn echo() -> Upstream {
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

pub fn models(upstream: &Upstream, guards: Value) -> Definition {
    let providers = json!([{"name": "p", "kind": "openai", "url": upstream.url(), "models": ["*"]}]);
    api("m", "/m/", "").set("tollgate/llm", json!({"providers": providers, "guards": guards}))
}

pub fn post(gateway: &impl Served, path: &str, body: &Value) -> Response {
    gateway.answer(request("POST", path, &[JSON], &body.to_string()).as_bytes())
}

pub fn ask(gateway: &impl Served, path: &str, text: &str, stream: bool) -> Response {
    let body = json!({"model": "m", "max_tokens": 999, "messages": [{"role": "user", "content": text}], "stream": stream});
    post(gateway, path, &body)
}

/// What an answer says, whole or in a stream, of both APIs.
pub fn said(answer: &Response) -> String {
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

pub fn count(gateway: &impl Served, guard: &str, outcome: &str) -> f64 {
    let metrics = gateway.control_answer("GET", "/tyk/metrics", "").text();
    let begin = format!(r#"tollgate_llm_guards_total{{api="m",guard="{guard}",outcome="{outcome}"}} "#);
    metrics.lines().find_map(|line| line.strip_prefix(&begin)?.parse().ok()).unwrap_or_else(|| panic!("{begin}: {metrics}"))
}
