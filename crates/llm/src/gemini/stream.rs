//! A stream for a client: each event is an answer with what is new. Calls of tools are whole, so that they wait for the end of their arguments.

use super::proof::Proof;
use super::reply::{AnswerEnd, write_answer, write_call, write_fault, write_thought};
use crate::answer::AnswerContext;
use crate::form::{Citation, Event, Fault, FaultKind, Stop, ToolCall, Usage};
use crate::json::ArrayOut;

/// Most bytes of arguments that wait, of all calls: as of a whole answer.
const ARGUMENTS_BYTES_MAX: usize = 32 << 20;

/// Writes the events of one stream.
#[derive(Debug)]
pub(crate) struct GeminiStream {
    answer: AnswerContext,
    id: String,
    model: String,
    call: Option<ToolCall>,
    arguments_bytes: usize,
    usage: Usage,
    is_over: bool,
}

impl GeminiStream {
    /// A stream for this answer.
    pub(crate) fn new(answer: AnswerContext) -> Self {
        let (id, model) = (answer.id("", ""), answer.model("").to_owned());
        GeminiStream { answer, id, model, call: None, arguments_bytes: 0, usage: Usage::UNKNOWN, is_over: false }
    }

    /// Writes what the client gets of an event.
    pub(crate) fn write(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.is_over {
            return;
        }
        match event {
            Event::Begin { id, model, usage } => {
                (self.id, self.model) = (self.answer.id(id, ""), self.answer.model(model).to_owned());
                self.usage = usage.unwrap_or(Usage::UNKNOWN);
            }
            Event::TextDelta(text) => self.parts(out, |parts| parts.object(|part| part.text("text", text))),
            Event::Citation(citation) => self.citation(citation, out),
            Event::ReasoningDelta(text) => self.parts(out, |parts| write_thought(parts, text, None)),
            Event::ReasoningSignature(signature) => {
                self.parts(out, |parts| write_thought(parts, "", Some(&Proof::Signature(signature.clone()))));
            }
            Event::Redacted(data) => self.parts(out, |parts| write_thought(parts, "", Some(&Proof::Redacted(data.clone())))),
            Event::ToolBegin { .. } if self.call.is_some() => {
                self.fault(&Fault::new(FaultKind::Server, "the arguments of a tool call are no JSON object"), out);
            }
            Event::ToolBegin { id, name, signature } => {
                let (id, name, signature) = (id.clone(), name.clone(), signature.clone());
                self.call = Some(ToolCall { id, name, arguments: String::new(), signature });
            }
            Event::ToolDelta(text) => {
                self.arguments_bytes += text.len();
                if self.arguments_bytes > ARGUMENTS_BYTES_MAX {
                    self.fault(&Fault::new(FaultKind::Server, "the provider's answer is too large"), out);
                } else if let Some(call) = &mut self.call {
                    call.arguments.push_str(text);
                }
            }
            Event::PartEnd => {
                if let Some(call) = self.call.take() {
                    let mut event = Vec::new();
                    match self.event(&mut event, |parts| write_call(parts, &call, Stop::End), &[], None) {
                        Ok(()) => out.extend_from_slice(&event),
                        // Only the end of the answer says whether its bound cut them off.
                        Err(_) => self.call = Some(call),
                    }
                }
            }
            Event::Usage(usage) => self.usage = *usage,
            Event::End(stop) => self.end(*stop, out),
            Event::Fault(fault) => self.fault(fault, out),
        }
    }

    fn end(&mut self, stop: Stop, out: &mut Vec<u8>) {
        let mut event = Vec::new();
        let parts = |parts: &mut ArrayOut| match &self.call {
            Some(call) => write_call(parts, call, stop),
            None => {
                parts.object(|part| part.text("text", ""));
                Ok(())
            }
        };
        match self.event(&mut event, parts, &[], Some((stop, &self.usage))) {
            Ok(()) => out.extend_from_slice(&event),
            Err(fault) => self.fault(&fault, out),
        }
        self.is_over = true;
    }

    fn fault(&mut self, fault: &Fault, out: &mut Vec<u8>) {
        self.is_over = true;
        out.extend_from_slice(b"data: ");
        out.extend_from_slice(&write_fault(fault));
        out.extend_from_slice(b"\n\n");
    }

    fn parts(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut ArrayOut)) {
        self.cited_parts(out, write, &[]);
    }

    fn citation(&self, citation: &Citation, out: &mut Vec<u8>) {
        self.cited_parts(out, |parts| parts.object(|part| part.text("text", "")), &[citation]);
    }

    fn cited_parts(&self, out: &mut Vec<u8>, write: impl FnOnce(&mut ArrayOut), citations: &[&Citation]) {
        let parts = |parts: &mut ArrayOut| {
            write(parts);
            Ok::<(), std::convert::Infallible>(())
        };
        // It cannot fail.
        let _ = self.event(out, parts, citations, None);
    }

    fn event<E>(
        &self,
        out: &mut Vec<u8>,
        parts: impl FnOnce(&mut ArrayOut) -> Result<(), E>,
        citations: &[&Citation],
        end: Option<AnswerEnd>,
    ) -> Result<(), E> {
        out.extend_from_slice(b"data: ");
        write_answer(out, (&self.model, &self.id), parts, citations, end)?;
        out.extend_from_slice(b"\n\n");
        Ok(())
    }
}
