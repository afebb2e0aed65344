//! The steps between a request and its upstream. A middleware is a plain, synchronous function of the exchange, compiled for one version of
//! one API; an unused one is not in the chain. To add one: a file here, and a line in its place below.

mod access;
mod access_rights;
mod any_auth;
mod api_rate_limit;
mod basic_auth;
mod basic_users;
mod bodies;
mod call_rules;
mod certificate_check;
mod circuit_break;
mod compress_responses;
mod concurrency;
mod cross_origin;
mod deprecation_notice;
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
mod list_filter;
mod llm_caller;
mod mcp_caller;
mod oauth_token;
mod offered_stream;
mod openid_auth;
mod operation_mock;
mod org_limits;
mod override_errors;
mod own_challenge;
mod persist_graphql;
mod plugin_auth;
mod plugin_hooks;
mod portal_cors;
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
mod route_cors;
mod route_filters;
mod route_responses;
mod rpc_call;
mod rpc_rights;
mod rule_passes;
mod rule_status_headers;
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
mod waf;
mod waf_responses;

pub use bodies::tyk_context;
pub use dry_run::dry_run;
pub use resource_metadata::{challenged, client_scheme};
pub use source::{Context, MiddlewareSource};

use source::Maker;

use crate::exchange::Rehearsed::{Asks, CacheKey, Judges, NeedsScopes, Passes, Recorded, Runs, RunsOn, Waits};
use crate::exchange::{AboutMiddleware, ChainLink, ChainPhase, Middleware, Rehearsed};
use plugin_hooks::PluginHooks;
use tollgate_model::api::DryRunKind;

/// A middleware in its place: what it is, and how it is compiled.
pub struct ListedMiddleware {
    about: AboutMiddleware,
    compile: Maker,
}

/// `name` is that in metrics, traces and records: operators' dashboards depend on it.
const fn listed(name: &'static str, rehearsed: Rehearsed, compile: Maker) -> ListedMiddleware {
    ListedMiddleware { about: AboutMiddleware { name, dry_run: None, rehearsed }, compile }
}

impl ListedMiddleware {
    /// The kind of refusals that a dry run of it only counts.
    const fn dry_run(self, kind: DryRunKind) -> Self {
        let about = AboutMiddleware { dry_run: Some(kind), ..self.about };
        ListedMiddleware { about, ..self }
    }

    /// The middleware for a definition; `None` when that does not use it.
    pub fn compile(&'static self, phase: ChainPhase, source: &mut MiddlewareSource<'_, '_>) -> Option<ChainLink> {
        Some(ChainLink { about: &self.about, phase, middleware: (self.compile)(source)? })
    }
}

/// Runs before the caller is identified.
pub const PRE_AUTH: &[ListedMiddleware] = &[
    // Nothing is served without the plugins that an API asks for.
    listed("RefusedPlugins", Runs, refused_plugins::RefusedPlugins::compile),
    // Before all that answers: answers may be long, and refusals too.
    listed("CompressResponses", Runs, compress_responses::CompressResponses::compile),
    // What is called is the endpoint.
    listed("RpcCall", Runs, rpc_call::RpcCall::compile),
    // The endpoint's kind decides whether anything else matters: closed, open to all, or answered here.
    listed("AccessCheck", Runs, access::AccessCheck::compile),
    // Requests that must not be recorded are excluded, whatever happens next.
    listed("TrackEndpoint", Runs, track::TrackEndpoint::compile),
    // An API's own rules would refuse the developer portal, whose pages try it, unless they name its origin.
    listed("PortalPreflight", Runs, portal_cors::PortalPreflight::compile),
    // Runs before everything that may refuse, so that a browser can read refusals.
    listed("CrossOrigin", Runs, cross_origin::CrossOrigin::compile),
    listed("RuleCors", Runs, route_cors::RuleCors::compile),
    // After both, because each removes what it did not set itself.
    listed("PortalReads", Runs, portal_cors::PortalReads::compile),
    // Refusals tell it too, because their clients need it as well; preflights do not, because browsers do not show them.
    listed("DeprecationNotice", Runs, deprecation_notice::DeprecationNotice::compile),
    // Refusals and redirects have them too.
    listed("RuleStatusHeaders", Runs, rule_status_headers::RuleStatusHeaders::compile),
    // A page for people, which needs no key, as in Tyk.
    listed("GraphqlPlaygroundPage", Runs, graphql_playground::GraphqlPlaygroundPage::compile),
    // Plugins may change what everything after them checks.
    listed("PreHooks", Asks, PluginHooks::pre),
    // The cheapest reason to reject comes first.
    listed("IpAllow", Runs, ip_lists::IpAllow::compile).dry_run(DryRunKind::IpLists),
    listed("IpBlock", Runs, ip_lists::IpBlock::compile).dry_run(DryRunKind::IpLists),
    // A client without the right certificate uses up no limits.
    listed("CertificateCheck", Recorded, certificate_check::CertificateCheck::compile).dry_run(DryRunKind::Certificates),
    // A client with too many requests in progress makes no work for those that check passwords and tokens.
    listed("Concurrency", Passes, concurrency::Concurrency::compile),
    // Passwords cost more to check than a rate.
    listed("BasicUsers", Runs, basic_users::BasicUsers::compile).dry_run(DryRunKind::Authentication),
    // The organisation's limits apply to all requests to its APIs, including those without a key.
    listed("OrgLimits", Runs, org_limits::OrgLimits::compile),
    listed("RequestSize", Runs, request_size::RequestSize::compile).dry_run(DryRunKind::RequestSize),
    // Clients without a token ask where to get one.
    listed("ResourceMetadata", Runs, resource_metadata::ResourceMetadata::compile),
];

