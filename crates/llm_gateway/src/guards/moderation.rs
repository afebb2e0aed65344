//! Whom guards ask about texts.

use std::time::Duration;

/// Whom to ask.
pub struct ModerationTerms {
    /// Its URL.
    pub url: String,
    /// How it is asked.
    pub form: ModerationForm,
    /// A bearer token for it.
    pub key: String,
    /// The model that judges.
    pub model: String,
    /// How long its answer may take.
    pub time_max: Duration,
    /// Whether nothing passes of which it says nothing.
    pub refuses_on_failure: bool,
}

/// How somebody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModerationForm {
    /// `{"texts", "api", "key", "on"}`; the answer is `{"flagged"}`.
    Webhook,
    /// As OpenAI's `/v1/moderations`.
    OpenAi,
}
