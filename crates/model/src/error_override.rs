//! `error_overrides` of an API definition and of the configuration: other responses in place of errors, by status. Expressions, fields of
//! bodies and templates are checked where they are compiled.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_framing_header, is_header_value, is_token};

/// Tyk's flags for errors that can occur here.
const FLAGS: [&str; 33] = [
    "TLE", "TLI", "TLM", "TLN", "TLH", "TLP", "TLA", "UCF", "UCT", "URR", "URT", "EPI", "CAB", "NRS", "DNS", "NRH", "CBO", "URS",
    "UPE", "RLT", "QEX", "AMF", "AKI", "TKE", "TKI", "TCV", "EAD", "BTL", "CLM", "BIV", "IHD", "CRQ", "CMM",
];

/// Flags of Tyk's for errors that do not occur here, or that nobody is told of.
const NEVER_SET: [(&str, &str); 3] = [
    ("NHU", "targets are not taken out of service"),
    ("CDC", "the client that it is about is gone"),
    ("TLC", "certificate chains have no error of their own"),
];

/// Rules by status code (`404`) or class (`5xx`). The first rule that matches applies.
pub type ErrorOverrides = BTreeMap<String, Vec<ErrorOverride>>;

/// One rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrorOverride {
    /// Which errors of the status it is for; all if it is not there.
    #[serde(rename = "match")]
    pub matcher: ErrorMatcher,
    /// What the client gets.
    pub response: ErrorResponse,
}

/// `match` of a rule. Empty fields match everything.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrorMatcher {
    /// Tyk's name for the kind of error, such as `RLT`.
    pub flag: String,
    /// Regular expression for the message, or for the beginning of the upstream's body.
    pub message_pattern: String,
    /// Path to a field of the upstream's JSON body.
    pub body_field: String,
    /// The value of that field.
    pub body_value: String,
}

/// `response` of a rule.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ErrorResponse {
    /// Status code; 0 to keep it.
    pub status_code: u16,
    /// The body; a Go template if it contains `{{.`.
    pub body: String,
    /// The message, for templates and for the default body.
    pub message: String,
    /// A file in `template_path` whose name begins with `error`, without `.json` or `.xml`.
    pub template: String,
    /// Headers that the response gets.
    pub headers: BTreeMap<String, String>,
}

/// The errors that a key of [`ErrorOverrides`] is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusPattern {
    /// One code.
    Code(u16),
    /// All codes with this first digit.
    Class(u16),
}

impl StatusPattern {
    /// Reads `404` or `4xx`.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(class) = text.strip_suffix("xx") {
            let digit = class.parse().ok().filter(|_| class.len() == 1)?;
            return Some(StatusPattern::Class(digit));
        }
        text.parse().ok().map(StatusPattern::Code)
    }

    fn is_error(self) -> bool {
        match self {
            StatusPattern::Code(code) => (400..=599).contains(&code),
            StatusPattern::Class(digit) => matches!(digit, 4 | 5),
        }
    }
}

/// Finds problems of `overrides`, which are at `at`.
pub(crate) fn check(overrides: &ErrorOverrides, at: &JsonPath, findings: &mut Findings) {
    for (status, rules) in overrides {
        let at = at.key(status);
        match StatusPattern::parse(status) {
            None => findings.error(&at, "must be a status code such as 404, or a class: 4xx or 5xx"),
            Some(pattern) if !pattern.is_error() => findings.warning(&at, "has no effect: only 400 to 599 are errors"),
            Some(_) => {}
        }
        for (index, rule) in rules.iter().enumerate() {
            let at = at.index(index);
            check_matcher(&rule.matcher, &at.key("match"), findings);
            check_response(&rule.response, &at.key("response"), findings);
        }
    }
}

fn check_matcher(matcher: &ErrorMatcher, at: &JsonPath, findings: &mut Findings) {
    let flag = matcher.flag.as_str();
    if let Some((_, why)) = NEVER_SET.iter().find(|(known, _)| *known == flag) {
        findings.warning(&at.key("flag"), format!("never matches: {why}"));
    } else if !flag.is_empty() && !FLAGS.contains(&flag) {
        findings.error(&at.key("flag"), format!("is not a flag; the flags are {}", FLAGS.join(", ")));
    }
    for (field, other, is_alone) in [
        ("body_field", "body_value", !matcher.body_field.is_empty() && matcher.body_value.is_empty()),
        ("body_value", "body_field", !matcher.body_value.is_empty() && matcher.body_field.is_empty()),
    ] {
        if is_alone {
            findings.warning(&at.key(field), format!("has no effect without {other}"));
        }
    }
    if !flag.is_empty() && !matcher.body_field.is_empty() {
        let message =
            "has no effect beside a flag: errors with flags have no body of the upstream's, and URS looks at the status alone";
        findings.warning(&at.key("body_field"), message);
    }
}

fn check_response(response: &ErrorResponse, at: &JsonPath, findings: &mut Findings) {
    if response.status_code != 0 && !(200..=599).contains(&response.status_code) {
        findings.error(&at.key("status_code"), "must be a status code from 200 to 599");
    }
    if !response.body.is_empty() && !response.template.is_empty() {
        findings.warning(&at.key("template"), "has no effect beside a body");
    }
    let is_template = response.body.contains("{{.");
    if response.body.contains("{{") && !is_template {
        let message = "is sent as it is: a body is a template where it contains {{. without a space, such as {{.Message}}";
        findings.warning(&at.key("body"), message);
    }
    if !response.body.is_empty() && !is_template && !response.message.is_empty() {
        findings.warning(&at.key("message"), "has no effect: the body is not a template");
    }
    for (name, value) in &response.headers {
        let at = at.key("headers").key(name);
        if !is_token(name) {
            findings.error(&at, "is not a header name");
        } else if is_framing_header(name) {
            findings.ignored(&at, "has no effect: the gateway writes this header itself");
        }
        if !is_header_value(value) {
            findings.error(&at, "must not contain line ends or other control characters");
        }
    }
}

impl ErrorResponse {
    /// The headers that a definition may set.
    pub fn own_headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        headers.filter(|(name, _)| !is_framing_header(name))
    }
}

#[cfg(test)]
mod tests;
