//! Finds problems of a definition without compiling it: values outside their range, texts of the wrong form, settings that
//! contradict each other. Regular expressions are checked where they are compiled.

use std::collections::BTreeMap;

use super::{
    ApiDefinition, AuthConfig, AuthMethod, BalanceRule, ClaimRuleKind, HashedPart, JSON_RPC_VERSION, Proxy, SharedCache,
    SignatureConfig, VersionData, VersionLocation, claim_path, request_signing, response_processor, upstream, upstream_auth,
    uptime,
};
use crate::error_override;
use crate::events::{self, HandlerOwner};
use crate::expiry::{WrittenExpiry, expiry};
use crate::json_path::JsonPath;
use crate::network::parse_network;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token, stream_target_fault, target_url_fault, with_scheme};

mod oauth;
mod paths;

/// Adds the problems of `api` to `findings`.
pub(super) fn check(api: &ApiDefinition, findings: &mut Findings) {
    let answers_itself = api.graphql.is_executed() || api.tollgate.mcp.is_some() || api.tollgate.llm.is_some();
    // The rules of a route name backends.
    let answers_itself = answers_itself || (api.tollgate.route.is_some() && api.proxy.target_url.is_empty());
    check_proxy(&api.proxy, api.is_stream(), answers_itself, findings);
    check_versions(api, findings);
    check_auth(api, findings);
    check_addresses("allowed_ips", &api.allowed_ips, findings);
    check_addresses("blacklisted_ips", &api.blacklisted_ips, findings);
    check_expiry(&JsonPath::of("expiration"), &api.expiration, findings);
    check_cors(api, findings);
    check_protocol(api, findings);
    check_mcp(api, findings);
    check_rate(&api.global_rate_limit, findings);
    check_cache(api, findings);
    upstream_auth::check(&api.upstream_auth, findings);
    request_signing::check(&api.request_signing, findings);
    uptime::check(&api.uptime_tests, api.proxy.check_host_against_uptime_tests, &api.proxy.service_discovery, findings);
    api.graphql.check(findings);
    events::check(&api.event_handlers, &JsonPath::of("event_handlers"), HandlerOwner::Api, findings);
    if let Some(rules) = &api.tollgate.upstream {
        upstream::check(rules, findings, if api.is_stream() { check_stream_target } else { check_listed_target });
    }
    error_override::check(&api.error_overrides, &JsonPath::of("error_overrides"), findings);
    check_unsupported(api, findings);
    api.tollgate.check(api, findings);
}

fn check_mcp(api: &ApiDefinition, findings: &mut Findings) {
    let version = api.json_rpc_version.as_str();
    if api.is_mcp() && !["", JSON_RPC_VERSION].contains(&version) {
        findings.error(&JsonPath::of("json_rpc_version"), format!("must be {JSON_RPC_VERSION}"));
    }
    if api.is_mcp()
        && let Some(metadata) = api.own_metadata()
    {
        let at = JsonPath::of("tollgate.protected_resource");
        if metadata.resource.is_empty() {
            findings.error(&at.key("resource"), "is missing");
        }
        if metadata.authorization_servers.is_empty() {
            findings.error(&at.key("authorization_servers"), "must have at least one entry");
        }
    }
    if api.is_mcp() && api.is_stream() {
        findings.error(&JsonPath::of("protocol"), "the Model Context Protocol is spoken over HTTP");
    }
}

/// `is_executed`: the gateway answers itself, and has no target.
fn check_proxy(proxy: &Proxy, is_stream: bool, is_executed: bool, findings: &mut Findings) {
    let check_listed = if is_stream { check_stream_target } else { check_listed_target };
    let at = JsonPath::of("proxy");
    if proxy.listen_path.is_empty() && !is_stream {
        findings.error(&at.key("listen_path"), "must not be empty");
    }
    if proxy.listen_path.contains(|c: char| c.is_whitespace() || c.is_control()) {
        findings.error(&at.key("listen_path"), "must not contain spaces");
    }
    let balances = proxy.enable_load_balancing && !proxy.target_list.is_empty();
    // With a list it is never used.
    if !balances && !is_executed {
        match is_stream {
            true => check_stream_target(&at.key("target_url"), &proxy.target_url, findings),
            false if proxy.target_url.is_empty() => {
                let message = "is empty: requests get 500 unless the gateway answers them, or a rewrite sends them elsewhere";
                findings.warning(&at.key("target_url"), message);
            }
            false => check_target(&at.key("target_url"), &proxy.target_url, findings),
        }
    }
    if proxy.enable_load_balancing && proxy.target_list.is_empty() {
        let message = "load balancing without targets: every request goes to target_url";
        findings.warning(&at.key("target_list"), message);
    }
    for (index, target) in proxy.target_list.iter().enumerate() {
        let at = at.key("target_list").index(index);
        check_listed(&at, target, findings);
    }
}

