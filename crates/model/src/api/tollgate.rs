//! `tollgate` of a definition: settings that are not in Tyk.

use schemars::JsonSchema;
use serde::Deserialize;

use super::request_limit;
use super::{
    ApiDefinition, AuthMethod, AuthorizationProxy, CompressionRules, ConcurrencyRules, GraphqlRules, JwtClaims, KeyRing,
    LlmGateway, McpFederation, OAuthRules, RequestLimit, RouteDefinition, SharedCache, UpstreamRules, VersionData, WafRules,
};
use crate::calendar;
use crate::config::OnStoreFailure;
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::protections;
use crate::token::target_url_fault;

/// `tollgate`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ApiExtensions {
    /// Sets of authentication methods: a request must satisfy all methods of one set. Names as in `auth_configs`. Empty means all
    /// enabled methods.
    pub auth_alternatives: Vec<Vec<String>>,
    /// Clients register at the gateway, which is the only client that the identity provider knows.
    pub authorization_proxy: Option<AuthorizationProxy>,
    /// Responses are cached by RFC 9111.
    pub cache: Option<SharedCache>,
    /// Responses are compressed for clients that accept it.
    pub compression: Option<CompressionRules>,
    /// How many requests of a client may be in progress at once.
    pub concurrency: Option<ConcurrencyRules>,
    /// Responses tell clients that the API, or a version, is deprecated.
    pub deprecation: Option<Deprecation>,
    /// What would be refused for these reasons passes, is counted, and is told in the response header `Tollgate-Dry-Run`.
    pub dry_run: Vec<DryRunKind>,
    /// Forward the trailers of requests, except those whose names frame, route, authenticate or are used by the API. Some servers add
    /// them to the headers of the next request on the connection, so clients could change each other's requests.
    pub forward_request_trailers: bool,
    /// Another HTTP service decides about access.
    pub forward_auth: Option<ForwardAuth>,
    /// Limits and rules of a GraphQL API.
    pub graphql: GraphqlRules,
    /// What claims of JSON Web Tokens must say, beyond the fields `jwt_*`.
    pub jwt: JwtClaims,
    /// Keys that are kept outside of the store, and are for APIs that name them.
    pub key_ring: Option<KeyRing>,
    /// The API is one endpoint in front of many providers of language models.
    pub llm: Option<LlmGateway>,
    /// The API is one MCP server in front of many.
    pub mcp: Option<McpFederation>,
    /// The MCP server behind refuses requests of 2026-07-28 whose head names another call than their body (`-32020`), so that rules and limits
    /// need no body. With a server that does not, clients could call what is closed to them.
    pub mcp_server_checks_heads: bool,
    /// Settings of the OAuth 2.0 server that are not in Tyk.
    pub oauth: OAuthRules,
    /// What applies to limits while the store is unavailable: to those of the API, and to those of keys without a setting. If not
    /// set, the gateway's setting applies.
    pub on_store_failure: Option<OnStoreFailure>,
    /// Where clients learn which server issues tokens for this API (RFC 9728).
    pub protected_resource: Option<ProtectedResource>,
    /// Rates for each client, address, header or claim. A request must have room in all of them.
    pub request_limits: Vec<RequestLimit>,
    /// Requests reach the API by rules about host, path, headers, query and method, in place of `proxy.listen_path` and `domain`.
    pub route: Option<RouteDefinition>,
    /// Scopes that a caller's token must have.
    pub scope_check: Option<ScopeCheck>,
    /// Fields that protect and have no effect, and without which the API is served all the same.
    // They are those of `super::PROTECTIONS`.
    pub serve_without: Vec<String>,
    /// How requests are distributed to targets, and what happens when targets fail.
    pub upstream: Option<UpstreamRules>,
    /// Users of HTTP basic and their passwords, as lines of an htpasswd file (`user:hash`). They are no keys: whoever is one may go on.
    pub user_passwords: Vec<String>,
    /// Responses of upstreams must fit the OpenAPI document; acts only in documents.
    pub validate_responses: Option<ResponseRequirements>,
    /// Requests pass the rules of a web application firewall.
    pub waf: Option<WafRules>,
}

impl ApiExtensions {
    /// Adds the problems of its members to `findings`; `validate.rs` checks those that depend on other parts of the definition.
    pub(super) fn check(&self, api: &ApiDefinition, findings: &mut Findings) {
        protections::check_names(&self.serve_without, findings);
        let users_at = JsonPath::of("tollgate.user_passwords");
        for (index, user) in self.user_passwords.iter().enumerate() {
            if user.split_once(':').is_none_or(|(name, hash)| name.is_empty() || hash.is_empty()) {
                findings.error(&users_at.index(index), "must be user:hash");
            }
        }
        if let Some(code) = self.validate_responses.as_ref().map(|rules| rules.error_response_code)
            && code != 0
            && !(400..=599).contains(&code)
        {
            findings.error(&JsonPath::of("tollgate.validate_responses.error_response_code"), "must be a status from 400 to 599");
        }
        if let Some(llm) = &self.llm {
            let answers_otherwise = self.mcp.is_some() || api.is_mcp() || api.graphql.is_executed();
            llm.check(answers_otherwise, api.is_stream(), findings);
        }
        if let Some(mcp) = &self.mcp {
            mcp.check(api.is_mcp(), findings);
            if api.is_on(AuthMethod::Jwt) && self.jwt.allowed_audiences.is_empty() && self.authorization_proxy.is_none() {
                let why = "is empty: the API takes tokens that were given for other applications";
                findings.warning(&JsonPath::of("tollgate.jwt.allowed_audiences"), why);
            }
        }
        if self.mcp_server_checks_heads && !api.is_mcp() {
            findings.error(&JsonPath::of("tollgate.mcp_server_checks_heads"), "needs application_protocol \"mcp\"");
        }
        if let Some(proxy) = &self.authorization_proxy {
            proxy.check(api, findings);
        }
        if let Some(route) = &self.route {
            route.check(api, findings);
        }
        if let Some(ring) = &self.key_ring {
            ring.check(findings);
        }
        if let Some(compression) = &self.compression {
            compression.check(findings);
        }
        if let Some(concurrency) = &self.concurrency {
            concurrency.check(findings);
        }
        if let Some(waf) = &self.waf {
            waf.check(findings);
        }
        request_limit::check(&self.request_limits, findings);
        if let Some(deprecation) = &self.deprecation {
            deprecation.check(&api.version_data, findings);
        }
    }
}

