//! A stream from a provider to a client, piece by piece: as it is, or translated. A piece is read when the client takes it, so a slow client slows
//! the provider down; if it leaves, the connection to the provider closes. The core of the client may go on with it ([`relay_body`]), so what is large
//! is read on another thread.

mod passed_stream;
mod relay_body;

use crate::failure::{Failure, reason_of};
use crate::figures::LlmOutcome;
use crate::mask::Mask;
use crate::tally::Tally;
use crate::terms::ProviderTerms;
use http_body_util::BodyExt;
use hyper::body::{Bytes, Incoming};
use passed_stream::PassedStream;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout_at};
use tollgate_llm::{AnswerContext, BoundedStream, ClientApi, ClientWriter, Event, Fault, FaultKind, OutputBound, ProviderStream};

/// Largest event of a stream that is translated.
pub(crate) const EVENT_BYTES_MAX: usize = 4 << 20;
/// Most bytes that are held back until the first token is there.
const HELD_BYTES_MAX: usize = 256 << 10;

/// A stream on its way.
pub(crate) struct Relay {
    body: Incoming,
    /// Keeps the provider's key from the client.
    mask: Mask,
    kind: RelayKind,
    tally: Tally,
    /// Longest time between two pieces.
    silence_max: Duration,
    /// Where large pieces are read.
    threads: Handle,
    has_begun: bool,
    is_over: bool,
    /// Why the provider's answer failed.
    fault: Option<Fault>,
    /// Whether the client's stream must break off.
    is_cut: bool,
    /// What the client gets next: what was written, and a piece that passes as it came.
    out: Vec<u8>,
    piece: Bytes,
}

enum RelayKind {
    Passed(Box<PassedStream>),
    Translated(Box<TranslatedStream>),
}

struct TranslatedStream {
    reader: ProviderStream,
    writer: ClientWriter,
    bound: Option<OutputBound>,
}

impl Relay {
    /// A stream that passes as it is.
    pub(crate) fn passed(
        body: Incoming,
        provider: &ProviderTerms,
        (api, answer): (ClientApi, AnswerContext),
        hides_usage: bool,
        (tally, silence_max): (Tally, Duration),
    ) -> Self {
        let stream = PassedStream::new(provider, (api, answer), tally.output_bound(), hides_usage);
        Self::new(body, Mask::new(provider), RelayKind::Passed(Box::new(stream)), (tally, silence_max))
    }

    /// A stream that is translated.
    pub(crate) fn translated(
        body: Incoming,
        provider: &ProviderTerms,
        (api, answer): (ClientApi, AnswerContext),
        (tally, silence_max): (Tally, Duration),
    ) -> Self {
        let bound = tally.output_bound();
        let stream = TranslatedStream { reader: provider.provider.stream(EVENT_BYTES_MAX), writer: api.stream(answer), bound };
        Self::new(body, Mask::new(provider), RelayKind::Translated(Box::new(stream)), (tally, silence_max))
    }

    fn new(body: Incoming, mask: Mask, kind: RelayKind, (tally, silence_max): (Tally, Duration)) -> Self {
        Relay {
            body,
            mask,
            kind,
            tally,
            silence_max,
            threads: Handle::current(),
            has_begun: false,
            is_over: false,
            fault: None,
            is_cut: false,
            out: Vec::new(),
            piece: Bytes::new(),
        }
    }

    /// Waits for the first token, until which nothing goes to the client.
    ///
    /// # Errors
    /// The stream failed before it.
    pub(crate) async fn begin(mut self, deadline: Instant) -> Result<Self, Failure> {
        while !self.has_begun && !self.is_over && self.out.len() < HELD_BYTES_MAX {
            let frame = match timeout_at(deadline, self.body.frame()).await {
                Ok(frame) => frame,
                Err(_) => {
                    let why = "the provider's first token took too long";
                    self.tally.reason = why.to_owned();
                    return Err(self.failed(Fault::new(FaultKind::Timeout, why)));
                }
            };
            match frame {
                Some(Ok(frame)) => self.read(frame.into_data().unwrap_or_default()),
                Some(Err(_)) => self.broken("the provider's stream broke off"),
                None => self.end(),
            }
            let piece = std::mem::take(&mut self.piece);
            self.out.extend_from_slice(&piece);
            if !self.has_begun
                && let Some(fault) = self.fault.take()
            {
                return Err(self.failed(fault));
            }
        }
        // From here on, its end is that of the client's stream.
        self.has_begun = true;
        self.tally.note_first_token();
        Ok(self)
    }

    fn failed(mut self, mut fault: Fault) -> Failure {
        if self.mask.finds(fault.message.as_bytes()) {
            fault.message = "the provider's error has the gateway's credential in it".to_owned();
        }
        // Nobody pays for an error, but a late answer may be under way.
        self.tally.is_sent = fault.kind == FaultKind::Timeout;
        let mut failure = Failure::of_fault(fault);
        self.tally.outcome = failure.outcome();
        if !self.tally.reason.is_empty() {
            failure.reason.clone_from(&self.tally.reason);
        }
        failure
    }

    /// Bytes that are read once more when their event is complete.
    fn held_bytes(&self) -> usize {
        match &self.kind {
            RelayKind::Passed(stream) => stream.held_bytes(),
            RelayKind::Translated(stream) => stream.reader.held_bytes(),
        }
    }

