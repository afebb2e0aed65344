//! `tollgate` of a definition: settings that are not in Tyk.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{GraphqlRules, OAuthRules, SharedCache, UpstreamRules};
use crate::config::OnStoreFailure;

/// `tollgate`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiExtensions {
    /// Sets of authentication methods: a request must satisfy all methods of one set. Names as in `auth_configs`. Empty means all
    /// enabled methods.
    pub auth_alternatives: Vec<Vec<String>>,
    /// Responses are cached by RFC 9111.
    pub cache: Option<SharedCache>,
    /// What would be refused for these reasons passes, is counted, and is told in the response header `Tollgate-Dry-Run`.
    pub dry_run: Vec<DryRunKind>,
    /// Forward the trailers of requests, except those whose names frame, route, authenticate or are used by the API. Some servers add
    /// them to the headers of the next request on the connection, so clients could change each other's requests.
    pub forward_request_trailers: bool,
    /// Another HTTP service decides about access.
    pub forward_auth: Option<ForwardAuth>,
    /// Limits and rules of a GraphQL API.
    pub graphql: GraphqlRules,
    /// Settings of the OAuth 2.0 server that are not in Tyk.
    pub oauth: OAuthRules,
    /// What applies to limits while the store is unavailable: to those of the API, and to those of keys without a setting. If not
    /// set, the gateway's setting applies.
    pub on_store_failure: Option<OnStoreFailure>,
    /// Fields that protect and have no effect, and without which the API is served all the same.
    // They are those of `super::PROTECTIONS`.
    pub serve_without: Vec<String>,
    /// How requests are distributed to targets, and what happens when targets fail.
    pub upstream: Option<UpstreamRules>,
    /// Responses of upstreams must fit the OpenAPI document; acts only in documents.
    pub validate_responses: Option<ResponseRequirements>,
}

/// `tollgate.validate_responses`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ResponseRequirements {
    /// A response that does not fit passes, is counted, and is told in the response header `Tollgate-Dry-Run`.
    pub dry_run: bool,
    /// Status in place of a response that does not fit; 0 means 500.
    pub error_response_code: u16,
    /// A status that the document does not describe does not fit.
    pub described_statuses_only: bool,
    /// Ids of the operations whose responses are validated; empty for all.
    pub operations: Vec<String>,
}

/// A reason to refuse requests that can be tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DryRunKind {
    /// `allowed_ips` and `blacklisted_ips`.
    IpLists,
    /// Client certificates.
    Certificates,
    /// Sizes of bodies.
    RequestSize,
    /// Keys, tokens and passwords, and what they may call.
    Authentication,
    /// Bodies and parameters that do not fit a schema or the OpenAPI document.
    Validation,
    /// Open circuit breakers.
    CircuitBreakers,
}

/// `tollgate.forward_auth`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ForwardAuth {
    /// URL of the service.
    pub url: String,
    /// Send POST instead of GET.
    pub post: bool,
    /// Time limit of the service in milliseconds: 0 means 2000; at most 30000.
    pub timeout_ms: u64,
    /// Accept any certificate of the service.
    pub insecure_skip_verify: bool,
    /// Request headers that are sent to the service.
    pub request_headers: Vec<String>,
    /// Headers of the service's response that replace the client's on the way upstream.
    pub response_headers: Vec<String>,
    /// Header of the response with the identity; without it, all callers share one session.
    pub identity_header: String,
    /// Policies of the sessions; without any, they may call this API.
    pub policies: Vec<String>,
    /// Seconds that a positive response is cached; 0 means never.
    pub cache_ttl_s: u64,
}

impl ForwardAuth {
    /// Time limit of the service in milliseconds: 2000 by default, at most 30000.
    pub fn timeout_ms(&self) -> u64 {
        if self.timeout_ms == 0 { 2_000 } else { self.timeout_ms.min(30_000) }
    }
}
