//! A stream of Responses that passes as its provider wrote it, read far enough to end it before its provider does: with the provider's own ids and
//! numbers, and all that the last events repeat.

use super::reply::{read_usage, write_text, write_usage};
use super::stream::{OUTPUT_BYTES_MAX, write_event};
use crate::form::{Event, Usage};
use crate::json::{JsonNode, JsonObject, ObjectOut, object};

/// What has passed of one stream.
#[derive(Debug, Default)]
pub(crate) struct PassedResponses {
    sequence: u64,
    /// The response as the last event with one had it.
    response: Vec<u8>,
    /// Items that are complete, and the one that is not.
    items: Vec<Vec<u8>>,
    open: Option<OpenItem>,
    /// Bytes of both.
    bytes: usize,
    /// What the event changes that was read last, if it passes.
    next: Option<Next>,
}

/// An item that goes on.
#[derive(Debug, Default)]
struct OpenItem {
    item: Vec<u8>,
    id: String,
    index: u64,
    /// Its parts that are complete.
    parts: Vec<Vec<u8>>,
    /// The text that goes on: which events carry it, and the place of its part.
    deltas: String,
    part: u64,
    text: String,
}

#[derive(Debug)]
struct Next {
    sequence: Option<u64>,
    step: PassedStep,
}

#[derive(Debug)]
enum PassedStep {
    Response(Vec<u8>),
    Item(OpenItem),
    Text { deltas: String, part: u64, text: String },
    PartDone(Vec<u8>),
    ItemDone(Vec<u8>),
    Other,
}

