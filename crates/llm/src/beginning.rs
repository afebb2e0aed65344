//! The beginning of a conversation, which all its requests share: what systems say, and the first words of the user.

use crate::client::ClientApi;
use crate::json::{JsonNode, JsonObject};

/// The parts of a request that stay the same while its conversation goes on, as they are written; none if it is broken.
pub fn beginning(api: ClientApi, body: &[u8]) -> Vec<&str> {
    let Some(request) = JsonNode::read(body, body.len()).ok().and_then(JsonNode::object) else { return Vec::new() };
    let (system, messages) = match api {
        ClientApi::OpenAiChat => (None, "messages"),
        ClientApi::OpenAiResponses => (request.get("instructions"), "input"),
        ClientApi::AnthropicMessages => (request.get("system"), "messages"),
        ClientApi::Gemini => (request.get("systemInstruction").or(request.get("system_instruction")), "contents"),
    };
    let mut parts: Vec<&str> = system.iter().map(|system| system.raw()).collect();
    match request.get(messages) {
        Some(text) if text.is_text() || text.is_object() => parts.push(text.raw()),
        _ => {
            for message in request.items(messages) {
                parts.push(message.raw());
                if message.object().is_some_and(is_of_user) {
                    break;
                }
            }
        }
    }
    parts
}

fn is_of_user(message: JsonObject<'_>) -> bool {
    // In Google's API, who says nothing else is the user.
    message.text("role").map_or(message.get("parts").is_some(), |role| role == "user")
}

#[cfg(test)]
mod tests;
