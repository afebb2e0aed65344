//! What an inspection found. Values of the request are not in it, because they may be secrets.

/// The result for one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectionReport {
    /// Rules that matched, in the order in which they ran.
    pub matches: Vec<RuleMatch>,
    /// The rule that refuses the request.
    pub denied_by: Option<u32>,
    /// Sum of the scores that count for refusals.
    pub inbound_score: i64,
    /// The same for responses.
    pub outbound_score: i64,
    /// Why the body could not be taken apart.
    pub body_fault: Option<String>,
    /// What all of it cost, in bytes read.
    pub steps: u64,
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleMatch {
    /// The rule's number.
    pub id: u32,
    /// The rule's text.
    pub message: String,
    /// Such as `CRITICAL`; may be empty.
    pub severity: String,
    /// Names of the values that matched, such as `ARGS:q`.
    pub variables: Vec<String>,
}
