//! Clients of Google's API before every kind of provider: what passes, what is translated, and what budgets, guards and the cache make of it.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::keys::{create, session_for};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, reply, request};
use crate::llm_judges::virtual_environment;
use crate::openid_provider::packages;

const JSON: &str = "Content-Type: application/json";
const EVENTS: &str = "Content-Type: text/event-stream";
const PLACE: &str = r#"{"place":"Bonn"}"#;

pub(crate) fn body_of(seen: &Seen) -> Value {
    serde_json::from_slice(&seen.body).unwrap_or_default()
}

/// What a provider says: JSON if that is asked for, a call of a tool until there is a result, else the last text of the user again.
enum Said {
    Text(String),
    Call(String),
}

fn said(tool: &Value, has_result: bool, wants_json: bool, text: &Value) -> Said {
    match tool.as_str() {
        Some(tool) if !has_result => Said::Call(tool.to_owned()),
        _ if wants_json => Said::Text(PLACE.to_owned()),
        _ => Said::Text(format!("You said: {}", text.as_str().unwrap_or("something"))),
    }
}

/// A text in pieces of three letters.
fn pieces(text: &str) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(3).map(|piece| piece.iter().collect()).collect()
}

fn events(list: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let event = |data: Value| match data["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    };
    reply("200 OK", &[EVENTS], &list.into_iter().map(event).collect::<String>())
}

fn chat_provider() -> Upstream {
    Upstream::start(|seen| {
        let body = body_of(seen);
        if seen.target == "/v1/embeddings" {
            let texts = body["input"].as_array().map_or(0, Vec::len);
            let data: Vec<Value> = (0..texts).map(|index| json!({"index": index, "embedding": [0.5, index]})).collect();
            let usage = json!({"prompt_tokens": 6, "total_tokens": 6});
            return reply("200 OK", &[JSON], &json!({"object": "list", "data": data, "usage": usage}).to_string());
        }
        let last = body["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
        let wants_json = body["response_format"]["type"] == "json_schema";
        let said = said(&body["tools"][0]["function"]["name"], last["role"] == "tool", wants_json, &last["content"]);
        let call = |tool: &str| json!([{"index": 0, "id": "call_1", "type": "function", "function": {"name": tool, "arguments": "{\"place\":\"Bonn\"}"}}]);
        let usage = json!({"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10});
        if body["stream"] != true {
            let (message, end) = match said {
                Said::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
                Said::Call(tool) => (json!({"role": "assistant", "content": null, "tool_calls": call(&tool)}), "tool_calls"),
            };
            let choices = json!([{"index": 0, "message": message, "finish_reason": end}]);
            return reply(
                "200 OK",
                &[JSON],
                &json!({"id": "c", "model": body["model"], "choices": choices, "usage": usage}).to_string(),
            );
        }
        let chunk = |delta: Value, end: Value| json!({"id": "c", "model": body["model"], "choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
        let mut list: Vec<Value> = match said {
            Said::Text(text) => pieces(&text).into_iter().map(|text| chunk(json!({"content": text}), Value::Null)).collect(),
            Said::Call(tool) => vec![chunk(json!({"tool_calls": call(&tool)}), Value::Null)],
        };
        list.push(chunk(json!({}), json!("stop")));
        list.push(json!({"id": "c", "model": body["model"], "choices": [], "usage": usage}));
        events(list)
    })
}

fn messages_provider() -> Upstream {
    Upstream::start(|seen| {
        let body = body_of(seen);
        if body["messages"].to_string().contains("fail") {
            return reply(
                "400 Bad Request",
                &[JSON],
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"It is wrong"}}"#,
            );
        }
        let last = body["messages"].as_array().and_then(|messages| messages.last()).cloned().unwrap_or_default();
        let wants_json = body["output_config"]["format"]["type"] == "json_schema";
        let has_result = last["content"][0]["type"] == "tool_result";
        let text = if last["content"].is_string() { &last["content"] } else { &last["content"][0]["text"] };
        let said = said(&body["tools"][0]["name"], has_result, wants_json, text);
        let usage = json!({"input_tokens": 7, "output_tokens": 3});
        let mut message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "stop_reason": "end_turn", "usage": usage});
        if body["stream"] != true {
            message["content"] = match said {
                Said::Text(text) => json!([{"type": "text", "text": text}]),
                Said::Call(tool) => {
                    json!([{"type": "thinking", "thinking": "Hm", "signature": "a+/b"}, {"type": "tool_use", "id": "toolu_1", "name": tool, "input": {"place": "Bonn"}}])
                }
            };
            return reply("200 OK", &[JSON], &message.to_string());
        }
        (message["content"], message["usage"]["output_tokens"]) = (json!([]), json!(1));
        let mut list = vec![json!({"type": "message_start", "message": message})];
        let mut block = |index: u64, begin: Value, deltas: Vec<Value>| {
            list.push(json!({"type": "content_block_start", "index": index, "content_block": begin}));
            list.extend(deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})));
            list.push(json!({"type": "content_block_stop", "index": index}));
        };
        match said {
            Said::Text(text) => {
                let deltas = pieces(&text).into_iter().map(|text| json!({"type": "text_delta", "text": text}));
                block(0, json!({"type": "text", "text": ""}), deltas.collect());
            }
            Said::Call(tool) => {
                let deltas = vec![
                    json!({"type": "thinking_delta", "thinking": "Hm"}),
                    json!({"type": "signature_delta", "signature": "a+/b"}),
                ];
                block(0, json!({"type": "thinking", "thinking": ""}), deltas);
                let deltas = pieces(PLACE).into_iter().map(|text| json!({"type": "input_json_delta", "partial_json": text}));
                block(1, json!({"type": "tool_use", "id": "toolu_1", "name": tool, "input": {}}), deltas.collect());
            }
        }
        if body["messages"].to_string().contains("break") {
            list.push(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
            return events(list);
        }
        list.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 7, "output_tokens": 3}}));
        list.push(json!({"type": "message_stop"}));
        events(list)
    })
}

