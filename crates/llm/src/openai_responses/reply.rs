//! Whole answers for clients: a response object with its items.

use crate::answer::AnswerContext;
use crate::form::{
    Citation, Part, Reasoning, ReasoningPart, Reply, ResponseFormat, Stop, ToolCall, ToolChoice, Usage, citations_of,
};
use crate::json::{JsonObject, ObjectOut, object};

/// What an encrypted thought begins with: the proof of a text, or a thought that only the provider reads.
pub(super) const SIGNATURE: &str = "signature:";
pub(super) const REDACTED: &str = "redacted:";

/// Writes an answer for a client.
pub(crate) fn write_reply(reply: &Reply, answer: &AnswerContext) -> Vec<u8> {
    let id = answer.id(&reply.id, "resp_");
    let items: Vec<Vec<u8>> =
        (0..reply.parts.len()).map(|at| item(&id, at, &reply.parts)).filter(|item| !item.is_empty()).collect();
    let mut body = Vec::new();
    let response = ResponseFrame { id: &id, model: answer.model(&reply.model), answer };
    object(&mut body, |out| response.write(out, status(reply.stop), Some(reply.stop), &items, Some(&reply.usage)));
    body
}

/// Reads figures of usage.
pub(crate) fn read_usage(usage: &JsonObject) -> Usage {
    let figure = |object: &JsonObject, name: &str| object.get(name).map(|node| Usage::figure(node.number()));
    let (input, output) = (figure(usage, "input_tokens").flatten(), figure(usage, "output_tokens").flatten());
    let detail = |part: &str, name: &str| usage.object(part).and_then(|part| figure(&part, name)).flatten().unwrap_or(0);
    Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached_read: detail("input_tokens_details", "cached_tokens"),
        cached_write: detail("input_tokens_details", "cache_write_tokens"),
        cached_write_hour: 0,
        reasoning: detail("output_tokens_details", "reasoning_tokens"),
        is_doubtful: input.is_none() || output.is_none(),
    }
    .bounded()
}

/// The status of a response that ended.
pub(super) fn status(stop: Stop) -> &'static str {
    match stop {
        Stop::OutputLimit | Stop::Filtered => "incomplete",
        Stop::End | Stop::Sequence | Stop::ToolCalls => "completed",
    }
}

/// The object around the items.
pub(super) struct ResponseFrame<'a> {
    pub(super) id: &'a str,
    pub(super) model: &'a str,
    pub(super) answer: &'a AnswerContext,
}

impl ResponseFrame<'_> {
    pub(super) fn write(&self, out: &mut ObjectOut, status: &str, stop: Option<Stop>, items: &[Vec<u8>], usage: Option<&Usage>) {
        let echo = self.answer.echo();
        out.text("id", self.id);
        out.text("object", "response");
        out.whole("created_at", self.answer.now());
        match Some(status) {
            Some("completed") => out.whole("completed_at", self.answer.now()),
            _ => out.null("completed_at"),
        }
        out.text("status", status);
        out.null("error");
        let reason = match stop {
            Some(Stop::OutputLimit) => Some("max_output_tokens"),
            Some(Stop::Filtered) => Some("content_filter"),
            _ => None,
        };
        match reason {
            Some(reason) => out.object("incomplete_details", |details| details.text("reason", reason)),
            None => out.null("incomplete_details"),
        }
        match &echo.instructions {
            Some(text) => out.text("instructions", text),
            None => out.null("instructions"),
        }
        match echo.output_tokens_max {
            Some(tokens) => out.whole("max_output_tokens", tokens),
            None => out.null("max_output_tokens"),
        }
        out.text("model", self.model);
        out.array("output", |output| items.iter().for_each(|item| output.raw(item)));
        out.flag("parallel_tool_calls", echo.parallel_tool_calls.unwrap_or(true));
        out.null("previous_response_id");
        out.number_if("temperature", Some(echo.temperature.unwrap_or(1.0)));
        out.number_if("top_p", Some(echo.top_p.unwrap_or(1.0)));
        match &echo.tool_choice {
            None | Some(ToolChoice::Auto) => out.text("tool_choice", "auto"),
            Some(ToolChoice::None) => out.text("tool_choice", "none"),
            Some(ToolChoice::Required) => out.text("tool_choice", "required"),
            Some(ToolChoice::Named(name)) => out.object("tool_choice", |choice| {
                choice.text("type", "function");
                choice.text("name", name);
            }),
        }
        out.array("tools", |tools| {
            for tool in &echo.tools {
                tools.object(|out| {
                    out.text("type", "function");
                    out.text("name", &tool.name);
                    out.text_if("description", tool.description.as_deref());
                    out.raw("parameters", &tool.schema);
                    out.flag("strict", tool.strict.unwrap_or(false));
                });
            }
        });
        out.text("truncation", "disabled");
        match usage {
            None => out.null("usage"),
            Some(usage) => write_usage(out, usage),
        }
        out.object("metadata", |_| {});
        out.object("text", |text| text.object("format", |format| write_format(format, &echo.response_format)));
        match echo.reasoning {
            None => out.null("reasoning"),
            Some(reasoning) => out.object("reasoning", |out| {
                match (reasoning, reasoning.effort()) {
                    (Reasoning::Off, _) => out.text("effort", "none"),
                    (_, Some(effort)) => out.text("effort", effort.name()),
                    (_, None) => out.null("effort"),
                }
                out.text("summary", "auto");
            }),
        }
        // What these are where nothing else was asked, which would have been refused.
        for name in ["frequency_penalty", "presence_penalty", "top_logprobs"] {
            out.whole(name, 0);
        }
        for name in ["store", "background"] {
            out.flag(name, false);
        }
        for name in ["max_tool_calls", "safety_identifier", "prompt_cache_key"] {
            out.null(name);
        }
        out.text("service_tier", "default");
    }
}

