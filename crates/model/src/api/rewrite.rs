//! Entries of `url_rewrites`: which URL goes upstream instead, and on which further conditions.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::word_choice::may_be_empty;

/// An entry of `url_rewrites`. `match_pattern` and `rewrite_to` apply to the path with its query; the result replaces both.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UrlRewrite {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Regular expression; its groups are `$1` and so on.
    pub match_pattern: String,
    /// The URL if no trigger matches.
    pub rewrite_to: String,
    /// Conditions with their own URLs; the first that matches wins.
    pub triggers: Vec<Trigger>,
}

/// A condition of a rewrite, and its URL.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Trigger {
    /// How many of `options` must match.
    pub on: TriggerMode,
    /// What to match.
    pub options: TriggerOptions,
    /// The URL.
    pub rewrite_to: String,
}

/// How many of the options of a trigger must match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = may_be_empty)]
pub enum TriggerMode {
    /// Every one.
    #[default]
    #[serde(alias = "")]
    All,
    /// One.
    Any,
}

/// What a trigger looks at, each by name.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TriggerOptions {
    /// Request headers.
    pub header_matches: BTreeMap<String, TextMatch>,
    /// Query parameters.
    pub query_val_matches: BTreeMap<String, TextMatch>,
    /// Segments of the path; the name is for captures only.
    pub path_part_matches: BTreeMap<String, TextMatch>,
    /// Metadata of the key's session.
    pub session_meta_matches: BTreeMap<String, TextMatch>,
    /// Context variables.
    pub request_context_matches: BTreeMap<String, TextMatch>,
    /// The request body.
    pub payload_matches: TextMatch,
}

/// A regular expression over a text.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TextMatch {
    /// The regular expression; ignored if empty.
    pub match_rx: String,
    /// Whether it must not match.
    pub reverse: bool,
}