fn gemini_provider() -> Upstream {
    Upstream::start(|seen| {
        let body = body_of(seen);
        if seen.target.ends_with(":countTokens") {
            return reply("200 OK", &[JSON], r#"{"totalTokens":42}"#);
        }
        if seen.target.ends_with(":batchEmbedContents") {
            let texts = body["requests"].as_array().map_or(0, Vec::len);
            let vectors: Vec<Value> = (0..texts).map(|index| json!({"values": [0.5, index]})).collect();
            return reply("200 OK", &[JSON], &json!({"embeddings": vectors, "usageMetadata": {"promptTokenCount": 6}}).to_string());
        }
        let last = body["contents"].as_array().and_then(|contents| contents.last()).cloned().unwrap_or_default();
        let part = &last["parts"][0];
        let wants_json = body["generationConfig"]["responseMimeType"] == "application/json";
        let tool = &body["tools"][0]["functionDeclarations"][0]["name"];
        let said = said(tool, part["functionResponse"].is_object(), wants_json, &part["text"]);
        let answer = |part: Value| {
            json!({"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}], "modelVersion": "g", "responseId": "r",
                "usageMetadata": {"promptTokenCount": 7}})
        };
        let is_stream = seen.target.contains(":streamGenerateContent?alt=sse");
        let mut list: Vec<Value> = match said {
            Said::Text(text) if is_stream => pieces(&text).into_iter().map(|text| answer(json!({"text": text}))).collect(),
            Said::Text(text) => vec![answer(json!({"text": text}))],
            Said::Call(tool) => {
                let call = json!({"name": tool, "args": {"place": "Bonn"}});
                vec![answer(json!({"functionCall": call, "thoughtSignature": "c2ln"}))]
            }
        };
        if let Some(last) = list.last_mut() {
            last["candidates"][0]["finishReason"] = "STOP".into();
            last["usageMetadata"] = json!({"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10});
        }
        if is_stream { events(list) } else { reply("200 OK", &[JSON], &list[0].to_string()) }
    })
}

pub(crate) fn models(providers: &[Upstream; 3], more: Value) -> Definition {
    let [chat, messages, gemini] = providers.each_ref().map(Upstream::url);
    let target = |provider: &str, model: &str| json!([{"provider": provider, "model": model}]);
    let mut llm = json!({
        "providers": [
            {"name": "chat", "kind": "openai", "url": chat, "key": "provider-secret"},
            {"name": "messages", "kind": "anthropic", "url": messages, "key": "provider-secret"},
            {"name": "gemini", "kind": "gemini", "url": gemini, "key": "provider-secret"},
        ],
        "models": [
            {"name": "a", "targets": target("chat", "gpt-4o")},
            {"name": "team/b", "targets": target("messages", "claude-sonnet-4-5")},
            {"name": "c", "targets": target("gemini", "gemini-2.5-flash")},
        ],
    });
    more.as_object().into_iter().flatten().for_each(|(name, value)| llm[name] = value.clone());
    api("m", "/m/", "").set("tollgate/llm", llm)
}

pub(crate) fn providers() -> [Upstream; 3] {
    [chat_provider(), messages_provider(), gemini_provider()]
}

pub(crate) fn start(providers: &[Upstream; 3], more: Value) -> Gateway {
    Setup::new(json!({})).api(models(providers, more)).start()
}

/// A gateway whose keys are where Google's clients have them.
fn start_with_keys(providers: &[Upstream; 3]) -> (Gateway, [String; 2]) {
    let definition = models(providers, json!({}));
    let definition = definition.set("auth/auth_header_name", "x-goog-api-key").set("auth/param_name", "key").with_keys();
    let gateway = Setup::new(json!({})).api(definition.set("auth/use_param", true)).start();
    let none = json!({"llm_budgets": [{"name": "tiny", "max": 1, "unit": "tokens", "per": "month"}]});
    let keys = [json!({}), none].map(|more| create(&gateway, &session_for(&["m"], more)));
    (gateway, keys)
}

pub(crate) fn post(gateway: &Gateway, path: &str, body: &Value) -> Response {
    gateway.connect().ask(request("POST", path, &[JSON], &body.to_string()))
}

fn ask(gateway: &Gateway, model: &str, stream: bool, text: &str) -> Response {
    let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let body = json!({"contents": [{"role": "user", "parts": [{"text": text}]}]});
    post(gateway, &format!("/m/v1beta/models/{model}:{verb}"), &body)
}

/// The text of an answer, whole or in a stream.
fn text_of(answer: &Response) -> String {
    assert_eq!(answer.status, 200, "{answer}");
    let text = answer.text();
    let whole: Vec<Value> = match serde_json::from_str(&text) {
        Ok(whole) => vec![whole],
        Err(_) => text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect(),
    };
    let parts = whole.iter().flat_map(|answer| answer["candidates"][0]["content"]["parts"].as_array().cloned().unwrap_or_default());
    parts.filter_map(|part| Some(part["text"].as_str()?.to_owned())).collect()
}

#[test]
fn the_official_client_in_python_reaches_every_provider() {
    let Some(venv) = virtual_environment() else { return };
    let providers = providers();
    let (gateway, [key, poor]) = start_with_keys(&providers);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_google_clients.py");
    let url = format!("http://127.0.0.1:{}/m", gateway.port);
    let output = Command::new(venv.join("bin/python")).args([script, &url, &key, &poor]).output().expect("python");
    let (told, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.ends_with("all is well\n"), "{told}{complained}");
    // The proof of a thought comes back to its provider as it was.
    let with_proof = providers[1].seen().into_iter().filter(|seen| seen.text().contains(r#""signature":"a+/b""#));
    assert!(with_proof.count() >= 2, "whole and as a stream");
    gateway.expect_no_panic();
}

#[test]
fn the_official_client_in_javascript_reaches_every_provider() {
    let Some(packages) = packages() else { return };
    let providers = providers();
    let (gateway, [key, poor]) = start_with_keys(&providers);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/llm_google_clients.mjs");
    let url = format!("http://127.0.0.1:{}/m", gateway.port);
    let output = Command::new("node").arg(script).arg(&packages).args([&url, &key, &poor]).output().expect("node");
    let (told, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.ends_with("all is well\n"), "{told}{complained}");
}

#[test]
fn what_google_speaks_itself_passes_byte_for_byte_and_no_key_with_it() {
    let providers = providers();
    let (gateway, [key, _]) = start_with_keys(&providers);
    let body = r#"{ "contents":[{"parts":[{"text":"Hi"}]}], "safety_settings":[{"threshold":"BLOCK_ONLY_HIGH"}], "new": 1.50 }"#;
    let line = format!("X-Goog-Api-Key: {key}");
    let by_line = |path: &str| gateway.connect().ask(request("POST", path, &[JSON, &line], body));
    let by_query = |path: &str| gateway.connect().ask(request("POST", &format!("{path}key={key}"), &[JSON], body));
    let answers = [
        (by_line("/m/v1beta/models/c:generateContent"), "/v1beta/models/gemini-2.5-flash:generateContent"),
        (by_query("/m/v1/models/c:generateContent?"), "/v1beta/models/gemini-2.5-flash:generateContent"),
        (
            by_query("/m/v1beta/models/c:streamGenerateContent?alt=sse&"),
            "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
        ),
    ];
    for ((answer, target), seen) in answers.into_iter().zip(providers[2].seen()) {
        assert_eq!(text_of(&answer), "You said: Hi");
        assert!(answer.text().contains(r#""modelVersion":"g""#), "{answer}");
        assert_eq!((seen.target.as_str(), seen.text().as_str()), (target, body));
        assert_eq!(seen.header("X-Goog-Api-Key"), Some("provider-secret"));
        assert!(!format!("{:?}", seen.head).contains(&key), "a client's credentials are for the gateway alone");
    }
    let answer = by_line("/m/v1beta/models/c:generateContent");
    assert_eq!((answer.header("X-Tollgate-Llm-Tokens-In"), answer.header("X-Tollgate-Llm-Tokens-Out")), (Some("7"), Some("3")));
    let counted = by_line("/m/v1beta/models/c:countTokens");
    assert_eq!((counted.status, counted.json()["totalTokens"].as_u64()), (200, Some(42)), "{counted}");
    let question = json!({"model": "c", "messages": [{"role": "user", "content": "Hi"}]});
    let counted = gateway.connect().ask(request("POST", "/m/v1/messages/count_tokens", &[JSON, &line], &question.to_string()));
    assert_eq!((counted.status, counted.text().as_str()), (200, r#"{"input_tokens":42}"#), "{counted}");
    let sent = body_of(&providers[2].last());
    assert_eq!(sent["generateContentRequest"]["contents"][0]["parts"][0]["text"], "Hi", "{sent}");
    let metrics = gateway.control("GET", "/tyk/metrics", "").text();
    assert!(metrics.contains(r#"tollgate_llm_tokens_total{api="m",model="c",provider="gemini",kind="input"} 28"#), "{metrics}");
    let without = gateway.connect().ask(request("POST", "/m/v1beta/models/c:generateContent", &[JSON], body));
    assert_eq!(without.status, 401, "{without}");
    gateway.expect_no_panic();
}

#[test]
fn what_is_refused_is_told_in_googles_form() {
    let providers = providers();
    let gateway = start(&providers, json!({}));
    let refused = |answer: Response, code: u64, status: &str, words: &str| {
        let told = answer.json();
        let error = &told["error"];
        assert_eq!((u64::from(answer.status), &error["code"], &error["status"]), (code, &json!(code), &json!(status)), "{answer}");
        assert!(error["message"].as_str().is_some_and(|message| message.contains(words)), "{answer}");
    };
    let hi = json!([{"parts": [{"text": "Hi"}]}]);
    let array = post(&gateway, "/m/v1beta/models/a:streamGenerateContent", &json!({"contents": hi}));
    refused(array, 400, "INVALID_ARGUMENT", "?alt=sse");
    refused(ask(&gateway, "other", false, "Hi"), 404, "NOT_FOUND", "there are: a, c, team/b");
    refused(gateway.get("/m/v1beta/models/other"), 404, "NOT_FOUND", "there are: a, c, team/b");
    refused(post(&gateway, "/m/v1beta/models/a:predict", &json!({})), 404, "NOT_FOUND", "there is no POST");
    refused(post(&gateway, "/m/v1beta/models/a:countTokens", &json!({"contents": hi})), 404, "NOT_FOUND", "does not count tokens");
    refused(ask(&gateway, "team%2Fb", false, "fail"), 400, "INVALID_ARGUMENT", "It is wrong");
    let filter =
        json!({"contents": hi, "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_LOW_AND_ABOVE"}]});
    refused(
        post(&gateway, "/m/v1beta/models/a:generateContent", &filter),
        400,
        "INVALID_ARGUMENT",
        "`safetySettings[0].threshold`",
    );
    let own = json!({"model": "models/a", "contents": hi});
    let why = "`model`: is not that of the path";
    refused(post(&gateway, "/m/v1beta/models/c:generateContent", &own), 400, "INVALID_ARGUMENT", why);
    refused(post(&gateway, "/m/v1beta/models/c:generateContent", &json!([])), 400, "INVALID_ARGUMENT", "must be an object");
    assert_eq!(providers[0].requests() + providers[2].requests(), 0);
}

#[test]
fn guards_see_what_google_s_clients_say_and_read() {
    let providers = providers();
    let guards = json!([
        {"name": "people", "kind": "personal_data", "action": "redact"},
        {"name": "words", "kind": "deny", "on": "both", "patterns": ["falcon"]},
    ]);
    let gateway = start(&providers, json!({"guards": guards}));
    for (at, model) in ["a", "team/b", "c"].into_iter().enumerate() {
        for stream in [false, true] {
            let answer = ask(&gateway, model, stream, "I am jane@example.com");
            assert_eq!(text_of(&answer), "You said: I am jane@example.com", "{model} {stream}: {answer}");
            let seen = providers[at].last().text();
            assert!(seen.contains("I am [EMAIL_1]") && !seen.contains("jane"), "{seen}");
            let refused = ask(&gateway, model, stream, "Project falcon");
            assert_eq!((refused.status, &refused.json()["error"]["status"]), (403, &json!("PERMISSION_DENIED")), "{refused}");
        }
    }
    let own = json!({"contents": [
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"name": "jane@example.com"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"id": "jane@example.com"}}}]},
    ]});
    assert_eq!(post(&gateway, "/m/v1beta/models/c:generateContent", &own).status, 200);
    assert!(!providers[2].last().text().contains("jane"), "{}", providers[2].last().text());
    gateway.expect_no_panic();
}

#[test]
fn hard_budgets_bound_answers_of_google_s_clients() {
    let providers = providers();
    let budgets = json!([{"name": "all", "max": 100_000, "unit": "tokens", "per": "month"}]);
    let gateway = start(&providers, json!({"budgets": budgets, "output_tokens_max": 2}));
    for model in ["a", "team/b", "c"] {
        // The provider does not heed the bound; its stream ends there.
        let answer = ask(&gateway, model, true, "Hi");
        assert_eq!(text_of(&answer), "You sa", "{model}: {answer}");
        assert!(answer.text().contains(r#""finishReason":"MAX_TOKENS""#) && !answer.text().contains("STOP"), "{answer}");
    }
    assert_eq!(body_of(&providers[2].last())["generationConfig"]["maxOutputTokens"], 2);
    let stated = json!({"contents": [{"parts": [{"text": "Hi"}]}], "generation_config": {"max_output_tokens": 50}});
    assert_eq!(text_of(&post(&gateway, "/m/v1beta/models/c:generateContent", &stated)), "You said: Hi");
    assert_eq!(body_of(&providers[2].last())["generationConfig"], json!({"maxOutputTokens": 50}));
    let refused =
        post(&gateway, "/m/v1beta/models/c:generateContent", &json!({"contents": [{"parts": [{"text": "Hi"}]}], "new": 1}));
    assert_eq!(refused.status, 400, "a member that nobody knows has no bound: {refused}");
}

#[test]
fn kept_answers_are_for_google_s_clients_too() {
    let providers = providers();
    let gateway = start(&providers, json!({"cache": {}}));
    for (at, model) in ["a", "team/b", "c"].into_iter().enumerate() {
        for (number, stream) in [true, false, true].into_iter().enumerate() {
            let answer = ask(&gateway, model, stream, "Hi");
            assert_eq!(text_of(&answer), "You said: Hi", "{model}: {answer}");
            let expected = if number == 0 { "miss" } else { "hit" };
            assert_eq!(answer.header("X-Tollgate-Llm-Cache"), Some(expected), "{model} {number}");
        }
        assert_eq!(providers[at].requests(), 1);
        let warm = json!({"contents": [{"parts": [{"text": "Hi"}]}], "generation_config": {"temperature": 0.5}});
        let warm = post(&gateway, &format!("/m/v1beta/models/{model}:generateContent"), &warm);
        assert_eq!((warm.status, warm.header("X-Tollgate-Llm-Cache")), (200, None), "{warm}");
    }
}
