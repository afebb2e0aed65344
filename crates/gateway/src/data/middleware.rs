//! The steps between a request and its upstream. A middleware is a plain, synchronous function of the exchange, compiled for one
//! version of one API; one that is not used is not in the chain. To add one: a file here, and a line in its place below.

mod bodies;
mod header_plan;
mod limit_headers;
mod source;

pub(crate) use source::{Context, Maker, MiddlewareSource};

use crate::data::exchange::{Exchange, Step};
use crate::data::header_names::HeaderNames;

/// Each line names a file and its middlewares; each list is what runs, in this order.
macro_rules! middlewares {
    ($($(#[$about:meta])* $list:ident { $($file:ident: $($middleware:ident),+;)+ })+) => {
        $($(mod $file;)+)+
        $($(#[$about])* pub(crate) const $list: &[Maker] = &[$($($file::$middleware::compile),+),+];)+
    };
}

middlewares! {
    /// Before it is known who calls.
    PRE_AUTH {
        // What an endpoint is decides whether anything else matters: closed, open to all, or answered here.
        access: AccessCheck;
        // Who is not to be recorded is not, whatever comes next.
        track: TrackEndpoint;
        // Before everything that may refuse, so that a browser can read refusals.
        cross_origin: CrossOrigin;
        // The cheapest way to turn somebody away comes first.
        ip_lists: IpAllow, IpBlock;
        // A client without the right certificate uses up nobody's limits.
        certificate_check: CertificateCheck;
        // The organisation's limits hold for all that comes to its APIs, callers without a key too.
        org_limits: OrgLimits;
        request_size: RequestSize;
    }

    /// Finds out who calls: all of these, or all of one alternative.
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
        token_auth: TokenAuth;
    }

    /// Never runs for strangers.
    POST_AUTH {
        // The upstream has no business with the key.
        strip_auth: StripAuth;
        // What is wrong with the key itself comes before what it may do, and that before how often: a refused request counts nothing.
        key_state: KeyStateCheck;
        access_rights: AccessRights;
        // Asking for one's limits must not use them up.
        limits_report: LimitsReport;
        key_limits: KeyLimits;
        // Counts only what was let in so far.
        api_rate_limit: ApiRateLimit;
        // What follows may have variables that are fields of a form.
        read_form: ReadForm;
        // A caller who is over a limit has no body read.
        validate_json: ValidateJson;
        // What was validated is what the client sent.
        transform_request: TransformRequest;
        // The request's own changes, outermost scope first: headers see the client's URL, rewrites see the changed headers.
        request_headers: RequestHeaders;
        rewrite_url: RewriteUrl;
        transform_method: TransformMethod;
        // What the response will get.
        transform_response: TransformResponse;
        response_headers: ResponseHeaders;
        // A hit has counted for every limit; what is stored is what clients get; and it serves while the upstream is spared.
        response_cache: ResponseCache;
        // How the upstream is called.
        endpoint_timeout: EndpointTimeout;
        circuit_break: CircuitBreak;
    }
}

/// What a caller must pass to reach the endpoints where tokens are given.
pub(crate) const FOR_STRANGERS: &[Maker] = &[
    cross_origin::CrossOrigin::compile,
    ip_lists::IpAllow::compile,
    ip_lists::IpBlock::compile,
    certificate_check::CertificateCheck::compile,
];

/// One step.
pub(crate) trait Middleware: Send + Sync {
    /// What figures call it: the name of its type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>().rsplit("::").next().unwrap_or_default()
    }

    /// Forgets the public keys of others that it fetched; the next request that needs one waits for it.
    fn forget_key_sets(&self) {}

    /// Adds the request headers that it sets, removes or reads. Where credentials stand is known without it.
    fn header_names(&self, _: &mut HeaderNames) {}

    /// Looks at a request, changes what it is there to change, and lets it pass or not.
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step;
}
