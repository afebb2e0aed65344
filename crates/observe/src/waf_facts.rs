//! What the web application firewall found in one request. Names only: values may be secrets.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the rules say of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WafFacts {
    /// Sum of the scores of the rules that matched.
    pub score: i64,
    /// The rule that denies the request; the request passes all the same in mode `detection`.
    pub denied_by: Option<u32>,
    /// Why the request could not be inspected as a whole; empty if it was.
    pub fault: String,
    /// Rules that matched, in the order in which they ran.
    pub matches: Vec<WafMatch>,
}

/// A rule that matched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WafMatch {
    /// Number of the rule.
    pub rule: u32,
    /// What the rule says of itself.
    pub message: String,
    /// Such as `CRITICAL`; may be empty.
    pub severity: String,
    /// Names of the values that matched, such as `ARGS:q`.
    pub variables: Vec<String>,
}

impl WafFacts {
    /// Numbers of the rules that matched, between commas.
    pub fn rules(&self) -> String {
        self.matches.iter().map(|found| found.rule.to_string()).collect::<Vec<_>>().join(",")
    }
}
