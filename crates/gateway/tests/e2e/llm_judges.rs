//! Public judges of the APIs of language models, before each kind of provider: what they find must be what the API's own specification says.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::keys::{create, session_for};
use crate::harness::{Gateway, Seen, Setup, Upstream, api, reply, skip};
use crate::openid_provider::packages;

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";

/// What a provider says: as its request asks, a call of the first tool, thoughts, or a text alone.
struct Said {
    tool: Option<String>,
    thinks: bool,
}

fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

fn name_of(tool: &Value) -> Option<String> {
    tool.as_str().map(str::to_owned)
}

fn events(list: &[Value]) -> String {
    let event = |data: &Value| match data["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    };
    list.iter().map(event).collect()
}

/// A server that speaks Chat Completions and nothing else.
fn chat_provider() -> Upstream {
    Upstream::start(|seen| {
        let body = body_of(seen);
        let said = Said { tool: name_of(&body["tools"][0]["function"]["name"]), thinks: body["reasoning_effort"].is_string() };
        let mut message = json!({"role": "assistant", "content": "Hello", "refusal": null});
        if said.thinks {
            message["reasoning_content"] = "I think.".into();
        }
        if let Some(tool) = &said.tool {
            message["content"] = Value::Null;
            message["tool_calls"] = json!([{"index": 0, "id": "call_1", "type": "function", "function": {"name": tool, "arguments": "{\"location\":\"Bonn\"}"}}]);
        }
        let end = if said.tool.is_some() { "tool_calls" } else { "stop" };
        let usage = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10});
        if body["stream"] != true {
            let choices = json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": end}]);
            let answer = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": choices, "usage": usage});
            return reply("200 OK", &[JSON], &answer.to_string());
        }
        let chunk = |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"], "choices": choices});
        let mut last = chunk(json!([]));
        last["usage"] = usage;
        let list = [
            chunk(json!([{"index": 0, "delta": message, "finish_reason": null}])),
            chunk(json!([{"index": 0, "delta": {}, "finish_reason": end}])),
            last,
        ];
        reply("200 OK", &[EVENTS], &format!("{}data: [DONE]\n\n", events(&list)))
    })
}

/// Anthropic's API.
fn messages_provider() -> Upstream {
    Upstream::start(|seen| {
        let body = body_of(seen);
        let thinks = body["thinking"]["type"].as_str().is_some_and(|kind| kind != "disabled");
        let said = Said { tool: name_of(&body["tools"][0]["name"]), thinks };
        let (mut content, mut list) = (Vec::new(), Vec::new());
        let mut block = |begin: Value, deltas: Vec<Value>, whole: Value| {
            let index = content.len();
            list.push(json!({"type": "content_block_start", "index": index, "content_block": begin}));
            list.extend(deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
            list.push(json!({"type": "content_block_stop", "index": index}));
            content.push(whole);
        };
        if said.thinks {
            block(
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": "I think."}),
                    json!({"type": "signature_delta", "signature": "c2ln"}),
                ],
                json!({"type": "thinking", "thinking": "I think.", "signature": "c2ln"}),
            );
        }
        match &said.tool {
            None => block(
                json!({"type": "text", "text": ""}),
                vec![json!({"type": "text_delta", "text": "Hello"})],
                json!({"type": "text", "text": "Hello", "citations": []}),
            ),
            Some(tool) => block(
                json!({"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}),
                vec![json!({"type": "input_json_delta", "partial_json": "{\"location\":\"Bonn\"}"})],
                json!({"type": "tool_use", "id": "toolu_1", "name": tool, "input": {"location": "Bonn"}, "caller": {"type": "direct"}}),
            ),
        }
        let end = if said.tool.is_some() { "tool_use" } else { "end_turn" };
        let usage = json!({"input_tokens": 11, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "cache_creation": null, "inference_geo": null, "output_tokens_details": null, "server_tool_use": null, "service_tier": "standard"});
        let mut message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
            "stop_reason": end, "stop_sequence": null, "stop_details": null, "container": null, "usage": usage});
        if body["stream"] != true {
            return reply("200 OK", &[JSON], &message.to_string());
        }
        (message["content"], message["stop_reason"]) = (json!([]), Value::Null);
        list.insert(0, json!({"type": "message_start", "message": message}));
        list.push(
            json!({"type": "message_delta", "delta": {"stop_reason": end, "stop_sequence": null}, "usage": {"output_tokens": 5}}),
        );
        list.push(json!({"type": "message_stop"}));
        reply("200 OK", &[EVENTS], &events(&list))
    })
}

