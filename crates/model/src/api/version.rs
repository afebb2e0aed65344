//! What the versions of an API do.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::endpoint::{
    AccessEntry, BodyFilter, BodySchema, BodyTemplate, CachedEndpoint, CircuitBreaker, EndpointMark, EndpointRateLimit,
    HardTimeout, HeaderTransform, MethodTransform, MockResponse, OperationMock, OperationScopes, PersistedOperation,
    RequestValidation, SizeLimit, VirtualEndpoint,
};
use super::rewrite::UrlRewrite;
use crate::number::{seconds, seconds_schema};

/// `version_data`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VersionData {
    /// The API has one version and requests name none.
    pub not_versioned: bool,
    /// The version of requests that name none.
    pub default_version: String,
    /// The versions by name, sorted.
    pub versions: BTreeMap<String, VersionInfo>,
}

impl VersionData {
    /// The version of an API without versions: the only one whatever its name, otherwise the one called `Default`, `default` or
    /// nothing. `None` if that is ambiguous: such an API rejects every request.
    pub fn unversioned(&self) -> Option<&VersionInfo> {
        let mut all = self.versions.values();
        match (all.next(), all.next()) {
            (Some(only), None) => Some(only),
            _ => ["Default", "default", ""].iter().find_map(|name| self.versions.get(*name)),
        }
    }
}

/// One version.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VersionInfo {
    /// The version's name; the key in `versions` is what requests name.
    pub name: String,
    /// When the version expires, UTC, `2006-01-02 15:04`.
    pub expires: String,
    /// Use `extended_paths`; otherwise the older `paths`.
    pub use_extended_paths: bool,
    /// Lists of bare paths, used without `use_extended_paths`.
    pub paths: LegacyPaths,
    /// What to do on which endpoint.
    pub extended_paths: ExtendedPaths,
    /// Headers set on every request.
    pub global_headers: BTreeMap<String, String>,
    /// Headers removed from every request.
    pub global_headers_remove: Vec<String>,
    /// Disables both.
    pub global_headers_disabled: bool,
    /// Headers set on every response.
    pub global_response_headers: BTreeMap<String, String>,
    /// Headers removed from every response.
    pub global_response_headers_remove: Vec<String>,
    /// Disables both.
    pub global_response_headers_disabled: bool,
    /// Endpoint paths ignore letter case.
    pub ignore_endpoint_case: bool,
    /// Maximum bytes of a request body; no limit if 0 or less.
    pub global_size_limit: i64,
    /// Disables `global_size_limit`.
    pub global_size_limit_disabled: bool,
    /// Seconds for the upstream's response; 0 means no limit. Tyk writes it as `30s`.
    #[serde(deserialize_with = "seconds")]
    #[schemars(schema_with = "seconds_schema")]
    pub global_enforce_timeout: f64,
    /// Disables `global_enforce_timeout`.
    pub global_enforce_timeout_disabled: bool,
    /// Overrides `proxy.target_url` if not empty.
    pub override_target: String,
}

/// `paths`: the older form, used without `use_extended_paths`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LegacyPaths {
    /// Paths open to everyone.
    pub ignored: Vec<String>,
    /// If it has entries, only these paths are open.
    pub white_list: Vec<String>,
    /// Paths that are blocked.
    pub black_list: Vec<String>,
}

/// `extended_paths`. Lists of `Value` have no effect; they are reported if they have entries.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExtendedPaths {
    /// Endpoints open to everyone: no authentication, no limits.
    pub ignored: Vec<AccessEntry>,
    /// If it has entries, only these endpoints are open.
    pub white_list: Vec<AccessEntry>,
    /// Blocked endpoints.
    pub black_list: Vec<AccessEntry>,
    /// Responses that the gateway generates.
    pub mock_response: Vec<MockResponse>,
    /// Time limits of upstream responses.
    pub hard_timeouts: Vec<HardTimeout>,
    /// Maximum sizes of request bodies.
    pub size_limits: Vec<SizeLimit>,
    /// Methods to send upstream instead.
    pub method_transforms: Vec<MethodTransform>,
    /// URLs to send upstream instead.
    pub url_rewrites: Vec<UrlRewrite>,
    /// Header changes on requests.
    pub transform_headers: Vec<HeaderTransform>,
    /// Header changes on responses.
    pub transform_response_headers: Vec<HeaderTransform>,
    /// Circuit breakers.
    pub circuit_breakers: Vec<CircuitBreaker>,
    /// Endpoints that only other APIs may call.
    pub internal: Vec<EndpointMark>,
    /// Endpoints without analytics.
    pub do_not_track_endpoints: Vec<EndpointMark>,
    /// If it has entries, only these endpoints have analytics.
    pub track_endpoints: Vec<EndpointMark>,
    /// Limits for all callers together.
    pub rate_limit: Vec<EndpointRateLimit>,
    /// Schemas that request bodies must match.
    pub validate_json: Vec<BodySchema>,
    /// Templates that replace request bodies.
    pub transform: Vec<BodyTemplate>,
    /// Templates that replace response bodies.
    pub transform_response: Vec<BodyTemplate>,
    /// Other bodies for requests, by a jq filter.
    pub transform_jq: Vec<BodyFilter>,
    /// Other bodies for responses, by a jq filter, if `response_processors` names `response_body_transform_jq`.
    pub transform_jq_response: Vec<BodyFilter>,

    /// Paths whose responses to GET, HEAD and OPTIONS are cached, if `cache_options.enable_cache` is set.
    pub cache: Vec<String>,
    /// Endpoints whose responses are cached, if `cache_options.enable_cache` is set.
    pub advance_cache_config: Vec<CachedEndpoint>,

    /// Operations whose requests must fit the OpenAPI document that defines the API; only such documents write it. Not in Tyk.
    pub operation_validations: Vec<RequestValidation>,
    /// Operations that the gateway answers after authentication and limits; only OpenAPI documents write it. Not in Tyk.
    pub operation_mocks: Vec<OperationMock>,
    /// Scopes that callers of operations need, if `tollgate.scope_check` is set; only OpenAPI documents write it. Not in Tyk.
    pub operation_scopes: Vec<OperationScopes>,

    /// Responses of a script, if the configuration sets `enable_jsvm`.
    #[serde(rename = "virtual")]
    pub virtual_endpoints: Vec<VirtualEndpoint>,
    /// Validation of requests by an OpenAPI document.
    pub validate_request: Vec<Value>,
    /// Plugins for single endpoints.
    pub go_plugin: Vec<Value>,
    /// Endpoints that each stand for one GraphQL operation.
    pub persist_graphql: Vec<PersistedOperation>,
}

impl ExtendedPaths {
    /// The lists without effect that protect something, with their Tyk names.
    pub(crate) fn missing(&self) -> [(&'static str, &[Value]); 2] {
        [("validate_request", &self.validate_request), ("go_plugin", &self.go_plugin)]
    }
}
