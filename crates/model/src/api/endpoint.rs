//! Entries of `extended_paths`: one endpoint (path pattern and method) and what to do for it. A pattern is a regular expression in
//! which `{name}` matches a segment and `/*` matches the rest.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::OnStoreFailure;
use crate::span;

/// The common part of all entries: their endpoint.
pub trait EndpointEntry {
    /// Whether the entry is disabled.
    fn is_disabled(&self) -> bool;
    /// Path pattern.
    fn path(&self) -> &str;
    /// Method.
    fn method(&self) -> &str;
    /// Whether the pattern ignores letter case.
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
    BodyTemplate,
    BodyFilter,
    CachedEndpoint,
    RequestValidation,
    OperationMock,
    OperationScopes,
    VirtualEndpoint,
    PersistedOperation,
    super::rewrite::UrlRewrite,
);

/// An entry of `ignored`, `white_list` or `black_list`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AccessEntry {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method; empty for any. Ignored if `method_actions` exists.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// What to do, by method. If it exists, the entry applies to these methods only; if it is empty, to none.
    pub method_actions: Option<BTreeMap<String, MethodAction>>,
}

/// What to do for one method of an entry.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MethodAction {
    /// Whether the gateway responds itself.
    pub action: Action,
    /// Status code of the response.
    pub code: u16,
    /// Body of the response.
    pub data: String,
    /// Headers of the response.
    pub headers: BTreeMap<String, String>,
}

/// Whether the gateway responds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Missing: requests are rejected, whatever list the entry is in.
    #[default]
    #[serde(rename = "")]
    Unset,
    /// No: the list decides.
    NoAction,
    /// Yes.
    Reply,
}

/// An entry of `mock_response`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MockResponse {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method; empty for any.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Status code; 0 means 200.
    pub code: u16,
    /// Body.
    pub body: String,
    /// Headers.
    pub headers: BTreeMap<String, String>,
}

/// An entry of `virtual`: a function of a script answers.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VirtualEndpoint {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Name of the function.
    pub response_function_name: String,
    /// Where the script is.
    pub function_source_type: FunctionSource,
    /// The file's path, or the script in base64.
    pub function_source_uri: String,
    /// Whether the function sees the caller's session.
    pub use_session: bool,
    /// Whether the request goes to the upstream when the function fails; otherwise it is rejected with 500.
    pub proxy_on_error: bool,
}

/// An entry of `persist_graphql`: the upstream gets a GraphQL operation in place of the request.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PersistedOperation {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// The document.
    pub operation: String,
    /// Values of its variables. Texts may contain `$path.name`, a segment of the path, and the variables that headers may contain.
    pub variables: serde_json::Map<String, serde_json::Value>,
}

/// Where the script of a virtual endpoint is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionSource {
    /// Missing: an error.
    #[default]
    #[serde(rename = "")]
    Unset,
    /// In a file.
    File,
    /// In the definition, in base64.
    Blob,
}

/// An entry of `operation_validations`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RequestValidation {
    /// Disables the entry.
    pub disabled: bool,
    /// Path of the operation.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Whether requests are validated. An entry that is not enabled keeps less specific ones from acting.
    pub enabled: bool,
    /// Status for a request that does not fit; 0 means 422.
    pub error_response_code: u16,
}

/// An entry of `operation_scopes`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperationScopes {
    /// Disables the entry.
    pub disabled: bool,
    /// Path of the operation.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Sets of scopes, of which a token must have one, besides those for all requests. An entry without any keeps less specific ones
    /// from acting.
    pub alternatives: Vec<Vec<String>>,
}

/// An entry of `operation_mocks`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OperationMock {
    /// Disables the entry.
    pub disabled: bool,
    /// Path of the operation.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// The operation is not mocked; the entry keeps less specific ones from acting.
    pub skip: bool,
    /// Status code; 0 means 200.
    pub code: u16,
    /// Body.
    pub body: String,
    /// Headers.
    pub headers: BTreeMap<String, String>,
    /// Responses from the examples of the document.
    pub from_examples: ExampleSelection,
}

