//! Ends an answer that has more tokens than it may, whatever its provider was asked for. It counts what certainly is a token: words, and what the
//! provider tells while the answer comes.

use crate::answer::AnswerContext;
use crate::client::{ClientApi, ClientWriter};
use crate::form::{Event, Stop, Usage};
use crate::openai_responses::PassedResponses;
use crate::provider::{Provider, ProviderStream};
use crate::token_floor::TokenFloor;
use std::mem::{Discriminant, discriminant};
use tollgate_mcp::{EventParts, EventReader};

/// Watches the events of one answer.
#[derive(Debug)]
pub struct OutputBound {
    tokens_max: u64,
    tokens: u64,
    floor: TokenFloor,
    /// What the prompt is likely to have, for clients that are told before the provider has told it.
    prompt_likely: u64,
    usage: Option<Usage>,
    is_in_part: bool,
}

impl OutputBound {
    /// An answer of at most so many tokens, to a prompt of about so many.
    pub fn new(tokens_max: u64, prompt_likely: u64) -> Self {
        OutputBound { tokens_max, tokens: 0, floor: TokenFloor::default(), prompt_likely, usage: None, is_in_part: false }
    }

    /// The provider tells what the answer has taken, with the events that come next.
    pub fn tell(&mut self, usage: Option<Usage>) {
        self.usage = usage.or(self.usage);
    }

    /// Whether an event may still go to the client. After the first one that may not, [`OutputBound::ending`] takes the place of all others.
    pub fn admits(&mut self, event: &Event) -> bool {
        if let Some(text) = event.text().filter(|text| !text.is_empty()) {
            let tokens = self.tokens.saturating_add(self.floor.push(text));
            let told = self.usage.filter(|usage| !usage.is_doubtful).map_or(0, |usage| usage.output);
            if tokens.max(told) > self.tokens_max {
                return false;
            }
            self.tokens = tokens;
        }
        match event {
            Event::Usage(usage) | Event::Begin { usage: Some(usage), .. } => self.usage = Some(*usage),
            Event::PartEnd => (self.is_in_part, self.floor) = (false, TokenFloor::default()),
            Event::TextDelta(_) | Event::ReasoningDelta(_) | Event::ToolBegin { .. } => self.is_in_part = true,
            _ => {}
        }
        true
    }

    /// Tokens that were certainly there.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// The events that end the answer where its bound is.
    pub fn ending(&self) -> Vec<Event> {
        let part_end = self.is_in_part.then_some(Event::PartEnd);
        part_end.into_iter().chain([Event::Usage(self.ended_usage()), Event::End(Stop::OutputLimit)]).collect()
    }

    /// What the client is told of an answer that ends where its bound is.
    fn ended_usage(&self) -> Usage {
        let told = self.usage.unwrap_or_default();
        let input = if told.input > 0 { told.input } else { self.prompt_likely };
        Usage { input, output: self.tokens_max, is_doubtful: true, ..told }
    }
}

/// A stream that passes as it is, to where its bound is. There, an end in the client's form takes the place of the rest.
#[derive(Debug)]
pub struct BoundedStream {
    events: EventReader,
    passed: PassedEvents,
    bound: OutputBound,
    is_over: bool,
}

/// What has passed, as far as its end must know.
#[derive(Debug)]
enum PassedEvents {
    /// The writer writes what passes anyway, so that it knows how to go on; but for text behind text, which changes nothing.
    Form {
        reader: Box<ProviderStream>,
        writer: Box<ClientWriter>,
        unseen: Vec<u8>,
        last: Option<Discriminant<Event>>,
    },
    Responses(Box<PassedResponses>),
}

impl PassedEvents {
    fn read(&mut self, event: &[u8], bound: &mut OutputBound) -> Vec<Event> {
        let data = |event| EventParts::read(event).map(|parts| parts.data);
        match self {
            // What nobody reads counts as text.
            PassedEvents::Form { reader, .. } if reader.is_over() => {
                data(event).map(|data| Event::TextDelta(String::from_utf8_lossy(&data).into_owned())).into_iter().collect()
            }
            PassedEvents::Form { reader, .. } => {
                let steps = reader.push(event);
                bound.tell(reader.usage());
                steps
            }
            PassedEvents::Responses(passed) => data(event).map(|data| passed.read(&data)).unwrap_or_default(),
        }
    }

    fn note(&mut self, steps: &[Event]) {
        match self {
            PassedEvents::Form { writer, unseen, last, .. } => {
                for step in steps {
                    let is_text = matches!(step, Event::TextDelta(_) | Event::ReasoningDelta(_));
                    if last.replace(discriminant(step)) == Some(discriminant(step)) && is_text {
                        continue;
                    }
                    unseen.clear();
                    writer.write(step, unseen);
                }
            }
            PassedEvents::Responses(passed) => passed.note(),
        }
    }
}

impl BoundedStream {
    /// A stream of a provider that speaks the client's API, with so many bytes in an event.
    pub fn new(provider: &Provider, api: ClientApi, answer: AnswerContext, bound: OutputBound, event_bytes_max: usize) -> Self {
        let passed = match api {
            ClientApi::OpenAiResponses => PassedEvents::Responses(Box::default()),
            _ => PassedEvents::Form {
                reader: Box::new(provider.stream(event_bytes_max)),
                writer: Box::new(api.stream(answer)),
                unseen: Vec::new(),
                last: None,
            },
        };
        BoundedStream { events: EventReader::new(event_bytes_max), passed, bound, is_over: false }
    }

    /// Passes bytes on. False when the answer was ended, or has an event that is too large.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) -> bool {
        while !self.is_over {
            let event = match self.events.next(&mut bytes) {
                Ok(Some(event)) => event,
                Ok(None) => return true,
                Err(_) => {
                    self.finish(out);
                    return false;
                }
            };
            let steps = self.passed.read(event, &mut self.bound);
            let admitted = steps.iter().take_while(|step| self.bound.admits(step)).count();
            if let Some(admitted) = steps.get(..admitted).filter(|_| admitted < steps.len()) {
                // The event does not pass; what is before its text does, such as the beginning of the answer.
                if let PassedEvents::Form { writer, .. } = &mut self.passed {
                    admitted.iter().for_each(|step| writer.write(step, out));
                }
                self.finish(out);
                return false;
            }
            self.passed.note(&steps);
            out.extend_from_slice(event);
        }
        false
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.is_over = true;
        match &mut self.passed {
            PassedEvents::Form { writer, .. } => self.bound.ending().iter().for_each(|event| writer.write(event, out)),
            PassedEvents::Responses(passed) => std::mem::take(&mut **passed).end(&self.bound.ended_usage(), out),
        }
    }

    /// Tokens that were certainly there.
    pub fn tokens(&self) -> u64 {
        self.bound.tokens()
    }

    /// Bytes of the event that is not complete yet.
    pub fn held_bytes(&self) -> usize {
        self.events.held_bytes()
    }

    /// Passes on what is left when the stream has ended.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if !self.is_over {
            out.extend_from_slice(self.events.rest());
        }
    }
}

#[cfg(test)]
mod tests;
