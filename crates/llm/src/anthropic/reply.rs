//! Whole answers, in both directions.

use super::{stop_name, stop_of};
use crate::answer::AnswerContext;
use crate::form::{Citation, Fault, Part, ReasoningPart, Reply, Stop, ToolCall, Usage, citations_of};
use crate::json::{ArrayOut, JsonNode, JsonObject, ObjectOut, is_object_text, object};

/// Reads a provider's answer.
pub(crate) fn read_reply(body: &[u8], bytes_max: usize) -> Result<Reply, Fault> {
    let answer = JsonNode::read(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
    if answer.text("type").as_deref() == Some("error") {
        return Err(super::fault::event_fault(&answer));
    }
    if answer.get("content").is_none() {
        return Err(Fault::broken("no content"));
    }
    let mut parts = Vec::new();
    for block in answer.items("content") {
        let block = block.object().ok_or_else(|| Fault::broken("a block is no object"))?;
        parts.extend(read_block(&block)?);
    }
    let stop = answer.text("stop_reason").as_deref().map_or(Stop::End, stop_of);
    let mut usage = UsageState::default();
    if let Some(figures) = answer.object("usage") {
        usage.add(&figures);
    }
    Ok(Reply { id: answer.owned("id"), model: answer.owned("model"), parts, stop, usage: usage.usage() })
}

fn read_block(block: &JsonObject) -> Result<Option<Part>, Fault> {
    let text = |name: &str| block.text(name).map(|text| text.into_owned());
    Ok(match block.text("type").as_deref() {
        Some("text") => text("text").filter(|text| !text.is_empty()).map(Part::Text),
        Some("thinking") => Some(Part::Reasoning(ReasoningPart {
            text: block.owned("thinking"),
            signature: text("signature").filter(|signature| !signature.is_empty()),
            redacted: None,
        })),
        Some("redacted_thinking") => {
            Some(Part::Reasoning(ReasoningPart { text: String::new(), signature: None, redacted: text("data") }))
        }
        Some("tool_use") => Some(Part::ToolCall(ToolCall {
            id: block.owned("id"),
            name: block.owned("name"),
            arguments: block.get("input").map_or("{}", JsonNode::raw).to_owned(),
            signature: None,
        })),
        // Tools of the provider itself are not asked for in translated requests.
        _ => return Err(Fault::broken("a kind of content that nobody asked for")),
    })
}

/// Figures of usage, which a stream tells in pieces.
#[derive(Debug, Default)]
pub(crate) struct UsageState {
    input: Option<u64>,
    output: Option<u64>,
    cached_read: u64,
    cached_write: u64,
    cached_write_hour: u64,
    reasoning: u64,
    is_doubtful: bool,
}

impl UsageState {
    /// Takes what one object says.
    pub(crate) fn add(&mut self, usage: &JsonObject) {
        let is_doubtful = &mut self.is_doubtful;
        let mut figure = |object: &JsonObject, name: &str| {
            let number = object.get(name)?;
            let read = Usage::figure(number.number());
            *is_doubtful |= read.is_none();
            Some(read.unwrap_or(0))
        };
        self.input = figure(usage, "input_tokens").or(self.input);
        self.output = figure(usage, "output_tokens").or(self.output);
        self.cached_read = figure(usage, "cache_read_input_tokens").unwrap_or(self.cached_read);
        self.cached_write = figure(usage, "cache_creation_input_tokens").unwrap_or(self.cached_write);
        if let Some(times) = usage.object("cache_creation") {
            self.cached_write_hour = figure(&times, "ephemeral_1h_input_tokens").unwrap_or(self.cached_write_hour);
        }
        if let Some(details) = usage.object("output_tokens_details") {
            self.reasoning = figure(&details, "thinking_tokens").unwrap_or(self.reasoning);
        }
    }

    /// The figures as others count: all of the prompt together.
    pub(crate) fn usage(&self) -> Usage {
        let input = self.input.unwrap_or(0).saturating_add(self.cached_read).saturating_add(self.cached_write);
        Usage {
            input,
            output: self.output.unwrap_or(0),
            cached_read: self.cached_read,
            cached_write: self.cached_write,
            cached_write_hour: self.cached_write_hour,
            reasoning: self.reasoning,
            is_doubtful: self.is_doubtful || self.input.is_none() || self.output.is_none(),
        }
        .bounded()
    }
}

/// Writes usage as a member.
pub(super) fn write_usage(out: &mut ObjectOut, usage: &Usage) {
    out.object("usage", |out| {
        out.whole("input_tokens", usage.input.saturating_sub(usage.cached_read).saturating_sub(usage.cached_write));
        out.whole("cache_creation_input_tokens", usage.cached_write);
        out.whole("cache_read_input_tokens", usage.cached_read);
        out.whole("output_tokens", usage.output);
        out.object("output_tokens_details", |details| details.whole("thinking_tokens", usage.reasoning));
        for name in ["cache_creation", "inference_geo", "server_tool_use", "service_tier"] {
            out.null(name);
        }
    });
}

/// Who calls a tool: the model itself.
pub(super) const DIRECT: &str = r#"{"type":"direct"}"#;

/// Members of a message that nobody tells.
pub(super) const UNTOLD: [&str; 3] = ["stop_sequence", "stop_details", "container"];

/// Writes an answer for a client.
///
/// # Errors
/// The arguments of a tool call are no object, as this API has them.
pub(crate) fn write_reply(reply: &Reply, answer: &AnswerContext) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    object(&mut body, |out| {
        out.text("id", &answer.id(&reply.id, "msg_"));
        out.text("type", "message");
        out.text("role", "assistant");
        out.text("model", answer.model(&reply.model));
        out.array("content", |content| {
            (0..reply.parts.len()).try_for_each(|at| write_block(content, &reply.parts, at, reply.stop))
        })?;
        out.text("stop_reason", stop_name(reply.stop));
        for name in UNTOLD {
            out.null(name);
        }
        write_usage(out, &reply.usage);
        Ok(())
    })?;
    Ok(body)
}