/// Identifies the caller: all of these must succeed, or all of one alternative.
pub const AUTH: &[ListedMiddleware] = &[
    listed("UnsupportedAuth", Runs, unsupported_auth::UnsupportedAuth::compile).dry_run(DryRunKind::Authentication),
    listed("AnyAuth", Asks, any_auth::AnyAuth::compile).dry_run(DryRunKind::Authentication),
    listed("OAuthToken", Runs, oauth_token::OAuthToken::compile).dry_run(DryRunKind::Authentication),
    listed("IntrospectionAuth", Asks, introspection_auth::IntrospectionAuth::compile).dry_run(DryRunKind::Authentication),
    listed("BasicAuthCheck", Runs, basic_auth::BasicAuthCheck::compile).dry_run(DryRunKind::Authentication),
    listed("SignatureAuth", Runs, signature_auth::SignatureAuth::compile).dry_run(DryRunKind::Authentication),
    listed("JwtAuth", Runs, jwt_auth::JwtAuth::compile).dry_run(DryRunKind::Authentication),
    listed("OpenIdAuth", Runs, openid_auth::OpenIdAuth::compile).dry_run(DryRunKind::Authentication),
    listed("ForwardAuthCheck", Asks, forward_auth::ForwardAuthCheck::compile).dry_run(DryRunKind::Authentication),
    listed("PluginAuth", Asks, plugin_auth::PluginAuth::compile).dry_run(DryRunKind::Authentication),
    listed("TokenAuth", Runs, token_auth::TokenAuth::compile).dry_run(DryRunKind::Authentication),
];

