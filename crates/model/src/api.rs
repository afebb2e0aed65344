//! An API definition in Tyk's classic format: the content of one file of `app_path`. Fields with an effect are typed; all others
//! are reported when the definition is read, and stay available in [`ApiDefinition::raw`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::config::OnStoreFailure;
use crate::decode::{Decoded, decode};
use crate::error_override::ErrorOverrides;
use crate::events::EventHandlers;
use crate::json_document;
use crate::known_field;
use crate::number::whole;
use crate::openapi::openapi_problem;
use crate::problem::{Findings, Level, Problem};
use crate::reference::{SecretLookup, resolve_references};
use crate::word_choice::may_be_any_word;
use crate::zero_values::DocumentKind;

mod auth;
mod authorization_proxy;
mod cache;
mod compression;
mod concurrency;
mod cors;
mod endpoint;
mod graphql;
mod jwt;
mod key_ring;
pub(crate) mod known;
mod llm;
mod llm_cache;
mod llm_guard;
mod mcp;
mod method;
mod oauth;
mod plugin;
mod protection;
mod proxy;
mod request_limit;
mod request_signing;
mod response_processor;
mod rewrite;
pub(crate) mod route;
mod service_url;
mod tollgate;
pub(crate) mod upstream;
mod upstream_auth;
mod uptime;
mod validate;
mod version;
mod waf;

pub use crate::protections::PROTECTIONS;
pub use auth::{
    AuthConfig, BasicAuth, ExternalOAuth, ExternalProvider, Introspection, IntrospectionCache, OpenIdOptions, OpenIdProvider,
    SignatureAlgorithm, SignatureConfig,
};
pub use authorization_proxy::AuthorizationProxy;
pub use cache::{CacheOptions, SharedCache};
pub use compression::{CompressionEncoding, CompressionRules};
pub use concurrency::ConcurrencyRules;
pub use cors::Cors;
pub use endpoint::{
    AccessEntry, Action, BodyFilter, BodySchema, BodyTemplate, CachedEndpoint, CircuitBreaker, EndpointEntry, EndpointMark,
    EndpointRateLimit, ExampleSelection, FunctionSource, HardTimeout, HeaderTransform, MethodAction, MethodTransform, MockResponse,
    OperationMock, OperationScopes, PersistedOperation, RequestValidation, SizeLimit, TemplateData, VirtualEndpoint,
};
pub use graphql::{
    GraphqlDataSource, GraphqlDefinition, GraphqlEngine, GraphqlFeatures, GraphqlFieldConfig, GraphqlFieldSource,
    GraphqlFieldSourceConfig, GraphqlHeader, GraphqlIntrospection, GraphqlKafkaSasl, GraphqlMapping, GraphqlMode,
    GraphqlPlayground, GraphqlProxy, GraphqlQueryParameter, GraphqlResponseExtensions, GraphqlRules, GraphqlSourceConfig,
    GraphqlSourceKind, GraphqlStatuses, GraphqlSubgraph, GraphqlSubgraphEntry, GraphqlSubscriptionKind, GraphqlSupergraph,
    GraphqlTypeField, GraphqlTypeFields, HeaderRewrite,
};
pub use jwt::{ClaimRule, ClaimRuleKind, JwksUri, JwtClaims, ScopeClaim, Scopes, claim_path};
pub use key_ring::KeyRing;
pub use llm::{LlmGateway, LlmModel, LlmPreference, LlmPrice, LlmProvider, LlmProviderKind, LlmSlow, LlmTarget};
pub use llm_cache::{CacheTenant, LlmCache, LlmEmbeddings, LlmSemanticCache};
pub use llm_guard::{GuardAction, GuardKind, GuardSide, LlmGuard, ModerationApi, OnGuardFailure};
pub use mcp::{McpFederation, McpServer, McpTool};
pub use method::AuthMethod;
pub use oauth::{Notifications, OAuthMeta, OAuthRules, PkceMethod};
pub use plugin::{
    AnalyticsPlugin, CustomMiddleware, ExtractorConfig, IdExtractor, PluginEntry, RecordPluginEntry, SUPPORTED_DRIVERS,
};
pub use protection::MissingProtection;
pub use proxy::{Proxy, Transport};
pub use request_limit::{LimitedBy, RequestLimit};
pub use request_signing::RequestSigning;
pub use response_processor::{InjectedHeaders, ProcessorAction, ResponseProcessor, ReverseHeaderOptions};
pub use rewrite::{TextMatch, Trigger, TriggerMode, TriggerOptions, UrlRewrite};
pub use route::{
    BackendEndpoint, HeaderModifier, NamedValue, PassedRequest, PathMatch, PathReplacement, PathRewrite, ResponseRewrites,
    RouteAnswer, RouteAttachment, RouteBackend, RouteCors, RouteDefinition, RouteKind, RouteMatch, RouteMirror, RouteRedirect,
    RouteRetries, RouteRewrite, RouteRule, RouteSticky, RouteTimeouts, SameSite, StartReplacement, StatusHeaders, ValueMatch,
};
pub use tollgate::{ApiExtensions, Deprecation, DryRunKind, ForwardAuth, ProtectedResource, ResponseRequirements, ScopeCheck};
pub use upstream::{
    ActiveChecks, BalanceRule, HashRule, HashedPart, HedgeRule, MirrorRule, PassiveHealth, RequestValue, RetryCause, RetryRules,
    SplitPart, SrvRule, StickyCookie, UpstreamRules, WeightedTarget,
};
pub use upstream_auth::{
    CredentialHeader, UpstreamAuth, UpstreamBasicAuth, UpstreamClientCredentials, UpstreamGrant, UpstreamOAuth,
};
pub use uptime::{CheckCommand, CheckProtocol, ServiceDiscovery, UptimeCheck, UptimeRetention, UptimeTests};
pub use version::{ExtendedPaths, LegacyPaths, VersionData, VersionInfo};
pub use waf::{WafExclusion, WafLargerBodies, WafMode, WafRules};

