//! Budgets of language models, as keys, policies, organisations and APIs have them.

use jiff::civil::date;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

use crate::calendar;
use crate::json_path::JsonPath;
use crate::number::{is_zero, short};
use crate::problem::Findings;

/// Most budgets of one document: each is counted with each request.
const BUDGETS_MAX: usize = 16;
/// Longest name.
const NAME_BYTES_MAX: usize = 64;
/// Largest budget, so that sums of it are exact.
const MAX: f64 = 1e12;

/// How much of language models may be used in a period.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LlmBudget {
    /// Its name: letters, digits, `-`, `_` and `.`; unique in its list. The counter has it too.
    pub name: String,
    /// How much.
    #[serde(serialize_with = "short")]
    pub max: f64,
    /// Of what.
    pub unit: BudgetUnit,
    /// In which time, by the calendar in UTC.
    pub per: BudgetPeriod,
    /// Whose it is: of an API `api` (all clients together), `key` (each key has its own), or `claim:NAME` or `metadata:NAME` (each value of a claim of the
    /// token or of the `meta_data` of the session has its own); of a policy `key` or `policy` (all its keys together). The first one if nothing is said. Keys
    /// and organisations have only their own.
    #[serde(skip_serializing_if = "is_zero")]
    pub of: Option<BudgetHolder>,
    /// Whether answers that have begun may exceed it.
    #[serde(skip_serializing_if = "is_zero")]
    pub soft: bool,
    /// Id of the policy that a key has it from.
    #[serde(skip)]
    pub policy: Option<String>,
    /// Unknown fields.
    #[serde(flatten, skip_deserializing)]
    pub extra: Map<String, Value>,
}

/// What a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetUnit {
    /// Tokens of prompts and answers.
    #[default]
    Tokens,
    /// Tokens of prompts.
    PromptTokens,
    /// Tokens of answers, with reasoning.
    CompletionTokens,
    /// Tokens of prompts that the provider read from its cache.
    CachedTokens,
    /// Tokens of answers that the model took for reasoning.
    ReasoningTokens,
    /// US dollars.
    Usd,
    /// Requests.
    Requests,
}

/// The period of a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BudgetPeriod {
    /// A minute.
    Minute,
    /// An hour.
    Hour,
    /// A day.
    #[default]
    Day,
    /// A month.
    Month,
}

/// Whose a budget is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum BudgetHolder {
    /// All clients of the API together.
    Api,
    /// Each key.
    Key,
    /// All keys of the policy together.
    Policy,
    /// Those with the same value of a claim of their tokens.
    Claim(String),
    /// Those with the same value in the `meta_data` of their sessions.
    Metadata(String),
}

impl TryFrom<String> for BudgetHolder {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Ok(match (text.as_str(), text.split_once(':')) {
            ("api", _) => BudgetHolder::Api,
            ("key", _) => BudgetHolder::Key,
            ("policy", _) => BudgetHolder::Policy,
            (_, Some(("claim", name))) => BudgetHolder::Claim(name.to_owned()),
            (_, Some(("metadata", name))) => BudgetHolder::Metadata(name.to_owned()),
            _ => return Err("must be \"api\", \"key\", \"policy\", \"claim:NAME\" or \"metadata:NAME\"".to_owned()),
        })
    }
}

impl BudgetHolder {
    /// Whether it is a team, which requests name by a value.
    pub fn is_team(&self) -> bool {
        matches!(self, BudgetHolder::Claim(_) | BudgetHolder::Metadata(_))
    }

    /// Adds the problem of one that is no team, or whose values have an impossible name.
    pub(crate) fn check_team(&self, at: &JsonPath, findings: &mut Findings) {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
        match self {
            BudgetHolder::Claim(name) | BudgetHolder::Metadata(name) => {
                if !(1..=NAME_BYTES_MAX).contains(&name.len()) || !name.chars().all(fits) {
                    let why = format!("must have a name of 1 to {NAME_BYTES_MAX} letters, digits, -, _, ., : and /");
                    findings.error(at, why);
                }
            }
            _ => findings.error(at, "must be \"claim:NAME\" or \"metadata:NAME\""),
        }
    }
}

