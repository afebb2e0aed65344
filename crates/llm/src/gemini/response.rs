//! Answers, streams and errors of Gemini. An event of a stream is an answer in itself.

use super::proof::Proof;
use crate::form::{Citation, Fault, FaultKind, Part, ReasoningPart, Reply, Stop, ToolCall, Usage};
use crate::json::{JsonNode, JsonObject};
use crate::steps::Steps;

/// Reads a provider's answer: the same as a stream of one event.
pub(crate) fn read_reply(body: &[u8], bytes_max: usize) -> Result<Reply, Fault> {
    let answer = JsonNode::read(body, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
    if let Some(error) = answer.object("error") {
        return Err(fault(&error, None));
    }
    let id = answer.owned("responseId");
    let mut parts = Vec::new();
    let mut calls = 0;
    let candidate = answer.items("candidates").first().and_then(|candidate| candidate.object());
    if candidate.is_none() && answer.object("promptFeedback").is_none() {
        return Err(Fault::broken("no candidate"));
    }
    let content = candidate.as_ref().and_then(|candidate| candidate.object("content"));
    for part in content.map(|content| content.items("parts")).unwrap_or_default().iter().filter_map(|part| part.object()) {
        if let Some(call) = part.object("functionCall") {
            parts.push(Part::ToolCall(ToolCall {
                id: call_id(&call, &id, calls),
                name: call.owned("name"),
                arguments: call.get("args").map_or("{}", JsonNode::raw).to_owned(),
                signature: part.text("thoughtSignature").map(|text| text.into_owned()),
            }));
            calls += 1;
        } else if let Some(proof) = foreign_proof(&part) {
            let text = part.owned("text");
            let (signature, redacted) = match proof {
                Proof::Redacted(data) => (None, Some(data)),
                Proof::Signature(text) | Proof::Own(text) => (Some(text), None),
            };
            parts.push(Part::Reasoning(ReasoningPart { text, signature, redacted }));
        } else if let Some(text) = part.text("text").filter(|text| !text.is_empty()) {
            let is_thought = is_thought(&part);
            match (is_thought, parts.last_mut()) {
                (true, Some(Part::Reasoning(last))) => last.text.push_str(&text),
                (true, _) => parts.push(Part::Reasoning(ReasoningPart { text: text.into_owned(), ..ReasoningPart::default() })),
                (false, Some(Part::Text(last))) => last.push_str(&text),
                (false, _) => parts.push(Part::Text(text.into_owned())),
            }
        } else {
            check_part(&part)?;
        }
    }
    let letters = |part: &Part| if let Part::Text(text) = part { text.chars().count() as u64 } else { 0 };
    let letters = parts.iter().map(letters).sum();
    if let Some(candidate) = &candidate {
        // Behind the last text, which they are of.
        let at = parts.iter().rposition(|part| matches!(part, Part::Text(_))).map_or(0, |at| at + 1);
        parts.splice(at..at, read_citations(candidate, letters).into_iter().map(Part::Citation));
    }
    let stop = match candidate.as_ref().and_then(|candidate| candidate.text("finishReason")) {
        Some(reason) => stop_of(&reason)?,
        None => Stop::Filtered,
    };
    let stop = if calls > 0 && stop == Stop::End { Stop::ToolCalls } else { stop };
    let usage = answer.object("usageMetadata").map_or(Usage::UNKNOWN, |usage| read_usage(&usage));
    Ok(Reply { id, model: answer.owned("modelVersion"), parts, stop, usage })
}

/// Where texts come from. The places are told as bytes of one part, so each citation is taken for all of the text.
fn read_citations(candidate: &JsonObject, letters: u64) -> Vec<Citation> {
    let Some(metadata) = candidate.object("citationMetadata") else { return Vec::new() };
    let citation = |source: &JsonObject| {
        let url = source.text("uri").filter(|url| !url.is_empty())?.into_owned();
        Some(Citation { url, title: source.owned("title"), start: 0, end: letters })
    };
    // Vertex AI has the other name.
    let lists = ["citationSources", "citations"].map(|name| metadata.items(name));
    lists.iter().flatten().filter_map(|source| citation(&source.object()?)).collect()
}

/// What a model answers besides texts, thoughts and calls has no counterpart.
fn check_part(part: &JsonObject) -> Result<(), Fault> {
    let foreign =
        ["inlineData", "fileData", "executableCode", "codeExecutionResult"].into_iter().find(|name| part.get(name).is_some());
    foreign.map_or(Ok(()), |name| Err(Fault::without_counterpart(name)))
}

fn is_thought(part: &JsonObject) -> bool {
    part.get("thought").and_then(JsonNode::flag) == Some(true)
}

/// The proof of another provider's thought, which answers that were written here have.
fn foreign_proof(part: &JsonObject) -> Option<Proof> {
    let proof = part.text("thoughtSignature").filter(|_| is_thought(part)).and_then(|text| Proof::read(&text));
    proof.filter(|proof| !matches!(proof, Proof::Own(_)))
}

/// Ids of calls, which many versions do not have: the answer's, with the call's number.
fn call_id(call: &JsonObject, answer: &str, at: usize) -> String {
    call.text("id").filter(|id| !id.is_empty()).map_or_else(|| format!("call_{answer}_{at}"), |id| id.into_owned())
}

pub(crate) fn stop_of(reason: &str) -> Result<Stop, Fault> {
    Ok(match reason {
        "MAX_TOKENS" => Stop::OutputLimit,
        "STOP" | "OTHER" | "FINISH_REASON_UNSPECIFIED" => Stop::End,
        "MALFORMED_FUNCTION_CALL"
        | "MALFORMED_RESPONSE"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MISSING_THOUGHT_SIGNATURE" => {
            return Err(Fault::new(FaultKind::Server, format!("the model ended with {reason}")));
        }
        _ => Stop::Filtered,
    })
}

