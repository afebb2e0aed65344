//! Somebody else says whether texts may pass: an endpoint as OpenAI's for moderation, or a webhook.

use crate::guards::{ModerationForm, ModerationTerms};
use crate::llm_server::LlmServer;
use serde::Deserialize;
use serde_json::json;
use tollgate_outbound::{Call, CallLimits};

/// Most bytes of texts that are sent; of more there is no verdict.
const TEXT_BYTES_MAX: usize = 1 << 20;
/// Largest answer.
const ANSWER_BYTES_MAX: usize = 256 << 10;

/// What was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Fine,
    Flagged,
    /// Nothing that is understood.
    Unknown,
}

#[derive(Deserialize)]
struct WebhookAnswer {
    flagged: bool,
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    results: Vec<WebhookAnswer>,
}

impl ModerationTerms {
    /// What is said of the texts of a request, or of its answer.
    pub(super) async fn verdict(&self, server: &LlmServer, alias: &str, side: &str, texts: Vec<String>) -> Verdict {
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        if texts.is_empty() {
            return Verdict::Fine;
        }
        if texts.iter().map(String::len).sum::<usize>() > TEXT_BYTES_MAX {
            return Verdict::Unknown;
        }
        let count = texts.len();
        let body = match self.form {
            ModerationForm::Webhook => json!({"texts": texts, "api": server.terms.api, "key": alias, "on": side}),
            ModerationForm::OpenAi if self.model.is_empty() => json!({"input": texts}),
            ModerationForm::OpenAi => json!({"model": self.model, "input": texts}),
        };
        let mut lines = vec![("content-type".to_owned(), "application/json".to_owned())];
        if !self.key.is_empty() {
            lines.push(("authorization".to_owned(), format!("Bearer {}", self.key)));
        }
        let limits = CallLimits { time_max: self.time_max, body_bytes_max: ANSWER_BYTES_MAX };
        let call = Call::of_texts("POST", &self.url, &lines, body.to_string().into_bytes(), &server.terms.tls, limits);
        let answer = match call {
            Ok(call) => server.client.call(call).await.map_err(|fault| fault.to_string()),
            Err(_) => Err("its URL or key cannot be sent".to_owned()),
        };
        let verdict = match &answer {
            Ok(answer) if answer.status == 200 => self.read(&answer.body, count),
            _ => Verdict::Unknown,
        };
        if verdict == Verdict::Unknown {
            let why = answer.map_or_else(|why| why, |answer| format!("status {}", answer.status.as_u16()));
            tracing::warn!(api = server.terms.api, why, "the moderation of language models gave no verdict");
        }
        verdict
    }

    fn read(&self, body: &[u8], texts: usize) -> Verdict {
        let flagged = match self.form {
            ModerationForm::Webhook => serde_json::from_slice::<WebhookAnswer>(body).ok().map(|answer| answer.flagged),
            ModerationForm::OpenAi => {
                let answer = serde_json::from_slice::<OpenAiAnswer>(body).ok();
                // Of each text there must be a word.
                let answer = answer.filter(|answer| answer.results.len() >= texts || answer.results.iter().any(|one| one.flagged));
                answer.map(|answer| answer.results.iter().any(|one| one.flagged))
            }
        };
        match flagged {
            Some(true) => Verdict::Flagged,
            Some(false) => Verdict::Fine,
            None => Verdict::Unknown,
        }
    }
}