/// Runs only after authentication.
pub const POST_AUTH: &[ListedMiddleware] = &[
    // Plugins see the key and may change what rights and limits apply to.
    listed("PostKeyAuthHooks", Asks, PluginHooks::post_key_auth),
    // Plugins may have changed the endpoint.
    listed("TrackChanged", Runs, track_changed::TrackChanged::compile),
    // The upstream must not see the key.
    listed("StripAuth", Runs, strip_auth::StripAuth::compile),
    // The key's state comes before its rights, and its rights before its limits: a refused request counts nothing.
    listed("KeyStateCheck", Runs, key_state::KeyStateCheck::compile).dry_run(DryRunKind::Authentication),
    listed("AccessRights", RunsOn, access_rights::AccessRights::compile).dry_run(DryRunKind::Authentication),
    listed("RpcRights", Runs, rpc_rights::RpcRights::compile).dry_run(DryRunKind::Authentication),
    // Asking for the limits must not use them up.
    listed("LimitsReport", Runs, limits_report::LimitsReport::compile),
    listed("KeyLimits", Runs, key_limits::KeyLimits::compile),
    // A token without the scopes has used up its limits, as in Tyk.
    listed("ScopeChecks", NeedsScopes, scope_check::ScopeChecks::compile).dry_run(DryRunKind::Authentication),
    // Counts only requests that have passed everything before it.
    listed("ApiRateLimit", Runs, api_rate_limit::ApiRateLimit::compile),
    // Nothing behind it reads what it denies, and a caller over a limit makes no work for it.
    listed("Waf", Waits, waf::Waf::compile),
    // Later steps may use variables that are fields of a form.
    listed("ReadForm", Runs, read_form::ReadForm::compile),
    // A caller over a limit does not make the gateway read a body.
    listed("ValidateJson", Runs, validate_json::ValidateJson::compile).dry_run(DryRunKind::Validation),
    listed("ValidateRequest", Runs, validate_request::ValidateRequest::compile).dry_run(DryRunKind::Validation),
    // The request becomes a GraphQL operation, which is checked like those of clients.
    listed("PersistGraphql", Runs, persist_graphql::PersistGraphql::compile),
    listed("GraphqlCheck", Runs, graphql_check::GraphqlCheck::compile).dry_run(DryRunKind::Validation),
    // Validation sees the body that the client sent.
    listed("TransformRequest", Runs, transform_request::TransformRequest::compile),
    listed("TransformJq", Runs, transform_jq::TransformJq::compile),
    // The request's own changes, outermost scope first: headers see the client's URL, rewrites see the changed headers. What a rule leaves out of
    // the client's request goes first, so that what these add stays.
    listed("RulePasses", Runs, rule_passes::RulePasses::compile),
    listed("RequestHeaders", Runs, request_headers::RequestHeaders::compile),
    listed("RewriteUrl", Runs, rewrite_url::RewriteUrl::compile),
    listed("TransformMethod", Runs, transform_method::TransformMethod::compile),
    // A rule of a route sees the URL by which it was found, unless a rewrite of the version has changed it.
    listed("RouteFilters", Runs, route_filters::RouteFilters::compile),
    listed("RouteResponses", Runs, route_responses::RouteResponses::compile),
    listed("McpCaller", Runs, mcp_caller::McpCaller::compile),
    listed("LlmCaller", Runs, llm_caller::LlmCaller::compile),
    // The gateway's own credentials replace what any step before has set.
    listed("UpstreamCredentials", Passes, upstream_credentials::UpstreamCredentials::compile),
    // A mock answers what a changed request would have asked, after authentication and limits.
    listed("OperationMocks", Runs, operation_mock::OperationMocks::compile),
    // Nothing after it sees what the caller must not see.
    listed("ListFilter", Runs, list_filter::ListFilter::compile),
    // Changes to the response.
    listed("TransformResponse", Runs, transform_response::TransformResponse::compile),
    listed("TransformJqResponse", Runs, transform_jq_response::TransformJqResponse::compile),
    listed("ResponseHeaders", Runs, response_headers::ResponseHeaders::compile),
    listed("ReverseHeaders", Runs, reverse_headers::ReverseHeaders::compile),
    // Clients follow the upstream's challenge to the gateway's own document.
    listed("OwnChallenge", Runs, own_challenge::OwnChallenge::compile),
    // Plugins see the response as all other changes have made it.
    listed("ResponseHooks", Runs, response_hooks::ResponseHooks::compile),
    // The document describes what clients get. What does not fit is not stored, and rules for errors see its refusal.
    listed("ValidateResponse", Runs, validate_response::ValidateResponse::compile),
    // Clients get nothing that is changed behind it but what rules for errors make, and what it denies is not stored.
    listed("WafResponses", Judges, waf_responses::WafResponses::compile),
    // Rules for errors see the response that clients would receive, and the cache stores what the rules make of it.
    listed("OverrideErrors", Runs, override_errors::OverrideErrors::compile),
    // The cache sees the request that the upstream would receive.
    listed("PostHooks", Asks, PluginHooks::post_before_cache),
    // A cache hit has counted for every limit; the cache stores what clients receive; and it serves while the breaker is open.
    listed("ResponseCache", CacheKey, response_cache::ResponseCache::compile),
    listed("SharedCacheLookup", CacheKey, shared_cache::SharedCacheLookup::compile),
    // Has counted for every limit, and may go on to the upstream.
    listed("VirtualEndpoints", Runs, virtual_endpoint::VirtualEndpoints::compile),
    // All that wants to see or change the response has said so.
    listed("OfferedStream", Runs, offered_stream::OfferedStream::compile),
    // Settings of the call to the upstream.
    listed("EndpointTimeout", Runs, endpoint_timeout::EndpointTimeout::compile),
    listed("CircuitBreak", Runs, circuit_break::CircuitBreak::compile).dry_run(DryRunKind::CircuitBreakers),
    // Signs the request as all steps before have made it.
    listed("RequestSigning", Passes, request_signing::SignRequest::compile),
    // The last word about the request, as in Tyk, unless there is a cache.
    listed("PostHooks", Asks, PluginHooks::post),
];

/// Middlewares in front of the endpoints that issue tokens.
pub const FOR_STRANGERS: &[ListedMiddleware] = &[
    listed("CrossOrigin", Runs, cross_origin::CrossOrigin::compile),
    listed("IpAllow", Runs, ip_lists::IpAllow::compile).dry_run(DryRunKind::IpLists),
    listed("IpBlock", Runs, ip_lists::IpBlock::compile).dry_run(DryRunKind::IpLists),
    listed("CertificateCheck", Recorded, certificate_check::CertificateCheck::compile).dry_run(DryRunKind::Certificates),
];

#[cfg(test)]
mod tests;
