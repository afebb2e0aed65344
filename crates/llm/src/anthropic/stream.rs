//! A stream for a client: named events, each with its type in its data too.

use super::fault::write_fault;
use super::reply::{DIRECT, UNTOLD, write_citation, write_usage};
use super::stop_name;
use crate::answer::AnswerContext;
use crate::form::{Event, Usage};
use crate::json::{ObjectOut, object};

/// What the open block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpenBlock {
    Text,
    Thinking,
    Tool,
}

/// Writes the events of one stream.
#[derive(Debug)]
pub(crate) struct MessagesStream {
    answer: AnswerContext,
    block: Option<OpenBlock>,
    /// How many blocks are complete: the index of the open one.
    blocks: u64,
    usage: Usage,
}

impl MessagesStream {
    /// A stream for this answer.
    pub(crate) fn new(answer: AnswerContext) -> Self {
        MessagesStream { answer, block: None, blocks: 0, usage: Usage::UNKNOWN }
    }

    /// Writes what the client gets of an event.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::Begin { id, model, usage } => {
                self.usage = usage.unwrap_or(Usage::UNKNOWN);
                self.begin(id, model, out);
            }
            Event::TextDelta(text) => {
                self.open_text(out);
                self.delta(out, "text_delta", "text", text);
            }
            Event::Citation(citation) => {
                self.open_text(out);
                self.change(out, "citations_delta", |delta| delta.object("citation", |out| write_citation(out, citation)));
            }
            Event::ReasoningDelta(text) => {
                self.open_thinking(out);
                self.delta(out, "thinking_delta", "thinking", text);
            }
            Event::ReasoningSignature(signature) => {
                self.open_thinking(out);
                self.delta(out, "signature_delta", "signature", signature);
            }
            Event::Redacted(data) => self.open(OpenBlock::Thinking, out, |block| {
                block.text("type", "redacted_thinking");
                block.text("data", data);
            }),
            Event::ToolBegin { id, name, .. } => self.open(OpenBlock::Tool, out, |block| {
                block.text("type", "tool_use");
                block.text("id", id);
                block.text("name", name);
                block.raw("input", "{}");
                block.raw("caller", DIRECT);
            }),
            Event::ToolDelta(text) => self.delta(out, "input_json_delta", "partial_json", text),
            Event::PartEnd => self.close(out),
            Event::Usage(usage) => self.usage = *usage,
            Event::End(stop) => {
                let usage = self.usage;
                write_event(out, "message_delta", |event| {
                    event.object("delta", |delta| {
                        delta.text("stop_reason", stop_name(*stop));
                        delta.null("stop_sequence");
                    });
                    write_usage(event, &usage);
                });
                write_event(out, "message_stop", |_| {});
            }
            Event::Fault(fault) => {
                out.extend_from_slice(b"event: error\ndata: ");
                out.extend_from_slice(&write_fault(fault));
                out.extend_from_slice(b"\n\n");
            }
        }
    }

    fn begin(&self, id: &str, model: &str, out: &mut Vec<u8>) {
        write_event(out, "message_start", |event| {
            event.object("message", |message| {
                message.text("id", &self.answer.id(id, "msg_"));
                message.text("type", "message");
                message.text("role", "assistant");
                message.text("model", self.answer.model(model));
                message.array("content", |_| {});
                message.null("stop_reason");
                for name in UNTOLD {
                    message.null(name);
                }
                write_usage(message, &self.usage);
            });
        });
    }

    fn open_text(&mut self, out: &mut Vec<u8>) {
        self.open(OpenBlock::Text, out, |block| {
            block.text("type", "text");
            block.text("text", "");
        });
    }

    fn open_thinking(&mut self, out: &mut Vec<u8>) {
        self.open(OpenBlock::Thinking, out, |block| {
            block.text("type", "thinking");
            block.text("thinking", "");
            block.text("signature", "");
        });
    }

    /// Begins a block, unless it is the one that is open. Each tool call is a block of its own, and ended before.
    fn open(&mut self, block: OpenBlock, out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectOut)) {
        if self.block == Some(block) {
            return;
        }
        self.close(out);
        self.block = Some(block);
        let index = self.blocks;
        write_event(out, "content_block_start", |event| {
            event.whole("index", index);
            event.object("content_block", write);
        });
    }

    fn delta(&self, out: &mut Vec<u8>, kind: &str, member: &str, text: &str) {
        self.change(out, kind, |delta| delta.text(member, text));
    }

    /// The open block grows.
    fn change(&self, out: &mut Vec<u8>, kind: &str, write: impl FnOnce(&mut ObjectOut)) {
        write_event(out, "content_block_delta", |event| {
            event.whole("index", self.blocks);
            event.object("delta", |delta| {
                delta.text("type", kind);
                write(delta);
            });
        });
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        if self.block.take().is_some() {
            let index = self.blocks;
            write_event(out, "content_block_stop", |event| event.whole("index", index));
            self.blocks += 1;
        }
    }
}

fn write_event(out: &mut Vec<u8>, kind: &str, write: impl FnOnce(&mut ObjectOut)) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    object(out, |event| {
        event.text("type", kind);
        write(event);
    });
    out.extend_from_slice(b"\n\n");
}