/// Checks a target of a list, which may lack its scheme.
fn check_listed_target(at: &JsonPath, url: &str, findings: &mut Findings) {
    check_target(at, &with_scheme(url, "http"), findings);
}

fn check_stream_target(at: &JsonPath, url: &str, findings: &mut Findings) {
    if let Some(fault) = stream_target_fault(&with_scheme(url, "tcp")) {
        findings.error(at, fault);
    }
}

fn check_target(at: &JsonPath, url: &str, findings: &mut Findings) {
    if let Some(fault) = target_url_fault(url) {
        findings.error(at, fault);
    }
}

fn check_versions(api: &ApiDefinition, findings: &mut Findings) {
    let data = &api.version_data;
    let at = JsonPath::of("version_data.versions");
    for (name, version) in &data.versions {
        let at = at.key(name);
        check_expiry(&at.key("expires"), &version.expires, findings);
        if !version.override_target.is_empty() {
            check_target(&at.key("override_target"), &version.override_target, findings);
        }
        if version.global_enforce_timeout < 0.0 {
            findings.error(&at.key("global_enforce_timeout"), "must not be negative");
        }
        check_headers(&at.key("global_headers"), &version.global_headers, findings);
        check_headers(&at.key("global_response_headers"), &version.global_response_headers, findings);
        check_names(&at.key("global_headers_remove"), &version.global_headers_remove, findings);
        check_names(&at.key("global_response_headers_remove"), &version.global_response_headers_remove, findings);
        paths::check(&version.extended_paths, &at.key("extended_paths"), findings);
    }
    if data.not_versioned {
        check_unversioned(data, &at, findings);
    } else {
        check_version_choice(api, &at, findings);
    }
}

fn check_unversioned(data: &VersionData, at: &JsonPath, findings: &mut Findings) {
    if data.unversioned().is_none() {
        let message = "must have one version, or one called Default: every request is refused";
        findings.warning(at, message);
    }
}

fn check_version_choice(api: &ApiDefinition, at: &JsonPath, findings: &mut Findings) {
    let data = &api.version_data;
    if api.definition.enabled {
        return;
    }
    if data.versions.is_empty() {
        findings.warning(at, "must have a version, or not_versioned must be true: every request is refused");
        return;
    }
    let default = &data.default_version;
    if !default.is_empty() && !data.versions.contains_key(default) {
        let message = "names no version: requests without a version are refused";
        findings.warning(&JsonPath::of("version_data.default_version"), message);
    }
    let selector = &api.definition;
    let needs_key = matches!(selector.location, VersionLocation::Header | VersionLocation::UrlParam);
    if selector.location == VersionLocation::Unset {
        let message = "must say where requests name their version, or version_data.not_versioned must be true";
        findings.warning(&JsonPath::of("definition.location"), message);
    }
    if needs_key && selector.key.is_empty() {
        let message = "must name the header or parameter that holds the version";
        findings.warning(&JsonPath::of("definition.key"), message);
    }
}

fn check_auth(api: &ApiDefinition, findings: &mut Findings) {
    if api.use_keyless {
        return;
    }
    for (field, method) in api.unsupported_auth_fields() {
        let message = format!("authentication by {method} is not supported yet: the API refuses every request");
        findings.warning(&JsonPath::of(field), message);
    }
    // A service gets the headers that it needs, and a plugin all.
    for method in api.auth_methods().filter(|method| !matches!(method, AuthMethod::Forward | AuthMethod::Plugin)) {
        let name = method.config_name();
        let at = match api.auth_configs.contains_key(name) {
            true => JsonPath::of("auth_configs").key(name),
            false => JsonPath::of("auth"),
        };
        check_auth_sources(api.places(method), &at, findings);
        check_key_signature(api.places(method), method, &at, findings);
    }
    check_alternatives(api, findings);
    let is_supported = api.unsupported_auth_fields().next().is_none();
    if is_supported && !api.auth_methods().any(|method| api.takes_session_of(method)) {
        let message = "names no method that is switched on: every request is refused";
        findings.warning(&JsonPath::of("base_identity_provided_by"), message);
    }
    check_jwt(api, findings);
    check_signatures(api, findings);
    check_others(api, findings);
    oauth::check(api, findings);
}

