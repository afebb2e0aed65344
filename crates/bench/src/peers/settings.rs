//! Properties of a case that several adapters need.

use crate::scenario::{ApiSpec, Auth, Case, LimitSpec};

/// A feature that a case needs and a gateway may lack.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Keys,
    /// A limit per key or for all callers.
    Limits,
    /// More than one limit.
    SeveralLimits,
    Quota,
    Methods,
    AllowedAddresses,
    RequestHeaders,
    ResponseHeaders,
    Records,
    /// Fields of a classic Tyk definition.
    Definition,
    ManyApis,
    /// Authentication of callers by tokens, passwords and signatures.
    AuthMethod,
    /// TLS between client and gateway.
    Tls,
    /// HTTP/2 between client and gateway.
    Http2,
    /// Fields of Tyk's configuration.
    Settings,
    /// Stored responses.
    Cache,
    WebSocket,
}

/// The features of nginx and HAProxy as shipped.
pub(crate) const PROXY: [Need; 12] = [
    Need::Keys,
    Need::Limits,
    Need::SeveralLimits,
    Need::Methods,
    Need::AllowedAddresses,
    Need::RequestHeaders,
    Need::ResponseHeaders,
    Need::Records,
    Need::ManyApis,
    Need::Tls,
    Need::Http2,
    Need::WebSocket,
];

impl Need {
    fn said(self) -> &'static str {
        match self {
            Need::Keys => "keys",
            Need::Limits => "rate limits",
            Need::SeveralLimits => "several rate limits",
            Need::Quota => "quotas",
            Need::Methods => "method filters for a key",
            Need::AllowedAddresses => "address lists",
            Need::RequestHeaders => "request headers set",
            Need::ResponseHeaders => "response headers set",
            Need::Records => "records of requests",
            Need::Definition => "features written as a Tyk definition",
            Need::ManyApis => "many APIs",
            Need::AuthMethod => "tokens, passwords and signatures",
            Need::Tls => "TLS",
            Need::Http2 => "HTTP/2",
            Need::Settings => "settings written as Tyk's configuration",
            Need::Cache => "stored responses",
            Need::WebSocket => "WebSockets",
        }
    }
}

/// The features that the case needs.
pub(crate) fn needs(case: &Case) -> Vec<Need> {
    let ApiSpec {
        auth,
        limit,
        analytics,
        allow_ips,
        set_headers,
        set_response_headers,
        definition,
        among,
        auth_method,
        tls,
        http2,
        cache,
        ..
    } = &case.api;
    let key = case.key.as_ref();
    let limits = limits(case).len();
    let asked = [
        (Need::Keys, auth.is_some()),
        (Need::Limits, limits > 0),
        (Need::SeveralLimits, limits > 1),
        (Need::Quota, key.is_some_and(|key| key.quota.is_some())),
        (Need::Methods, key.is_some_and(|key| !key.methods.is_empty())),
        (Need::AllowedAddresses, !allow_ips.is_empty()),
        (Need::RequestHeaders, !set_headers.is_empty()),
        (Need::ResponseHeaders, !set_response_headers.is_empty()),
        (Need::Records, *analytics),
        (Need::Definition, !definition.is_empty()),
        (Need::ManyApis, *among > 1),
        (Need::AuthMethod, auth_method.is_some()),
        (Need::Tls, tls.is_some()),
        (Need::Http2, *http2),
        (Need::Settings, !case.settings.is_empty()),
        (Need::Cache, *cache),
        (Need::WebSocket, case.request.websocket),
    ];
    debug_assert!(limit.is_none() || limits > 0);
    asked.into_iter().filter_map(|(need, is_asked)| is_asked.then_some(need)).collect()
}

/// Names the features that the case needs beyond `can`; `None` if there are none.
pub(crate) fn beyond(case: &Case, can: &[Need]) -> Option<String> {
    let missing: Vec<_> = needs(case).into_iter().filter(|need| !can.contains(need)).map(Need::said).collect();
    if missing.is_empty() { None } else { Some(format!("nothing for {}, as shipped or in its adapter", missing.join(", "))) }
}

/// All limits that apply to a caller. There is only one key, so a limit for all callers is another limit for it.
pub(crate) fn limits(case: &Case) -> Vec<LimitSpec> {
    case.key.iter().flat_map(|key| key.limits.iter().copied()).chain(case.api.limit).collect()
}

/// The known key, and its place in requests.
pub(crate) fn key(case: &Case) -> Option<(&Auth, &str)> {
    Some((case.api.auth.as_ref()?, case.key.as_ref().map_or("", |key| key.value.as_str())))
}