/// Google's API.
fn gemini_provider() -> Upstream {
    Upstream::start(|seen| {
        let body = body_of(seen);
        let tool = name_of(&body["tools"][0]["functionDeclarations"][0]["name"]);
        let said = Said { tool, thinks: body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true };
        let mut parts = Vec::new();
        if said.thinks {
            parts.push(json!({"text": "I think.", "thought": true}));
        }
        parts.push(match &said.tool {
            None => json!({"text": "Hello"}),
            Some(tool) => json!({"functionCall": {"name": tool, "args": {"location": "Bonn"}}}),
        });
        let answer = json!({
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "totalTokenCount": 11}, "modelVersion": "gemini",
        });
        match seen.target.contains(":streamGenerateContent") {
            true => reply("200 OK", &[EVENTS], &events(&[answer])),
            false => reply("200 OK", &[JSON], &answer.to_string()),
        }
    })
}

/// A gateway in front of them, with a model for each.
fn start(providers: &[Upstream; 3]) -> (Gateway, String) {
    let [chat, messages, gemini] = providers.each_ref().map(Upstream::url);
    let target = |provider: &str, model: &str| json!([{"provider": provider, "model": model}]);
    let llm = json!({
        "providers": [
            {"name": "chat", "kind": "vllm", "url": chat},
            {"name": "messages", "kind": "anthropic", "url": messages},
            {"name": "gemini", "kind": "gemini", "url": gemini},
        ],
        // A judge asks for thoughts if the name says that the model thinks.
        "models": [
            {"name": "gpt-5-chat", "targets": target("chat", "gpt-5")},
            {"name": "gpt-5-messages", "targets": target("messages", "claude-sonnet-4-5")},
            {"name": "gpt-5-gemini", "targets": target("gemini", "gemini-2.5-flash")},
        ],
    });
    let gateway = Setup::new(json!({})).api(api("m", "/m/", "").set("tollgate/llm", llm).with_keys()).start();
    let key = create(&gateway, &session_for(&["m"], json!({})));
    (gateway, key)
}

pub(crate) fn virtual_environment() -> Option<PathBuf> {
    let target = std::env::current_exe().expect("this program").ancestors().nth(3).expect("the target directory").to_owned();
    let venv = target.join("test-venv");
    if let Ok(reason) = std::fs::read_to_string(venv.join("models-unavailable")) {
        skip(&reason);
        return None;
    }
    Some(venv)
}

#[test]
fn a_judge_of_three_apis_finds_nothing_wrong_before_any_provider() {
    let Some(venv) = virtual_environment() else { return };
    let providers = [chat_provider(), messages_provider(), gemini_provider()];
    let (gateway, key) = start(&providers);
    let url = format!("http://127.0.0.1:{}/m/v1", gateway.port);
    for format in ["openai-chat", "open-responses", "anthropic"] {
        for model in ["gpt-5-chat", "gpt-5-messages", "gpt-5-gemini"] {
            let mut judge = Command::new(venv.join("bin/llm-comply"));
            let output =
                judge.args(["--json", "--format", format, "-u", &url, "-k", &key, "-m", model]).output().expect("llm-comply");
            let found: Value = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|_| panic!("{format} {model}: {}", String::from_utf8_lossy(&output.stderr)));
            let results = found["results"].as_array().unwrap_or_else(|| panic!("{found}"));
            let failed: Vec<&Value> = results.iter().filter(|result| result["status"] == "failed").collect();
            assert!(results.len() >= 9 && failed.is_empty(), "{format} {model}: {failed:#?}");
        }
    }
    gateway.expect_no_panic();
}

#[test]
fn the_official_clients_in_javascript_reach_every_provider() {
    let Some(packages) = packages() else { return };
    let providers = [chat_provider(), messages_provider(), gemini_provider()];
    let (gateway, key) = start(&providers);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_clients.mjs");
    let url = format!("http://127.0.0.1:{}/m", gateway.port);
    let output = Command::new("node").arg(script).arg(&packages).args([&url, &key]).output().expect("node");
    let (told, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.ends_with("all is well\n"), "{told}{complained}{}", gateway.log());
}
