//! Answers as clients get them, read back: a response object, whole or in the last event of its stream.

use super::reply::{REDACTED, SIGNATURE, read_usage};
use super::stop_of;
use crate::form::{Part, ReasoningPart, Reply, Stop, ToolCall, Usage};
use crate::json::{JsonNode, JsonObject};
use crate::openai_chat::settled_stop;

/// Reads a whole answer; `None` if it is not complete, or has what the one form does not have.
pub(crate) fn read_answer(body: &[u8]) -> Option<Reply> {
    read_response(&JsonNode::read(body, body.len()).ok()?.object()?)
}

/// Reads the answer in the data of an event, if it is the last one.
pub(crate) fn read_last_event(data: &[u8]) -> Option<Reply> {
    let event = JsonNode::read(data, data.len()).ok()?.object()?;
    let is_last = matches!(event.text("type").as_deref(), Some("response.completed" | "response.incomplete"));
    is_last.then(|| read_response(&event.object("response")?))?
}

fn read_response(response: &JsonObject) -> Option<Reply> {
    let mut parts = Vec::new();
    for item in response.items("output") {
        read_item(&item.object()?, &mut parts)?;
    }
    let has_calls = parts.iter().any(|part| matches!(part, Part::ToolCall(_)));
    let reason = response.object("incomplete_details").map(|details| details.owned("reason")).unwrap_or_default();
    let stop = if reason == "content_filter" { Stop::Filtered } else { stop_of(&response.text("status")?)? };
    let usage = response.object("usage").map_or(Usage::UNKNOWN, |usage| read_usage(&usage));
    let stop = settled_stop(stop, has_calls);
    Some(Reply { id: response.owned("id"), model: response.owned("model"), parts, stop, usage })
}

fn read_item(item: &JsonObject, parts: &mut Vec<Part>) -> Option<()> {
    match &*item.text("type")? {
        "message" => {
            for part in item.items("content") {
                let part = part.object()?;
                // A refusal has a place of its own, which the one form does not have.
                if part.owned("type") != "output_text" || part.items("annotations").iter().any(|note| note.is_object()) {
                    return None;
                }
                parts.extend(Some(part.owned("text")).filter(|text| !text.is_empty()).map(Part::Text));
            }
        }
        "function_call" => parts.push(Part::ToolCall(ToolCall {
            id: item.owned("call_id"),
            name: item.owned("name"),
            arguments: item.owned("arguments"),
            signature: None,
        })),
        "reasoning" => {
            let text: String =
                item.items("summary").iter().filter_map(|part| part.object()).map(|part| part.owned("text")).collect();
            let proof = item.owned("encrypted_content");
            let signature = proof.strip_prefix(SIGNATURE).map(str::to_owned);
            let redacted = proof.strip_prefix(REDACTED).map(str::to_owned);
            // The provider's own proof belongs to an item that is not kept as it is.
            if !proof.is_empty() && signature.is_none() && redacted.is_none() {
                return None;
            }
            if !text.is_empty() || redacted.is_some() {
                parts.push(Part::Reasoning(ReasoningPart { text, signature, redacted }));
            }
        }
        _ => return None,
    }
    Some(())
}
