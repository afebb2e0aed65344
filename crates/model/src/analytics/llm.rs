//! What a request to a language model took, as its record says it: figures and names, nothing of what was asked or answered.

use serde::{Deserialize, Serialize};

/// What a request to an API in front of language models took.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmStats {
    /// `chat`, `embeddings`, `media`, `count_tokens` or `models`.
    pub operation: String,
    /// Whether the answer was a stream.
    pub stream: bool,
    /// The team that it is of; empty without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub team: String,
    /// The model as the client wrote it.
    pub model: String,
    /// Who answered, else who was asked last; empty if nobody was asked.
    pub provider: String,
    /// The model's name there.
    pub provider_model: String,
    /// What became of the request.
    pub outcome: String,
    /// Why, if it was not answered completely; in the gateway's words.
    pub reason: String,
    /// Why the answer has ended: `stop`, `length`, `tool_calls` or `content_filter`.
    pub finish: String,
    /// The budget that refused the request, or whose bound ended the answer.
    pub budget: String,
    /// What all attempts took.
    #[serde(flatten)]
    pub usage: LlmUsage,
    /// Milliseconds from the request until the first token of its stream.
    pub first_token_ms: Option<f64>,
    /// Tokens of a streamed answer for each second after the first token.
    pub tokens_per_s: Option<f64>,
    /// The providers that were asked, in order.
    pub attempts: Vec<LlmAttempt>,
}

/// One request to one provider.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmAttempt {
    /// The provider's name.
    pub provider: String,
    /// What it is, by OpenTelemetry's names.
    pub system: String,
    /// Where it is: host and port.
    pub address: String,
    /// The model's name there.
    pub model: String,
    /// The model by the name of the configuration, which may be a pattern.
    pub route: String,
    /// What became of it; empty while it lasts.
    pub outcome: String,
    /// Why it gave no answer, or no complete one; in the gateway's words.
    pub reason: String,
    /// As in the whole.
    pub finish: String,
    /// Milliseconds from the request's beginning until the provider was asked.
    pub after_ms: f64,
    /// Milliseconds that it took.
    pub took_ms: f64,
    /// Milliseconds until its first token, if its answer was a stream.
    pub first_token_ms: Option<f64>,
    /// What it took.
    #[serde(flatten)]
    pub usage: LlmUsage,
}

/// Tokens, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmUsage {
    /// Of the prompt, with those from and into the provider's cache.
    pub input_tokens: u64,
    /// Of the answer, with reasoning.
    pub output_tokens: u64,
    /// Of the prompt, from the provider's cache.
    pub cached_tokens: u64,
    /// Of the prompt, into the provider's cache.
    pub cache_write_tokens: u64,
    /// Of the answer, for reasoning.
    pub reasoning_tokens: u64,
    /// US dollars.
    pub cost_usd: f64,
    /// Whether a provider has not told all, so that something is estimated.
    pub estimated: bool,
}

impl LlmUsage {
    /// Adds what something else took.
    pub fn add(&mut self, other: &LlmUsage) {
        let sums = [
            (&mut self.input_tokens, other.input_tokens),
            (&mut self.output_tokens, other.output_tokens),
            (&mut self.cached_tokens, other.cached_tokens),
            (&mut self.cache_write_tokens, other.cache_write_tokens),
            (&mut self.reasoning_tokens, other.reasoning_tokens),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.cost_usd += other.cost_usd;
        self.estimated |= other.estimated;
    }

    /// The cost in millionths of a dollar.
    pub fn cost_micro_usd(&self) -> u64 {
        (self.cost_usd * 1e6).round() as u64
    }
}

impl LlmAttempt {
    /// Whether the provider was not asked at all.
    pub fn is_passed_over(&self) -> bool {
        matches!(self.outcome.as_str(), "skipped" | "unsupported")
    }
}

impl LlmStats {
    /// Whether somebody may ask why: it was refused, not answered, or ended by a budget.
    pub fn is_incomplete(&self) -> bool {
        !matches!(self.outcome.as_str(), "" | "ok" | "cached") || !self.budget.is_empty()
    }

    /// Tokens for each second, if there were enough of both to say so.
    pub fn rate(tokens: u64, took_ms: f64) -> Option<f64> {
        (tokens > 1 && took_ms >= 1.0).then(|| tokens as f64 * 1_000.0 / took_ms)
    }
}
