//! What the web application firewall found in one request and its response. Names only: values may be secrets.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the rules say of a request and its response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct WafFacts {
    /// Sum of the scores of the rules about requests that matched.
    pub score: i64,
    /// The same of the rules about responses.
    pub response_score: i64,
    /// The rule that denies the request or the response, which pass all the same in mode `detection`.
    pub denied_by: Option<u32>,
    /// Why the request could not be inspected as a whole; empty if it was.
    pub fault: String,
    /// Why the response was not inspected as a whole, though it should be; empty if it was.
    pub response_fault: String,
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
    /// Adds what was found in the response.
    pub fn add_response(&mut self, found: WafFacts) {
        self.response_score = self.response_score.max(found.response_score);
        if self.response_fault.is_empty() {
            self.response_fault = found.response_fault;
        }
        self.denied_by = self.denied_by.or(found.denied_by);
        self.matches.extend(found.matches);
    }

    /// Numbers of the rules that matched, between commas.
    pub fn rules(&self) -> String {
        self.matches.iter().map(|found| found.rule.to_string()).collect::<Vec<_>>().join(",")
    }
}
