//! The steps between a request and its upstream. A middleware is a plain, synchronous function of the exchange, compiled for one version of
//! one API; an unused one is not in the chain. To add one: a file here, and a line in its place below.

mod bodies;
mod dry_run;
mod header_plan;
mod limit_headers;
mod source;

pub(crate) use dry_run::dry_run;
pub(crate) use resource_metadata::challenged;
pub(crate) use source::{Context, Maker, MiddlewareSource};

use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;
use crate::data::refusal::Refusal;
use crate::observe::LimitFact;
use serde::Serialize;
use utoipa::ToSchema;

/// Each line names a file and its middlewares; each list runs in this order.
macro_rules! middlewares {
    ($($(#[$about:meta])* $list:ident { $($file:ident: $($middleware:ident),+;)+ })+) => {
        $($(mod $file;)+)+
        $($(#[$about])* pub(crate) const $list: &[Maker] = &[$($($file::$middleware::compile),+),+];)+

        /// The name of the list that a middleware is in; empty for an unknown one.
        fn list_of(middleware: &str) -> &'static str {
            $(if [$($(stringify!($middleware)),+),+].contains(&middleware) {
                return stringify!($list);
            })+
            ""
        }
    };
}

middlewares! {
    /// Runs before the caller is identified.
    PRE_AUTH {
        // Nothing is served without the plugins that an API asks for.
        refused_plugins: RefusedPlugins;
        // The endpoint's kind decides whether anything else matters: closed, open to all, or answered here.
        access: AccessCheck;
        // Requests that must not be recorded are excluded, whatever happens next.
        track: TrackEndpoint;
        // Runs before everything that may refuse, so that a browser can read refusals.
        cross_origin: CrossOrigin;
        // A page for people, which needs no key, as in Tyk.
        graphql_playground: GraphqlPlaygroundPage;
        // Plugins may change what everything after them checks.
        pre_hooks: PreHooks;
        // The cheapest reason to reject comes first.
        ip_lists: IpAllow, IpBlock;
        // A client without the right certificate uses up no limits.
        certificate_check: CertificateCheck;
        // The organisation's limits apply to all requests to its APIs, including those without a key.
        org_limits: OrgLimits;
        request_size: RequestSize;
        // Clients without a token ask where to get one.
        resource_metadata: ResourceMetadata;
    }

    /// Identifies the caller: all of these must succeed, or all of one alternative.
    AUTH {
        unsupported_auth: UnsupportedAuth;
        any_auth: AnyAuth;
        oauth_token: OAuthToken;
        introspection_auth: IntrospectionAuth;
        basic_auth: BasicAuthCheck;
        signature_auth: SignatureAuth;
        jwt_auth: JwtAuth;
        openid_auth: OpenIdAuth;
        forward_auth: ForwardAuthCheck;
        plugin_auth: PluginAuth;
        token_auth: TokenAuth;
    }

    /// Runs only after authentication.
    POST_AUTH {
        // Plugins see the key and may change what rights and limits apply to.
        post_key_auth_hooks: PostKeyAuthHooks;
        // Plugins may have changed the endpoint.
        track_changed: TrackChanged;
        // The upstream must not see the key.
        strip_auth: StripAuth;
        // The key's state comes before its rights, and its rights before its limits: a refused request counts nothing.
        key_state: KeyStateCheck;
        access_rights: AccessRights;
        // Asking for the limits must not use them up.
        limits_report: LimitsReport;
        key_limits: KeyLimits;
        // A token without the scopes has used up its limits, as in Tyk.
        scope_check: ScopeChecks;
        // Counts only requests that have passed everything before it.
        api_rate_limit: ApiRateLimit;
        // Later steps may use variables that are fields of a form.
        read_form: ReadForm;
        // A caller over a limit does not make the gateway read a body.
        validate_json: ValidateJson;
        validate_request: ValidateRequest;
        // The request becomes a GraphQL operation, which is checked like those of clients.
        persist_graphql: PersistGraphql;
        graphql_check: GraphqlCheck;
        // Validation sees the body that the client sent.
        transform_request: TransformRequest;
        transform_jq: TransformJq;
        // The request's own changes, outermost scope first: headers see the client's URL, rewrites see the changed headers.
        request_headers: RequestHeaders;
        rewrite_url: RewriteUrl;
        transform_method: TransformMethod;
        // The gateway's own credentials replace what any step before has set.
        upstream_credentials: UpstreamCredentials;
        // A mock answers what a changed request would have asked, after authentication and limits.
        operation_mock: OperationMocks;
        // Changes to the response.
        transform_response: TransformResponse;
        transform_jq_response: TransformJqResponse;
        response_headers: ResponseHeaders;
        reverse_headers: ReverseHeaders;
        // Plugins see the response as all other changes have made it.
        response_hooks: ResponseHooks;
        // The document describes what clients get. What does not fit is not stored, and rules for errors see its refusal.
        validate_response: ValidateResponse;
        // Rules for errors see the response that clients would receive, and the cache stores what the rules make of it.
        override_errors: OverrideErrors;
        // The cache sees the request that the upstream would receive.
        post_hooks_before_cache: PostHooksBeforeCache;
        // A cache hit has counted for every limit; the cache stores what clients receive; and it serves while the breaker is open.
        response_cache: ResponseCache;
        shared_cache: SharedCacheLookup;
        // Has counted for every limit, and may go on to the upstream.
        virtual_endpoint: VirtualEndpoints;
        // Settings of the call to the upstream.
        endpoint_timeout: EndpointTimeout;
        circuit_break: CircuitBreak;
        // Signs the request as all steps before have made it.
        request_signing: RequestSigning;
        // The last word about the request, as in Tyk, unless there is a cache.
        post_hooks: PostHooks;
    }
}

/// Middlewares in front of the endpoints that issue tokens.
pub(crate) const FOR_STRANGERS: &[Maker] = &[
    cross_origin::CrossOrigin::compile,
    ip_lists::IpAllow::compile,
    ip_lists::IpBlock::compile,
    certificate_check::CertificateCheck::compile,
];

/// Part of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ChainPhase {
    /// Before the caller is identified.
    PreAuth,
    /// Identifies the caller.
    Auth,
    /// After authentication.
    PostAuth,
}

impl ChainPhase {
    /// The part that a middleware belongs to.
    pub(crate) fn of(middleware: &str) -> Self {
        match list_of(middleware) {
            "PRE_AUTH" => ChainPhase::PreAuth,
            "AUTH" => ChainPhase::Auth,
            _ => ChainPhase::PostAuth,
        }
    }
}

/// One step of a chain.
pub(crate) trait Middleware: Send + Sync {
    /// Name in metrics: the name of its type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>().rsplit("::").next().unwrap_or_default()
    }

    /// Drops the public keys that it fetched; the next request that needs one waits for it.
    fn forget_key_sets(&self) {}

    /// Adds the request headers that it sets, removes or reads, except for the places of credentials.
    fn header_names(&self, _: &mut HeaderNames) {}

    /// The limit behind one of its refusals, for people who look. Called right after the refusal, for few of them.
    fn limit_of(&self, _: &Exchange<'_>, _: &Refusal) -> Option<LimitFact> {
        None
    }

    /// The key under which it would look for a stored response, without the definition's part; `None` if it would not look for one.
    fn cache_key(&self, _: &mut Exchange<'_>) -> Option<String> {
        None
    }

    /// Whether it only prepares the processing of the response, which is due even if a middleware before it has answered the request.
    fn is_for_responses(&self) -> bool {
        false
    }

    /// Checks and changes a request, and lets it pass or not.
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step;
}
