//! The response cache of an API.

use schemars::JsonSchema;
use serde::Deserialize;

/// `cache_options`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CacheOptions {
    /// Responses are cached; otherwise nothing else here and in the lists of endpoints has an effect.
    pub enable_cache: bool,
    /// Seconds that a response is stored; with 0 or less it is not stored.
    pub cache_timeout: i64,
    /// Every GET, HEAD and OPTIONS is cached, not only those of `extended_paths.cache` and `advance_cache_config`.
    pub cache_all_safe_requests: bool,
    /// Status codes that are stored; empty for all of them, errors included.
    pub cache_response_codes: Vec<u16>,
    /// The upstream may set the time with a header, and have a response of any status stored with `x-tyk-cache-action-set`.
    pub enable_upstream_cache_control: bool,
    /// The header in which the upstream sets the seconds; empty for `x-tyk-cache-action-set-ttl`.
    pub cache_control_ttl_header: String,
    /// Request headers that distinguish responses.
    pub cache_by_headers: Vec<String>,
}
