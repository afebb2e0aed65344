//! The response cache of an API, by Tyk's rules or by RFC 9111.

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

/// `tollgate.cache`: a shared cache by RFC 9111. An API has one if the object is there; the responses of its upstreams decide what is stored.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SharedCache {
    /// MiB of the gateway's cache that this API has for itself; 0 to share them with other APIs.
    pub memory_mib: u64,
    /// Each caller has responses of its own.
    pub by_caller: bool,
    /// Request headers that distinguish responses beside those in `Vary`.
    pub by_headers: Vec<String>,
    /// `Cache-Control` and `Pragma` of requests have no effect: clients cannot bypass the cache.
    pub ignore_request_directives: bool,
    /// Milliseconds that a request waits for the response to another request that may serve both; 0 not to wait, at most 60000.
    pub wait_ms_max: u64,
    /// Milliseconds that requests do not wait for each other after a response that could not be stored; at most 3600000.
    pub hit_for_miss_ms: u64,
}

impl SharedCache {
    /// The largest `wait_ms_max`.
    pub const WAIT_MS_MAX: u64 = 60_000;
    /// The largest `hit_for_miss_ms`.
    pub const HIT_FOR_MISS_MS_MAX: u64 = 3_600_000;
}

impl Default for SharedCache {
    fn default() -> SharedCache {
        SharedCache {
            memory_mib: 0,
            by_caller: false,
            by_headers: Vec::new(),
            ignore_request_directives: false,
            wait_ms_max: 5_000,
            hit_for_miss_ms: 10_000,
        }
    }
}