pub(crate) fn read_usage(usage: &JsonObject) -> Usage {
    let figure = |name: &str| usage.get(name).map(|node| Usage::figure(node.number()));
    let of = |name: &str| figure(name).flatten().unwrap_or(0);
    Usage {
        input: of("promptTokenCount") + of("toolUsePromptTokenCount"),
        output: of("candidatesTokenCount") + of("thoughtsTokenCount"),
        cached_read: of("cachedContentTokenCount"),
        cached_write: 0,
        cached_write_hour: 0,
        reasoning: of("thoughtsTokenCount"),
        // An answer without text has no count of it.
        is_doubtful: figure("promptTokenCount").flatten().is_none() || figure("candidatesTokenCount") == Some(None),
    }
    .bounded()
}

/// Reads the body of an error.
pub(crate) fn read_fault(status: u16, body: &[u8], bytes_max: usize) -> Fault {
    let node = JsonNode::read(body, bytes_max).ok();
    // Streams that fail at once are an array.
    let answer = node.and_then(|node| node.object().or_else(|| node.items()?.first()?.object()));
    answer.and_then(|answer| answer.object("error")).map_or_else(|| Fault::of_status(status), |error| fault(&error, Some(status)))
}

fn fault(error: &JsonObject, status: Option<u16>) -> Fault {
    let code = error.get("code").and_then(JsonNode::whole).and_then(|code| u16::try_from(code).ok());
    let made = Fault::of_status(status.or(code).unwrap_or(502));
    Fault::with_status(made.status, made.kind, error.owned("message"))
}

/// Reads the events of one stream.
#[derive(Debug, Default)]
pub(crate) struct GeminiEvents {
    id: String,
    calls: usize,
}

impl GeminiEvents {
    /// Reads the data of one event.
    pub(crate) fn read(&mut self, data: &[u8], bytes_max: usize, steps: &mut Steps) -> Result<(), Fault> {
        let event = JsonNode::read(data, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
        if let Some(error) = event.object("error") {
            return Err(fault(&error, None));
        }
        if self.id.is_empty() {
            self.id = event.owned("responseId");
        }
        let usage = event.object("usageMetadata").map(|usage| read_usage(&usage));
        steps.begin(&self.id, &event.owned("modelVersion"), usage);
        usage.into_iter().for_each(|usage| steps.usage(usage));
        if event.object("promptFeedback").is_some_and(|feedback| feedback.get("blockReason").is_some()) {
            steps.stop(Stop::Filtered);
        }
        let Some(candidate) = event.items("candidates").first().and_then(|candidate| candidate.object()) else { return Ok(()) };
        let parts = candidate.object("content").map(|content| content.items("parts")).unwrap_or_default();
        for part in parts.iter().filter_map(|part| part.object()) {
            self.read_part(&part, steps)?;
        }
        read_citations(&candidate, steps.letters()).into_iter().for_each(|citation| steps.citation(citation));
        if let Some(reason) = candidate.text("finishReason") {
            steps.stop(stop_of(&reason)?);
        }
        Ok(())
    }

    fn read_part(&mut self, part: &JsonObject, steps: &mut Steps) -> Result<(), Fault> {
        check_part(part)?;
        if let Some(call) = part.object("functionCall") {
            let id = call_id(&call, &self.id, self.calls);
            steps.tool(&id, &call.owned("name"), part.text("thoughtSignature").as_deref());
            steps.arguments(call.get("args").map_or("{}", JsonNode::raw));
            steps.close();
            self.calls += 1;
        } else if is_thought(part) {
            steps.reasoning(&part.owned("text"));
            match foreign_proof(part) {
                Some(Proof::Signature(signature)) => {
                    steps.signature(&signature);
                    steps.close();
                }
                Some(Proof::Redacted(data)) => steps.redacted(&data),
                _ => {}
            }
        } else {
            steps.text_of(part, "text");
        }
        Ok(())
    }
}