fn write_block(content: &mut ArrayOut, parts: &[Part], at: usize, stop: Stop) -> Result<(), Fault> {
    let Some(part) = parts.get(at) else { return Ok(()) };
    match part {
        Part::Text(text) => content.object(|block| {
            block.text("type", "text");
            block.text("text", text);
            // No client takes exception to an empty list; some do to null.
            block.array("citations", |list| {
                citations_of(parts, at).into_iter().for_each(|citation| list.object(|out| write_citation(out, citation)));
            });
        }),
        Part::Reasoning(part) => content.object(|block| match &part.redacted {
            Some(data) => {
                block.text("type", "redacted_thinking");
                block.text("data", data);
            }
            None => {
                block.text("type", "thinking");
                block.text("thinking", &part.text);
                block.text("signature", part.signature.as_deref().unwrap_or_default());
            }
        }),
        Part::ToolCall(call) => {
            let arguments = match call.arguments.trim_ascii() {
                "" => "{}",
                text if is_object_text(text) => text,
                // The bound of the answer cut them off; that is what its reason to stop says.
                _ if stop == Stop::OutputLimit => "{}",
                _ => return Err(Fault::broken("the arguments of a tool call are no JSON object")),
            };
            content.object(|block| {
                block.text("type", "tool_use");
                block.text("id", &call.id);
                block.text("name", &call.name);
                block.raw("input", arguments);
                block.raw("caller", DIRECT);
            });
        }
        Part::Image(_) | Part::Document(..) | Part::ToolResult(_) | Part::Citation(_) => {}
    }
    Ok(())
}

/// Where something in a text comes from. What the page says there, and Anthropic's own mark of it, nobody has told.
pub(super) fn write_citation(out: &mut ObjectOut, citation: &Citation) {
    out.text("type", "web_search_result_location");
    out.text("url", &citation.url);
    out.text("title", &citation.title);
    out.text("cited_text", "");
    out.text("encrypted_index", "");
}