/// What `application_protocol` says of a proxy for the Model Context Protocol.
const MCP: &str = "mcp";

/// The version of JSON-RPC that the protocol uses.
const JSON_RPC_VERSION: &str = "2.0";

/// One API as its author wrote it. Every field has Tyk's zero as default; the names are Tyk's.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["proxy"]))]
pub struct ApiDefinition {
    /// The document exactly as written, references to secrets unresolved.
    #[serde(skip)]
    pub raw: Value,

    /// A name for people.
    pub name: String,
    /// The API's name for URLs; cosmetic.
    pub slug: String,
    /// The name that keys refer to in `access_rights`. Without one no key can match.
    pub api_id: String,
    /// The organisation that owns the API.
    pub org_id: String,
    /// The id in the database that the document came from; cosmetic.
    pub id: String,
    /// Ignored: a definition without it is served, as in Tyk. `None` if missing.
    pub active: Option<bool>,
    /// Whether only other APIs can reach it, through `tyk://`.
    pub internal: bool,
    /// Shards this API belongs to.
    pub tags: Vec<String>,
    /// Disables `tags`.
    pub tags_disabled: bool,

    /// Disables authentication and key limits.
    pub use_keyless: bool,
    /// Authentication by key, in addition to other enabled methods; the default if none is enabled.
    pub use_standard_auth: bool,
    /// Where to look for the key, if `auth_configs.authToken` is missing.
    pub auth: AuthConfig,
    /// Where each method looks for its credentials: `authToken`, `jwt`, `basic`, `hmac`, `oauth` and so on.
    pub auth_configs: BTreeMap<String, AuthConfig>,
    /// Remove the credentials before the request goes upstream.
    pub strip_auth_data: bool,
    /// Authentication by JSON Web Token.
    pub enable_jwt: bool,
    /// How tokens are signed: `hmac` (the default), `rsa`, `ecdsa` or `eddsa` (not in Tyk).
    pub jwt_signing_method: String,
    /// The key that verifies signatures, in Base64: a secret, a public key or certificate in PEM, or the URL of a key set; a URL
    /// may also be written plainly. If empty, each key has its own in `jwt_data`.
    pub jwt_source: String,
    /// Key sets of several issuers, instead of `jwt_source`.
    pub jwt_jwks_uris: Vec<JwksUri>,
    /// The claim with the identity; takes precedence over `sub`.
    pub jwt_identity_base_field: String,
    /// The claim that names a key whose policy applies.
    pub jwt_client_base_field: String,
    /// The claim that names the policy.
    pub jwt_policy_field_name: String,
    /// Policies for tokens that name no policy.
    pub jwt_default_policies: Vec<String>,
    /// Allowed clock difference in seconds.
    #[serde(deserialize_with = "whole")]
    pub jwt_issued_at_validation_skew: i64,
    /// Like `jwt_issued_at_validation_skew`.
    #[serde(deserialize_with = "whole")]
    pub jwt_expires_at_validation_skew: i64,
    /// Like `jwt_issued_at_validation_skew`.
    #[serde(deserialize_with = "whole")]
    pub jwt_not_before_validation_skew: i64,
    /// Ignore `iat`.
    pub jwt_disable_issued_at_validation: bool,
    /// Ignore `exp`.
    pub jwt_disable_expires_at_validation: bool,
    /// Ignore `nbf`.
    pub jwt_disable_not_before_validation: bool,
    /// Without `jwt_source`: a claim names the key even if the token has a `kid`.
    pub jwt_skip_kid: bool,
    /// Older form of `scopes.jwt.scope_to_policy`.
    pub jwt_scope_to_policy_mapping: BTreeMap<String, String>,
    /// Older form of `scopes.jwt.scope_claim_name`.
    pub jwt_scope_claim_name: String,
    /// The policies of a token's scopes.
    pub scopes: Scopes,
    /// Authentication by OAuth 2.0, with the gateway as server.
    pub use_oauth2: bool,
    /// What the clients of this OAuth 2.0 server may request.
    pub oauth_meta: OAuthMeta,
    /// The notification of new tokens.
    pub notifications: Notifications,
    /// Authentication by tokens of another OAuth 2.0 server, which are introspected.
    pub external_oauth: ExternalOAuth,
    /// Authentication by OpenID Connect.
    pub use_openid: bool,
    /// The OpenID providers.
    pub openid_options: OpenIdOptions,
    /// Authentication by HTTP basic.
    pub use_basic_auth: bool,
    /// Settings of HTTP basic.
    pub basic_auth: BasicAuth,
    /// Authentication by requests signed with a shared secret.
    pub enable_signature_checking: bool,
    /// Allowed signature algorithms; empty means all.
    pub hmac_allowed_algorithms: Vec<String>,
    /// Allowed difference of a signed date in milliseconds; unlimited if 0 or less.
    pub hmac_allowed_clock_skew: f64,
    /// Authentication by client certificate: those of `client_certificates`.
    pub use_mutual_tls_auth: bool,
    /// Authentication by the plugin `custom_middleware.auth_check`.
    pub enable_coprocess_auth: bool,
    /// Authentication by a Go plugin, not supported: every request is rejected.
    pub use_go_plugin_auth: bool,
    /// Same as `enable_coprocess_auth`.
    pub custom_plugin_auth_enabled: bool,

