//! A provider's stream: blocks that begin, grow and end.

use super::fault::event_fault;
use super::reply::UsageState;
use super::stop_of;
use crate::form::Fault;
use crate::json::{JsonNode, JsonObject};
use crate::steps::Steps;

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub(crate) struct MessagesEvents {
    usage: UsageState,
    /// The index of the open block.
    block: Option<u64>,
}

impl MessagesEvents {
    /// Reads the data of one event.
    pub(crate) fn read(&mut self, data: &[u8], bytes_max: usize, steps: &mut Steps) -> Result<(), Fault> {
        let event = JsonNode::read(data, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
        match event.text("type").as_deref() {
            Some("message_start") => {
                let message = event.object("message").ok_or_else(|| Fault::broken("no message"))?;
                if let Some(usage) = message.object("usage") {
                    self.usage.add(&usage);
                }
                steps.begin(&message.owned("id"), &message.owned("model"), Some(self.usage.usage()));
            }
            Some("content_block_start") => {
                self.block = event.get("index").and_then(JsonNode::whole);
                let block = event.object("content_block").ok_or_else(|| Fault::broken("no block"))?;
                begin_block(&block, steps)?;
            }
            Some("content_block_delta") => {
                if event.get("index").and_then(JsonNode::whole) != self.block {
                    return Err(Fault::broken("blocks are mixed"));
                }
                if let Some(delta) = event.object("delta") {
                    read_delta(&delta, steps);
                }
            }
            Some("content_block_stop") => steps.close(),
            Some("message_delta") => {
                if let Some(reason) = event.object("delta").and_then(|delta| delta.text("stop_reason")) {
                    steps.stop(stop_of(&reason));
                }
                if let Some(usage) = event.object("usage") {
                    self.usage.add(&usage);
                    steps.usage(self.usage.usage());
                }
            }
            Some("message_stop") => steps.end(),
            Some("error") => return Err(event_fault(&event)),
            // Pings, and what later versions add.
            _ => {}
        }
        Ok(())
    }
}

fn begin_block(block: &JsonObject, steps: &mut Steps) -> Result<(), Fault> {
    match block.text("type").as_deref() {
        Some("text") => steps.text(&block.owned("text")),
        Some("thinking") => {
            steps.reasoning(&block.owned("thinking"));
            steps.signature(&block.owned("signature"));
        }
        Some("redacted_thinking") => steps.redacted(&block.owned("data")),
        Some("tool_use") => steps.tool(&block.owned("id"), &block.owned("name"), None),
        _ => return Err(Fault::broken("a kind of content that nobody asked for")),
    }
    Ok(())
}

fn read_delta(delta: &JsonObject, steps: &mut Steps) {
    match delta.text("type").as_deref() {
        Some("text_delta") => steps.text_of(delta, "text"),
        Some("thinking_delta") => steps.reasoning(&delta.owned("thinking")),
        Some("signature_delta") => steps.signature(&delta.owned("signature")),
        Some("input_json_delta") => steps.arguments(&delta.owned("partial_json")),
        _ => {}
    }
}
