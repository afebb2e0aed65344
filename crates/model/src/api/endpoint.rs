//! Entries of `extended_paths`: one endpoint (path pattern and method) and what to do there. A pattern is a regular
//! expression in which `{name}` stands for a segment and `/*` for the rest.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::OnStoreFailure;
use crate::span;

/// What every entry of a list has: the endpoint it is for.
pub trait EndpointEntry {
    /// The entry is out of effect.
    fn is_disabled(&self) -> bool;
    /// Path pattern.
    fn path(&self) -> &str;
    /// Method.
    fn method(&self) -> &str;
    /// The pattern matches in any letter case.
    fn ignores_case(&self) -> bool;
}

macro_rules! endpoint_entry {
    ($($entry:ty),+ $(,)?) => {$(
        impl EndpointEntry for $entry {
            fn is_disabled(&self) -> bool {
                self.disabled
            }
            fn path(&self) -> &str {
                &self.path
            }
            fn method(&self) -> &str {
                &self.method
            }
            fn ignores_case(&self) -> bool {
                self.ignore_case
            }
        }
    )+};
}

endpoint_entry!(
    AccessEntry,
    MockResponse,
    HardTimeout,
    SizeLimit,
    MethodTransform,
    HeaderTransform,
    CircuitBreaker,
    EndpointMark,
    EndpointRateLimit,
    BodySchema,
    super::rewrite::UrlRewrite,
);

/// An entry of `ignored`, `white_list` or `black_list`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccessEntry {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method; empty for any. Without effect beside `method_actions`.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// What to do, by method. When it is written, the entry is for the methods that it names and no others: for none when it is empty.
    pub method_actions: Option<BTreeMap<String, MethodAction>>,
}

/// What to do with one method of an entry.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MethodAction {
    /// Whether the gateway answers.
    pub action: Action,
    /// Status code of the answer.
    pub code: u16,
    /// Body of the answer.
    pub data: String,
    /// Headers of the answer.
    pub headers: BTreeMap<String, String>,
}

/// Whether the gateway answers by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing is written: requests are refused, whichever list the entry is in.
    #[default]
    #[serde(rename = "")]
    Unset,
    /// It does not; the list says what happens.
    NoAction,
    /// It does.
    Reply,
}

/// An entry of `mock_response`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MockResponse {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method; empty for any.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// Status code; 200 when 0.
    pub code: u16,
    /// Body.
    pub body: String,
    /// Headers.
    pub headers: BTreeMap<String, String>,
}

/// An entry of `validate_json`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BodySchema {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// JSON schema, draft 7 unless its `$schema` says another.
    pub schema: Option<serde_json::Map<String, serde_json::Value>>,
    /// The same in Base64, where `schema` is missing.
    pub schema_b64: String,
    /// Status for a body that does not fit; 422 when 0.
    pub error_response_code: u16,
}

/// An entry of `hard_timeouts`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HardTimeout {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// Seconds.
    pub timeout: f64,
    /// The same as a Go duration (`500ms`), which wins when not empty.
    pub duration: String,
}

impl HardTimeout {
    /// The time that the upstream has, `None` for no limit.
    pub fn limit(&self) -> Option<Duration> {
        let limit = if self.duration.is_empty() { span::seconds(self.timeout) } else { span::parse_span(&self.duration) };
        limit.filter(|limit| !limit.is_zero())
    }
}

/// An entry of `size_limits`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SizeLimit {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// Largest request body in bytes.
    pub size_limit: i64,
}

/// An entry of `method_transforms`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MethodTransform {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// The method to send upstream.
    pub to_method: String,
}

/// An entry of `transform_headers` or `transform_response_headers`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeaderTransform {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// Headers to remove.
    pub delete_headers: Vec<String>,
    /// Headers to set.
    pub add_headers: BTreeMap<String, String>,
    /// Whether a response change is made on the way back; Tyk does not look at it either.
    pub act_on: bool,
}

/// An entry of `circuit_breakers`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CircuitBreaker {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// Share of failures that opens the breaker, 0 to 1.
    pub threshold_percent: f64,
    /// Requests in the window before the breaker may open.
    pub samples: u64,
    /// Seconds until it closes again.
    pub return_to_service_after: u64,
    /// Do not try single requests before then.
    pub disable_half_open_state: bool,
}

/// An entry of `internal`, `track_endpoints` or `do_not_track_endpoints`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EndpointMark {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
}

/// An entry of `rate_limit`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EndpointRateLimit {
    /// Takes the entry out of effect.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// The pattern matches in any letter case.
    pub ignore_case: bool,
    /// Requests.
    pub rate: f64,
    /// Seconds.
    pub per: f64,
    /// Count and report, but refuse nobody. Tyk has no such field.
    pub dry_run: bool,
    /// What holds while the store does not answer, in place of what the API says. Tyk has no such field.
    pub on_store_failure: Option<OnStoreFailure>,
}