    /// If several methods are enabled, the one that provides the session: `auth_token` and others.
    pub base_identity_provided_by: String,
    /// Seconds that sessions of keys for this API are kept; forever if 0 or less.
    #[serde(deserialize_with = "whole")]
    pub session_lifetime: i64,
    /// Whether no session ends before its key expires.
    pub session_lifetime_respects_key_expiration: bool,
    /// Whether creating a key does not start its quota.
    pub dont_set_quota_on_create: bool,

    /// How a request selects a version.
    pub definition: VersionSelector,
    /// What each version does.
    pub version_data: VersionData,
    /// Where requests arrive and where they are forwarded to.
    pub proxy: Proxy,

    /// Disables analytics for this API.
    pub do_not_track: bool,
    /// Record whole requests and responses.
    pub enable_detailed_recording: bool,
    /// Whether traces of this API have a span for each middleware.
    pub detailed_tracing: bool,
    /// Seconds after which analytics records of this API expire; 0 means never.
    #[serde(deserialize_with = "whole")]
    pub expire_analytics_after: i64,
    /// Request headers whose values become tags of analytics records.
    pub tag_headers: Vec<String>,
    /// Disables key rate limits on this API.
    pub disable_rate_limit: bool,
    /// Disables key quotas on this API.
    pub disable_quota: bool,
    /// Limit for all callers together.
    pub global_rate_limit: GlobalRateLimit,
    /// Enable `$tyk_context.*` in header values and rewrites.
    pub enable_context_vars: bool,
    /// The response cache.
    pub cache_options: CacheOptions,
    /// Cross-origin resource sharing.
    #[serde(rename = "CORS")]
    pub cors: Cors,

