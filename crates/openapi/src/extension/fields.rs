//! The fields of `x-tyk-api-gateway` and their counterparts in classic definitions, as one table that is read in both directions. What needs
//! more than a row is in the neighbouring files.

use super::form::Form::{self, JoinedMap, Map, Not, Same, Seconds, Tls};

/// One field: its place in the extension, its place in a classic definition, how its value is written. A classic place that begins with
/// `version.` is in the API's only version.
pub(crate) struct Field(pub(crate) &'static str, pub(crate) &'static str, pub(crate) Form);

pub(crate) const FIELDS: &[Field] = &[
    Field("info.id", "api_id", Same),
    Field("info.dbId", "id", Same),
    Field("info.orgId", "org_id", Same),
    Field("info.name", "name", Same),
    Field("info.expiration", "expiration", Same),
    Field("info.state.active", "active", Same),
    Field("info.state.internal", "internal", Same),
    Field("info.versioning.enabled", "definition.enabled", Same),
    Field("info.versioning.name", "definition.name", Same),
    Field("info.versioning.default", "definition.default", Same),
    Field("info.versioning.location", "definition.location", Same),
    Field("info.versioning.key", "definition.key", Same),
    Field("info.versioning.versions", "definition.versions", Map("name", "id")),
    Field("info.versioning.stripVersioningData", "definition.strip_versioning_data", Same),
    Field("info.versioning.urlVersioningPattern", "definition.url_versioning_pattern", Same),
    Field("info.versioning.fallbackToDefault", "definition.fallback_to_default", Same),
    Field("upstream.url", "proxy.target_url", Same),
    Field("upstream.mutualTLS.enabled", "upstream_certificates_disabled", Not),
    Field("upstream.mutualTLS.domainToCertificateMapping", "upstream_certificates", Map("domain", "certificate")),
    Field("upstream.certificatePinning.enabled", "certificate_pinning_disabled", Not),
    Field("upstream.certificatePinning.domainToPublicKeysMapping", "pinned_public_keys", JoinedMap("domain", "publicKeys")),
    Field("upstream.rateLimit.enabled", "global_rate_limit.disabled", Not),
    Field("upstream.rateLimit.rate", "global_rate_limit.rate", Same),
    Field("upstream.rateLimit.per", "global_rate_limit.per", Seconds),
    Field("upstream.preserveHostHeader.enabled", "proxy.preserve_host_header", Same),
    Field("upstream.preserveTrailingSlash.enabled", "proxy.disable_strip_slash", Same),
    Field("upstream.tlsTransport.insecureSkipVerify", "proxy.transport.ssl_insecure_skip_verify", Same),
    Field("upstream.tlsTransport.ciphers", "proxy.transport.ssl_ciphers", Same),
    Field("upstream.tlsTransport.minVersion", "proxy.transport.ssl_min_version", Tls),
    Field("upstream.tlsTransport.maxVersion", "proxy.transport.ssl_max_version", Tls),
    Field("upstream.tlsTransport.forceCommonNameCheck", "proxy.transport.ssl_force_common_name_check", Same),
    // The URL alone decides, as in Tyk.
    Field("upstream.proxy.url", "proxy.transport.proxy_url", Same),
    Field("upstream.enforceTimeout.enabled", "version.global_enforce_timeout_disabled", Not),
    Field("upstream.enforceTimeout.duration", "version.global_enforce_timeout", Same),
    Field("upstream.loadBalancing.enabled", "proxy.enable_load_balancing", Same),
    Field("upstream.loadBalancing.skipUnavailableHosts", "proxy.check_host_against_uptime_tests", Same),
    Field("upstream.serviceDiscovery.enabled", "proxy.service_discovery.use_discovery_service", Same),
    Field("upstream.serviceDiscovery.queryEndpoint", "proxy.service_discovery.query_endpoint", Same),
    Field("upstream.serviceDiscovery.dataPath", "proxy.service_discovery.data_path", Same),
    Field("upstream.serviceDiscovery.useNestedQuery", "proxy.service_discovery.use_nested_query", Same),
    Field("upstream.serviceDiscovery.parentDataPath", "proxy.service_discovery.parent_data_path", Same),
    Field("upstream.serviceDiscovery.portDataPath", "proxy.service_discovery.port_data_path", Same),
    Field("upstream.serviceDiscovery.useTargetList", "proxy.service_discovery.use_target_list", Same),
    Field("upstream.serviceDiscovery.targetPath", "proxy.service_discovery.target_path", Same),
    Field("upstream.serviceDiscovery.endpointReturnsList", "proxy.service_discovery.endpoint_returns_list", Same),
    Field("upstream.serviceDiscovery.cacheTimeout", "proxy.service_discovery.cache_timeout", Same),
    Field("upstream.serviceDiscovery.cache.timeout", "proxy.service_discovery.cache_timeout", Same),
    Field("upstream.serviceDiscovery.cache.enabled", "proxy.service_discovery.cache_disabled", Not),
    Field("upstream.uptimeTests.enabled", "uptime_tests.disabled", Not),
    Field("upstream.uptimeTests.hostDownRetestPeriod", "uptime_tests.config.recheck_wait", Seconds),
    Field("upstream.uptimeTests.logRetentionPeriod", "uptime_tests.config.expire_utime_after", Seconds),
    Field("upstream.authentication.enabled", "upstream_auth.enabled", Same),
    Field("upstream.authentication.basicAuth.enabled", "upstream_auth.basic_auth.enabled", Same),
    Field("upstream.authentication.basicAuth.username", "upstream_auth.basic_auth.username", Same),
    Field("upstream.authentication.basicAuth.password", "upstream_auth.basic_auth.password", Same),
    Field("upstream.authentication.basicAuth.header.enabled", "upstream_auth.basic_auth.header.enabled", Same),
    Field("upstream.authentication.basicAuth.header.name", "upstream_auth.basic_auth.header.name", Same),
    Field("upstream.authentication.oauth.enabled", "upstream_auth.oauth.enabled", Same),
    Field("upstream.authentication.oauth.allowedAuthorizeTypes", "upstream_auth.oauth.allowed_authorize_types", Same),
    Field("upstream.authentication.oauth.clientCredentials.clientId", "upstream_auth.oauth.client_credentials.client_id", Same),
    Field(
        "upstream.authentication.oauth.clientCredentials.clientSecret",
        "upstream_auth.oauth.client_credentials.client_secret",
        Same,
    ),
    Field("upstream.authentication.oauth.clientCredentials.method", "upstream_auth.oauth.client_credentials.method", Same),
    Field("upstream.authentication.oauth.clientCredentials.tokenUrl", "upstream_auth.oauth.client_credentials.token_url", Same),
    Field("upstream.authentication.oauth.clientCredentials.scopes", "upstream_auth.oauth.client_credentials.scopes", Same),
    Field(
        "upstream.authentication.oauth.clientCredentials.extraMetadata",
        "upstream_auth.oauth.client_credentials.extra_metadata",
        Same,
    ),
    Field(
        "upstream.authentication.oauth.clientCredentials.header.enabled",
        "upstream_auth.oauth.client_credentials.header.enabled",
        Same,
    ),
    Field(
        "upstream.authentication.oauth.clientCredentials.header.name",
        "upstream_auth.oauth.client_credentials.header.name",
        Same,
    ),
    Field("upstream.authentication.oauth.password.clientId", "upstream_auth.oauth.password.client_id", Same),
    Field("upstream.authentication.oauth.password.clientSecret", "upstream_auth.oauth.password.client_secret", Same),
    Field("upstream.authentication.oauth.password.method", "upstream_auth.oauth.password.method", Same),
    Field("upstream.authentication.oauth.password.username", "upstream_auth.oauth.password.username", Same),
    Field("upstream.authentication.oauth.password.password", "upstream_auth.oauth.password.password", Same),
    Field("upstream.authentication.oauth.password.tokenUrl", "upstream_auth.oauth.password.token_url", Same),
    Field("upstream.authentication.oauth.password.scopes", "upstream_auth.oauth.password.scopes", Same),
    Field("upstream.authentication.oauth.password.extraMetadata", "upstream_auth.oauth.password.extra_metadata", Same),
    Field("upstream.authentication.oauth.password.header.enabled", "upstream_auth.oauth.password.header.enabled", Same),
    Field("upstream.authentication.oauth.password.header.name", "upstream_auth.oauth.password.header.name", Same),
    Field("upstream.authentication.requestSigning.enabled", "request_signing.is_enabled", Same),
    Field("upstream.authentication.requestSigning.signatureHeader", "request_signing.signature_header", Same),
    Field("upstream.authentication.requestSigning.algorithm", "request_signing.algorithm", Same),
    Field("upstream.authentication.requestSigning.keyId", "request_signing.key_id", Same),
    Field("upstream.authentication.requestSigning.headers", "request_signing.header_list", Same),
    Field("upstream.authentication.requestSigning.secret", "request_signing.secret", Same),
    Field("upstream.authentication.requestSigning.certificateId", "request_signing.certificate_id", Same),
    Field("server.listenPath.value", "proxy.listen_path", Same),
    Field("server.listenPath.strip", "proxy.strip_listen_path", Same),
    Field("server.protocol", "protocol", Same),
    Field("server.port", "listen_port", Same),
    Field("server.clientCertificates.enabled", "use_mutual_tls_auth", Same),
    Field("server.clientCertificates.allowlist", "client_certificates", Same),
    Field("server.gatewayTags.enabled", "tags_disabled", Not),
    Field("server.gatewayTags.tags", "tags", Same),
    Field("server.customDomain.enabled", "domain_disabled", Not),
    Field("server.customDomain.name", "domain", Same),
    Field("server.customDomain.certificates", "certificates", Same),
    Field("server.detailedActivityLogs.enabled", "enable_detailed_recording", Same),
    Field("server.detailedTracing.enabled", "detailed_tracing", Same),
    Field("server.ipAccessControl.enabled", "ip_access_control_disabled", Not),
    Field("server.ipAccessControl.allow", "allowed_ips", Same),
    Field("server.ipAccessControl.block", "blacklisted_ips", Same),
    Field("server.batchProcessing.enabled", "enable_batch_request_support", Same),
    Field("server.authentication.enabled", "use_keyless", Not),
    Field("server.authentication.stripAuthorizationData", "strip_auth_data", Same),
    Field("server.authentication.baseIdentityProvider", "base_identity_provided_by", Same),
    Field("server.authentication.customKeyLifetime.respectValidity", "session_lifetime_respects_key_expiration", Same),
    Field("middleware.global.pluginConfig.driver", "custom_middleware.driver", Same),
    Field("middleware.global.pluginConfig.bundle.enabled", "custom_middleware_bundle_disabled", Not),
    Field("middleware.global.pluginConfig.bundle.path", "custom_middleware_bundle", Same),
    Field("middleware.global.pluginConfig.data.enabled", "config_data_disabled", Not),
    Field("middleware.global.pluginConfig.data.value", "config_data", Same),
    Field("middleware.global.cors.enabled", "CORS.enable", Same),
    Field("middleware.global.cors.maxAge", "CORS.max_age", Same),
    Field("middleware.global.cors.allowCredentials", "CORS.allow_credentials", Same),
    Field("middleware.global.cors.exposedHeaders", "CORS.exposed_headers", Same),
    Field("middleware.global.cors.allowedHeaders", "CORS.allowed_headers", Same),
    Field("middleware.global.cors.optionsPassthrough", "CORS.options_passthrough", Same),
    Field("middleware.global.cors.debug", "CORS.debug", Same),
    Field("middleware.global.cors.allowedOrigins", "CORS.allowed_origins", Same),
    Field("middleware.global.cors.allowedMethods", "CORS.allowed_methods", Same),
    Field("middleware.global.cache.enabled", "cache_options.enable_cache", Same),
    Field("middleware.global.cache.timeout", "cache_options.cache_timeout", Same),
    Field("middleware.global.cache.cacheAllSafeRequests", "cache_options.cache_all_safe_requests", Same),
    Field("middleware.global.cache.cacheResponseCodes", "cache_options.cache_response_codes", Same),
    Field("middleware.global.cache.cacheByHeaders", "cache_options.cache_by_headers", Same),
    Field("middleware.global.cache.enableUpstreamCacheControl", "cache_options.enable_upstream_cache_control", Same),
    Field("middleware.global.cache.controlTTLHeaderName", "cache_options.cache_control_ttl_header", Same),
    Field("middleware.global.transformRequestHeaders.enabled", "version.global_headers_disabled", Not),
    Field("middleware.global.transformRequestHeaders.remove", "version.global_headers_remove", Same),
    Field("middleware.global.transformRequestHeaders.add", "version.global_headers", Map("name", "value")),
    Field("middleware.global.transformResponseHeaders.enabled", "version.global_response_headers_disabled", Not),
    Field("middleware.global.transformResponseHeaders.remove", "version.global_response_headers_remove", Same),
    Field("middleware.global.transformResponseHeaders.add", "version.global_response_headers", Map("name", "value")),
    Field("middleware.global.contextVariables.enabled", "enable_context_vars", Same),
    Field("middleware.global.trafficLogs.enabled", "do_not_track", Not),
    Field("middleware.global.trafficLogs.tagHeaders", "tag_headers", Same),
    Field("middleware.global.trafficLogs.customRetentionPeriod", "expire_analytics_after", Seconds),
    Field("middleware.global.requestSizeLimit.enabled", "version.global_size_limit_disabled", Not),
    Field("middleware.global.requestSizeLimit.value", "version.global_size_limit", Same),
    Field("middleware.global.ignoreCase.enabled", "version.ignore_endpoint_case", Same),
    Field("middleware.global.skipRateLimit", "disable_rate_limit", Same),
    Field("middleware.global.skipQuota", "disable_quota", Same),
    Field("middleware.global.skipQuotaReset", "dont_set_quota_on_create", Same),
    Field("errorOverrides.enabled", "error_overrides_disabled", Not),
];