/// An enabled method in no alternative would never run, although its author wants it.
fn check_alternatives(api: &ApiDefinition, findings: &mut Findings) {
    let written = &api.tollgate.auth_alternatives;
    let at = JsonPath::of("tollgate.auth_alternatives");
    for (number, names) in written.iter().enumerate() {
        let at = at.index(number);
        if names.is_empty() {
            findings.error(&at, "must name a method; otherwise everybody would be admitted");
        }
        for (index, name) in names.iter().enumerate() {
            match AuthMethod::named(name) {
                None => findings.error(&at.index(index), format!("{name:?} is not a method of auth_configs")),
                Some(method) if !api.is_on(method) => findings.error(&at.index(index), format!("{name} is not enabled")),
                Some(_) => {}
            }
        }
    }
    for method in api.auth_methods().filter(|_| !written.is_empty()) {
        let name = method.config_name();
        if !written.iter().flatten().any(|named| named == name) {
            findings.error(&at, format!("{name} is enabled and in no alternative"));
        }
    }
}

/// Servers that decide about requests.
fn check_others(api: &ApiDefinition, findings: &mut Findings) {
    if let Some(rules) = &api.tollgate.forward_auth {
        let at = JsonPath::of("tollgate.forward_auth");
        check_target(&at.key("url"), &rules.url, findings);
        check_names(&at.key("request_headers"), &rules.request_headers, findings);
        check_names(&at.key("response_headers"), &rules.response_headers, findings);
        if rules.request_headers.is_empty() {
            let message = "is empty: the service sees no credentials, and answers for everybody the same";
            findings.warning(&at.key("request_headers"), message);
        }
    }
    if let Some(rules) = api.introspection() {
        check_target(&JsonPath::of("external_oauth.providers").index(0).key("introspection").key("url"), &rules.url, findings);
    }
    if api.is_on(AuthMethod::OpenId) {
        let at = JsonPath::of("openid_options.providers");
        if api.openid_options.providers.is_empty() {
            findings.warning(&at, "is empty: every request is refused");
        }
        for (index, provider) in api.openid_options.providers.iter().enumerate() {
            check_target(&at.index(index).key("issuer"), &provider.issuer, findings);
            if provider.client_ids.is_empty() {
                findings.warning(&at.index(index).key("client_ids"), "is empty: every token of the provider is refused");
            }
        }
    }
}

/// Key signatures.
fn check_key_signature(places: &AuthConfig, method: AuthMethod, at: &JsonPath, findings: &mut Findings) {
    if !places.validate_signature {
        return;
    }
    if method != AuthMethod::Token {
        // `auth` is for keys; other methods use it only if they have no entry.
        if at.to_string() != "$.auth" {
            findings.ignored(&at.key("validate_signature"), "only keys have such signatures");
        }
        return;
    }
    let (at, signature) = (at.key("signature"), &places.signature);
    if signature.algorithm().is_none() {
        let message = format!("must be MasheryMd5 or MasherySha256, not {:?}: every request is refused", signature.algorithm);
        findings.warning(&at.key("algorithm"), message);
    }
    if signature.header.is_empty() && signature.param().is_none() {
        findings.warning(&at.key("header"), "is empty, as is param_name: every request is refused");
    }
    if signature.secret.is_empty() {
        findings.warning(&at.key("secret"), "is empty: every request is refused");
    }
    if signature.allowed_clock_skew < 0 {
        findings.error(&at.key("allowed_clock_skew"), "must not be negative");
    } else if signature.allowed_clock_skew > SignatureConfig::SKEW_S_MAX {
        let message = format!("is more than {0}: {0} seconds are allowed", SignatureConfig::SKEW_S_MAX);
        findings.warning(&at.key("allowed_clock_skew"), message);
    }
    if signature.error_code != 0 && !(200..600).contains(&signature.error_code) {
        findings.error(&at.key("error_code"), "must be a status code from 200 to 599");
    }
}

fn check_signatures(api: &ApiDefinition, findings: &mut Findings) {
    const KNOWN: [&str; 5] = ["hmac-sha1", "hmac-sha256", "hmac-sha384", "hmac-sha512", "rsa-sha256"];
    for (index, name) in api.hmac_allowed_algorithms.iter().enumerate().filter(|_| api.is_on(AuthMethod::Hmac)) {
        if !KNOWN.contains(&name.as_str()) {
            let message = format!("{name:?} is not supported: signatures with it are refused");
            findings.warning(&JsonPath::of("hmac_allowed_algorithms").index(index), message);
        }
    }
}

