//! A stream for a client: named events with sequence numbers. The last one repeats the whole answer, so it is kept, up to a bound.

use super::reply::{ResponseFrame, call_item, item_id, message_item, reasoning_item, status, write_citation, write_text};
use crate::answer::AnswerContext;
use crate::form::{Citation, Event, Fault, FaultKind, ReasoningPart, Stop, ToolCall, Usage};
use crate::json::{ObjectOut, object};

/// Most bytes of an answer: a hundred times what models answer at most.
pub(super) const OUTPUT_BYTES_MAX: usize = 32 << 20;

/// The item that is being written.
#[derive(Debug)]
enum Item {
    Text(String, Vec<Citation>),
    Reasoning(ReasoningPart),
    Call(ToolCall),
}

/// Writes the events of one stream.
#[derive(Debug)]
pub(crate) struct ResponsesStream {
    answer: AnswerContext,
    id: String,
    model: String,
    sequence: u64,
    item: Option<Item>,
    items: Vec<Vec<u8>>,
    bytes: usize,
    usage: Usage,
    is_over: bool,
}

impl ResponsesStream {
    /// A stream for this answer.
    pub(crate) fn new(answer: AnswerContext) -> Self {
        let (id, model) = (answer.id("", "resp_"), answer.model("").to_owned());
        ResponsesStream {
            answer,
            id,
            model,
            sequence: 0,
            item: None,
            items: Vec::new(),
            bytes: 0,
            usage: Usage::UNKNOWN,
            is_over: false,
        }
    }