fn write_format(out: &mut ObjectOut, format: &ResponseFormat) {
    match format {
        ResponseFormat::Text => out.text("type", "text"),
        ResponseFormat::Json => out.text("type", "json_object"),
        ResponseFormat::Schema { name, description, schema, strict } => {
            out.text("type", "json_schema");
            out.text("name", name);
            out.text_if("description", description.as_deref());
            out.raw("schema", schema);
            out.flag("strict", strict.unwrap_or(false));
        }
    }
}

pub(super) fn write_usage(out: &mut ObjectOut, usage: &Usage) {
    out.object("usage", |out| {
        out.whole("input_tokens", usage.input);
        out.object("input_tokens_details", |out| {
            out.whole("cached_tokens", usage.cached_read);
            out.whole("cache_write_tokens", usage.cached_write);
        });
        out.whole("output_tokens", usage.output);
        out.object("output_tokens_details", |out| out.whole("reasoning_tokens", usage.reasoning));
        out.whole("total_tokens", usage.input.saturating_add(usage.output));
    });
}

/// The id of an item: that of the response, with the item's number.
pub(super) fn item_id(response: &str, at: usize, prefix: &str) -> String {
    format!("{prefix}{}_{at}", response.strip_prefix("resp_").unwrap_or(response))
}

fn item(response: &str, at: usize, parts: &[Part]) -> Vec<u8> {
    let Some(part) = parts.get(at) else { return Vec::new() };
    match part {
        Part::Text(text) => message_item(&item_id(response, at, "msg_"), text, &citations_of(parts, at)),
        Part::ToolCall(call) => call_item(&item_id(response, at, "fc_"), call, "completed"),
        Part::Reasoning(part) => reasoning_item(&item_id(response, at, "rs_"), part),
        Part::Image(_) | Part::Document(..) | Part::ToolResult(_) | Part::Citation(_) => Vec::new(),
    }
}

/// A message that is complete.
pub(super) fn message_item(id: &str, text: &str, citations: &[&Citation]) -> Vec<u8> {
    let mut item = Vec::new();
    object(&mut item, |out| {
        out.text("id", id);
        out.text("type", "message");
        out.text("status", "completed");
        out.text("role", "assistant");
        out.array("content", |content| content.object(|part| write_text(part, text, citations)));
    });
    item
}

/// The one part of a message.
pub(super) fn write_text(part: &mut ObjectOut, text: &str, citations: &[&Citation]) {
    part.text("type", "output_text");
    part.text("text", text);
    part.array("annotations", |notes| citations.iter().for_each(|citation| notes.object(|note| write_citation(note, citation))));
    part.array("logprobs", |_| {});
}

/// Where something in a text comes from.
pub(super) fn write_citation(note: &mut ObjectOut, citation: &Citation) {
    note.text("type", "url_citation");
    note.whole("start_index", citation.start);
    note.whole("end_index", citation.end);
    note.text("title", &citation.title);
    note.text("url", &citation.url);
}

/// A call of a function.
pub(super) fn call_item(id: &str, call: &ToolCall, status: &str) -> Vec<u8> {
    let mut item = Vec::new();
    object(&mut item, |out| {
        out.text("id", id);
        out.text("type", "function_call");
        out.text("status", status);
        out.text("call_id", &call.id);
        out.text("name", &call.name);
        out.text("arguments", &call.arguments);
    });
    item
}

/// A thought that is complete.
pub(super) fn reasoning_item(id: &str, part: &ReasoningPart) -> Vec<u8> {
    let mut item = Vec::new();
    object(&mut item, |out| {
        out.text("id", id);
        out.text("type", "reasoning");
        out.array("summary", |summary| {
            if !part.text.is_empty() {
                summary.object(|out| {
                    out.text("type", "summary_text");
                    out.text("text", &part.text);
                });
            }
        });
        let proof = part.redacted.as_ref().map(|data| format!("{REDACTED}{data}"));
        let proof = proof.or_else(|| part.signature.as_ref().map(|signature| format!("{SIGNATURE}{signature}")));
        out.text_if("encrypted_content", proof.as_deref());
    });
    item
}
