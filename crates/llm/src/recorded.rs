//! Answers as clients get them, read back into the one form, whole or as a stream; and the events of an answer that is played again.

use crate::client::ClientApi;
use crate::form::{Event, Part, ReasoningPart, Reply, Stop, ToolCall};
use crate::provider::{Flavour, Provider, ProviderApi, ProviderCredential, ProviderStream};
use crate::{anthropic, gemini, openai_chat, openai_responses};
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
    Events(Box<ProviderStream>, ReplyBuilder, Foreign),
    /// The last event of OpenAI's Responses repeats all.
    Responses(EventReader, Option<Reply>),
}

impl AnswerRecorder {
    /// A recorder of an answer for clients of an API, of at most so many bytes.
    pub fn new(api: ClientApi, is_stream: bool, bytes_max: usize) -> Self {
        let stream = |provider| {
            let provider = Provider { api: provider, base_path: None, credential: ProviderCredential::None };
            Source::Events(Box::new(provider.stream(bytes_max)), ReplyBuilder::default(), Foreign::new(api))
        };
        let source = match api {
            _ if !is_stream => Source::Whole(Vec::new()),
            ClientApi::OpenAiChat => stream(ProviderApi::OpenAi(Flavour::OpenAi)),
            ClientApi::AnthropicMessages => stream(ProviderApi::Anthropic),
            ClientApi::Gemini => stream(ProviderApi::Gemini),
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
            Source::Events(stream, builder, foreign) => {
                self.is_lost |= foreign.push(bytes);
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
                ClientApi::OpenAiChat | ClientApi::Gemini if Foreign::new(self.api).push(body) => None,
                ClientApi::Gemini => gemini::read_reply(body, body.len()).ok(),
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

/// What an answer may have that the one form has not, or not as what it is, by the names of members and the first letter of their values: a model
/// that refuses in a member of its own, and pictures and code beside texts.
#[derive(Debug)]
struct Foreign {
    names: &'static [&'static [u8]],
    letter: u8,
    /// The last bytes of what came.
    tail: Vec<u8>,
}

impl Foreign {
    fn new(api: ClientApi) -> Self {
        let (names, letter): (&[&[u8]], u8) = match api {
            ClientApi::Gemini => (&[b"\"inlineData\"", b"\"fileData\"", b"\"executableCode\"", b"\"codeExecutionResult\""], b'{'),
            _ => (&[b"\"refusal\""], b'"'),
        };
        Foreign { names, letter, tail: Vec::new() }
    }

    /// Looks for it in bytes that come in any pieces.
    fn push(&mut self, bytes: &[u8]) -> bool {
        const TAIL: usize = 48;
        self.tail.extend_from_slice(bytes);
        let is_found = self.names.iter().any(|name| self.has(name));
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        is_found
    }

    /// In texts there is a backslash before quotes.
    fn has(&self, name: &[u8]) -> bool {
        let mut rest = self.tail.as_slice();
        while let Some(at) = rest.windows(name.len()).position(|part| part == name) {
            rest = rest.get(at + name.len()..).unwrap_or_default();
            let value = rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
            if value.is_some_and(|value| value.first() == Some(&self.letter)) {
                return true;
            }
        }
        false
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
            // Behind it, a text goes on in a part of its own.
            Event::Citation(citation) => self.push(Part::Citation(citation)),
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
    let mut is_text = false;
    for part in &reply.parts {
        let is_behind_text = std::mem::replace(&mut is_text, matches!(part, Part::Text(_) | Part::Citation(_)));
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
            Part::Citation(citation) => {
                // It belongs to the text before it, which has ended below.
                if is_behind_text {
                    events.pop();
                }
                events.push(Event::Citation(citation.clone()));
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
