//! The bytes of a provider's stream, in whatever pieces they come, as events.

use super::ProviderApi;
use crate::bedrock::FrameReader;
use crate::form::{Event, Fault, Usage};
use crate::steps::Steps;
use crate::{anthropic, bedrock, cohere, gemini, openai_chat};
use tollgate_mcp::{EventParts, EventReader, EventTooLarge};

/// Reads one stream. It keeps the event that is not complete yet, and never more than its bound.
#[derive(Debug)]
pub struct ProviderStream {
    source: StreamSource,
    steps: Steps,
    event_bytes_max: usize,
}

/// How bytes become events.
#[derive(Debug)]
enum StreamSource {
    Lines(EventReader, LineEvents),
    Frames(FrameReader, bedrock::ConverseEvents),
}

#[derive(Debug)]
enum LineEvents {
    OpenAi(openai_chat::ChatEvents),
    Anthropic(anthropic::MessagesEvents),
    Gemini(gemini::GeminiEvents),
    Cohere(cohere::CohereEvents),
}

impl LineEvents {
    fn read(&mut self, event: &[u8], bytes_max: usize, steps: &mut Steps) -> Result<(), Fault> {
        let Some(EventParts { data, .. }) = EventParts::read(event) else { return Ok(()) };
        match self {
            LineEvents::OpenAi(events) => events.read(&data, bytes_max, steps),
            LineEvents::Anthropic(events) => events.read(&data, bytes_max, steps),
            LineEvents::Gemini(events) => events.read(&data, bytes_max, steps),
            LineEvents::Cohere(events) => events.read(&data, bytes_max, steps),
        }
    }
}

impl ProviderStream {
    pub(super) fn new(api: ProviderApi, event_bytes_max: usize) -> Self {
        let lines = |events| StreamSource::Lines(EventReader::new(event_bytes_max), events);
        let source = match api {
            ProviderApi::OpenAi(_) => lines(LineEvents::OpenAi(openai_chat::ChatEvents::default())),
            ProviderApi::Anthropic => lines(LineEvents::Anthropic(anthropic::MessagesEvents::default())),
            ProviderApi::Gemini => lines(LineEvents::Gemini(gemini::GeminiEvents::default())),
            ProviderApi::Cohere => lines(LineEvents::Cohere(cohere::CohereEvents)),
            ProviderApi::Bedrock => StreamSource::Frames(FrameReader::new(event_bytes_max), bedrock::ConverseEvents::default()),
        };
        ProviderStream { source, steps: Steps::default(), event_bytes_max }
    }

    /// Whether the last event was returned. What comes behind it is not read.
    pub fn is_over(&self) -> bool {
        self.steps.is_over()
    }

    /// What the provider has told of usage so far.
    pub fn usage(&self) -> Option<Usage> {
        self.steps.told_usage()
    }

    /// Bytes of the event that is not complete yet.
    pub fn held_bytes(&self) -> usize {
        match &self.source {
            StreamSource::Lines(reader, _) => reader.held_bytes(),
            StreamSource::Frames(reader, _) => reader.held_bytes(),
        }
    }

    /// Reads more bytes.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Event> {
        let mut all = Vec::new();
        while let Some(mut events) = self.next(&mut bytes) {
            all.append(&mut events);
        }
        all
    }

    /// Reads one event of the provider and leaves what is behind it; `None` if there is none complete, or the stream is over.
    pub fn next(&mut self, bytes: &mut &[u8]) -> Option<Vec<Event>> {
        if self.steps.is_over() {
            return None;
        }
        match self.step(bytes) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(fault) => self.steps.fault(fault),
        }
        Some(self.steps.take())
    }

    /// Reads one event; false if there is none complete.
    fn step(&mut self, bytes: &mut &[u8]) -> Result<bool, Fault> {
        match &mut self.source {
            StreamSource::Lines(reader, events) => match reader.next(bytes) {
                Ok(Some(event)) => events.read(event, self.event_bytes_max, &mut self.steps).map(|()| true),
                Ok(None) => Ok(false),
                Err(EventTooLarge) => Err(Fault::broken("an event is too large")),
            },
            StreamSource::Frames(reader, events) => match reader.next(bytes).map_err(Fault::broken)? {
                Some(frame) => events.read(&frame, self.event_bytes_max, &mut self.steps).map(|()| true),
                None => Ok(false),
            },
        }
    }

    /// The bytes ended, well or not.
    pub fn end(&mut self) -> Vec<Event> {
        // Some servers leave out the empty line behind the last event.
        if let StreamSource::Lines(reader, events) = &mut self.source
            && !self.steps.is_over()
        {
            let _ = events.read(reader.rest(), self.event_bytes_max, &mut self.steps);
        }
        if !self.steps.is_over() {
            self.steps.end();
        }
        self.steps.take()
    }
}
