//! Whole answers, in both directions.

use super::{stop_name, stop_of};
use crate::answer::AnswerContext;
use crate::form::{Citation, Fault, Part, ReasoningPart, Reply, Stop, ToolCall, Usage};
use crate::json::{JsonNode, JsonObject, ObjectOut, object};

/// Reads a provider's answer.
pub(crate) fn read_reply(body: &[u8], bytes_max: usize) -> Result<Reply, Fault> {
    let answer = JsonNode::read(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
    if let Some(fault) = super::fault::fault_member(&answer) {
        return Err(fault);
    }
    let choices = answer.items("choices");
    if choices.len() > 1 {
        return Err(Fault::without_counterpart("a second choice"));
    }
    let choice = choices.first().and_then(|choice| choice.object()).ok_or_else(|| Fault::broken("no choice"))?;
    let message = choice.object("message").ok_or_else(|| Fault::broken("no message"))?;
    check_message(&message)?;
    let mut parts = read_reasoning(&message);
    // Mistral's models that reason answer with an array of parts.
    match message.get("content") {
        Some(content) if content.is_text() => push_text(&mut parts, content.lossy_text().as_deref()),
        Some(content) => content.items().unwrap_or_default().iter().filter_map(|item| item.object()).for_each(|item| {
            push_text(&mut parts, item.text("text").as_deref());
        }),
        None => {}
    }
    parts.extend(read_citations(&message).into_iter().map(Part::Citation));
    let refusal = message.text("refusal").filter(|text| !text.is_empty());
    push_text(&mut parts, refusal.as_deref());
    for (at, call) in message.items("tool_calls").into_iter().enumerate() {
        let call = call.object().ok_or_else(|| Fault::broken("a tool call is no object"))?;
        let function = call.object("function").ok_or_else(|| Fault::broken("a tool call without function"))?;
        let id = call.text("id").filter(|id| !id.is_empty()).map_or_else(|| format!("call_{at}"), |id| id.into_owned());
        parts.push(Part::ToolCall(ToolCall {
            id,
            name: function.owned("name"),
            arguments: arguments(&function),
            signature: signature(&call),
        }));
    }
    let has_calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let stop = settled_stop(choice.text("finish_reason").as_deref().map_or(Stop::End, stop_of), has_calls);
    let stop = refused_stop(stop, refusal.is_some());
    let usage = answer.object("usage").map_or(Usage::UNKNOWN, |usage| read_usage(&usage));
    Ok(Reply { id: answer.owned("id"), model: answer.owned("model"), parts, stop, usage })
}

/// Some providers end with `stop` although tools are called; a client that believes it would not call them.
pub(crate) fn settled_stop(stop: Stop, has_calls: bool) -> Stop {
    if has_calls && stop == Stop::End { Stop::ToolCalls } else { stop }
}

/// A model that refuses ends as others do, with the refusal beside.
pub(super) fn refused_stop(stop: Stop, is_refused: bool) -> Stop {
    if is_refused && stop == Stop::End { Stop::Filtered } else { stop }
}

/// What a model answers besides texts, thoughts and calls has no counterpart.
pub(super) fn check_message(message: &JsonObject) -> Result<(), Fault> {
    let audio = message.object("audio").map(|_| "audio");
    let images = message.items("images").first().map(|_| "images");
    audio.or(images).map_or(Ok(()), |name| Err(Fault::without_counterpart(name)))
}

/// Where the texts come from. Annotations of other kinds are notes for the provider itself, such as files that it has read.
pub(super) fn read_citations(message: &JsonObject) -> Vec<Citation> {
    let citation = |note: &JsonObject| {
        let citation = note.object("url_citation")?;
        let index = |name: &str| citation.get(name).and_then(JsonNode::whole).unwrap_or(0);
        Some(Citation {
            url: citation.owned("url"),
            title: citation.owned("title"),
            start: index("start_index"),
            end: index("end_index"),
        })
    };
    message.items("annotations").iter().filter_map(|note| citation(&note.object()?)).collect()
}

fn push_text(parts: &mut Vec<Part>, text: Option<&str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        parts.push(Part::Text(text.to_owned()));
    }
}

/// Arguments as JSON text; some providers answer with an object instead.
pub(super) fn arguments(function: &JsonObject) -> String {
    match function.get("arguments") {
        Some(node) if node.is_text() => node.lossy_text().unwrap_or_default().into_owned(),
        Some(node) => node.raw().to_owned(),
        None => String::new(),
    }
}

/// Google's proof of the thought behind a call.
pub(super) fn signature(call: &JsonObject) -> Option<String> {
    Some(call.object("extra_content")?.object("google")?.text("thought_signature")?.into_owned())
}

fn read_reasoning(message: &JsonObject) -> Vec<Part> {
    let details: Vec<Part> =
        message.items("reasoning_details").iter().filter_map(|item| read_detail(&item.object()?)).map(Part::Reasoning).collect();
    if !details.is_empty() {
        return details;
    }
    let text = message.text("reasoning_content").or_else(|| message.text("reasoning")).filter(|text| !text.is_empty());
    text.map(|text| Part::Reasoning(ReasoningPart { text: text.into_owned(), ..ReasoningPart::default() })).into_iter().collect()
}

fn read_detail(detail: &JsonObject) -> Option<ReasoningPart> {
    match &*detail.text("type")? {
        "reasoning.text" => Some(ReasoningPart {
            text: detail.owned("text"),
            signature: detail.text("signature").map(|text| text.into_owned()),
            redacted: None,
        }),
        "reasoning.encrypted" => Some(ReasoningPart {
            text: String::new(),
            signature: None,
            redacted: detail.text("data").map(|data| data.into_owned()),
        }),
        _ => None,
    }
}