impl PassedResponses {
    /// Reads the data of an event: its text and what it tells of usage. It is there once [`PassedResponses::note`] says that it passes.
    pub(crate) fn read(&mut self, data: &[u8]) -> Vec<Event> {
        self.next = None;
        let Some(event) = JsonNode::read(data, data.len()).ok().and_then(JsonNode::object) else {
            // What nobody reads counts as text.
            return vec![Event::TextDelta(String::from_utf8_lossy(data).into_owned())];
        };
        let kind = event.owned("type");
        // In one line, as data of an event.
        let line = |byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte };
        let raw = |name: &str| event.get(name).map(|node| node.raw().bytes().map(line).collect()).unwrap_or_default();
        let number = |name: &str| event.get(name).and_then(JsonNode::whole);
        let mut steps = Vec::new();
        let step = match kind.strip_suffix(".delta") {
            Some(deltas) => {
                let text = event.owned("delta");
                steps.push(Event::TextDelta(text.clone()));
                let part = number("content_index").or_else(|| number("summary_index")).unwrap_or(0);
                PassedStep::Text { deltas: deltas.to_owned(), part, text }
            }
            None => match kind.as_str() {
                "response.output_item.added" => {
                    let id = event.object("item").map(|item| item.owned("id")).unwrap_or_default();
                    PassedStep::Item(OpenItem {
                        item: raw("item"),
                        id,
                        index: number("output_index").unwrap_or(0),
                        ..OpenItem::default()
                    })
                }
                "response.content_part.done" | "response.reasoning_summary_part.done" => PassedStep::PartDone(raw("part")),
                "response.output_item.done" => PassedStep::ItemDone(raw("item")),
                _ => match event.object("response") {
                    Some(response) => {
                        steps.extend(response.object("usage").map(|usage| Event::Usage(read_usage(&usage))));
                        PassedStep::Response(raw("response"))
                    }
                    None => PassedStep::Other,
                },
            },
        };
        self.next = Some(Next { sequence: number("sequence_number"), step });
        steps
    }

    /// The event that was read last passes.
    pub(crate) fn note(&mut self) {
        let Some(Next { sequence, step }) = self.next.take() else { return };
        self.sequence = sequence.map_or(self.sequence, |sequence| sequence.saturating_add(1));
        match step {
            PassedStep::Response(response) => self.response = response,
            PassedStep::Item(item) if self.has_room(item.item.len()) => self.open = Some(item),
            PassedStep::ItemDone(item) => {
                self.open = None;
                if self.has_room(item.len()) {
                    self.items.push(item);
                }
            }
            PassedStep::PartDone(part) if self.has_room(part.len()) => {
                if let Some(open) = &mut self.open {
                    open.parts.push(part);
                    (open.text, open.deltas) = (String::new(), String::new());
                }
            }
            PassedStep::Text { deltas, part, text } if self.has_room(text.len()) => {
                if let Some(open) = &mut self.open {
                    open.text.push_str(&text);
                    (open.deltas, open.part) = (deltas, part);
                }
            }
            _ => {}
        }
    }

    fn has_room(&mut self, more: usize) -> bool {
        self.bytes = self.bytes.saturating_add(more);
        self.bytes <= OUTPUT_BYTES_MAX
    }

    /// Writes the events that end the answer for its length.
    pub(crate) fn end(mut self, usage: &Usage, out: &mut Vec<u8>) {
        if let Some(open) = self.open.take() {
            let item = self.close(open, out);
            self.items.push(item);
        }
        let response = JsonNode::read(&self.response, self.response.len()).ok().and_then(JsonNode::object);
        let mut ended = Vec::new();
        object(&mut ended, |out| {
            for (name, value) in response.map(JsonObject::members).unwrap_or_default() {
                if !matches!(&*name, "status" | "incomplete_details" | "output" | "usage") {
                    out.raw(&name, value.raw());
                }
            }
            out.text("status", "incomplete");
            out.object("incomplete_details", |details| details.text("reason", "max_output_tokens"));
            out.array("output", |output| self.items.iter().for_each(|item| output.raw(item)));
            write_usage(out, usage);
        });
        self.event(out, "response.incomplete", |event| event.raw("response", &ended));
    }

    /// Ends the item that goes on, and returns it.
    fn close(&mut self, mut open: OpenItem, out: &mut Vec<u8>) -> Vec<u8> {
        let (id, index, place) = (open.id.clone(), open.index, open.part);
        let item = JsonNode::read(&open.item, open.item.len()).ok().and_then(JsonNode::object);
        let kind = item.as_ref().map(|item| item.owned("type")).unwrap_or_default();
        let (list, place_name) = if kind == "reasoning" { ("summary", "summary_index") } else { ("content", "content_index") };
        // Where texts of an item without parts are.
        let whole = match open.deltas.as_str() {
            "response.function_call_arguments" | "response.mcp_call_arguments" => Some("arguments"),
            "response.custom_tool_call_input" => Some("input"),
            _ => None,
        };
        let name = format!("{}.done", open.deltas);
        let head = |event: &mut ObjectOut| {
            event.text("item_id", &id);
            event.whole("output_index", index);
        };
        if let Some(whole) = whole {
            self.event(out, &name, |event| {
                head(event);
                event.text(whole, &open.text);
            });
        } else if let Some((part_kind, member, done)) = part_of(&open.deltas) {
            self.event(out, &name, |event| {
                head(event);
                event.whole(place_name, place);
                event.text(member, &open.text);
            });
            let mut part = Vec::new();
            object(&mut part, |part| match part_kind {
                "output_text" => write_text(part, &open.text, &[]),
                _ => {
                    part.text("type", part_kind);
                    part.text(member, &open.text);
                }
            });
            self.event(out, done, |event| {
                head(event);
                event.whole(place_name, place);
                event.raw("part", &part);
            });
            open.parts.push(part);
        }
        let mut ended = Vec::new();
        object(&mut ended, |out| {
            for (name, value) in item.map(JsonObject::members).unwrap_or_default() {
                let is_anew = &*name == "status" || Some(&*name) == whole || (&*name == list && !open.parts.is_empty());
                if !is_anew {
                    out.raw(&name, value.raw());
                }
            }
            out.text("status", "incomplete");
            if let Some(whole) = whole {
                out.text(whole, &open.text);
            }
            if !open.parts.is_empty() {
                out.array(list, |parts| open.parts.iter().for_each(|part| parts.raw(part)));
            }
        });
        self.event(out, "response.output_item.done", |event| {
            event.whole("output_index", index);
            event.raw("item", &ended);
        });
        ended
    }

    fn event(&mut self, out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut ObjectOut)) {
        write_event(out, name, self.sequence, write);
        self.sequence += 1;
    }
}

/// The part whose text comes in such events: its type, the member of its text, and the event that ends it.
fn part_of(deltas: &str) -> Option<(&'static str, &'static str, &'static str)> {
    match deltas {
        "response.output_text" => Some(("output_text", "text", "response.content_part.done")),
        "response.refusal" => Some(("refusal", "refusal", "response.content_part.done")),
        "response.reasoning_text" => Some(("reasoning_text", "text", "response.content_part.done")),
        "response.reasoning_summary_text" => Some(("summary_text", "text", "response.reasoning_summary_part.done")),
        _ => None,
    }
}
