//! Answers, streams and errors of Bedrock.

use super::frames::EventFrame;
use crate::form::{Fault, FaultKind, Part, ReasoningPart, Reply, Stop, ToolCall, Usage};
use crate::json::{JsonNode, JsonObject};
use crate::steps::Steps;

/// Reads a provider's answer.
pub(crate) fn read_reply(body: &[u8], bytes_max: usize) -> Result<Reply, Fault> {
    let answer = JsonNode::read(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
    let message = answer.object("output").and_then(|output| output.object("message")).ok_or_else(|| Fault::broken("no message"))?;
    let mut parts = Vec::new();
    for block in message.items("content").iter().filter_map(|block| block.object()) {
        if let Some(text) = block.text("text").filter(|text| !text.is_empty()) {
            parts.push(Part::Text(text.into_owned()));
        } else if let Some(call) = block.object("toolUse") {
            parts.push(Part::ToolCall(ToolCall {
                id: call.owned("toolUseId"),
                name: call.owned("name"),
                arguments: call.get("input").map_or("{}", JsonNode::raw).to_owned(),
                signature: None,
            }));
        } else if let Some(thought) = block.object("reasoningContent") {
            let text = thought.object("reasoningText");
            parts.push(Part::Reasoning(ReasoningPart {
                text: text.as_ref().map(|text| text.owned("text")).unwrap_or_default(),
                signature: text.and_then(|text| Some(text.text("signature")?.into_owned())),
                redacted: thought.text("redactedContent").map(|data| data.into_owned()),
            }));
        }
    }
    let stop = answer.text("stopReason").map_or(Ok(Stop::End), |reason| stop_of(&reason))?;
    let usage = answer.object("usage").map_or(Usage::UNKNOWN, |usage| read_usage(&usage));
    Ok(Reply { id: String::new(), model: String::new(), parts, stop, usage })
}

fn stop_of(reason: &str) -> Result<Stop, Fault> {
    Ok(match reason {
        "max_tokens" | "model_context_window_exceeded" => Stop::OutputLimit,
        "stop_sequence" => Stop::Sequence,
        "tool_use" => Stop::ToolCalls,
        "guardrail_intervened" | "content_filtered" => Stop::Filtered,
        "malformed_model_output" | "malformed_tool_use" => {
            return Err(Fault::new(FaultKind::Server, format!("the model ended with {reason}")));
        }
        _ => Stop::End,
    })
}

fn read_usage(usage: &JsonObject) -> Usage {
    let figure = |name: &str| usage.get(name).map(|node| Usage::figure(node.number()));
    let (input, output) = (figure("inputTokens").flatten(), figure("outputTokens").flatten());
    let cached_read = figure("cacheReadInputTokens").flatten().unwrap_or(0);
    let cached_write = figure("cacheWriteInputTokens").flatten().unwrap_or(0);
    Usage {
        input: input.unwrap_or(0) + cached_read + cached_write,
        output: output.unwrap_or(0),
        cached_read,
        cached_write,
        cached_write_hour: 0,
        reasoning: 0,
        is_doubtful: input.is_none() || output.is_none(),
    }
    .bounded()
}

/// Reads the body of an error.
pub(crate) fn read_fault(status: u16, body: &[u8], bytes_max: usize) -> Fault {
    let answer = JsonNode::read(body, bytes_max).ok().and_then(|node| node.object());
    let message = answer.and_then(|answer| answer.text("message").or_else(|| answer.text("Message")).map(|text| text.into_owned()));
    let fault = Fault::of_status(status);
    match message {
        // A model that takes too long has a status of its own.
        Some(message) if status == 424 => Fault::with_status(502, FaultKind::Server, message),
        Some(message) => Fault::with_status(fault.status, fault.kind, message),
        None => fault,
    }
}

/// Reads the frames of one stream.
#[derive(Debug, Default)]
pub(crate) struct ConverseEvents {
    block: Option<u64>,
}

impl ConverseEvents {
    /// Reads one frame.
    pub(crate) fn read(&mut self, frame: &EventFrame, bytes_max: usize, steps: &mut Steps) -> Result<(), Fault> {
        let event =
            JsonNode::read(&frame.data, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
        if !frame.is_event {
            return Err(exception(&frame.kind, &event));
        }
        match frame.kind.as_str() {
            "messageStart" => steps.begin("", "", None),
            "contentBlockStart" => {
                self.at(&event, steps);
                if let Some(call) = event.object("start").and_then(|start| start.object("toolUse")) {
                    steps.tool(&call.owned("toolUseId"), &call.owned("name"), None);
                }
            }
            "contentBlockDelta" => {
                self.at(&event, steps);
                if let Some(delta) = event.object("delta") {
                    read_delta(&delta, steps);
                }
            }
            "contentBlockStop" => steps.close(),
            "messageStop" => steps.stop(event.text("stopReason").map_or(Ok(Stop::End), |reason| stop_of(&reason))?),
            // The last event.
            "metadata" => {
                if let Some(usage) = event.object("usage") {
                    steps.usage(read_usage(&usage));
                }
                steps.end();
            }
            _ => {}
        }
        Ok(())
    }

    /// Texts have no beginning of their own: another index is another block.
    fn at(&mut self, event: &JsonObject, steps: &mut Steps) {
        let index = event.get("contentBlockIndex").and_then(JsonNode::whole);
        if self.block != index {
            steps.close();
            self.block = index;
        }
    }
}

fn read_delta(delta: &JsonObject, steps: &mut Steps) {
    steps.text_of(delta, "text");
    if let Some(call) = delta.object("toolUse") {
        steps.arguments(&call.owned("input"));
    }
    if let Some(thought) = delta.object("reasoningContent") {
        steps.reasoning(&thought.owned("text"));
        steps.signature(&thought.owned("signature"));
        steps.redacted(&thought.owned("redactedContent"));
    }
}

fn exception(kind: &str, event: &JsonObject) -> Fault {
    let kind = match kind {
        "throttlingException" => FaultKind::RateLimit,
        "validationException" => FaultKind::InvalidRequest,
        "serviceUnavailableException" => FaultKind::Overloaded,
        "modelTimeoutException" => FaultKind::Timeout,
        _ => FaultKind::Server,
    };
    Fault::new(kind, event.owned("message"))
}