    /// Writes what the client gets of an event.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        match event {
            Event::Begin { id, model, .. } => {
                self.id = self.answer.id(id, "resp_");
                self.model = self.answer.model(model).to_owned();
                self.response(out, "response.created", "in_progress", None);
                self.response(out, "response.in_progress", "in_progress", None);
            }
            Event::TextDelta(text) => self.text(text, out),
            Event::Citation(citation) => self.citation(citation, out),
            Event::ReasoningDelta(text) => self.reasoning(text, out),
            Event::ReasoningSignature(signature) => {
                self.begin_reasoning(out);
                if let Some(Item::Reasoning(part)) = &mut self.item {
                    part.signature = Some(signature.clone());
                }
            }
            Event::Redacted(data) => {
                self.begin_reasoning(out);
                if let Some(Item::Reasoning(part)) = &mut self.item {
                    part.redacted = Some(data.clone());
                }
            }
            Event::ToolBegin { id, name, .. } => {
                let call = ToolCall { id: id.clone(), name: name.clone(), ..ToolCall::default() };
                let item = call_item(&self.item_id("fc_"), &call, "in_progress");
                self.added(out, &item);
                self.item = Some(Item::Call(call));
            }
            Event::ToolDelta(text) => {
                if let Some(Item::Call(call)) = &mut self.item {
                    call.arguments.push_str(text);
                    self.bytes += text.len();
                }
                self.event(out, "response.function_call_arguments.delta", "fc_", |event| event.text("delta", text));
            }
            Event::PartEnd => self.close(out),
            Event::Usage(usage) => self.usage = *usage,
            Event::End(stop) => {
                self.is_over = true;
                let name = if status(*stop) == "incomplete" { "response.incomplete" } else { "response.completed" };
                self.response(out, name, status(*stop), Some(*stop));
            }
            Event::Fault(fault) => self.fault(fault, out),
        }
        if self.bytes > OUTPUT_BYTES_MAX && !self.is_over {
            self.fault(&Fault::new(FaultKind::Server, "the provider's answer is too large"), out);
        }
    }

    fn begin_text(&mut self, out: &mut Vec<u8>) {
        if self.item.is_none() {
            let id = self.item_id("msg_");
            let mut item = Vec::new();
            object(&mut item, |out| {
                out.text("id", &id);
                out.text("type", "message");
                out.text("status", "in_progress");
                out.text("role", "assistant");
                out.array("content", |_| {});
            });
            self.added(out, &item);
            self.event(out, "response.content_part.added", "msg_", |event| {
                event.whole("content_index", 0);
                event.object("part", |part| write_text(part, "", &[]));
            });
            self.item = Some(Item::Text(String::new(), Vec::new()));
        }
    }

    fn citation(&mut self, citation: &Citation, out: &mut Vec<u8>) {
        self.begin_text(out);
        let Some(Item::Text(_, citations)) = &mut self.item else { return };
        let number = citations.len() as u64;
        citations.push(citation.clone());
        self.bytes += citation.url.len() + citation.title.len();
        self.event(out, "response.output_text.annotation.added", "msg_", |event| {
            event.whole("content_index", 0);
            event.whole("annotation_index", number);
            event.object("annotation", |note| write_citation(note, citation));
        });
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        self.begin_text(out);
        if let Some(Item::Text(sum, _)) = &mut self.item {
            sum.push_str(text);
            self.bytes += text.len();
        }
        self.event(out, "response.output_text.delta", "msg_", |event| {
            event.whole("content_index", 0);
            event.text("delta", text);
            event.array("logprobs", |_| {});
        });
    }

    fn begin_reasoning(&mut self, out: &mut Vec<u8>) {
        if self.item.is_none() {
            let item = reasoning_item(&self.item_id("rs_"), &ReasoningPart::default());
            self.added(out, &item);
            self.item = Some(Item::Reasoning(ReasoningPart::default()));
        }
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        self.begin_reasoning(out);
        if let Some(Item::Reasoning(part)) = &mut self.item {
            let is_first = part.text.is_empty();
            part.text.push_str(text);
            self.bytes += text.len();
            if is_first {
                self.event(out, "response.reasoning_summary_part.added", "rs_", |event| summary_part(event, ""));
            }
        }
        self.event(out, "response.reasoning_summary_text.delta", "rs_", |event| {
            event.whole("summary_index", 0);
            event.text("delta", text);
        });
    }

    /// The item is complete.
    fn close(&mut self, out: &mut Vec<u8>) {
        let item = match self.item.take() {
            None => return,
            Some(Item::Text(text, citations)) => {
                let citations: Vec<&Citation> = citations.iter().collect();
                self.event(out, "response.output_text.done", "msg_", |event| {
                    event.whole("content_index", 0);
                    event.text("text", &text);
                    event.array("logprobs", |_| {});
                });
                self.event(out, "response.content_part.done", "msg_", |event| {
                    event.whole("content_index", 0);
                    event.object("part", |part| write_text(part, &text, &citations));
                });
                message_item(&self.item_id("msg_"), &text, &citations)
            }
            Some(Item::Reasoning(part)) => {
                if !part.text.is_empty() {
                    self.event(out, "response.reasoning_summary_text.done", "rs_", |event| {
                        event.whole("summary_index", 0);
                        event.text("text", &part.text);
                    });
                    self.event(out, "response.reasoning_summary_part.done", "rs_", |event| summary_part(event, &part.text));
                }
                reasoning_item(&self.item_id("rs_"), &part)
            }
            Some(Item::Call(call)) => {
                self.event(out, "response.function_call_arguments.done", "fc_", |event| {
                    event.text("name", &call.name);
                    event.text("arguments", &call.arguments);
                });
                call_item(&self.item_id("fc_"), &call, "completed")
            }
        };
        let index = self.items.len() as u64;
        self.named(out, "response.output_item.done", |event| {
            event.whole("output_index", index);
            event.raw("item", &item);
        });
        self.items.push(item);
    }

    fn fault(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.is_over = true;
        let code = match fault.kind {
            FaultKind::RateLimit => "rate_limit_exceeded",
            FaultKind::InvalidRequest => "invalid_prompt",
            _ => "server_error",
        };
        self.named(out, "error", |event| {
            event.text("code", code);
            event.text("message", &fault.message);
            event.null("param");
            // The official client raises what stands in this member.
            event.object("error", |error| {
                error.text("type", code);
                error.text("code", code);
                error.text("message", &fault.message);
                error.null("param");
            });
        });
    }

    fn item_id(&self, prefix: &str) -> String {
        item_id(&self.id, self.items.len(), prefix)
    }

    fn added(&mut self, out: &mut Vec<u8>, item: &[u8]) {
        let index = self.items.len() as u64;
        self.named(out, "response.output_item.added", |event| {
            event.whole("output_index", index);
            event.raw("item", item);
        });
    }

    /// An event of the open item.
    fn event(&mut self, out: &mut Vec<u8>, name: &str, prefix: &str, write: impl FnOnce(&mut ObjectOut)) {
        let (id, index) = (self.item_id(prefix), self.items.len() as u64);
        self.named(out, name, |event| {
            event.text("item_id", &id);
            event.whole("output_index", index);
            write(event);
        });
    }

    fn response(&mut self, out: &mut Vec<u8>, name: &str, status: &str, stop: Option<Stop>) {
        let (id, model, answer) = (self.id.clone(), self.model.clone(), self.answer.clone());
        let (items, usage) = (std::mem::take(&mut self.items), self.usage);
        let response = ResponseFrame { id: &id, model: &model, answer: &answer };
        self.named(out, name, |event| {
            event.object("response", |out| response.write(out, status, stop, &items, stop.is_some().then_some(&usage)));
        });
    }

    fn named(&mut self, out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut ObjectOut)) {
        write_event(out, name, self.sequence, write);
        self.sequence += 1;
    }
}

/// Writes an event with its number.
pub(super) fn write_event(out: &mut Vec<u8>, name: &str, sequence: u64, write: impl FnOnce(&mut ObjectOut)) {
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    object(out, |event| {
        event.text("type", name);
        event.whole("sequence_number", sequence);
        write(event);
    });
    out.extend_from_slice(b"\n\n");
}

fn summary_part(event: &mut ObjectOut, text: &str) {
    event.whole("summary_index", 0);
    event.object("part", |part| {
        part.text("type", "summary_text");
        part.text("text", text);
    });
}
