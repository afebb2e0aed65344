//! Turns of a conversation as every provider takes them: roles alternate, no part is empty, results of tools know their tool.

use crate::form::{Media, Message, Part, Role, ToolCall, Unsupported};
use crate::json::is_object_text;
use std::collections::HashMap;

/// Most messages and parts of one request: providers accept fewer.
const PARTS_MAX: usize = 100_000;

/// A conversation that is being read.
#[derive(Default)]
pub(crate) struct Conversation {
    messages: Vec<Message>,
    tool_names: HashMap<String, String>,
    parts: usize,
}

impl Conversation {
    /// Adds a part to the turn of this role. Empty texts are left out, as they say nothing and some providers refuse them.
    pub(crate) fn push(&mut self, role: Role, part: Part, path: &str) -> Result<(), Unsupported> {
        if matches!(&part, Part::Text(text) if text.is_empty()) {
            return Ok(());
        }
        self.parts += 1;
        if self.parts > PARTS_MAX {
            return Err(Unsupported::new(path, "the conversation has too many parts"));
        }
        let part = match part {
            Part::ToolCall(call) => Part::ToolCall(self.noted(call, path)?),
            Part::ToolResult(mut result) => {
                result.name = self.tool_names.get(&result.id).cloned().unwrap_or_default();
                Part::ToolResult(result)
            }
            part => part,
        };
        match self.messages.last_mut() {
            Some(last) if last.role == role => last.parts.push(part),
            _ => self.messages.push(Message { role, parts: vec![part] }),
        }
        Ok(())
    }

    fn noted(&mut self, mut call: ToolCall, path: &str) -> Result<ToolCall, Unsupported> {
        if call.arguments.trim_ascii().is_empty() {
            call.arguments = "{}".to_owned();
        }
        if !is_object_text(&call.arguments) {
            return Err(Unsupported::new(path, "the arguments of a tool call must be a JSON object"));
        }
        self.tool_names.insert(call.id.clone(), call.name.clone());
        Ok(call)
    }

    /// The turns.
    pub(crate) fn done(self, path: &str) -> Result<Vec<Message>, Unsupported> {
        if self.messages.is_empty() { Err(Unsupported::new(path, "has no message with content")) } else { Ok(self.messages) }
    }
}

/// The bytes that a URL names: those of a `data:` URL are in it.
pub(crate) fn media_of_url(url: &str, path: &str) -> Result<Media, Unsupported> {
    let Some(data) = url.strip_prefix("data:") else { return Ok(Media::Url(url.to_owned())) };
    match data.split_once(";base64,") {
        Some((media_type, data)) if !media_type.is_empty() && is_base64(data) => {
            Ok(Media::Base64 { media_type: media_type.to_owned(), data: data.to_owned() })
        }
        _ => Err(Unsupported::new(path, "must be a data URL with media type and base64")),
    }
}

/// The `data:` URL of bytes.
pub(crate) fn data_url(media_type: &str, data: &str) -> String {
    format!("data:{media_type};base64,{data}")
}

/// Whether a text has the letters of base64 alone, so that it needs no escape anywhere.
pub(crate) fn is_base64(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='))
}
