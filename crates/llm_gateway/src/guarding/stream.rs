//! Guards of a stream, event by event. Only the end of a text waits, while something may have begun in it; an event of which nothing is changed passes
//! as it is.

use super::answer_guards::AnswerGuards;
use crate::answer::{AnswerBody, Pieces};
use crate::attempt::context;
use crate::figures::GuardOutcome;
use crate::guards::{Refused, TextState, refusal};
use crate::llm_server::LlmServer;
use crate::relay::EVENT_BYTES_MAX;
use http_body_util::BodyExt;
use hyper::body::Bytes;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use tollgate_llm::{Ask, Event, EventTexts, Fault, FaultKind, TextChannel, TextKind, event_texts, spliced, text_at};
use tollgate_mcp::{EventParts, EventReader};

/// Most texts of an answer that are open at the same time: choices, calls.
const CHANNELS_MAX: usize = 256;
/// Of larger events nothing waits: each text that waits keeps its last event.
const WAITING_EVENT_BYTES_MAX: usize = 64 << 10;
/// Most bytes of text that somebody else judges afterwards.
const TEXTS_BYTES_MAX: usize = 1 << 20;

/// A stream on its way through its guards.
pub(super) struct GuardedStream {
    server: Arc<LlmServer>,
    guards: AnswerGuards,
    body: AnswerBody,
    events: EventReader,
    channels: BTreeMap<TextChannel, Channel>,
    /// For those who judge afterwards.
    texts: BTreeMap<TextChannel, String>,
    texts_bytes: usize,
    is_over: bool,
    out: Vec<u8>,
}

/// A text that goes on.
struct Channel {
    state: TextState,
    kind: TextKind,
    /// An event with a piece of it, for what is held at its end: the event, its data, and where the piece is.
    last: Option<(Vec<u8>, Vec<u8>, Range<usize>)>,
}

/// Why a stream ends before its end.
enum Halt {
    Refused(Refused),
    Broken(Fault),
}

impl From<Refused> for Halt {
    fn from(refused: Refused) -> Self {
        Halt::Refused(refused)
    }
}

impl GuardedStream {
    pub(super) fn new(server: Arc<LlmServer>, guards: AnswerGuards, body: AnswerBody) -> Self {
        GuardedStream {
            server,
            guards,
            body,
            events: EventReader::new(EVENT_BYTES_MAX),
            channels: BTreeMap::new(),
            texts: BTreeMap::new(),
            texts_bytes: 0,
            is_over: false,
            out: Vec::new(),
        }
    }

    fn push(&mut self, mut bytes: &[u8]) -> Result<(), Halt> {
        loop {
            let event = match self.events.next(&mut bytes) {
                Ok(Some(event)) => event.to_vec(),
                Ok(None) => return Ok(()),
                Err(_) => return Err(Halt::Broken(Fault::new(FaultKind::Server, "an event of the answer is too large"))),
            };
            self.event(&event)?;
        }
    }

    /// The stream has ended.
    fn end(&mut self) -> Result<(), Halt> {
        self.is_over = true;
        let rest = self.events.rest().to_vec();
        if !rest.is_empty() {
            self.event(&rest)?;
        }
        self.finish(None, &EventTexts::default())?;
        self.judge_afterwards();
        Ok(())
    }

    fn event(&mut self, event: &[u8]) -> Result<(), Halt> {
        let Some(parts) = EventParts::read(event) else {
            self.out.extend_from_slice(event);
            return Ok(());
        };
        let found = event_texts(&parts.data);
        for end in &found.ends {
            self.finish(*end, &found)?;
        }
        let mut changes = Vec::new();
        for text in &found.texts {
            let said = text_at(&parts.data, &text.place.range);
            let new = if text.is_delta {
                self.guards.scanner.count(said.len())?;
                let ends = found.ends.iter().any(|end| is_met(*end, &text.channel));
                let is_last = ends || event.len() > WAITING_EVENT_BYTES_MAX;
                let new = self.delta(&text.channel, &said, text.place.kind, is_last)?;
                let channel = self.channels.get_mut(&text.channel);
                if let Some(channel) = channel.filter(|channel| channel.state.holds()) {
                    channel.last = Some((event.to_vec(), parts.data.clone(), text.place.range.clone()));
                }
                self.note(&text.channel, text.place.kind, &new, ends)?;
                new
            } else {
                self.guards.scanner.advance(&mut TextState::default(), &said, text.place.kind, true)?
            };
            if *new != *said {
                changes.push((text.place.range.clone(), new));
            }
        }
        if changes.is_empty() {
            self.out.extend_from_slice(event);
        } else {
            let made = parts.with_data(event, &spliced(&parts.data, &changes));
            self.out.extend_from_slice(&made);
        }
        Ok(())
    }

    /// What of a text goes on.
    fn delta(&mut self, name: &TextChannel, said: &str, kind: TextKind, is_last: bool) -> Result<String, Halt> {
        if !self.channels.contains_key(name) && self.channels.len() >= CHANNELS_MAX {
            return Err(Halt::Broken(Fault::new(FaultKind::Server, "the answer has too many texts at the same time")));
        }
        let new = || Channel { state: TextState::default(), kind, last: None };
        let channel = self.channels.entry(name.clone()).or_insert_with(new);
        Ok(self.guards.scanner.advance(&mut channel.state, said, kind, is_last)?)
    }

