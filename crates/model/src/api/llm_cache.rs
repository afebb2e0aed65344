//! `tollgate.llm.cache` of a definition: answers of language models that are kept for later requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json_path::JsonPath;
use crate::problem::Findings;

/// Longest time for which an answer is kept: a month.
const TTL_S_MAX: u64 = 31 * 86_400;

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
    pub(super) fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if self.ttl_s > TTL_S_MAX {
            findings.error(&at.key("ttl_s"), format!("must be from 0 to {TTL_S_MAX}"));
        }
    }
}