impl From<BudgetHolder> for String {
    fn from(holder: BudgetHolder) -> String {
        match holder {
            BudgetHolder::Api => "api".to_owned(),
            BudgetHolder::Key => "key".to_owned(),
            BudgetHolder::Policy => "policy".to_owned(),
            BudgetHolder::Claim(name) => format!("claim:{name}"),
            BudgetHolder::Metadata(name) => format!("metadata:{name}"),
        }
    }
}

impl JsonSchema for BudgetHolder {
    fn schema_name() -> Cow<'static, str> {
        "BudgetHolder".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Whose a budget is.",
            "pattern": "^(api|key|policy|claim:.+|metadata:.+)$",
        })
    }
}

impl BudgetUnit {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            BudgetUnit::Tokens => "tokens",
            BudgetUnit::PromptTokens => "prompt_tokens",
            BudgetUnit::CompletionTokens => "completion_tokens",
            BudgetUnit::CachedTokens => "cached_tokens",
            BudgetUnit::ReasoningTokens => "reasoning_tokens",
            BudgetUnit::Usd => "usd",
            BudgetUnit::Requests => "requests",
        }
    }
}

impl BudgetPeriod {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            BudgetPeriod::Minute => "minute",
            BudgetPeriod::Hour => "hour",
            BudgetPeriod::Day => "day",
            BudgetPeriod::Month => "month",
        }
    }

    /// The period that a time is in: when it ends, and how long it is, in seconds.
    pub fn around(self, now_unix_s: u64) -> (u64, u64) {
        let length_s = match self {
            BudgetPeriod::Minute => 60,
            BudgetPeriod::Hour => 3_600,
            BudgetPeriod::Day => 86_400,
            BudgetPeriod::Month => return month(now_unix_s),
        };
        ((now_unix_s / length_s + 1).saturating_mul(length_s), length_s)
    }
}

fn month(now_unix_s: u64) -> (u64, u64) {
    let today = calendar::date_time(i64::try_from(now_unix_s).unwrap_or(i64::MAX), 0).date();
    let unix_s =
        |day: jiff::civil::Date| u64::try_from(calendar::unix_s(day.to_datetime(jiff::civil::Time::midnight()))).unwrap_or(0);
    let first = today.first_of_month();
    let next = today.last_of_month().tomorrow().unwrap_or(date(9_999, 12, 31));
    (unix_s(next), unix_s(next).saturating_sub(unix_s(first)))
}

impl LlmBudget {
    /// Adds the problems of a list of budgets to `findings`. `holders`: what `of` may say.
    pub(crate) fn check_all(budgets: &[LlmBudget], at: &JsonPath, holders: &[BudgetHolder], findings: &mut Findings) {
        if budgets.len() > BUDGETS_MAX {
            findings.error(at, format!("must have at most {BUDGETS_MAX} entries"));
        }
        for (index, budget) in budgets.iter().enumerate() {
            let at = at.index(index);
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if budget.name.is_empty() || budget.name.len() > NAME_BYTES_MAX || !budget.name.chars().all(fits) {
                findings.error(&at.key("name"), format!("must be 1 to {NAME_BYTES_MAX} letters, digits, -, _ and ."));
            }
            if budgets.iter().take(index).any(|other| other.name == budget.name) {
                findings.error(&at.key("name"), format!("is the name of another budget: {:?}", budget.name));
            }
            // Dollars are counted in millionths.
            if !(1e-6..=MAX).contains(&budget.max) {
                findings.error(&at.key("max"), "must be from 0.000001 to 1000000000000");
            } else if budget.unit != BudgetUnit::Usd && budget.max.fract() != 0.0 {
                findings.error(&at.key("max"), "must be a whole number, unless unit is \"usd\"");
            }
            let allows = |of: &BudgetHolder| match of {
                of if of.is_team() => holders.contains(&BudgetHolder::Api),
                of => holders.contains(of),
            };
            match &budget.of {
                Some(of) if !allows(of) => findings.error(&at.key("of"), "is not possible in this document"),
                Some(of) if of.is_team() => of.check_team(&at.key("of"), findings),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests;
