//! Requests whose provider speaks the client's API: they pass byte for byte, but for members that the gateway must change.

use crate::form::Unsupported;
use crate::json::{Fields, JsonNode, object};
use tollgate_mcp::{EventParts, EventReader};

/// What a request says that passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// The model.
    pub model: String,
    /// Whether the answer is a stream.
    pub stream: bool,
    /// Whether the client asked for usage in a stream, as OpenAI's Chat Completions have it.
    pub include_usage: bool,
}

impl Passed {
    /// Reads a request of at most so many bytes.
    ///
    /// # Errors
    /// It is no object, has a member twice, or no model.
    pub fn read(body: &[u8], bytes_max: usize) -> Result<Self, Unsupported> {
        let mut fields = Fields::of_body(body, bytes_max)?;
        // Servers in Go read names in any capitals, and the last of them counts.
        let names = READ.iter().chain(&BOUNDS);
        if let Some(name) = fields.names().find(|said| names.clone().any(|name| *name != *said && name.eq_ignore_ascii_case(said)))
        {
            return Err(Unsupported { field: name.to_owned(), why: "is written in small letters".to_owned() });
        }
        let options = fields.take("stream_options").and_then(JsonNode::object);
        Ok(Passed {
            model: fields.needed_text("model")?,
            stream: fields.flag("stream")?.unwrap_or(false),
            include_usage: options.and_then(|options| options.get("include_usage")?.flag()).unwrap_or(false),
        })
    }
}

/// What changes in a request that passes.
#[derive(Clone, Copy, Debug, Default)]
pub struct PassedChange<'a> {
    /// The model's name at the provider.
    pub model: Option<&'a str>,
    /// Whether to ask for usage in a stream of OpenAI's Chat Completions; the client's answer then goes through a [`UsageFilter`].
    pub asks_usage: bool,
    /// Bound of the answer in tokens, and the member that says it. Others that may say it are left out, if the provider does not know them surely.
    pub output_tokens_max: Option<(&'a str, u64)>,
}

/// The members that decide what is asked, and of whom.
const READ: [&str; 3] = ["model", "stream", "stream_options"];
/// The members that bound an answer.
const BOUNDS: [&str; 3] = ["max_completion_tokens", "max_tokens", "max_output_tokens"];

/// Whether a provider whose own bound is `member` knows another. OpenAI knows both; servers that know the old one may ignore the new one.
fn is_known_with(name: &str, member: &str) -> bool {
    name == member || (name, member) == ("max_tokens", "max_completion_tokens")
}

/// The request with its changes; all other members as they are.
///
/// # Errors
/// As [`Passed::read`].
pub fn passed_body(body: &[u8], bytes_max: usize, change: PassedChange) -> Result<Vec<u8>, Unsupported> {
    let passed = Passed::read(body, bytes_max)?;
    let model = change.model.filter(|model| *model != passed.model);
    let asks_usage = change.asks_usage && passed.stream && !passed.include_usage;
    let bound = change.output_tokens_max;
    if model.is_none() && !asks_usage && bound.is_none() {
        return Ok(body.to_vec());
    }
    let mut changed = Vec::with_capacity(body.len() + 64);
    object(&mut changed, |out| {
        let mut is_bounded = false;
        for (name, value) in Fields::of_body(body, bytes_max)?.left() {
            match (&*name, model) {
                ("model", Some(model)) => out.text("model", model),
                ("stream_options", _) if asks_usage => {}
                (name, _) if bound.is_some() && BOUNDS.contains(&name) => {
                    for (_, tokens) in bound.iter().filter(|(member, _)| is_known_with(name, member)) {
                        out.whole(name, *tokens);
                        is_bounded = true;
                    }
                }
                _ => out.raw(&name, value.raw()),
            }
        }
        if asks_usage {
            out.object("stream_options", |options| options.flag("include_usage", true));
        }
        if let Some((name, tokens)) = bound.filter(|_| !is_bounded) {
            out.whole(name, tokens);
        }
        Ok(())
    })?;
    Ok(changed)
}

/// Takes the chunk with usage out of a stream of OpenAI's Chat Completions whose client did not ask for it. All other bytes pass as they are, those
/// of an event larger than the bound too.
#[derive(Debug)]
pub struct UsageFilter {
    events: Option<EventReader>,
}

impl UsageFilter {
    /// A filter that keeps at most so many bytes.
    pub fn new(event_bytes_max: usize) -> Self {
        UsageFilter { events: Some(EventReader::new(event_bytes_max)) }
    }

    /// Passes bytes on. `has_usage`: whether there has been any up to their end; before, no event is read for it.
    pub fn push(&mut self, mut bytes: &[u8], has_usage: bool, out: &mut Vec<u8>) {
        while let Some(events) = &mut self.events {
            match events.next(&mut bytes) {
                Ok(None) => return,
                Ok(Some(event)) if has_usage && is_usage_alone(event) => {}
                Ok(Some(event)) => out.extend_from_slice(event),
                Err(_) => {
                    out.extend_from_slice(events.rest());
                    self.events = None;
                }
            }
        }
        out.extend_from_slice(bytes);
    }

    /// Whether all of `bytes` pass as they are, so that they need not be pushed. `has_usage` as for [`UsageFilter::push`].
    pub fn passes(&self, bytes: &[u8], has_usage: bool) -> bool {
        self.events.as_ref().is_none_or(|events| !has_usage && events.may_skip(bytes))
    }

    /// Bytes of the event that is not complete yet.
    pub fn held_bytes(&self) -> usize {
        self.events.as_ref().map_or(0, EventReader::held_bytes)
    }

    /// Passes on what is left when the stream has ended.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if let Some(events) = &mut self.events {
            out.extend_from_slice(events.rest());
        }
    }
}

fn is_usage_alone(event: &[u8]) -> bool {
    let Some(parts) = EventParts::read(event) else { return false };
    let chunk = JsonNode::read(&parts.data, parts.data.len()).ok().and_then(JsonNode::object);
    chunk.is_some_and(|chunk| chunk.object("usage").is_some() && chunk.get("choices").is_some_and(|choices| choices.raw() == "[]"))
}

#[cfg(test)]
mod tests;