    /// Texts end: what is held of them goes on before whatever ends them, unless the event has more of them itself.
    fn finish(&mut self, end: Option<u64>, event: &EventTexts) -> Result<(), Halt> {
        let goes_on = |name: &TextChannel| event.texts.iter().any(|text| text.is_delta && text.channel == *name);
        let ended: Vec<TextChannel> = self.channels.keys().filter(|name| is_met(end, name) && !goes_on(name)).cloned().collect();
        for name in ended {
            let Some(mut channel) = self.channels.remove(&name) else { continue };
            let rest = self.guards.scanner.advance(&mut channel.state, "", channel.kind, true)?;
            if let (false, Some((event, data, place))) = (rest.is_empty(), channel.last) {
                let changes = event_texts(&data).texts.into_iter().map(|text| {
                    let is_it = text.place.range == place;
                    (text.place.range, if is_it { rest.clone() } else { String::new() })
                });
                let changes: Vec<_> = changes.collect();
                if let Some(parts) = EventParts::read(&event) {
                    let made = parts.with_data(&event, &spliced(&data, &changes));
                    self.out.extend_from_slice(&made);
                }
            }
            self.note(&name, channel.kind, &rest, true)?;
        }
        Ok(())
    }

    /// Notes what the client gets of a text.
    fn note(&mut self, name: &TextChannel, kind: TextKind, text: &str, is_last: bool) -> Result<(), Halt> {
        if !self.guards.moderation.is_empty() && self.texts_bytes < TEXTS_BYTES_MAX {
            self.texts_bytes += text.len();
            self.texts.entry(name.clone()).or_default().push_str(text);
        }
        // Of several choices the first one, as for whole answers.
        let is_answer = match name.name.as_str() {
            "content" | "parts" => name.indices.first().is_none_or(|choice| *choice == 0),
            "text" | "response.output_text.delta" => kind == TextKind::Text,
            _ => false,
        };
        let Some((guard, watch)) = self.guards.schema.as_mut().filter(|_| is_answer) else { return Ok(()) };
        let fits = watch.push(text).and_then(|()| if is_last { watch.end() } else { Ok(()) });
        if fits.is_err() {
            let guard = guard.clone();
            self.guards.schema = None;
            if self.guards.scanner.matches(&guard) && guard.refuses() {
                let fault = refusal::told(&guard, "answer", ": it does not fit the schema of its request");
                return Err(Halt::Refused(Refused { guard, fault }));
            }
        }
        Ok(())
    }

    /// Ends the stream with an error.
    fn halt(&mut self, halt: Halt) {
        self.is_over = true;
        let (guard, fault) = match halt {
            Halt::Refused(refused) => {
                refused.guard.figures.add(GuardOutcome::Refused);
                (Some(refused.guard), refused.fault)
            }
            Halt::Broken(fault) => (None, fault),
        };
        let answer = context(&Ask { model: self.guards.model.clone(), ..Ask::default() });
        self.guards.api.stream(answer).write(&Event::Fault(fault), &mut self.out);
        // The provider need not go on.
        self.body = http_body_util::Empty::new().map_err(|never: std::convert::Infallible| match never {}).boxed_unsync();
        guard.iter().for_each(|guard| self.guards.report.refused_by(&guard.terms.name));
    }

    /// Has texts judged that have passed already: what is found is counted.
    fn judge_afterwards(&mut self) {
        if self.guards.moderation.is_empty() || self.texts.is_empty() {
            return;
        }
        let (server, texts) = (self.server.clone(), std::mem::take(&mut self.texts).into_values().collect());
        let (guards, alias) = (std::mem::take(&mut self.guards.moderation), std::mem::take(&mut self.guards.alias));
        let client = server.client.clone();
        client.spawn(async move {
            let _ = server.moderated(&guards, &alias, texts).await;
        });
    }
}

impl Pieces for GuardedStream {
    async fn next(mut self: Box<Self>) -> io::Result<Option<(Bytes, Box<Self>)>> {
        loop {
            if !self.out.is_empty() {
                let bytes = Bytes::from(std::mem::take(&mut self.out));
                return Ok(Some((bytes, self)));
            }
            if self.is_over {
                return Ok(None);
            }
            let read = match self.body.frame().await {
                Some(Ok(frame)) => frame.data_ref().map_or(Ok(()), |bytes| self.push(bytes)),
                Some(Err(error)) => return Err(error),
                None => self.end(),
            };
            if let Err(halt) = read {
                self.halt(halt);
            }
        }
    }
}

/// Whether the end of a part is that of a text.
fn is_met(end: Option<u64>, channel: &TextChannel) -> bool {
    end.is_none_or(|end| channel.indices.first().is_none_or(|index| *index == end))
}

/// All texts of the events of a stream.
pub(super) fn texts_of_events(mut bytes: &[u8], bytes_max: usize) -> Vec<String> {
    let (mut events, mut texts) = (EventReader::new(bytes_max), BTreeMap::<TextChannel, String>::new());
    while let Ok(Some(event)) = events.next(&mut bytes) {
        let data = EventParts::read(event).map(|parts| parts.data).unwrap_or_default();
        for text in event_texts(&data).texts.iter().filter(|text| text.is_delta) {
            texts.entry(text.channel.clone()).or_default().push_str(&text_at(&data, &text.place.range));
        }
    }
    texts.into_values().collect()
}