fn check_jwt(api: &ApiDefinition, findings: &mut Findings) {
    if !api.is_on(AuthMethod::Jwt) {
        return;
    }
    if !matches!(api.jwt_signing_method.as_str(), "hmac" | "rsa" | "ecdsa" | "eddsa") {
        let message = "is neither hmac, rsa, ecdsa nor eddsa: tokens must be signed with HMAC";
        findings.warning(&JsonPath::of("jwt_signing_method"), message);
    }
    for (claim, rule) in &api.tollgate.jwt.custom_claims {
        let at = JsonPath::of("tollgate.jwt.custom_claims").key(claim);
        if claim_path(claim).is_none() {
            findings.error(&at, "must be names and positions between dots, without wildcards");
        }
        if rule.kind != ClaimRuleKind::Required && rule.allowed_values.is_empty() {
            findings.warning(&at.key("allowed_values"), "is empty: no token fits");
        }
    }
    for (index, uri) in api.jwt_jwks_uris.iter().enumerate() {
        let at = JsonPath::of("jwt_jwks_uris").index(index);
        check_target(&at.key("url"), &uri.url, findings);
        for (field, written) in [("cache_timeout", &uri.cache_timeout), ("cacheTimeout", &uri.cache_timeout_camel)] {
            if !written.is_empty() && crate::span::parse_span(written).is_none() {
                findings.error(&at.key(field), "must be a span of time such as 500ms or 1m30s");
            }
        }
    }
    for (field, seconds) in [
        ("jwt_issued_at_validation_skew", api.jwt_issued_at_validation_skew),
        ("jwt_expires_at_validation_skew", api.jwt_expires_at_validation_skew),
        ("jwt_not_before_validation_skew", api.jwt_not_before_validation_skew),
    ] {
        if seconds < 0 {
            findings.error(&JsonPath::of(field), "must not be negative");
        }
    }
}

fn check_auth_sources(auth: &AuthConfig, at: &JsonPath, findings: &mut Findings) {
    if auth.header().is_none() && auth.param().is_none() && auth.cookie().is_none() && !auth.use_certificate {
        findings.error(at, "header, query parameter and cookie are all disabled");
    }
    if auth.header().is_some_and(|name| !is_token(name)) {
        findings.error(&at.key("auth_header_name"), "is not a header name");
    }
    if auth.cookie().is_some_and(|name| !is_token(name)) {
        findings.error(&at.key("cookie_name"), "is not a cookie name");
    }
}

fn check_addresses(field: &str, list: &[String], findings: &mut Findings) {
    for (index, entry) in list.iter().enumerate() {
        if parse_network(entry).is_none() {
            let at = JsonPath::of(field).index(index);
            findings.error(&at, format!("{entry:?} is neither an IP address nor a CIDR range"));
        }
    }
}

fn check_expiry(at: &JsonPath, text: &str, findings: &mut Findings) {
    if expiry(text) == WrittenExpiry::Unparsable {
        let message = "is not a date such as 2006-01-02 15:04: counts as expired";
        findings.warning(at, message);
    }
}

fn check_cors(api: &ApiDefinition, findings: &mut Findings) {
    let at = JsonPath::of("CORS");
    let Some(cors) = api.cors() else { return };
    for (field, names) in [
        ("allowed_methods", &cors.allowed_methods),
        ("allowed_headers", &cors.allowed_headers),
        ("exposed_headers", &cors.exposed_headers),
    ] {
        for (index, name) in names.iter().enumerate() {
            let at = at.key(field).index(index);
            check_header_value(&at, name, findings);
            if !is_token(name) {
                findings.warning(&at, format!("{name:?} is not one name and matches nothing"));
            }
        }
    }
    for (index, origin) in cors.allowed_origins.iter().enumerate() {
        check_header_value(&at.key("allowed_origins").index(index), origin, findings);
    }
    if cors.allow_credentials && cors.allowed_origins.iter().any(|o| o == "*") {
        let message = "any origin may send credentials: every web site can act as a signed-in user";
        findings.warning(&at.key("allow_credentials"), message);
    }
}

fn check_protocol(api: &ApiDefinition, findings: &mut Findings) {
    match api.protocol.as_str() {
        "" | "http" | "https" | "h2c" => {
            if api.enable_proxy_protocol {
                let message =
                    "acts for the protocols tcp and tls, as in Tyk; tollgate.proxy_protocol names the proxies of other ports";
                findings.warning(&JsonPath::of("enable_proxy_protocol"), message);
            }
        }
        "tcp" | "tls" => check_stream(api, findings),
        _ => findings.error(&JsonPath::of("protocol"), "must be http, https, h2c, tcp, tls or empty"),
    }
}