/// `tollgate.deprecation`: what clients learn from response headers. It must have `at` or `sunset`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Deprecation {
    /// Date from which the API is deprecated, such as `2026-01-01T00:00:00Z` (RFC 9745); empty if it is not.
    pub at: String,
    /// Date from which it will not respond (RFC 8594); empty if there is none.
    pub sunset: String,
    /// URL of a page about the deprecation; empty if there is none.
    pub link: String,
    /// Names of the versions that are deprecated; empty for all.
    pub versions: Vec<String>,
}

/// `tollgate.protected_resource`: the metadata of a protected resource (RFC 9728).
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProtectedResource {
    /// No metadata. A proxy for the Model Context Protocol would otherwise show what its upstream says.
    pub disabled: bool,
    /// Path below the listen path; `.well-known/oauth-protected-resource` if empty.
    pub path: String,
    /// Identifier of the resource; may have variables.
    pub resource: String,
    /// Issuers of the servers that give tokens.
    pub authorization_servers: Vec<String>,
    /// Scopes that clients may ask for.
    pub scopes_supported: Vec<String>,
    /// Whether the document says that tokens are read from the header `Authorization`.
    pub tells_bearer_methods: bool,
}

/// `tollgate.scope_check`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScopeCheck {
    /// Claims with scopes, which count together; `scope` and `scp` if empty.
    pub claim_names: Vec<String>,
    /// What is between the scopes of a text; a space if empty.
    pub separator: String,
    /// Sets of scopes, of which a token must have one, for all requests; empty for none.
    pub alternatives: Vec<Vec<String>>,
}

impl Deprecation {
    /// The last second of the year 9999, after which dates in headers have no form.
    const UNIX_S_MAX: u64 = 253_402_300_799;

    /// `at` in Unix seconds.
    pub fn at_unix_s(&self) -> Option<u64> {
        Self::unix_s(&self.at)
    }

    /// `sunset` in Unix seconds.
    pub fn sunset_unix_s(&self) -> Option<u64> {
        Self::unix_s(&self.sunset)
    }

    fn unix_s(date: &str) -> Option<u64> {
        let unix_s = u64::try_from(calendar::parse(date)?).ok()?;
        (unix_s <= Self::UNIX_S_MAX).then_some(unix_s)
    }

    pub(super) fn check(&self, versions: &VersionData, findings: &mut Findings) {
        let place = JsonPath::of("tollgate.deprecation");
        let (at, sunset) = (self.at_unix_s(), self.sunset_unix_s());
        for (field, date, unix_s) in [("at", &self.at, at), ("sunset", &self.sunset, sunset)] {
            if !date.is_empty() && unix_s.is_none() {
                findings.error(&place.key(field), "must be a date from 1970 to 9999 such as 2026-01-01T00:00:00Z");
            }
        }
        if self.at.is_empty() && self.sunset.is_empty() {
            findings.error(&place, "must have at or sunset");
        }
        // RFC 9745 §4.
        if at.zip(sunset).is_some_and(|(at, sunset)| sunset < at) {
            findings.error(&place.key("sunset"), "must not be before at");
        }
        let is_web = ["http://", "https://"].iter().any(|scheme| self.link.starts_with(scheme));
        let fits_header = self.link.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'<' | b'>' | b'"'));
        let is_usable = is_web && fits_header && target_url_fault(&self.link).is_none();
        if !self.link.is_empty() && !is_usable {
            findings.error(&place.key("link"), "must be a URL such as https://example.com/deprecated");
        }
        for (index, name) in self.versions.iter().enumerate().filter(|(_, name)| !versions.versions.contains_key(*name)) {
            findings.error(&place.key("versions").index(index), format!("{name:?} is not a version of the API"));
        }
    }
}

impl ProtectedResource {
    /// Whether it says nothing itself.
    pub(super) fn is_empty(&self) -> bool {
        self.resource.is_empty() && self.authorization_servers.is_empty()
    }

    /// Path below the listen path.
    pub fn well_known_path(&self) -> &str {
        if self.path.is_empty() { ".well-known/oauth-protected-resource" } else { &self.path }
    }
}

impl ScopeCheck {
    /// Names of the claims with scopes.
    pub fn claims(&self) -> Vec<&str> {
        if self.claim_names.is_empty() { vec!["scope", "scp"] } else { self.claim_names.iter().map(String::as_str).collect() }
    }

    /// What is between the scopes of a text.
    pub fn separator(&self) -> &str {
        if self.separator.is_empty() { " " } else { &self.separator }
    }
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
    /// Request headers that are sent to the service; `*` for all.
    pub request_headers: Vec<String>,
    /// Where clients are sent (302) that the service answers with 401; empty to send them its answer. Names in it are those of
    /// `route.rules.redirect.location`, with `{escaped_uri}` and `{escaped_url}`, escaped: path and query, and
    /// the whole URL.
    pub signin_url: String,
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
