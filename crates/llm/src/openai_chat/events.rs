//! A provider's stream: chunks, each with what is new of the one choice.

use super::{fault, reply, stop_of};
use crate::form::Fault;
use crate::json::{JsonNode, JsonObject};
use crate::steps::Steps;

/// Reads the chunks of one stream.
#[derive(Debug, Default)]
pub(crate) struct ChatEvents {
    /// The index of the call whose arguments come, and how many calls there were.
    call: Option<u64>,
    calls: u64,
    /// Whether the model has refused to answer.
    is_refused: bool,
}

impl ChatEvents {
    /// Reads the data of one event.
    pub(crate) fn read(&mut self, data: &[u8], bytes_max: usize, steps: &mut Steps) -> Result<(), Fault> {
        if data.trim_ascii() == b"[DONE]" {
            steps.end();
            return Ok(());
        }
        let chunk = JsonNode::read(data, bytes_max).map_err(Fault::broken)?.object().ok_or_else(|| Fault::broken("no object"))?;
        if let Some(fault) = fault::fault_member(&chunk) {
            return Err(fault);
        }
        // Azure's first chunk tells only of filters, and has no id.
        let choices = chunk.items("choices");
        if !chunk.owned("id").is_empty() || !choices.is_empty() {
            steps.begin(&chunk.owned("id"), &chunk.owned("model"), None);
        }
        if let Some(usage) = chunk.object("usage").or_else(|| chunk.object("x_groq")?.object("usage")) {
            steps.usage(reply::read_usage(&usage));
        }
        if choices.len() > 1 {
            return Err(Fault::without_counterpart("a second choice"));
        }
        let Some(choice) = choices.first().and_then(|choice| choice.object()) else { return Ok(()) };
        if choice.get("index").and_then(JsonNode::whole).unwrap_or(0) != 0 {
            return Err(Fault::without_counterpart("a second choice"));
        }
        if let Some(delta) = choice.object("delta") {
            self.read_delta(&delta, steps)?;
        }
        if let Some(reason) = choice.text("finish_reason").filter(|reason| !reason.is_empty()) {
            steps.stop(reply::refused_stop(stop_of(&reason), self.is_refused));
        }
        Ok(())
    }

    fn read_delta(&mut self, delta: &JsonObject, steps: &mut Steps) -> Result<(), Fault> {
        reply::check_message(delta)?;
        let details = delta.items("reasoning_details");
        for detail in details.iter().filter_map(|detail| detail.object()) {
            match detail.text("type").as_deref() {
                Some("reasoning.text") => {
                    steps.reasoning(&detail.owned("text"));
                    steps.signature(&detail.owned("signature"));
                }
                Some("reasoning.encrypted") => steps.redacted(&detail.owned("data")),
                _ => {}
            }
        }
        if details.is_empty()
            && let Some(text) = delta.text("reasoning_content").or_else(|| delta.text("reasoning"))
        {
            steps.reasoning(&text);
        }
        match delta.get("content") {
            Some(content) if content.is_text() => steps.text_of(delta, "content"),
            Some(content) => {
                for part in content.items().unwrap_or_default().iter().filter_map(|part| part.object()) {
                    steps.text_of(&part, "text");
                }
            }
            None => {}
        }
        reply::read_citations(delta).into_iter().for_each(|citation| steps.citation(citation));
        self.is_refused |= delta.text("refusal").is_some_and(|text| !text.is_empty());
        steps.text_of(delta, "refusal");
        delta.items("tool_calls").iter().filter_map(|call| call.object()).try_for_each(|call| self.read_call(&call, steps))
    }

    /// A call begins with its name. Its further fragments have the same index; some providers send whole calls, all with index 0.
    fn read_call(&mut self, call: &JsonObject, steps: &mut Steps) -> Result<(), Fault> {
        let index = call.get("index").and_then(JsonNode::whole).unwrap_or(self.calls);
        let function = call.object("function");
        let name = function.as_ref().map(|function| function.owned("name")).unwrap_or_default();
        let id = call.owned("id");
        if self.call != Some(index) || (!name.is_empty() && !id.is_empty()) {
            if name.is_empty() {
                return Err(Fault::broken("fragments of tool calls are mixed"));
            }
            let id = if id.is_empty() { format!("call_{}", self.calls) } else { id };
            steps.tool(&id, &name, reply::signature(call).as_deref());
            self.call = Some(index);
            self.calls += 1;
        }
        if let Some(function) = function {
            steps.arguments(&reply::arguments(&function));
        }
        Ok(())
    }
}
