//! Providers of language models, which speak their documented formats, and an API in front of them.

use serde_json::{Value, json};

use crate::keys::Served;
use crate::{Definition, Response, Seen, Upstream, api, reply, request};

pub const JSON: &str = "Content-Type: application/json";
pub const EVENTS: &str = "Content-Type: text/event-stream";
pub const CHAT: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}], "usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}"#;

pub const CHAT_EVENTS: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"content":"Hello"}}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

"#;

pub const CHAT_USAGE: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-4o","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}

"#;

pub const CHAT_END: &str = "data: [DONE]\n\n";
pub const RESPONSE: &str = r#"{"id":"resp_1","object":"response","status":"completed","model":"gpt-4o","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}],"usage":{"input_tokens":7,"output_tokens":3,"total_tokens":10}}"#;
pub const EMBEDDINGS: &str = r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5]}],"model":"e","usage":{"prompt_tokens":4,"total_tokens":4}}"#;
pub const MESSAGE: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":5}}"#;

pub const MESSAGE_EVENTS: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"usage":{"input_tokens":11,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}

event: message_stop
data: {"type":"message_stop"}

"#;

pub const GEMINI: &str = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2,"totalTokenCount":11},"modelVersion":"gemini-2.5-flash"}"#;

pub fn asks_stream(seen: &Seen) -> bool {
    serde_json::from_slice::<Value>(&seen.body).is_ok_and(|body| body["stream"] == true)
}

/// OpenAI's API.
pub fn openai() -> Upstream {
    Upstream::start(|seen| match seen.target.as_str() {
        "/v1/chat/completions" if asks_stream(seen) => {
            let body: Value = serde_json::from_slice(&seen.body).unwrap();
            let usage = if body["stream_options"]["include_usage"] == true { CHAT_USAGE } else { "" };
            reply("200 OK", &[EVENTS], &format!("{CHAT_EVENTS}{usage}{CHAT_END}"))
        }
        "/v1/chat/completions" => reply("200 OK", &[JSON], CHAT),
        "/v1/responses" => reply("200 OK", &[JSON], RESPONSE),
        "/v1/embeddings" => reply("200 OK", &[JSON], EMBEDDINGS),
        _ => reply("404 Not Found", &[JSON], r#"{"error":{"message":"no such path","type":"invalid_request_error"}}"#),
    })
}

/// Anthropic's API.
pub fn anthropic() -> Upstream {
    Upstream::start(|seen| match seen.target.as_str() {
        "/v1/messages" if asks_stream(seen) => reply("200 OK", &[EVENTS], MESSAGE_EVENTS),
        "/v1/messages" => reply("200 OK", &[JSON], MESSAGE),
        "/v1/messages/count_tokens" => reply("200 OK", &[JSON], r#"{"input_tokens":42}"#),
        _ => reply("404 Not Found", &[JSON], r#"{"type":"error","error":{"type":"not_found_error","message":"no such path"}}"#),
    })
}

/// Google's API.
pub fn gemini() -> Upstream {
    Upstream::start(|seen| match seen.target.as_str() {
        "/v1beta/models/gemini-2.5-flash:generateContent" => reply("200 OK", &[JSON], GEMINI),
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse" => {
            reply("200 OK", &[EVENTS], &format!("data: {GEMINI}\r\n\r\n"))
        }
        _ => reply("404 Not Found", &[JSON], r#"{"error":{"code":404,"message":"no such path","status":"NOT_FOUND"}}"#),
    })
}

pub fn gateway_of(id: &str, llm: Value) -> Definition {
    api(id, &format!("/{id}/"), "").set("tollgate/llm", llm)
}

/// A provider that answers everything like this.
pub fn always(status: &'static str, lines: &'static [&'static str], body: &'static str) -> Upstream {
    Upstream::start(move |_| reply(status, lines, body))
}

pub fn post(gateway: &impl Served, path: &str, body: &Value) -> Response {
    gateway.answer(request("POST", path, &[JSON], &body.to_string()).as_bytes())
}

pub fn chat(gateway: &impl Served, model: &str) -> Response {
    post(gateway, "/m/v1/chat/completions", &json!({"model": model, "messages": [{"role": "user", "content": "Hi"}]}))
}

pub fn chat_stream(gateway: &impl Served, model: &str) -> Response {
    let body = json!({"model": model, "stream": true, "messages": [{"role": "user", "content": "Hi"}]});
    post(gateway, "/m/v1/chat/completions", &body)
}

pub fn said(answer: &Response) -> String {
    answer.json()["choices"][0]["message"]["content"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The text of a stream of Chat Completions, which must have its end.
pub fn streamed(answer: &Response) -> String {
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")), "{answer}");
    let text = answer.text();
    assert!(text.ends_with(CHAT_END), "{text}");
    let chunks = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    chunks.filter_map(|chunk| Some(chunk["choices"][0]["delta"]["content"].as_str()?.to_owned())).collect()
}

pub fn one_target(provider: &str, model: &str) -> Value {
    json!([{"provider": provider, "model": model}])
}
