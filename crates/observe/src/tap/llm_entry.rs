//! What a request to a language model took, as people see it.

use serde::{Deserialize, Serialize};
use tollgate_model::analytics::{LlmAttempt, LlmStats, LlmUsage};
use utoipa::ToSchema;

/// What a request to a language model took.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TailLlm {
    /// `chat`, `embeddings`, `count_tokens` or `models`.
    pub operation: String,
    /// The team that it is of; empty without one.
    #[serde(default)]
    pub team: String,
    /// The model as the client wrote it.
    pub model: String,
    /// Who answered, else who was asked last.
    pub provider: String,
    /// The model's name there.
    pub provider_model: String,
    pub outcome: String,
    /// Why it was not answered completely.
    pub reason: String,
    /// `stop`, `length`, `tool_calls` or `content_filter`.
    pub finish: String,
    /// The budget that refused the request, or whose bound ended the answer.
    pub budget: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub reasoning_tokens: u64,
    pub cost_usd: f64,
    /// Whether a provider has not told all, so that something is estimated.
    pub estimated: bool,
    pub first_token_ms: Option<f64>,
    pub tokens_per_s: Option<f64>,
    /// The providers that were asked, in order.
    pub attempts: Vec<TailAttempt>,
}

/// One request to one provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TailAttempt {
    pub provider: String,
    pub model: String,
    pub outcome: String,
    pub reason: String,
    pub took_ms: f64,
}

impl From<&LlmStats> for TailLlm {
    fn from(stats: &LlmStats) -> Self {
        let LlmUsage { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, estimated, .. } = stats.usage;
        TailLlm {
            operation: stats.operation.clone(),
            team: stats.team.clone(),
            model: stats.model.clone(),
            provider: stats.provider.clone(),
            provider_model: stats.provider_model.clone(),
            outcome: stats.outcome.clone(),
            reason: stats.reason.clone(),
            finish: stats.finish.clone(),
            budget: stats.budget.clone(),
            input_tokens,
            output_tokens,
            cached_tokens,
            reasoning_tokens,
            cost_usd,
            estimated,
            first_token_ms: stats.first_token_ms,
            tokens_per_s: stats.tokens_per_s,
            attempts: stats.attempts.iter().map(TailAttempt::from).collect(),
        }
    }
}

impl From<&LlmAttempt> for TailAttempt {
    fn from(attempt: &LlmAttempt) -> Self {
        TailAttempt {
            provider: attempt.provider.clone(),
            model: attempt.model.clone(),
            outcome: attempt.outcome.clone(),
            reason: attempt.reason.clone(),
            took_ms: attempt.took_ms,
        }
    }
}
