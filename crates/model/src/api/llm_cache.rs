//! `tollgate.llm.cache` of a definition: answers of language models that are kept for later requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// Longest time for which an answer is kept: a month.
const TTL_S_MAX: u64 = 31 * 86_400;
/// Most vectors that one request is compared with: each has some KiB.
const ENTRIES_MAX: u64 = 1_000;
const MODEL_BYTES_MAX: usize = 200;
/// Longest time for an embedding.
const TIMEOUT_S_MAX: f64 = 60.0;

/// `tollgate.llm.cache`: answers are kept for requests that are the same.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmCache {
    /// Seconds for which an answer is kept; 3600 if 0.
    pub ttl_s: u64,
    /// Who shares answers.
    pub by: CacheTenant,
    /// Whether answers are kept to requests with a temperature above 0 too.
    pub any_temperature: bool,
    /// Answers are sent for requests that are nearly the same, too.
    pub semantic: Option<LlmSemanticCache>,
}

/// `tollgate.llm.cache.semantic`: requests that differ in the user's last text alone are compared by their embeddings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmSemanticCache {
    /// Who makes them.
    pub embeddings: LlmEmbeddings,
    /// The least similarity, from 0.5 to 1; 0.95 if 0.
    pub threshold: f64,
    /// Whether it is only said what would have been sent.
    pub dry_run: bool,
    /// Most vectors that are compared; 100 if 0.
    pub entries_max: u64,
    /// Seconds for an embedding; 2 if 0.
    pub timeout_s: f64,
    /// Whether the log shows the beginnings of the texts, which are kept for it.
    pub shows_questions: bool,
}

/// A model of embeddings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmEmbeddings {
    /// Name of a provider.
    pub provider: String,
    /// The model's name there.
    pub model: String,
}

/// Who shares kept answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheTenant {
    /// Each key has its own; clients without a key are told apart by their networks.
    #[default]
    Key,
    /// All keys of an organisation.
    Organisation,
    /// All clients of the API.
    Api,
}

impl LlmCache {
    /// Adds its problems to `findings`. `providers` are the names of the providers.
    pub(super) fn check(&self, providers: &[&str], at: &JsonPath, findings: &mut Findings) {
        if self.ttl_s > TTL_S_MAX {
            findings.error(&at.key("ttl_s"), format!("must be from 0 to {TTL_S_MAX}"));
        }
        let Some(semantic) = &self.semantic else { return };
        let at = at.key("semantic");
        let LlmEmbeddings { provider, model } = &semantic.embeddings;
        if !providers.contains(&provider.as_str()) {
            findings.error(&at.key("embeddings").key("provider"), format!("is the name of no provider: {provider:?}"));
        }
        if model.is_empty() || model.len() > MODEL_BYTES_MAX {
            findings.error(&at.key("embeddings").key("model"), format!("must be 1 to {MODEL_BYTES_MAX} bytes"));
        }
        if semantic.threshold != 0.0 && !(0.5..=1.0).contains(&semantic.threshold) {
            findings.error(&at.key("threshold"), "must be from 0.5 to 1");
        }
        if semantic.entries_max > ENTRIES_MAX {
            findings.error(&at.key("entries_max"), format!("must be from 0 to {ENTRIES_MAX}"));
        }
        if !(0.0..=TIMEOUT_S_MAX).contains(&semantic.timeout_s) {
            findings.error(&at.key("timeout_s"), format!("must be from 0 to {TIMEOUT_S_MAX}"));
        }
    }
}