    /// What the client gets next, without the provider's key.
    fn masked(&mut self) -> Bytes {
        let piece = std::mem::take(&mut self.piece);
        let next = match self.out.is_empty() {
            true => piece,
            false => {
                self.out.extend_from_slice(&piece);
                std::mem::take(&mut self.out).into()
            }
        };
        if next.is_empty() { next } else { self.mask.push(next) }
    }

    fn read(&mut self, bytes: Bytes) {
        match &mut self.kind {
            RelayKind::Passed(stream) => {
                stream.usage.push(&bytes);
                self.tally.usage = stream.usage.usage();
                self.tally.text_bytes = stream.usage.text_bytes();
                stream.note_tail(&bytes);
                if !self.has_begun {
                    let events = stream.probe.as_mut().map(|probe| probe.push(&bytes)).unwrap_or_default();
                    self.fault = events.iter().find_map(fault_of).cloned();
                    self.has_begun = stream.usage.text_bytes() > 0 || events.iter().any(is_first_token);
                }
                if stream.passes(&bytes) {
                    self.piece = bytes;
                } else if !stream.pass(&bytes, &mut self.out) {
                    self.is_over = true;
                    self.tally.cut();
                }
                self.tally.tokens = stream.bounded.as_ref().map_or(0, BoundedStream::tokens);
            }
            RelayKind::Translated(_) => {
                let mut bytes = &bytes[..];
                while !self.is_over && self.read_one(&mut bytes) {}
            }
        }
        self.tally.go_on();
    }

    /// Translates one event; false if there is none complete. What the provider has told with later ones does not count yet.
    fn read_one(&mut self, bytes: &mut &[u8]) -> bool {
        let RelayKind::Translated(stream) = &mut self.kind else { return false };
        let Some(events) = stream.reader.next(bytes) else { return false };
        self.is_over = stream.reader.is_over();
        self.write(&events);
        true
    }

    /// The provider has said all.
    fn end(&mut self) {
        self.is_over = true;
        match &mut self.kind {
            RelayKind::Passed(stream) => {
                if !stream.has_ended() {
                    let why =
                        if self.has_begun { "the provider's stream broke off" } else { "the provider's stream has no answer" };
                    return self.broken(why);
                }
                stream.end(&mut self.out);
                (self.tally.outcome, self.tally.stop) = (LlmOutcome::Ok, stream.usage.stop());
            }
            RelayKind::Translated(stream) => {
                let events = stream.reader.end();
                self.write(&events);
            }
        }
    }

    /// The provider's stream broke off.
    fn broken(&mut self, why: &str) {
        self.is_over = true;
        self.tally.reason = why.to_owned();
        let fault = Fault::new(FaultKind::Server, why);
        match &mut self.kind {
            RelayKind::Passed(stream) => {
                self.tally.outcome = LlmOutcome::Broken;
                if stream.usage.has_error() && stream.ends_whole() {
                    // The client has the provider's own error.
                    self.tally.reason = "the provider's stream ended with an error".to_owned();
                } else if stream.is_between_events() {
                    stream.api.stream(stream.answer.clone()).write(&Event::Fault(fault.clone()), &mut self.out);
                } else {
                    // Half an event cannot be followed by another.
                    self.is_cut = true;
                }
                self.fault = Some(fault);
            }
            RelayKind::Translated(_) => self.write(&[Event::Fault(fault)]),
        }
    }

    fn write(&mut self, events: &[Event]) {
        let RelayKind::Translated(stream) = &mut self.kind else { return };
        if let Some(bound) = &mut stream.bound {
            bound.tell(stream.reader.usage());
        }
        for event in events {
            if let Some(bound) = &mut stream.bound
                && !bound.admits(event)
            {
                bound.ending().iter().for_each(|event| stream.writer.write(event, &mut self.out));
                self.is_over = true;
                self.tally.cut();
                return;
            }
            self.tally.text_bytes += event.text_bytes() as u64;
            self.tally.tokens = stream.bound.as_ref().map_or(0, OutputBound::tokens);
            stream.writer.write(event, &mut self.out);
            self.has_begun |= is_first_token(event);
            match event {
                Event::Begin { usage: Some(usage), .. } | Event::Usage(usage) => self.tally.usage = Some(*usage),
                Event::End(stop) => (self.tally.outcome, self.tally.stop) = (LlmOutcome::Ok, Some(*stop)),
                Event::Fault(fault) => {
                    self.is_over = true;
                    self.tally.outcome = LlmOutcome::Broken;
                    // What came of an event that is not whole, or too large, was generated too.
                    self.tally.text_bytes += stream.reader.held_bytes() as u64;
                    if self.tally.reason.is_empty() {
                        self.tally.reason = reason_of(fault.kind).to_owned();
                    }
                    self.fault = Some(fault.clone());
                }
                _ => {}
            }
        }
    }
}

fn fault_of(event: &Event) -> Option<&Fault> {
    match event {
        Event::Fault(fault) => Some(fault),
        _ => None,
    }
}

fn is_first_token(event: &Event) -> bool {
    event.text_bytes() > 0 || matches!(event, Event::ToolBegin { .. } | Event::Redacted(_) | Event::End(_))
}
