//! Answers as clients get them, read back into the one form, whole or as a stream; and the events of an answer that is played again.

use crate::client::ClientApi;
use crate::form::{Event, Part, ReasoningPart, Reply, Stop, ToolCall};
use crate::provider::{Flavour, Provider, ProviderApi, ProviderCredential, ProviderStream};
use crate::{anthropic, openai_chat, openai_responses};
use tollgate_mcp::{EventParts, EventReader};

/// Reads one answer while it passes to its client. What breaks, ends with an error, is too large or has what the one form does not have gives
/// nothing.
#[derive(Debug)]
pub struct AnswerRecorder {
    api: ClientApi,
    source: Source,
    bytes_left: usize,
    is_lost: bool,
}

#[derive(Debug)]
enum Source {
    Whole(Vec<u8>),
    Events(Box<ProviderStream>, ReplyBuilder, RefusalWatch),
    /// The last event of OpenAI's Responses repeats all.
    Responses(EventReader, Option<Reply>),
}

impl AnswerRecorder {
    /// A recorder of an answer for clients of an API, of at most so many bytes.
    pub fn new(api: ClientApi, is_stream: bool, bytes_max: usize) -> Self {
        let stream = |provider| {
            let provider = Provider { api: provider, base_path: None, credential: ProviderCredential::None };
            Source::Events(Box::new(provider.stream(bytes_max)), ReplyBuilder::default(), RefusalWatch::default())
        };
        let source = match api {
            _ if !is_stream => Source::Whole(Vec::new()),
            ClientApi::OpenAiChat => stream(ProviderApi::OpenAi(Flavour::OpenAi)),
            ClientApi::AnthropicMessages => stream(ProviderApi::Anthropic),
            ClientApi::OpenAiResponses => Source::Responses(EventReader::new(bytes_max), None),
        };
        AnswerRecorder { api, source, bytes_left: bytes_max, is_lost: false }
    }

    /// More of the answer passes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        self.is_lost |= bytes.len() > self.bytes_left;
        if self.is_lost {
            self.source = Source::Whole(Vec::new());
            return;
        }
        self.bytes_left -= bytes.len();
        match &mut self.source {
            Source::Whole(body) => body.extend_from_slice(bytes),
            Source::Events(stream, builder, refusals) => {
                self.is_lost |= refusals.push(bytes);
                builder.read(stream.push(bytes));
            }
            Source::Responses(events, reply) => loop {
                match events.next(&mut bytes) {
                    Ok(Some(event)) => {
                        let data = EventParts::read(event).map(|parts| parts.data).unwrap_or_default();
                        *reply = openai_responses::read_last_event(&data).or(reply.take());
                    }
                    Ok(None) => return,
                    Err(_) => {
                        self.is_lost = true;
                        return;
                    }
                }
            },
        }
    }

    /// The answer, if it has ended well.
    pub fn end(mut self) -> Option<Reply> {
        if self.is_lost {
            return None;
        }
        let reply = match &mut self.source {
            Source::Whole(body) => match self.api {
                ClientApi::OpenAiChat if has_refusal(body) => None,
                ClientApi::OpenAiChat => openai_chat::read_reply(body, body.len()).ok(),
                ClientApi::AnthropicMessages => anthropic::read_reply(body, body.len()).ok(),
                ClientApi::OpenAiResponses => openai_responses::read_answer(body),
            },
            Source::Events(stream, builder, _) => {
                builder.read(stream.end());
                std::mem::take(builder).done()
            }
            Source::Responses(_, reply) => reply.take(),
        };
        reply.filter(|reply| reply.stop != Stop::Filtered && !reply.parts.is_empty())
    }
}

/// Whether a message says in its own member that the model refuses, which the one form has as text. In texts there is a backslash before quotes.
fn has_refusal(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"\"refusal\"";
    let mut rest = bytes;
    while let Some(at) = rest.windows(NAME.len()).position(|part| part == NAME) {
        rest = rest.get(at + NAME.len()..).unwrap_or_default();
        let value = rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        if value.is_some_and(|value| value.starts_with(b"\"")) {
            return true;
        }
    }
    false
}