    /// Without effect, unless `ip_access_control_disabled` is set: `allowed_ips` applies whenever it has entries.
    pub enable_ip_whitelisting: bool,
    /// Addresses or CIDR ranges that are allowed.
    pub allowed_ips: Vec<String>,
    /// Decorative, like `enable_ip_whitelisting`.
    pub enable_ip_blacklisting: bool,
    /// Addresses or CIDR ranges that are blocked.
    pub blacklisted_ips: Vec<String>,
    /// Disables lists whose `enable_*` is not set.
    pub ip_access_control_disabled: bool,

    /// The host of this API, if the gateway has `enable_custom_domains`.
    pub domain: String,
    /// Disables `domain`.
    pub domain_disabled: bool,
    /// When the API expires, UTC, `2006-01-02 15:04`.
    pub expiration: String,
    /// Protocol of the port: empty or the gateway's own, `http`, `https` or `h2c`; or `tcp` or `tls`, whose bytes are forwarded unchanged.
    pub protocol: String,
    /// Port of a separate listener; 0 means the gateway's.
    pub listen_port: u16,
    /// Signatures for the upstream.
    pub request_signing: RequestSigning,
    /// With `tcp` and `tls`: connections begin with a PROXY header.
    pub enable_proxy_protocol: bool,
    /// `mcp` for the Model Context Protocol; other values have no effect.
    pub application_protocol: String,
    /// Version of JSON-RPC that an API of the Model Context Protocol speaks: `2.0`, which is also the default.
    pub json_rpc_version: String,
    /// Hooks of plugins. With an unsupported driver, the API is served only when `tollgate.serve_without` names the field.
    pub custom_middleware: CustomMiddleware,
    /// A bundle of plugins, whose `custom_middleware` replaces that of the definition: its name, or several names, comma separated.
    pub custom_middleware_bundle: String,
    /// Disables `custom_middleware_bundle`.
    pub custom_middleware_bundle_disabled: bool,
    /// A plugin that changes analytics records.
    pub analytics_plugin: AnalyticsPlugin,
    /// Any JSON object, for plugins.
    pub config_data: Value,
    /// Disables `config_data`.
    pub config_data_disabled: bool,
    /// GraphQL. With an engine of queries, the API is served only when `tollgate.serve_without` names the field.
    pub graphql: GraphqlDefinition,
    /// Response processors, by name.
    pub response_processors: Vec<ResponseProcessor>,
    /// Other responses in place of errors, by status.
    pub error_overrides: ErrorOverrides,
    /// Disables `error_overrides`; those of the configuration apply.
    pub error_overrides_disabled: bool,
    /// `POST {listen_path}/tyk/batch/` sends several requests to this API.
    pub enable_batch_request_support: bool,
    /// Server certificates, as identifiers or file names; each is used for the hosts in it.
    pub certificates: Vec<String>,
    /// Accepted client certificates, or authorities that issued them, as identifiers or file names.
    pub client_certificates: Vec<String>,

    /// The gateway's own credentials for the upstream.
    pub upstream_auth: UpstreamAuth,
    /// Checks of the targets.
    pub uptime_tests: UptimeTests,
    /// What happens after events of this API.
    pub event_handlers: EventHandlers,
    /// Settings that are not in Tyk.
    pub tollgate: ApiExtensions,
    /// Client certificates for upstreams, by host, `*.domain` or `*`.
    pub upstream_certificates: BTreeMap<String, String>,
    /// Disables `upstream_certificates`.
    pub upstream_certificates_disabled: bool,
    /// Public keys of upstreams by host, `*.domain` or `*`: SHA-256 fingerprints, comma separated.
    pub pinned_public_keys: BTreeMap<String, String>,
    /// Disables `pinned_public_keys`.
    pub certificate_pinning_disabled: bool,
}

