//! The events of one stream in an order that every client can be told: a beginning, parts one after the other, usage, one end.

use crate::form::{Citation, Event, Fault, Stop, Usage};
use crate::json::{JsonObject, split_half};

/// Most parts and citations of one answer: each costs clients and providers an item of a list.
const PARTS_MAX: usize = 10_000;

/// What is open in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenPart {
    Text,
    Reasoning,
    Tool,
}

/// Collects the events of a stream.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    events: Vec<Event>,
    has_begun: bool,
    open: Option<OpenPart>,
    /// Half of a surrogate pair with which the last text ended: the other half may come with the next.
    half: Option<[u8; 3]>,
    parts: usize,
    /// Letters of all texts.
    letters: u64,
    has_calls: bool,
    usage: Option<Usage>,
    stop: Option<Stop>,
    is_over: bool,
}

impl Steps {
    /// The events since the last call.
    pub(crate) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Whether the last event was told.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The stream begins; later calls change nothing.
    pub(crate) fn begin(&mut self, id: &str, model: &str, usage: Option<Usage>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.usage = usage;
            self.events.push(Event::Begin { id: id.to_owned(), model: model.to_owned(), usage });
        }
    }

    fn open(&mut self, part: OpenPart) -> bool {
        self.begin("", "", None);
        if self.open == Some(part) && part != OpenPart::Tool {
            return true;
        }
        self.close();
        self.open = Some(part);
        self.counts_one()
    }

    /// Counts a part or a citation; false if there are too many.
    fn counts_one(&mut self) -> bool {
        self.parts += 1;
        if self.parts > PARTS_MAX {
            self.fault(Fault::broken("it has too many parts"));
        }
        self.parts <= PARTS_MAX
    }

    /// The open part is complete.
    pub(crate) fn close(&mut self) {
        if self.half.take().is_some() && self.open == Some(OpenPart::Text) {
            self.events.push(Event::TextDelta(char::REPLACEMENT_CHARACTER.to_string()));
        }
        if self.open.take().is_some() {
            self.events.push(Event::PartEnd);
        }
    }

    /// More text.
    pub(crate) fn text(&mut self, text: &str) {
        if !text.is_empty() && !self.is_over && self.open(OpenPart::Text) {
            self.letters += text.chars().count() as u64;
            self.events.push(Event::TextDelta(text.to_owned()));
        }
    }

    /// Where something in the text comes from.
    pub(crate) fn citation(&mut self, citation: Citation) {
        if !self.is_over && self.open(OpenPart::Text) && self.counts_one() {
            self.events.push(Event::Citation(citation));
        }
    }

    /// Letters of all texts so far.
    pub(crate) fn letters(&self) -> u64 {
        self.letters
    }

    /// More text: a member that is a string. A letter may be split over two.
    pub(crate) fn text_of(&mut self, object: &JsonObject, name: &str) {
        let Some(node) = object.get(name) else { return };
        if self.half.is_none()
            && let Some(text) = node.text()
        {
            return self.text(&text);
        }
        let mut bytes = self.half.take().map(Vec::from).unwrap_or_default();
        bytes.extend(node.text_bytes());
        let (text, half) = split_half(&bytes);
        self.text(&text);
        // Without a part that is open, nothing would end it.
        self.half = half.filter(|_| !self.is_over && self.open(OpenPart::Text));
    }

    /// More of a thought.
    pub(crate) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() && !self.is_over && self.open(OpenPart::Reasoning) {
            self.events.push(Event::ReasoningDelta(text.to_owned()));
        }
    }

    /// The proof of a thought.
    pub(crate) fn signature(&mut self, signature: &str) {
        if !signature.is_empty() && !self.is_over && self.open(OpenPart::Reasoning) {
            self.events.push(Event::ReasoningSignature(signature.to_owned()));
        }
    }

    /// A whole thought that only the provider reads.
    pub(crate) fn redacted(&mut self, data: &str) {
        if data.is_empty() || self.is_over {
            return;
        }
        self.close();
        if self.open(OpenPart::Reasoning) {
            self.events.push(Event::Redacted(data.to_owned()));
            self.close();
        }
    }

    /// A call of a tool begins.
    pub(crate) fn tool(&mut self, id: &str, name: &str, signature: Option<&str>) {
        if !self.is_over && self.open(OpenPart::Tool) {
            self.has_calls = true;
            self.events.push(Event::ToolBegin {
                id: id.to_owned(),
                name: name.to_owned(),
                signature: signature.map(str::to_owned),
            });
        }
    }

    /// More of its arguments.
    pub(crate) fn arguments(&mut self, text: &str) {
        if self.open == Some(OpenPart::Tool) && !text.is_empty() && !self.is_over {
            self.events.push(Event::ToolDelta(text.to_owned()));
        }
    }

    /// What it took so far.
    pub(crate) fn usage(&mut self, usage: Usage) {
        self.usage = Some(usage);
    }

    /// What it took so far, if it was told.
    pub(crate) fn told_usage(&self) -> Option<Usage> {
        self.usage
    }

    /// Why the answer ended; the end itself may come later.
    pub(crate) fn stop(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// The stream is complete; without a reason to stop it broke.
    pub(crate) fn end(&mut self) {
        let Some(stop) = self.stop else {
            self.fault(Fault::broken("the stream ended in the middle"));
            return;
        };
        if self.is_over {
            return;
        }
        self.begin("", "", None);
        self.close();
        let stop = if self.has_calls && stop == Stop::End { Stop::ToolCalls } else { stop };
        self.events.push(Event::Usage(self.usage.unwrap_or(Usage::UNKNOWN)));
        self.events.push(Event::End(stop));
        self.is_over = true;
    }

    /// The stream failed.
    pub(crate) fn fault(&mut self, fault: Fault) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.open = None;
            self.events.push(Event::Fault(fault));
        }
    }
}