/// Reads figures of usage.
pub(crate) fn read_usage(usage: &JsonObject) -> Usage {
    let figure = |object: &JsonObject, name: &str| object.get(name).map(|node| Usage::figure(node.number()));
    let input = figure(usage, "prompt_tokens").flatten();
    // Embeddings have no answer, which only the sum says.
    let beyond_input = || figure(usage, "total_tokens").flatten()?.checked_sub(input?);
    let output = figure(usage, "completion_tokens").unwrap_or_else(beyond_input);
    let detail = |part: &str, name: &str| usage.object(part).and_then(|part| figure(&part, name));
    // DeepSeek names the cache beside.
    let cached = detail("prompt_tokens_details", "cached_tokens").or_else(|| figure(usage, "prompt_cache_hit_tokens"));
    let written = detail("prompt_tokens_details", "cache_write_tokens");
    let reasoning = detail("completion_tokens_details", "reasoning_tokens");
    Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached_read: cached.flatten().unwrap_or(0),
        cached_write: written.flatten().unwrap_or(0),
        cached_write_hour: 0,
        reasoning: reasoning.flatten().unwrap_or(0),
        is_doubtful: input.is_none() || output.is_none() || cached == Some(None) || reasoning == Some(None),
    }
    .bounded()
}

/// Writes usage as a member.
pub(super) fn write_usage(out: &mut ObjectOut, usage: &Usage) {
    out.object("usage", |out| {
        out.whole("prompt_tokens", usage.input);
        out.whole("completion_tokens", usage.output);
        out.whole("total_tokens", usage.input.saturating_add(usage.output));
        out.object("prompt_tokens_details", |out| {
            out.whole("cached_tokens", usage.cached_read);
            if usage.cached_write > 0 {
                out.whole("cache_write_tokens", usage.cached_write);
            }
        });
        out.object("completion_tokens_details", |out| out.whole("reasoning_tokens", usage.reasoning));
    });
}

/// Writes an answer for a client.
pub(crate) fn write_reply(reply: &Reply, answer: &AnswerContext) -> Vec<u8> {
    let mut body = Vec::new();
    object(&mut body, |out| {
        out.text("id", &answer.id(&reply.id, "chatcmpl-"));
        out.text("object", "chat.completion");
        out.whole("created", answer.now());
        out.text("model", answer.model(&reply.model));
        out.array("choices", |choices| {
            choices.object(|choice| {
                choice.whole("index", 0);
                choice.object("message", |message| write_message(message, reply));
                choice.null("logprobs");
                choice.text("finish_reason", stop_name(reply.stop));
            });
        });
        write_usage(out, &reply.usage);
    });
    body
}

fn write_message(message: &mut ObjectOut, reply: &Reply) {
    let (mut text, mut thought) = (String::new(), String::new());
    let (mut calls, mut thoughts, mut citations) = (Vec::new(), Vec::new(), Vec::new());
    for part in &reply.parts {
        match part {
            Part::Text(more) => text.push_str(more),
            Part::Citation(citation) => citations.push(citation),
            Part::ToolCall(call) => calls.push(call),
            Part::Reasoning(part) => {
                thought.push_str(&part.text);
                thoughts.push(part);
            }
            Part::Image(_) | Part::Document(..) | Part::ToolResult(_) => {}
        }
    }
    message.text("role", "assistant");
    match text.as_str() {
        "" => message.null("content"),
        text => message.text("content", text),
    }
    message.null("refusal");
    if !citations.is_empty() {
        write_citations(message, citations);
    }
    if !thought.is_empty() {
        message.text("reasoning_content", &thought);
    }
    if thoughts.iter().any(|part| part.signature.is_some() || part.redacted.is_some()) {
        message.array("reasoning_details", |out| {
            for part in thoughts {
                out.object(|detail| write_detail(detail, part));
            }
        });
    }
    if !calls.is_empty() {
        message.array("tool_calls", |out| {
            for call in calls {
                out.object(|out| {
                    out.text("id", &call.id);
                    out.text("type", "function");
                    out.object("function", |function| {
                        function.text("name", &call.name);
                        function.text("arguments", &call.arguments);
                    });
                    write_signature(out, call.signature.as_deref());
                });
            }
        });
    }
}

/// Writes where texts come from.
pub(super) fn write_citations<'c>(message: &mut ObjectOut, citations: impl IntoIterator<Item = &'c Citation>) {
    message.array("annotations", |notes| {
        for citation in citations {
            notes.object(|note| {
                note.text("type", "url_citation");
                note.object("url_citation", |out| {
                    out.whole("start_index", citation.start);
                    out.whole("end_index", citation.end);
                    out.text("title", &citation.title);
                    out.text("url", &citation.url);
                });
            });
        }
    });
}

/// One thought with its proof, in the form of those who have proofs in this API.
pub(super) fn write_detail(detail: &mut ObjectOut, part: &ReasoningPart) {
    match &part.redacted {
        Some(data) => {
            detail.text("type", "reasoning.encrypted");
            detail.text("data", data);
        }
        None => {
            detail.text("type", "reasoning.text");
            detail.text("text", &part.text);
            detail.text_if("signature", part.signature.as_deref());
        }
    }
}

pub(super) fn write_signature(call: &mut ObjectOut, signature: Option<&str>) {
    if let Some(signature) = signature {
        call.object("extra_content", |extra| extra.object("google", |google| google.text("thought_signature", signature)));
    }
}