/// Looks for refusals in bytes that come in any pieces.
#[derive(Debug, Default)]
struct RefusalWatch(Vec<u8>);

impl RefusalWatch {
    fn push(&mut self, bytes: &[u8]) -> bool {
        const TAIL: usize = 32;
        self.0.extend_from_slice(bytes);
        let is_found = has_refusal(&self.0);
        let surplus = self.0.len().saturating_sub(TAIL);
        self.0.drain(..surplus);
        is_found
    }
}

/// Puts the events of a stream together.
#[derive(Debug, Default)]
struct ReplyBuilder {
    reply: Reply,
    is_open: bool,
    is_complete: bool,
    is_lost: bool,
}

impl ReplyBuilder {
    fn read(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| self.add(event));
    }

    fn add(&mut self, event: Event) {
        match event {
            Event::Begin { id, model, .. } => (self.reply.id, self.reply.model) = (id, model),
            Event::TextDelta(more) => match self.open() {
                Some(Part::Text(text)) => text.push_str(&more),
                _ => self.push(Part::Text(more)),
            },
            Event::ReasoningDelta(more) => match self.open() {
                Some(Part::Reasoning(part)) => part.text.push_str(&more),
                _ => self.push(Part::Reasoning(ReasoningPart { text: more, ..ReasoningPart::default() })),
            },
            Event::ReasoningSignature(more) => match self.open() {
                Some(Part::Reasoning(part)) => part.signature.get_or_insert_default().push_str(&more),
                _ => self.push(Part::Reasoning(ReasoningPart { signature: Some(more), ..ReasoningPart::default() })),
            },
            Event::Redacted(data) => {
                self.push(Part::Reasoning(ReasoningPart { redacted: Some(data), ..ReasoningPart::default() }));
            }
            Event::ToolBegin { id, name, signature } => {
                self.push(Part::ToolCall(ToolCall { id, name, arguments: String::new(), signature }));
            }
            Event::ToolDelta(more) => match self.open() {
                Some(Part::ToolCall(call)) => call.arguments.push_str(&more),
                _ => self.is_lost = true,
            },
            Event::PartEnd => self.is_open = false,
            Event::Usage(usage) => self.reply.usage = usage,
            Event::End(stop) => (self.reply.stop, self.is_complete) = (stop, true),
            Event::Fault(_) => self.is_lost = true,
        }
    }

    fn open(&mut self) -> Option<&mut Part> {
        self.reply.parts.last_mut().filter(|_| self.is_open)
    }

    fn push(&mut self, part: Part) {
        self.reply.parts.push(part);
        self.is_open = true;
    }

    fn done(self) -> Option<Reply> {
        (self.is_complete && !self.is_lost).then_some(self.reply)
    }
}

/// The events of an answer that is played again as a stream.
pub fn replayed(reply: &Reply) -> Vec<Event> {
    let usage = Some(reply.usage);
    let mut events = vec![Event::Begin { id: reply.id.clone(), model: reply.model.clone(), usage }];
    for part in &reply.parts {
        match part {
            Part::Text(text) => events.push(Event::TextDelta(text.clone())),
            Part::Reasoning(ReasoningPart { redacted: Some(data), .. }) => events.push(Event::Redacted(data.clone())),
            Part::Reasoning(part) => {
                events.push(Event::ReasoningDelta(part.text.clone()));
                events.extend(part.signature.clone().map(Event::ReasoningSignature));
            }
            Part::ToolCall(call) => {
                events.push(Event::ToolBegin { id: call.id.clone(), name: call.name.clone(), signature: call.signature.clone() });
                events.push(Event::ToolDelta(call.arguments.clone()));
            }
            Part::Image(_) | Part::Document(..) | Part::ToolResult(_) => continue,
        }
        events.push(Event::PartEnd);
    }
    events.extend([Event::Usage(reply.usage), Event::End(reply.stop)]);
    events
}

#[cfg(test)]
mod tests;