/// Which example a mock answers with, if the request does not select one.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExampleSelection {
    /// Answer with examples instead of the fixed response.
    pub enabled: bool,
    /// Status code; 0 means 200.
    pub code: u16,
    /// Content type; `application/json` if empty.
    pub content_type: String,
    /// Name of the example; the first one if empty.
    pub example_name: String,
}

/// An entry of `validate_json`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BodySchema {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// JSON schema, draft 7 unless `$schema` names another.
    pub schema: Option<serde_json::Map<String, serde_json::Value>>,
    /// Same schema in Base64, used if `schema` is missing.
    pub schema_b64: String,
    /// Status for a body that does not match; 0 means 422.
    pub error_response_code: u16,
}

/// An entry of `transform` or `transform_response`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BodyTemplate {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// The template.
    pub template_data: TemplateData,
}

/// A template in the `text/template` language of Go.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TemplateData {
    /// Format of the bodies: `json` or `xml`.
    pub input_type: String,
    /// Location of the template: `file` or `blob`.
    pub template_mode: String,
    /// Whether the template sees the key's metadata as `_tyk_meta`.
    pub enable_session: bool,
    /// Path of the file, or the template in Base64.
    pub template_source: String,
}

/// An entry of `transform_jq` or `transform_jq_response`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BodyFilter {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Filter in the jq language.
    pub filter: String,
}

/// An entry of `advance_cache_config`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CachedEndpoint {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method; `SAFE_METHODS` for GET, HEAD and OPTIONS.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Pattern of the part of a POST, PUT or PATCH body that distinguishes requests; empty for the whole body.
    pub cache_key_regex: String,
    /// Status codes to store; empty means those of `cache_options`.
    pub cache_response_codes: Vec<u16>,
    /// Time to live of a stored response in seconds; 0 means that of `cache_options`.
    pub timeout: i64,
}

/// An entry of `hard_timeouts`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HardTimeout {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Time limit of the upstream's response in seconds.
    pub timeout: f64,
    /// Same as a Go duration (`500ms`); takes precedence if not empty.
    pub duration: String,
}

impl HardTimeout {
    /// The upstream's time limit, `None` for no limit.
    pub fn limit(&self) -> Option<Duration> {
        let limit = if self.duration.is_empty() { span::seconds(self.timeout) } else { span::parse_span(&self.duration) };
        limit.filter(|limit| !limit.is_zero())
    }
}

/// An entry of `size_limits`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SizeLimit {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Maximum bytes of a request body.
    pub size_limit: i64,
}

/// An entry of `method_transforms`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MethodTransform {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// The method to send upstream.
    pub to_method: String,
}

/// An entry of `transform_headers` or `transform_response_headers`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeaderTransform {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Headers to remove.
    pub delete_headers: Vec<String>,
    /// Headers to set.
    pub add_headers: BTreeMap<String, String>,
    /// Whether it applies to the response; ignored, as in Tyk.
    pub act_on: bool,
}

/// An entry of `circuit_breakers`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CircuitBreaker {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Ratio of failures that opens the breaker, 0 to 1.
    pub threshold_percent: f64,
    /// Requests in the window before the breaker may open.
    pub samples: u64,
    /// Seconds until it closes again.
    pub return_to_service_after: u64,
    /// Do not probe with single requests before then.
    pub disable_half_open_state: bool,
}

/// An entry of `internal`, `track_endpoints` or `do_not_track_endpoints`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EndpointMark {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
}

/// An entry of `rate_limit`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EndpointRateLimit {
    /// Disables the entry.
    pub disabled: bool,
    /// Path pattern.
    pub path: String,
    /// Method.
    pub method: String,
    /// Whether the pattern ignores letter case.
    pub ignore_case: bool,
    /// Requests per period.
    pub rate: f64,
    /// Period in seconds.
    pub per: f64,
    /// Count and report, but reject nobody. Not in Tyk.
    pub dry_run: bool,
    /// What applies while the store is unavailable; overrides the API's setting. Not in Tyk.
    pub on_store_failure: Option<OnStoreFailure>,
}
