//! The response cache of an API.

use schemars::JsonSchema;
use serde::Deserialize;

/// `cache_options`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheOptions {
    /// Whether to cache responses; otherwise the other fields and the lists of endpoints have no effect.
    pub enable_cache: bool,
    /// Time to live of a stored response in seconds; responses are not stored if 0 or less.
    pub cache_timeout: i64,
    /// Whether to cache every GET, HEAD and OPTIONS request, not only those of `extended_paths.cache` and `advance_cache_config`.
    pub cache_all_safe_requests: bool,
    /// Status codes to store; empty means all, including errors.
    pub cache_response_codes: Vec<u16>,
    /// Whether the upstream may set the time to live with a header, and store a response of any status with
    /// `x-tyk-cache-action-set`.
    pub enable_upstream_cache_control: bool,
    /// Header in which the upstream sets the time to live in seconds; empty means `x-tyk-cache-action-set-ttl`.
    pub cache_control_ttl_header: String,
    /// Request headers that distinguish responses.
    pub cache_by_headers: Vec<String>,
}
