//! The steps between a request and its upstream. A middleware is a plain, synchronous function of the exchange, compiled for one version of
//! one API; an unused one is not in the chain. To add one: a file here, and a line in its place below.

mod access;
mod access_rights;
mod any_auth;
mod api_rate_limit;
mod basic_auth;
mod bodies;
mod certificate_check;
mod circuit_break;
mod cross_origin;
mod dry_run;
mod endpoint_timeout;
mod forward_auth;
mod graphql_check;
mod graphql_playground;
mod header_plan;
mod introspection_auth;
mod ip_lists;
mod jwt_auth;
mod key_limits;
mod key_state;
mod limit_headers;
mod limits_report;
mod oauth_token;
mod openid_auth;
mod operation_mock;
mod org_limits;
mod override_errors;
mod persist_graphql;
mod plugin_auth;
mod plugin_hooks;
mod read_form;
mod refused_plugins;
mod request_headers;
mod request_signing;
mod request_size;
mod resource_metadata;
mod response_cache;
mod response_headers;
mod response_hooks;
mod reverse_headers;
mod rewrite_url;
mod scope_check;
mod shared_cache;
mod signature_auth;
mod source;
mod strip_auth;
mod token_auth;
mod track;
mod track_changed;
mod transform_jq;
mod transform_jq_response;
mod transform_method;
mod transform_request;
mod transform_response;
mod unsupported_auth;
mod upstream_credentials;
mod validate_json;
mod validate_request;
mod validate_response;
mod virtual_endpoint;

pub(crate) use dry_run::dry_run;
pub(crate) use resource_metadata::challenged;
pub(crate) use source::{Context, MiddlewareSource};

use source::Maker;

use crate::data::exchange::{AboutMiddleware, ChainPhase, Middleware, Rehearsed};
use plugin_hooks::PluginHooks;

