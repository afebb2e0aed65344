//! Whole answers and errors for clients. An event of a stream is an answer in itself, so that both are written here.

use super::proof::Proof;
use crate::answer::AnswerContext;
use crate::form::{Citation, Fault, FaultKind, Part, ReasoningPart, Reply, Stop, ToolCall, Usage};
use crate::json::{ArrayOut, ObjectOut, is_object_text, object};

/// The end of an answer: why, and what it took.
pub(super) type AnswerEnd<'a> = (Stop, &'a Usage);

/// Writes an answer for a client.
///
/// # Errors
/// The arguments of a tool call are no object, as this API has them.
pub(crate) fn write_reply(reply: &Reply, answer: &AnswerContext) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    let names = (answer.model(&reply.model), &*answer.id(&reply.id, ""));
    let parts = |out: &mut ArrayOut| reply.parts.iter().try_for_each(|part| write_part(out, part, reply.stop));
    let citations = reply.parts.iter().filter_map(|part| if let Part::Citation(citation) = part { Some(citation) } else { None });
    write_answer(&mut body, names, parts, &citations.collect::<Vec<_>>(), Some((reply.stop, &reply.usage)))?;
    Ok(body)
}

/// Writes an answer with these parts. `names` are the model's and the answer's.
pub(super) fn write_answer<E>(
    body: &mut Vec<u8>,
    (model, id): (&str, &str),
    parts: impl FnOnce(&mut ArrayOut) -> Result<(), E>,
    citations: &[&Citation],
    end: Option<AnswerEnd>,
) -> Result<(), E> {
    object(body, |out| {
        out.array("candidates", |candidates| {
            candidates.object(|candidate| {
                candidate.object("content", |content| {
                    content.array("parts", parts)?;
                    content.text("role", "model");
                    Ok(())
                })?;
                if let Some((stop, _)) = end {
                    candidate.text("finishReason", stop_name(stop));
                }
                if !citations.is_empty() {
                    candidate.object("citationMetadata", |metadata| {
                        metadata.array("citationSources", |list| citations.iter().for_each(|one| write_citation(list, one)));
                    });
                }
                candidate.whole("index", 0);
                Ok(())
            })
        })?;
        if let Some((_, usage)) = end {
            write_usage(out, usage);
        }
        out.text("modelVersion", model);
        out.text("responseId", id);
        Ok(())
    })
}

/// Calls of tools end an answer like any other.
fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::End | Stop::Sequence | Stop::ToolCalls => "STOP",
        Stop::OutputLimit => "MAX_TOKENS",
        Stop::Filtered => "SAFETY",
    }
}

fn write_usage(out: &mut ObjectOut, usage: &Usage) {
    if *usage == Usage::UNKNOWN {
        return;
    }
    out.object("usageMetadata", |out| {
        out.whole("promptTokenCount", usage.input);
        out.whole("candidatesTokenCount", usage.output.saturating_sub(usage.reasoning));
        out.whole("totalTokenCount", usage.input.saturating_add(usage.output));
        for (name, tokens) in [("cachedContentTokenCount", usage.cached_read), ("thoughtsTokenCount", usage.reasoning)] {
            if tokens > 0 {
                out.whole(name, tokens);
            }
        }
    });
}

fn write_part(parts: &mut ArrayOut, part: &Part, stop: Stop) -> Result<(), Fault> {
    match part {
        Part::Text(text) => parts.object(|out| out.text("text", text)),
        Part::Reasoning(ReasoningPart { redacted: Some(data), .. }) => {
            write_thought(parts, "", Some(&Proof::Redacted(data.clone())))
        }
        Part::Reasoning(part) => write_thought(parts, &part.text, part.signature.clone().map(Proof::Signature).as_ref()),
        Part::ToolCall(call) => write_call(parts, call, stop)?,
        Part::Image(_) | Part::Document(..) | Part::ToolResult(_) | Part::Citation(_) => {}
    }
    Ok(())
}

/// Where a text comes from. The places of this API are bytes, which nobody has told.
fn write_citation(list: &mut ArrayOut, citation: &Citation) {
    list.object(|out| {
        out.text("uri", &citation.url);
        if !citation.title.is_empty() {
            out.text("title", &citation.title);
        }
    });
}

pub(super) fn write_thought(parts: &mut ArrayOut, text: &str, proof: Option<&Proof>) {
    parts.object(|out| {
        out.text("text", text);
        out.flag("thought", true);
        out.text_if("thoughtSignature", proof.map(Proof::write).as_deref());
    });
}

pub(super) fn write_call(parts: &mut ArrayOut, call: &ToolCall, stop: Stop) -> Result<(), Fault> {
    let arguments = match call.arguments.trim_ascii() {
        "" => "{}",
        text if is_object_text(text) => text,
        // The bound of the answer cut them off; that is what its reason to stop says.
        _ if stop == Stop::OutputLimit => "{}",
        _ => return Err(Fault::broken("the arguments of a tool call are no JSON object")),
    };
    parts.object(|out| {
        out.object("functionCall", |out| {
            out.text("id", &call.id);
            out.text("name", &call.name);
            out.raw("args", arguments);
        });
        let proof = call.signature.as_deref().and_then(Proof::read);
        out.text_if("thoughtSignature", proof.map(|proof| proof.write()).as_deref());
    });
    Ok(())
}

/// Writes the body of an error.
pub(crate) fn write_fault(fault: &Fault) -> Vec<u8> {
    let status = match fault.kind {
        FaultKind::InvalidRequest | FaultKind::TooLarge => "INVALID_ARGUMENT",
        FaultKind::Authentication => "UNAUTHENTICATED",
        FaultKind::Permission => "PERMISSION_DENIED",
        FaultKind::NotFound => "NOT_FOUND",
        FaultKind::RateLimit => "RESOURCE_EXHAUSTED",
        FaultKind::Overloaded => "UNAVAILABLE",
        FaultKind::Timeout => "DEADLINE_EXCEEDED",
        FaultKind::Server => "INTERNAL",
    };
    let mut body = Vec::new();
    object(&mut body, |out| {
        out.object("error", |error| {
            error.whole("code", u64::from(fault.status));
            error.text("message", &fault.message);
            error.text("status", status);
        });
    });
    body
}
