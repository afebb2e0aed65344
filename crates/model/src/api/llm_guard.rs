//! `tollgate.llm.guards` of a definition: what requests to language models and their answers are checked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::service_url::is_service_url;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::is_header_value;

/// Most guards of an API, and patterns of one: each text is searched for all of them.
const GUARDS_MAX: usize = 100;
const PATTERNS_MAX: usize = 500;
const NAME_BYTES_MAX: usize = 64;
/// Longest time for somebody else's word.
const TIMEOUT_S_MAX: f64 = 60.0;

/// A guard.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmGuard {
    /// Its name in refusals, metrics and the log: letters, digits, `-`, `_` and `.`; unique.
    pub name: String,
    /// What it looks for.
    pub kind: GuardKind,
    /// What it checks.
    pub on: GuardSide,
    /// What it does if it finds something.
    pub action: GuardAction,
    /// Whether it only counts what it finds.
    pub dry_run: bool,
    /// Of the kinds `deny` and `allow`: regular expressions as Go reads them.
    pub patterns: Vec<String>,
    /// Of the kinds `secrets` and `personal_data`: which of them; all if empty.
    pub only: Vec<String>,
    /// Of the kind `size`: most bytes of text.
    pub bytes_max: u64,
    /// Of the kind `size`: most tokens, of four bytes each.
    pub tokens_max: u64,
    /// Of the kind `moderation`: whom to ask.
    pub url: String,
    /// Of the kind `moderation`: a bearer token, such as `$secret_env.MODERATION`.
    pub key: String,
    /// Of the kind `moderation`: how to ask.
    pub api: ModerationApi,
    /// Of the kind `moderation`: the model that judges.
    pub model: String,
    /// Of the kind `moderation`: seconds for an answer; 5 if 0.
    pub timeout_s: f64,
    /// Of the kind `moderation`: what happens without an answer.
    pub on_failure: OnGuardFailure,
}

/// What a guard looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardKind {
    /// Any of its patterns.
    #[default]
    Deny,
    /// A request in which none of its patterns is.
    Allow,
    /// Keys and tokens of well-known services, and private keys.
    Secrets,
    /// Mail addresses, numbers of cards, accounts and phones, addresses of the internet.
    PersonalData,
    /// Too much text.
    Size,
    /// An answer that does not fit the schema of its request.
    Schema,
    /// What somebody else objects to.
    Moderation,
}

/// What a guard checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardSide {
    /// Requests.
    #[default]
    Request,
    /// Answers.
    Answer,
    /// Both.
    Both,
}

/// What a guard does if it finds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GuardAction {
    /// The client gets an error.
    #[default]
    Refuse,
    /// What was found is taken out. In answers, what was taken out of the request is put back.
    Redact,
    /// It is counted and logged.
    Report,
}

/// How somebody is asked about texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModerationApi {
    /// The gateway's own form.
    #[default]
    Webhook,
    /// OpenAI's moderation.
    #[serde(rename = "openai")]
    OpenAi,
}

/// What happens if a guard cannot say anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnGuardFailure {
    /// The client gets an error.
    #[default]
    Refuse,
    /// It passes.
    Pass,
}

impl GuardSide {
    /// Whether requests are checked.
    pub fn has_requests(self) -> bool {
        self != GuardSide::Answer
    }

    /// Whether answers are checked.
    pub fn has_answers(self) -> bool {
        self != GuardSide::Request
    }
}

impl GuardAction {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            GuardAction::Refuse => "refuse",
            GuardAction::Redact => "redact",
            GuardAction::Report => "report",
        }
    }
}

impl LlmGuard {
    pub(super) fn check_all(guards: &[LlmGuard], at: &JsonPath, findings: &mut Findings) {
        if guards.len() > GUARDS_MAX {
            findings.error(at, format!("must have at most {GUARDS_MAX} entries"));
        }
        for (index, guard) in guards.iter().enumerate() {
            let at = at.index(index);
            guard.check(&at, findings);
            if guards.iter().take(index).any(|other| other.name == guard.name) {
                findings.error(&at.key("name"), format!("is the name of another guard: {:?}", guard.name));
            }
        }
    }

    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || self.name.len() > NAME_BYTES_MAX || !self.name.chars().all(fits) {
            findings.error(&at.key("name"), format!("must be 1 to {NAME_BYTES_MAX} letters, digits, -, _ and ."));
        }
        self.check_fields(at, findings);
        let takes_out = matches!(self.kind, GuardKind::Deny | GuardKind::Secrets | GuardKind::PersonalData);
        if self.action == GuardAction::Redact && !takes_out {
            findings.error(&at.key("action"), "can be \"redact\" for the kinds deny, secrets and personal_data alone");
        }
        match self.kind {
            GuardKind::Allow if self.on != GuardSide::Request => {
                findings.error(&at.key("on"), "must be \"request\" for this kind");
            }
            GuardKind::Schema if self.on != GuardSide::Answer => {
                findings.error(&at.key("on"), "must be \"answer\" for this kind");
            }
            _ => {}
        }
    }

    /// Each field belongs to kinds; of another, it would do nothing.
    fn check_fields(&self, at: &JsonPath, findings: &mut Findings) {
        let of_patterns = matches!(self.kind, GuardKind::Deny | GuardKind::Allow);
        match of_patterns {
            true if self.patterns.is_empty() || self.patterns.len() > PATTERNS_MAX => {
                findings.error(&at.key("patterns"), format!("must have 1 to {PATTERNS_MAX} entries"));
            }
            false if !self.patterns.is_empty() => findings.error(&at.key("patterns"), "is for the kinds deny and allow alone"),
            _ => {}
        }
        if !self.only.is_empty() && !matches!(self.kind, GuardKind::Secrets | GuardKind::PersonalData) {
            findings.error(&at.key("only"), "is for the kinds secrets and personal_data alone");
        }
        match self.kind == GuardKind::Size {
            true if self.bytes_max == 0 && self.tokens_max == 0 => findings.error(at, "must have bytes_max or tokens_max"),
            false if self.bytes_max > 0 || self.tokens_max > 0 => {
                findings.error(at, "has bytes_max or tokens_max, which are for the kind size alone");
            }
            _ => {}
        }
        if self.kind != GuardKind::Moderation {
            if !(self.url.is_empty() && self.key.is_empty() && self.model.is_empty() && self.timeout_s == 0.0) {
                findings.error(at, "has url, key, model or timeout_s, which are for the kind moderation alone");
            }
            return;
        }
        if !is_service_url(&self.url) {
            findings
                .error(&at.key("url"), "must be a URL such as https://moderation.example.com, without user, password and fragment");
        }
        if !is_header_value(&self.key) {
            findings.error(&at.key("key"), "is no header value");
        }
        if !(0.0..=TIMEOUT_S_MAX).contains(&self.timeout_s) {
            findings.error(&at.key("timeout_s"), format!("must be from 0 to {TIMEOUT_S_MAX}"));
        }
    }
}