/// `definition`: how a request selects a version.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct VersionSelector {
    /// Where to look.
    pub location: VersionLocation,
    /// The header or query parameter with the version.
    pub key: String,
    /// The version of requests that name none (new style: a name in `versions`, or `self`).
    pub default: String,
    /// Older name of `strip_versioning_data`.
    pub strip_path: bool,
    /// Remove the version before the request goes upstream.
    pub strip_versioning_data: bool,
    /// Regular expression for the version in a path; empty means the first segment.
    pub url_versioning_pattern: String,
    /// Serve the default version if a request names an unknown one.
    pub fallback_to_default: bool,
    /// New style: each version is a separate API.
    pub enabled: bool,
    /// New style: the name of the version that this API is.
    pub name: String,
    /// New style: version name to API id.
    pub versions: BTreeMap<String, String>,
    /// New style: the API that the versions belong to.
    pub base_id: String,
}

/// Where a request carries its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = may_be_any_word)]
pub enum VersionLocation {
    /// A header.
    Header,
    /// A query parameter.
    UrlParam,
    /// The path.
    Url,
    /// Nowhere, or an unknown word; valid for an API without versions.
    #[default]
    #[serde(other)]
    Unset,
}

/// A limit for all callers of an API.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GlobalRateLimit {
    /// Disables the limit.
    pub disabled: bool,
    /// Requests; 0 means no limit.
    pub rate: f64,
    /// Seconds; 0 means no limit.
    pub per: f64,
    /// Count and report, but reject nobody. Not in Tyk.
    pub dry_run: bool,
    /// What applies while the store does not answer; overrides the API's setting. Not in Tyk.
    pub on_store_failure: Option<OnStoreFailure>,
}

impl ApiDefinition {
    /// `transform_jq_response` acts, as its response processor is listed.
    pub fn filters_responses(&self) -> bool {
        self.response_processors.iter().any(|processor| processor.name == "response_body_transform_jq")
    }

    /// Reads a definition without references to secrets: any reference is an error.
    ///
    /// The result is the definition with its warnings and ignored fields, or all its problems.
    pub fn parse(text: &[u8], file: Option<&Path>) -> Result<(ApiDefinition, Vec<Problem>), Vec<Problem>> {
        ApiDefinition::parse_with(text, file, &|_, _| Err("has no value".to_owned()))
    }

    /// Reads a definition and resolves its references to secrets; see [`resolve_references`].
    pub fn parse_with(
        text: &[u8],
        file: Option<&Path>,
        lookup: &SecretLookup<'_>,
    ) -> Result<(ApiDefinition, Vec<Problem>), Vec<Problem>> {
        match json_document::from_slice(text) {
            Ok(raw) => ApiDefinition::from_value(raw, file, lookup),
            Err(error) => {
                let problem = Problem::new(Level::Error, "", format!("not valid JSON: {error}"));
                Err(vec![problem.within(file)])
            }
        }
    }

    /// The same for a parsed JSON document.
    pub fn from_value(
        raw: Value,
        file: Option<&Path>,
        lookup: &SecretLookup<'_>,
    ) -> Result<(ApiDefinition, Vec<Problem>), Vec<Problem>> {
        let mut findings = Findings::default();
        let mut document = raw.clone();
        findings.extend(resolve_references(&mut document, lookup));
        if let Some(problem) = openapi_problem(&document) {
            findings.extend([problem]);
            return findings.within(file).conclude(None);
        }
        let decoded: Decoded<ApiDefinition> = decode(&document);
        findings.decoded(&decoded);
        known_field::judge(&decoded.unknown, known::FIELDS, &mut findings);
        let definition = decoded.value.map(|mut definition| {
            validate::check(&definition, &mut findings);
            definition.raw = raw;
            definition
        });
        findings.within(file).conclude(definition)
    }

    /// A definition as the control API shows it, including missing fields.
    pub fn shown(raw: &Value) -> Value {
        DocumentKind::Api.with_zeros(raw)
    }

    /// Where to look for the key: `auth_configs.authToken`, otherwise `auth`.
    pub fn auth_token(&self) -> &AuthConfig {
        self.auth_configs.get("authToken").unwrap_or(&self.auth)
    }

    /// The rules for cross-origin requests, `None` if they are disabled.
    pub fn cors(&self) -> Option<&Cors> {
        self.cors.enable.then_some(&self.cors)
    }

    /// The limit for all callers as requests and seconds, `None` if there is none.
    pub fn rate_limit(&self) -> Option<(f64, f64)> {
        let GlobalRateLimit { disabled, rate, per, .. } = self.global_rate_limit;
        (!disabled && rate > 0.0 && per > 0.0).then_some((rate, per))
    }