/// A middleware in its place: what it is, and how it is compiled.
pub(crate) struct ListedMiddleware(&'static AboutMiddleware, Maker);

impl ListedMiddleware {
    /// The middleware for a definition; `None` when that does not use it.
    pub(crate) fn compile(&self, source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let made = (self.1)(source)?;
        debug_assert_eq!(made.about().name, self.0.name, "a middleware is listed under another name");
        Some(made)
    }
}

/// Runs before the caller is identified.
pub(crate) const PRE_AUTH: &[ListedMiddleware] = &[
    // Nothing is served without the plugins that an API asks for.
    ListedMiddleware(&refused_plugins::ABOUT, refused_plugins::RefusedPlugins::compile),
    // The endpoint's kind decides whether anything else matters: closed, open to all, or answered here.
    ListedMiddleware(&access::ABOUT, access::AccessCheck::compile),
    // Requests that must not be recorded are excluded, whatever happens next.
    ListedMiddleware(&track::ABOUT, track::TrackEndpoint::compile),
    // Runs before everything that may refuse, so that a browser can read refusals.
    ListedMiddleware(&cross_origin::ABOUT, cross_origin::CrossOrigin::compile),
    // A page for people, which needs no key, as in Tyk.
    ListedMiddleware(&graphql_playground::ABOUT, graphql_playground::GraphqlPlaygroundPage::compile),
    // Plugins may change what everything after them checks.
    ListedMiddleware(&plugin_hooks::PRE, PluginHooks::pre),
    // The cheapest reason to reject comes first.
    ListedMiddleware(&ip_lists::ALLOW, ip_lists::IpAllow::compile),
    ListedMiddleware(&ip_lists::BLOCK, ip_lists::IpBlock::compile),
    // A client without the right certificate uses up no limits.
    ListedMiddleware(&certificate_check::ABOUT, certificate_check::CertificateCheck::compile),
    // The organisation's limits apply to all requests to its APIs, including those without a key.
    ListedMiddleware(&org_limits::ABOUT, org_limits::OrgLimits::compile),
    ListedMiddleware(&request_size::ABOUT, request_size::RequestSize::compile),
    // Clients without a token ask where to get one.
    ListedMiddleware(&resource_metadata::ABOUT, resource_metadata::ResourceMetadata::compile),
];

/// Identifies the caller: all of these must succeed, or all of one alternative.
pub(crate) const AUTH: &[ListedMiddleware] = &[
    ListedMiddleware(&unsupported_auth::ABOUT, unsupported_auth::UnsupportedAuth::compile),
    ListedMiddleware(&any_auth::ABOUT, any_auth::AnyAuth::compile),
    ListedMiddleware(&oauth_token::ABOUT, oauth_token::OAuthToken::compile),
    ListedMiddleware(&introspection_auth::ABOUT, introspection_auth::IntrospectionAuth::compile),
    ListedMiddleware(&basic_auth::ABOUT, basic_auth::BasicAuthCheck::compile),
    ListedMiddleware(&signature_auth::ABOUT, signature_auth::SignatureAuth::compile),
    ListedMiddleware(&jwt_auth::ABOUT, jwt_auth::JwtAuth::compile),
    ListedMiddleware(&openid_auth::ABOUT, openid_auth::OpenIdAuth::compile),
    ListedMiddleware(&forward_auth::ABOUT, forward_auth::ForwardAuthCheck::compile),
    ListedMiddleware(&plugin_auth::ABOUT, plugin_auth::PluginAuth::compile),
    ListedMiddleware(&token_auth::ABOUT, token_auth::TokenAuth::compile),
];

/// Runs only after authentication.
pub(crate) const POST_AUTH: &[ListedMiddleware] = &[
    // Plugins see the key and may change what rights and limits apply to.
    ListedMiddleware(&plugin_hooks::POST_KEY_AUTH, PluginHooks::post_key_auth),
    // Plugins may have changed the endpoint.
    ListedMiddleware(&track_changed::ABOUT, track_changed::TrackChanged::compile),
    // The upstream must not see the key.
    ListedMiddleware(&strip_auth::ABOUT, strip_auth::StripAuth::compile),
    // The key's state comes before its rights, and its rights before its limits: a refused request counts nothing.
    ListedMiddleware(&key_state::ABOUT, key_state::KeyStateCheck::compile),
    ListedMiddleware(&access_rights::ABOUT, access_rights::AccessRights::compile),
    // Asking for the limits must not use them up.
    ListedMiddleware(&limits_report::ABOUT, limits_report::LimitsReport::compile),
    ListedMiddleware(&key_limits::ABOUT, key_limits::KeyLimits::compile),
    // A token without the scopes has used up its limits, as in Tyk.
    ListedMiddleware(&scope_check::ABOUT, scope_check::ScopeChecks::compile),
    // Counts only requests that have passed everything before it.
    ListedMiddleware(&api_rate_limit::ABOUT, api_rate_limit::ApiRateLimit::compile),
    // Later steps may use variables that are fields of a form.
    ListedMiddleware(&read_form::ABOUT, read_form::ReadForm::compile),
    // A caller over a limit does not make the gateway read a body.
    ListedMiddleware(&validate_json::ABOUT, validate_json::ValidateJson::compile),
    ListedMiddleware(&validate_request::ABOUT, validate_request::ValidateRequest::compile),
    // The request becomes a GraphQL operation, which is checked like those of clients.
    ListedMiddleware(&persist_graphql::ABOUT, persist_graphql::PersistGraphql::compile),
    ListedMiddleware(&graphql_check::ABOUT, graphql_check::GraphqlCheck::compile),
    // Validation sees the body that the client sent.
    ListedMiddleware(&transform_request::ABOUT, transform_request::TransformRequest::compile),
    ListedMiddleware(&transform_jq::ABOUT, transform_jq::TransformJq::compile),
    // The request's own changes, outermost scope first: headers see the client's URL, rewrites see the changed headers.
    ListedMiddleware(&request_headers::ABOUT, request_headers::RequestHeaders::compile),
    ListedMiddleware(&rewrite_url::ABOUT, rewrite_url::RewriteUrl::compile),
    ListedMiddleware(&transform_method::ABOUT, transform_method::TransformMethod::compile),
    // The gateway's own credentials replace what any step before has set.
    ListedMiddleware(&upstream_credentials::ABOUT, upstream_credentials::UpstreamCredentials::compile),
    // A mock answers what a changed request would have asked, after authentication and limits.
    ListedMiddleware(&operation_mock::ABOUT, operation_mock::OperationMocks::compile),
    // Changes to the response.
    ListedMiddleware(&transform_response::ABOUT, transform_response::TransformResponse::compile),
    ListedMiddleware(&transform_jq_response::ABOUT, transform_jq_response::TransformJqResponse::compile),
    ListedMiddleware(&response_headers::ABOUT, response_headers::ResponseHeaders::compile),
    ListedMiddleware(&reverse_headers::ABOUT, reverse_headers::ReverseHeaders::compile),
    // Plugins see the response as all other changes have made it.
    ListedMiddleware(&response_hooks::ABOUT, response_hooks::ResponseHooks::compile),
    // The document describes what clients get. What does not fit is not stored, and rules for errors see its refusal.
    ListedMiddleware(&validate_response::ABOUT, validate_response::ValidateResponse::compile),
    // Rules for errors see the response that clients would receive, and the cache stores what the rules make of it.
    ListedMiddleware(&override_errors::ABOUT, override_errors::OverrideErrors::compile),
    // The cache sees the request that the upstream would receive.
    ListedMiddleware(&plugin_hooks::POST, PluginHooks::post_before_cache),
    // A cache hit has counted for every limit; the cache stores what clients receive; and it serves while the breaker is open.
    ListedMiddleware(&response_cache::ABOUT, response_cache::ResponseCache::compile),
    ListedMiddleware(&shared_cache::ABOUT, shared_cache::SharedCacheLookup::compile),
    // Has counted for every limit, and may go on to the upstream.
    ListedMiddleware(&virtual_endpoint::ABOUT, virtual_endpoint::VirtualEndpoints::compile),
    // Settings of the call to the upstream.
    ListedMiddleware(&endpoint_timeout::ABOUT, endpoint_timeout::EndpointTimeout::compile),
    ListedMiddleware(&circuit_break::ABOUT, circuit_break::CircuitBreak::compile),
    // Signs the request as all steps before have made it.
    ListedMiddleware(&request_signing::ABOUT, request_signing::RequestSigning::compile),
    // The last word about the request, as in Tyk, unless there is a cache.
    ListedMiddleware(&plugin_hooks::POST, PluginHooks::post),
];

/// Middlewares in front of the endpoints that issue tokens.
pub(crate) const FOR_STRANGERS: &[ListedMiddleware] = &[
    ListedMiddleware(&cross_origin::ABOUT, cross_origin::CrossOrigin::compile),
    ListedMiddleware(&ip_lists::ALLOW, ip_lists::IpAllow::compile),
    ListedMiddleware(&ip_lists::BLOCK, ip_lists::IpBlock::compile),
    ListedMiddleware(&certificate_check::ABOUT, certificate_check::CertificateCheck::compile),
];

#[cfg(test)]
mod tests;
