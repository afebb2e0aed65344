//! Answers, streams and errors of Cohere.

use crate::form::{Fault, FaultKind, Part, ReasoningPart, Reply, Stop, ToolCall, Usage};
use crate::json::{JsonNode, JsonObject};
use crate::steps::Steps;

/// Reads a provider's answer.
pub(crate) fn read_reply(body: &[u8], bytes_max: usize) -> Result<Reply, Fault> {
    let answer = JsonNode::read(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
    let message = answer.object("message").ok_or_else(|| Fault::broken("no message"))?;
    let mut parts = Vec::new();
    // The plan is what the model thought before it called.
    let mut think = |text: String| {
        if !text.is_empty() {
            parts.push(Part::Reasoning(ReasoningPart { text, ..ReasoningPart::default() }));
        }
    };
    think(message.owned("tool_plan"));
    let content: Vec<_> = message.items("content").iter().filter_map(|part| part.object()).collect();
    content.iter().for_each(|part| think(part.owned("thinking")));
    parts.extend(content.iter().map(|part| part.owned("text")).filter(|text| !text.is_empty()).map(Part::Text));
    for call in message.items("tool_calls").iter().filter_map(|call| call.object()) {
        let function = call.object("function").ok_or_else(|| Fault::broken("a tool call without function"))?;
        parts.push(Part::ToolCall(ToolCall {
            id: call.owned("id"),
            name: function.owned("name"),
            arguments: function.owned("arguments"),
            signature: None,
        }));
    }
    let stop = answer.text("finish_reason").map_or(Ok(Stop::End), |reason| stop_of(&reason))?;
    let usage = answer.object("usage").map_or(Usage::UNKNOWN, |usage| read_usage(&usage));
    Ok(Reply { id: answer.owned("id"), model: String::new(), parts, stop, usage })
}

fn stop_of(reason: &str) -> Result<Stop, Fault> {
    Ok(match reason {
        "MAX_TOKENS" => Stop::OutputLimit,
        "STOP_SEQUENCE" => Stop::Sequence,
        "TOOL_CALL" => Stop::ToolCalls,
        "ERROR_TOXIC" => Stop::Filtered,
        "TIMEOUT" => return Err(Fault::new(FaultKind::Timeout, "the model took too long")),
        "ERROR" => return Err(Fault::new(FaultKind::Server, "the model failed")),
        _ => Stop::End,
    })
}

fn read_usage(usage: &JsonObject) -> Usage {
    let tokens = usage.object("tokens");
    let figure = |name: &str| tokens.as_ref().and_then(|tokens| Usage::figure(tokens.get(name)?.number()));
    let cached = usage.get("cached_tokens").and_then(|node| Usage::figure(node.number()));
    let (input, output) = (figure("input_tokens"), figure("output_tokens"));
    Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cached_read: cached.unwrap_or(0),
        cached_write: 0,
        cached_write_hour: 0,
        reasoning: 0,
        is_doubtful: input.is_none() || output.is_none(),
    }
    .bounded()
}

/// Reads the body of an error.
pub(crate) fn read_fault(status: u16, body: &[u8], bytes_max: usize) -> Fault {
    let fault = Fault::of_status(status);
    let answer = JsonNode::read(body, bytes_max).ok().and_then(|node| node.object());
    match answer.and_then(|answer| Some(answer.text("message")?.into_owned())) {
        Some(message) => Fault::with_status(fault.status, fault.kind, message),
        None => fault,
    }
}

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub(crate) struct CohereEvents;

impl CohereEvents {
    /// Reads the data of one event.
    pub(crate) fn read(&mut self, data: &[u8], bytes_max: usize, steps: &mut Steps) -> Result<(), Fault> {
        if data.trim_ascii() == b"[DONE]" {
            return Ok(());
        }
        let event = JsonNode::read(data, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
        let delta = event.object("delta");
        let message = delta.as_ref().and_then(|delta| delta.object("message"));
        match event.text("type").as_deref() {
            Some("message-start") => steps.begin(&event.owned("id"), "", None),
            Some("content-start" | "content-delta") => {
                if let Some(content) = message.and_then(|message| message.object("content")) {
                    steps.reasoning(&content.owned("thinking"));
                    steps.text_of(&content, "text");
                }
            }
            Some("tool-plan-delta") => steps.reasoning(&message.map(|message| message.owned("tool_plan")).unwrap_or_default()),
            Some("tool-call-start") => {
                let call = message.and_then(|message| message.object("tool_calls")).ok_or_else(|| Fault::broken("no tool call"))?;
                let function = call.object("function").ok_or_else(|| Fault::broken("a tool call without function"))?;
                steps.tool(&call.owned("id"), &function.owned("name"), None);
                steps.arguments(&function.owned("arguments"));
            }
            Some("tool-call-delta") => {
                let call = message.and_then(|message| message.object("tool_calls"));
                if let Some(function) = call.and_then(|call| call.object("function")) {
                    steps.arguments(&function.owned("arguments"));
                }
            }
            Some("content-end" | "tool-call-end") => steps.close(),
            Some("message-end") => {
                if let Some(usage) = delta.as_ref().and_then(|delta| delta.object("usage")) {
                    steps.usage(read_usage(&usage));
                }
                let reason = delta.and_then(|delta| Some(delta.text("finish_reason")?.into_owned()));
                steps.stop(reason.map_or(Ok(Stop::End), |reason| stop_of(&reason))?);
                steps.end();
            }
            _ => {}
        }
        Ok(())
    }
}