    /// Whether the API is a proxy for the Model Context Protocol.
    pub fn is_mcp(&self) -> bool {
        self.application_protocol == MCP
    }

    /// Whether its requests are calls of JSON-RPC, which are read.
    pub fn has_calls(&self) -> bool {
        self.is_mcp() && matches!(self.json_rpc_version.as_str(), "" | "2.0")
    }

    /// The metadata of the API as a protected resource, if the definition says what it is.
    pub fn own_metadata(&self) -> Option<&ProtectedResource> {
        let metadata = self.tollgate.protected_resource.as_ref().filter(|metadata| !metadata.disabled)?;
        (!self.is_mcp() || !metadata.is_empty()).then_some(metadata)
    }

    /// Where clients of a proxy for the Model Context Protocol find what its upstream says of itself, if the definition says nothing, or what the
    /// gateway says in place of an identity provider.
    pub fn mirrored_metadata(&self) -> Option<Cow<'_, ProtectedResource>> {
        match &self.tollgate.protected_resource {
            _ if self.is_mcp() && self.tollgate.authorization_proxy.is_some() => Some(Cow::Owned(ProtectedResource::default())),
            // A federation has no upstream that could say something.
            _ if !self.is_mcp() || self.tollgate.mcp.is_some() => None,
            None => Some(Cow::Owned(ProtectedResource::default())),
            Some(metadata) => Some(Cow::Borrowed(metadata)).filter(|_| !metadata.disabled && metadata.is_empty()),
        }
    }

    /// Whether the API forwards bytes that nothing inspects.
    pub fn is_stream(&self) -> bool {
        let is_route = self.tollgate.route.as_ref().is_some_and(|route| route.kind == RouteKind::Stream);
        is_route || matches!(self.protocol.as_str(), "tcp" | "tls")
    }

    /// The scheme of targets that have none.
    pub fn target_scheme(&self) -> &'static str {
        if self.is_stream() { "tcp" } else { "http" }
    }

    /// The host of this API, `None` for any.
    pub fn host(&self) -> Option<&str> {
        (!self.domain_disabled && !self.domain.is_empty()).then_some(self.domain.as_str())
    }

    /// The effective entries of `allowed_ips`; empty means that everyone is allowed.
    pub fn ip_allow_list(&self) -> &[String] {
        let applies = self.enable_ip_whitelisting || !self.ip_access_control_disabled;
        if applies { &self.allowed_ips } else { &[] }
    }

    /// The effective entries of `blacklisted_ips`.
    pub fn ip_block_list(&self) -> &[String] {
        let applies = self.enable_ip_blacklisting || !self.ip_access_control_disabled;
        if applies { &self.blacklisted_ips } else { &[] }
    }

    /// The authentication methods that this API requires and Tollgate does not support, by their names for people. Such an API must
    /// reject every request. Empty for a keyless API.
    pub fn unsupported_auth(&self) -> Vec<&'static str> {
        if self.use_keyless {
            return Vec::new();
        }
        self.unsupported_auth_fields().map(|(_, method)| method).collect()
    }

    /// Tyk field and name of each required, unsupported method.
    fn unsupported_auth_fields(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        // As in Tyk, a disabled hook is no method.
        let plugins = &self.custom_middleware;
        let lacks_driver = !self.has_bundle() && plugins.has_auth_check() && !plugins.has_known_driver();
        [
            (
                self.external_oauth.enabled && self.introspection().is_none(),
                "external_oauth",
                "external OAuth without introspection",
            ),
            (self.enable_coprocess_auth && lacks_driver, "enable_coprocess_auth", "coprocess plugin"),
            (self.use_go_plugin_auth, "use_go_plugin_auth", "Go plugin"),
            (self.custom_plugin_auth_enabled && lacks_driver, "custom_plugin_auth_enabled", "custom plugin"),
        ]
        .into_iter()
        .filter_map(|(asked, field, method)| asked.then_some((field, method)))
    }
}

impl VersionSelector {
    /// Whether the version is removed before the request goes upstream.
    pub fn strips_version(&self) -> bool {
        self.strip_versioning_data || self.strip_path
    }
}

#[cfg(test)]
mod tests;