/// Middleware of an operation and its list in `extended_paths`.
pub(crate) struct OperationField {
    /// Name in the extension.
    pub(crate) name: &'static str,
    /// List of `extended_paths`.
    pub(crate) list: &'static str,
    /// Its members: name in the extension, name in the entry.
    pub(crate) members: &'static [Field],
}

const ENABLED: Field = Field("enabled", "disabled", Not);

macro_rules! operation_fields {
    ($($name:literal => $list:literal [$($member:expr),* $(,)?])+) => {
        &[$(OperationField { name: $name, list: $list, members: &[ENABLED, $($member),*] }),+]
    };
}

pub(crate) const OPERATION_FIELDS: &[OperationField] = operation_fields! {
    "allow" => "white_list" [Field("ignoreCase", "ignore_case", Same)]
    "block" => "black_list" [Field("ignoreCase", "ignore_case", Same)]
    "ignoreAuthentication" => "ignored" [Field("ignoreCase", "ignore_case", Same)]
    "internal" => "internal" []
    "transformRequestMethod" => "method_transforms" [Field("toMethod", "to_method", Same)]
    "transformRequestBody" => "transform" [Field("format", "template_data.input_type", Same)]
    "transformResponseBody" => "transform_response" [Field("format", "template_data.input_type", Same)]
    "transformRequestHeaders" => "transform_headers"
        [Field("remove", "delete_headers", Same), Field("add", "add_headers", Map("name", "value"))]
    "transformResponseHeaders" => "transform_response_headers"
        [Field("remove", "delete_headers", Same), Field("add", "add_headers", Map("name", "value"))]
    "urlRewrite" => "url_rewrites" [Field("pattern", "match_pattern", Same), Field("rewriteTo", "rewrite_to", Same)]
    "cache" => "advance_cache_config" [
        Field("cacheByRegex", "cache_key_regex", Same),
        Field("cacheResponseCodes", "cache_response_codes", Same),
        Field("timeout", "timeout", Same),
    ]
    "enforceTimeout" => "hard_timeouts" [Field("value", "timeout", Same), Field("duration", "duration", Same)]
    "validateRequest" => "operation_validations"
        [Field("enabled", "enabled", Same), Field("errorResponseCode", "error_response_code", Same)]
    "mockResponse" => "operation_mocks" [
        Field("code", "code", Same),
        Field("body", "body", Same),
        Field("headers", "headers", Map("name", "value")),
        Field("fromOASExamples.enabled", "from_examples.enabled", Same),
        Field("fromOASExamples.code", "from_examples.code", Same),
        Field("fromOASExamples.contentType", "from_examples.content_type", Same),
        Field("fromOASExamples.exampleName", "from_examples.example_name", Same),
    ]
    "virtualEndpoint" => "virtual"
        [Field("proxyOnError", "proxy_on_error", Same), Field("requireSession", "use_session", Same)]
    "circuitBreaker" => "circuit_breakers" [
        Field("threshold", "threshold_percent", Same),
        Field("sampleSize", "samples", Same),
        Field("coolDownPeriod", "return_to_service_after", Same),
        Field("halfOpenStateEnabled", "disable_half_open_state", Not),
    ]
    "trackEndpoint" => "track_endpoints" []
    "doNotTrackEndpoint" => "do_not_track_endpoints" []
    "requestSizeLimit" => "size_limits" [Field("value", "size_limit", Same)]
    "rateLimit" => "rate_limit" [Field("rate", "rate", Same), Field("per", "per", Seconds)]
};
