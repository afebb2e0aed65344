//! `tollgate.tokenizers` of the configuration: vocabularies by which prompts of language models are counted before they are sent.

use crate::json_path::JsonPath;
use crate::problem::Findings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TokenizerSettings {
    /// The file: on each line a token in base64, and its rank, as OpenAI publishes its vocabularies (`o200k_base.tiktoken`).
    pub file: PathBuf,
    /// How texts are split into words: as `o200k_base` or as `cl100k_base`.
    pub split: SplitRule,
    /// The models that have it, by their names at the provider, `*` for any text; without any, those of OpenAI that are encoded so.
    pub models: Vec<String>,
}

/// How texts are split before they are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum SplitRule {
    /// As for GPT-4o and later models.
    #[default]
    #[serde(rename = "o200k_base")]
    O200kBase,
    /// As for GPT-4, GPT-3.5 and OpenAI's embeddings.
    #[serde(rename = "cl100k_base")]
    Cl100kBase,
}

impl TokenizerSettings {
    pub(super) fn check_all(all: &[TokenizerSettings], findings: &mut Findings) {
        for (index, _) in all.iter().enumerate().filter(|(_, one)| one.file.as_os_str().is_empty()) {
            findings.error(&JsonPath::of(&format!("tollgate.tokenizers[{index}].file")), "must name a file");
        }
    }
}
