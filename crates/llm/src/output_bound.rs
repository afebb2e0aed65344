//! Ends an answer that has more tokens than it may, whatever its provider was asked for. It counts what certainly is a token: providers send no
//! less than one with each event that has text, and some tell how many there were.

use crate::answer::AnswerContext;
use crate::client::{ClientApi, ClientWriter};
use crate::form::{Event, Stop, Usage};
use crate::provider::{Provider, ProviderStream};
use tollgate_mcp::EventReader;

/// Watches the events of one answer.
#[derive(Debug)]
pub struct OutputBound {
    tokens_max: u64,
    tokens: u64,
    usage: Option<Usage>,
    is_in_part: bool,
}

impl OutputBound {
    /// An answer of at most so many tokens.
    pub fn new(tokens_max: u64) -> Self {
        OutputBound { tokens_max, tokens: 0, usage: None, is_in_part: false }
    }

    /// Whether an event may still go to the client. After the first one that may not, [`OutputBound::ending`] takes the place of all others.
    pub fn admits(&mut self, event: &Event) -> bool {
        if event.text_bytes() > 0 {
            let told = self.usage.map_or(0, |usage| usage.output);
            if self.tokens.saturating_add(1).max(told) > self.tokens_max {
                return false;
            }
            self.tokens += 1;
        }
        match event {
            Event::Usage(usage) | Event::Begin { usage: Some(usage), .. } => self.usage = Some(*usage),
            Event::PartEnd => self.is_in_part = false,
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
        let usage = Usage { output: self.tokens_max, is_doubtful: true, ..self.usage.unwrap_or_default() };
        let part_end = self.is_in_part.then_some(Event::PartEnd);
        part_end.into_iter().chain([Event::Usage(usage), Event::End(Stop::OutputLimit)]).collect()
    }
}

/// A stream that passes as it is, to where its bound is. There, an end in the client's form takes the place of the rest.
#[derive(Debug)]
pub struct BoundedStream {
    events: EventReader,
    reader: ProviderStream,
    /// Writes what passes anyway, so that it knows how to go on.
    writer: ClientWriter,
    unseen: Vec<u8>,
    bound: OutputBound,
    is_over: bool,
}

impl BoundedStream {
    /// A stream of a provider that speaks the client's API, with at most so many tokens, and so many bytes in an event.
    pub fn new(provider: &Provider, api: ClientApi, answer: AnswerContext, tokens_max: u64, event_bytes_max: usize) -> Self {
        BoundedStream {
            events: EventReader::new(event_bytes_max),
            reader: provider.stream(event_bytes_max),
            writer: api.stream(answer),
            unseen: Vec::new(),
            bound: OutputBound::new(tokens_max),
            is_over: false,
        }
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
            let steps = self.reader.push(event);
            for step in &steps {
                if self.bound.admits(step) {
                    self.unseen.clear();
                    self.writer.write(step, &mut self.unseen);
                } else {
                    self.is_over = true;
                    break;
                }
            }
            if self.is_over {
                self.finish(out);
                return false;
            }
            out.extend_from_slice(event);
        }
        false
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        self.is_over = true;
        self.bound.ending().iter().for_each(|event| self.writer.write(event, out));
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
