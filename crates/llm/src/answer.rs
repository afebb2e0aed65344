//! What an answer to a client says besides what the provider said.

use crate::form::{Ask, Reasoning, ResponseFormat, Tool, ToolChoice};

/// Facts for a client's answer: those of its request, and those that need a clock or randomness, which the caller has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerContext {
    model: String,
    now: u64,
    id: String,
    include_usage: bool,
    echo: Echo,
}

/// What OpenAI's Responses repeat of their request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Echo {
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Tool>,
    pub(crate) tool_choice: Option<ToolChoice>,
    pub(crate) parallel_tool_calls: Option<bool>,
    pub(crate) output_tokens_max: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) reasoning: Option<Reasoning>,
    pub(crate) response_format: ResponseFormat,
}

impl AnswerContext {
    /// The answer to a request: now, in seconds since 1970, with an id of letters and digits that no other answer has.
    pub fn new(ask: &Ask, now: u64, id: impl Into<String>) -> Self {
        AnswerContext {
            model: ask.model.clone(),
            now,
            id: id.into(),
            include_usage: ask.include_usage,
            echo: Echo {
                instructions: ask.system.first().cloned(),
                tools: ask.tools.clone(),
                tool_choice: ask.tool_choice.clone(),
                parallel_tool_calls: ask.parallel_tool_calls,
                output_tokens_max: ask.output_tokens_max,
                temperature: ask.temperature,
                top_p: ask.top_p,
                reasoning: ask.reasoning,
                response_format: ask.response_format.clone(),
            },
        }
    }

    /// The same answer for a client that knows the model by another name than the provider.
    #[must_use]
    pub fn for_model(self, model: impl Into<String>) -> Self {
        AnswerContext { model: model.into(), ..self }
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    pub(crate) fn includes_usage(&self) -> bool {
        self.include_usage
    }

    pub(crate) fn echo(&self) -> &Echo {
        &self.echo
    }

    /// The model to show: the provider's name, if it says one.
    pub(crate) fn model<'a>(&'a self, said: &'a str) -> &'a str {
        if said.is_empty() { &self.model } else { said }
    }

    /// The id to show: the provider's, or the own one, with this prefix.
    pub(crate) fn id(&self, said: &str, prefix: &str) -> String {
        let said = if said.is_empty() { &self.id } else { said };
        if said.starts_with(prefix) { said.to_owned() } else { format!("{prefix}{said}") }
    }
}