/// An API whose bytes nothing inspects.
fn check_stream(api: &ApiDefinition, findings: &mut Findings) {
    if api.listen_port == 0 {
        findings.error(&JsonPath::of("listen_port"), "must be set: a stream needs a port of its own");
    }
    if !api.use_keyless {
        let message = "must be true: a stream has no requests in which keys could be checked. allowed_ips, and client_certificates with the \
                       protocol tls, say who may connect";
        findings.error(&JsonPath::of("use_keyless"), message);
    }
    if api.use_mutual_tls_auth && api.protocol == "tcp" {
        findings.error(&JsonPath::of("use_mutual_tls_auth"), "needs the protocol tls");
    }
    if !api.version_data.not_versioned {
        findings.error(&JsonPath::of("version_data.not_versioned"), "must be true: connections do not name a version");
    }
    let Some(rules) = &api.tollgate.upstream else { return };
    let at = JsonPath::of("tollgate.upstream");
    let message = "needs requests, which a stream does not have";
    if rules.sticky_cookie.is_some() {
        findings.error(&at.key("sticky_cookie"), message);
    }
    if rules.mirror.is_some() {
        findings.error(&at.key("mirror"), message);
    }
    if rules.hedge.is_some() {
        findings.error(&at.key("hedge"), message);
    }
    if rules.balance == BalanceRule::Hash && rules.hash.by != HashedPart::Address {
        findings.error(&at.key("hash").key("by"), message);
    }
    for (index, part) in rules.split.iter().enumerate() {
        if part.header.is_some() || part.cookie.is_some() {
            findings.error(&at.key("split").index(index), message);
        }
    }
}

/// As in Tyk, a limit without a positive rate and time limits nothing; -1 is its sign for that.
fn check_rate(limit: &super::GlobalRateLimit, findings: &mut Findings) {
    let at = JsonPath::of("global_rate_limit");
    let is_unlimited = limit.rate == -1.0 || limit.per == -1.0;
    for (field, value) in [("rate", limit.rate), ("per", limit.per)] {
        if value < 0.0 && !is_unlimited {
            findings.warning(&at.key(field), "is negative: the API has no rate limit; -1 says so without this warning");
        }
    }
}

fn check_cache(api: &ApiDefinition, findings: &mut Findings) {
    let at = JsonPath::of("tollgate.cache");
    let Some(cache) = &api.tollgate.cache else { return };
    if api.cache_options.enable_cache {
        findings.error(&at, "cache_options.enable_cache is on as well: an API has one cache");
    }
    if cache.by_caller && api.use_keyless {
        findings.warning(&at.key("by_caller"), "has no effect on an API without keys");
    }
    check_names(&at.key("by_headers"), &cache.by_headers, findings);
    for (field, number, most) in [
        ("wait_ms_max", cache.wait_ms_max, SharedCache::WAIT_MS_MAX),
        ("hit_for_miss_ms", cache.hit_for_miss_ms, SharedCache::HIT_FOR_MISS_MS_MAX),
    ] {
        if number > most {
            findings.error(&at.key(field), format!("must be at most {most}"));
        }
    }
}

/// Typed fields without effect.
fn check_unsupported(api: &ApiDefinition, findings: &mut Findings) {
    response_processor::check(&api.response_processors, findings);
}

/// Headers to set: their names and their values.
fn check_headers(at: &JsonPath, headers: &BTreeMap<String, String>, findings: &mut Findings) {
    for (name, value) in headers {
        let at = at.key(name);
        if !is_token(name) {
            findings.error(&at, "is not a header name");
        }
        check_header_value(&at, value, findings);
    }
}

fn check_header_value(at: &JsonPath, value: &str, findings: &mut Findings) {
    if !is_header_value(value) {
        findings.error(at, "must not contain line ends or other control characters");
    }
}

/// Names of headers to remove or to list.
fn check_names(at: &JsonPath, names: &[String], findings: &mut Findings) {
    for (index, name) in names.iter().enumerate() {
        if !is_token(name) {
            findings.error(&at.index(index), format!("{name:?} is not a header name"));
        }
    }
}

fn check_method(at: &JsonPath, method: &str, findings: &mut Findings) {
    if !is_token(method) {
        findings.error(at, format!("{method:?} is not a method"));
    }
}
