//! Answers of a language model that knows four words, in the forms of OpenAI's Chat Completions and Anthropic's Messages, streamed or whole.
//!
//! The bound of the answer that a request states is its number of tokens, each of them one event of a stream. A duration behind the last dash of the
//! model's name is the pause between two, as in `mock-20ms`.

use super::body::{AnswerBody, EVENTS_MAX, json, typed};
use super::parameter::duration;
use http::{Method, Response, request};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// Tokens of an answer whose request states no bound.
const TOKENS: u64 = 16;
/// What it says, again and again: some clients take exception to one word alone.
const WORDS: [&str; 4] = ["and ", "so ", "it ", "goes "];
/// About as many bytes are a token of the prompt.
const TOKEN_BYTES: usize = 4;

/// Whose form an answer has.
#[derive(Clone, Copy)]
pub(crate) enum ModelApi {
    ChatCompletions,
    Messages,
}

/// The word at a place.
fn word(number: u64) -> &'static str {
    WORDS.get((number % WORDS.len() as u64) as usize).copied().unwrap_or_default()
}

struct Question {
    model: String,
    tokens: u64,
    pause: Duration,
    prompt_tokens: usize,
}

impl ModelApi {
    /// What a request asks for, by its path.
    pub(crate) fn of(head: &request::Parts) -> Option<Self> {
        match head.uri.path() {
            _ if head.method != Method::POST => None,
            "/v1/chat/completions" => Some(ModelApi::ChatCompletions),
            "/v1/messages" => Some(ModelApi::Messages),
            _ => None,
        }
    }

    /// The answer to a request with this body.
    pub(crate) async fn answer(self, body: &[u8]) -> Response<AnswerBody> {
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        let model = asked.get("model").and_then(Value::as_str).unwrap_or("mock").to_owned();
        let bound = ["max_completion_tokens", "max_tokens"].iter().find_map(|name| asked.get(*name)?.as_u64());
        let question = Question {
            pause: model.rsplit_once('-').and_then(|(_, pause)| duration(pause)).unwrap_or_default(),
            tokens: bound.unwrap_or(TOKENS).min(EVENTS_MAX),
            prompt_tokens: body.len().div_ceil(TOKEN_BYTES),
            model,
        };
        if asked.get("stream").and_then(Value::as_bool) == Some(true) {
            let (before, after) = self.events_around();
            let tokens = before..before + question.tokens;
            let (count, paced) = (tokens.end + after, (tokens, question.pause));
            return typed("text/event-stream", AnswerBody::events(count, paced, move |number| self.event(&question, number)));
        }
        sleep(question.pause.saturating_mul(u32::try_from(question.tokens).unwrap_or(u32::MAX))).await;
        typed("application/json", AnswerBody::Whole(json(&self.whole(&question))))
    }

    /// Events of a stream before and after those of its tokens.
    fn events_around(self) -> (u64, u64) {
        match self {
            ModelApi::ChatCompletions => (0, 2),
            ModelApi::Messages => (2, 3),
        }
    }

    fn event(self, question: &Question, number: u64) -> String {
        let Question { model, tokens, prompt_tokens, .. } = question;
        match self {
            ModelApi::ChatCompletions => {
                let base = format!(
                    "data: {{\"id\":\"chatcmpl-mock\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":{}",
                    json!(model)
                );
                match number.checked_sub(*tokens) {
                    None => format!(
                        "{base},\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"{}\"}},\"finish_reason\":null}}]}}\n\n",
                        word(number)
                    ),
                    Some(0) => format!(
                        "{base},\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"length\"}}],\"usage\":{}}}\n\n",
                        chat_usage(question)
                    ),
                    Some(_) => "data: [DONE]\n\n".to_owned(),
                }
            }
            ModelApi::Messages => {
                let (name, data) = match number {
                    0 => {
                        let usage = json!({"input_tokens": prompt_tokens, "output_tokens": 1});
                        let message = json!({"id": "msg_mock", "type": "message", "role": "assistant", "model": model, "content": [],
                            "stop_reason": null, "stop_sequence": null, "usage": usage});
                        ("message_start", json!({"type": "message_start", "message": message}))
                    }
                    1 => {
                        let block = json!({"type": "text", "text": ""});
                        ("content_block_start", json!({"type": "content_block_start", "index": 0, "content_block": block}))
                    }
                    number if number < tokens + 2 => {
                        let delta = json!({"type": "text_delta", "text": word(number.saturating_sub(2))});
                        ("content_block_delta", json!({"type": "content_block_delta", "index": 0, "delta": delta}))
                    }
                    number if number == tokens + 2 => ("content_block_stop", json!({"type": "content_block_stop", "index": 0})),
                    number if number == tokens + 3 => {
                        let delta = json!({"stop_reason": "max_tokens", "stop_sequence": null});
                        ("message_delta", json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": tokens}}))
                    }
                    _ => ("message_stop", json!({"type": "message_stop"})),
                };
                format!("event: {name}\ndata: {data}\n\n")
            }
        }
    }

    fn whole(self, question: &Question) -> Value {
        let Question { model, tokens, prompt_tokens, .. } = question;
        let text: String = (0..*tokens).map(word).collect();
        match self {
            ModelApi::ChatCompletions => {
                let choice = json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "length"});
                json!({"id": "chatcmpl-mock", "object": "chat.completion", "created": 1_700_000_000, "model": model, "choices": [choice],
                    "usage": chat_usage(question)})
            }
            ModelApi::Messages => json!({"id": "msg_mock", "type": "message", "role": "assistant", "model": model,
                "content": [{"type": "text", "text": text}], "stop_reason": "max_tokens", "stop_sequence": null,
                "usage": {"input_tokens": prompt_tokens, "output_tokens": tokens}}),
        }
    }
}

fn chat_usage(question: &Question) -> Value {
    let (prompt, tokens) = (question.prompt_tokens as u64, question.tokens);
    json!({"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens})
}
