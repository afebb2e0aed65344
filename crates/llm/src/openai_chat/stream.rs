//! A stream for a client: chunks in `data:` lines, and `[DONE]`.

use super::fault::write_fault;
use super::reply::{write_citations, write_detail, write_signature, write_usage};
use super::stop_name;
use crate::answer::AnswerContext;
use crate::form::{Event, Fault, ReasoningPart, Usage};
use crate::json::{ObjectOut, object};

/// Writes the chunks of one stream.
#[derive(Debug)]
pub(crate) struct ChatStream {
    answer: AnswerContext,
    id: String,
    model: String,
    calls: u64,
    usage: Usage,
}

impl ChatStream {
    /// A stream for this answer.
    pub(crate) fn new(answer: AnswerContext) -> Self {
        let (id, model) = (answer.id("", "chatcmpl-"), answer.model("").to_owned());
        ChatStream { answer, id, model, calls: 0, usage: Usage::UNKNOWN }
    }

    /// Writes what the client gets of an event.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        match event {
            Event::Begin { id, model, .. } => {
                self.id = self.answer.id(id, "chatcmpl-");
                self.model = self.answer.model(model).to_owned();
                self.delta(out, |delta| {
                    delta.text("role", "assistant");
                    delta.text("content", "");
                });
            }
            Event::TextDelta(text) => self.delta(out, |delta| delta.text("content", text)),
            Event::Citation(citation) => self.delta(out, |delta| write_citations(delta, [citation])),
            Event::ReasoningDelta(text) => self.delta(out, |delta| delta.text("reasoning_content", text)),
            Event::ReasoningSignature(signature) => {
                let part = ReasoningPart { signature: Some(signature.clone()), ..ReasoningPart::default() };
                self.thought(out, &part);
            }
            Event::Redacted(data) => {
                let part = ReasoningPart { redacted: Some(data.clone()), ..ReasoningPart::default() };
                self.thought(out, &part);
            }
            Event::ToolBegin { id, name, signature } => {
                self.calls += 1;
                self.call(out, |call| {
                    call.text("id", id);
                    call.text("type", "function");
                    call.object("function", |function| {
                        function.text("name", name);
                        function.text("arguments", "");
                    });
                    write_signature(call, signature.as_deref());
                });
            }
            Event::ToolDelta(text) => self.call(out, |call| call.object("function", |function| function.text("arguments", text))),
            Event::PartEnd => {}
            Event::Usage(usage) => self.usage = *usage,
            Event::End(stop) => {
                self.choice(out, |_| {}, Some(stop_name(*stop)));
                if self.answer.includes_usage() {
                    self.chunk(out, |chunk, usage| {
                        chunk.array("choices", |_| {});
                        write_usage(chunk, &usage);
                    });
                }
                out.extend_from_slice(b"data: [DONE]\n\n");
            }
            Event::Fault(fault) => write_end(fault, out),
        }
    }

    fn thought(&self, out: &mut Vec<u8>, part: &ReasoningPart) {
        self.delta(out, |delta| delta.array("reasoning_details", |details| details.object(|detail| write_detail(detail, part))));
    }

    fn call(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectOut)) {
        let index = self.calls.saturating_sub(1);
        self.delta(out, |delta| {
            delta.array("tool_calls", |calls| {
                calls.object(|call| {
                    call.whole("index", index);
                    write(call);
                });
            });
        });
    }

    fn delta(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectOut)) {
        self.choice(out, write, None);
    }

    fn choice(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectOut), reason: Option<&str>) {
        let includes_usage = self.answer.includes_usage();
        self.chunk(out, |chunk, _| {
            chunk.array("choices", |choices| {
                choices.object(|choice| {
                    choice.whole("index", 0);
                    choice.object("delta", write);
                    choice.null("logprobs");
                    match reason {
                        Some(reason) => choice.text("finish_reason", reason),
                        None => choice.null("finish_reason"),
                    }
                });
            });
            if includes_usage {
                chunk.null("usage");
            }
        });
    }

    fn chunk(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut ObjectOut, Usage)) {
        out.extend_from_slice(b"data: ");
        object(out, |chunk| {
            chunk.text("id", &self.id);
            chunk.text("object", "chat.completion.chunk");
            chunk.whole("created", self.answer.now());
            chunk.text("model", &self.model);
            write(chunk, self.usage);
        });
        out.extend_from_slice(b"\n\n");
    }
}

/// The official clients raise what an event with an error says, and read no further.
fn write_end(fault: &Fault, out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(&write_fault(fault));
    out.extend_from_slice(b"\n\ndata: [DONE]\n\n");
}
