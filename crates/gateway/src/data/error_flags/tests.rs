use super::*;
use crate::data::refusal::{self, CATALOGUE};

/// Flag, details and source of refusals by middleware; recorded from Tyk 5.14.0.
#[test]
fn refusals_have_the_classes_that_tyk_gives_them() {
    for (refused, middleware, expected) in [
        (refusal::AUTH_MISSING, "TokenAuth", ["AMF", "auth_field_missing", "AuthKey"]),
        (refusal::JWT_MISSING, "JwtAuth", ["AMF", "jwt_field_missing", "JWTMiddleware"]),
        (refusal::BASIC_MISSING, "BasicAuthCheck", ["AMF", "basic_auth_field_missing", "BasicAuthKeyIsValid"]),
        (refusal::OAUTH_MISSING, "OAuthToken", ["AMF", "oauth_field_missing", "Oauth2KeyExists"]),
        (refusal::OAUTH_MALFORMED, "OAuthToken", ["IHD", "oauth_field_malformed", "Oauth2KeyExists"]),
        (refusal::OAUTH_KEY_UNKNOWN, "OAuthToken", ["AKI", "oauth_key_not_found", "Oauth2KeyExists"]),
        (refusal::KEY_DISALLOWED, "TokenAuth", ["AKI", "auth_key_not_found", "AuthKey"]),
        (refusal::JWT_EXPIRED, "JwtAuth", ["TKE", "jwt_token_expired", "JWTMiddleware"]),
        (refusal::JWT_NOT_YET, "JwtAuth", ["TCV", "jwt_claims_invalid", "JWTMiddleware"]),
        (refusal::JWT_BEFORE_ISSUED, "JwtAuth", ["TCV", "jwt_claims_invalid", "JWTMiddleware"]),
        (refusal::JWT_REFUSED, "JwtAuth", ["TKI", "jwt_token_invalid", "JWTMiddleware"]),
        (refusal::JWT_METHOD, "JwtAuth", ["TKI", "jwt_unexpected_signing_method", "JWTMiddleware"]),
        (refusal::BASIC_FORMAT, "BasicAuthCheck", ["IHD", "basic_auth_header_malformed", "BasicAuthKeyIsValid"]),
        (refusal::BASIC_ENCODING, "BasicAuthCheck", ["IHD", "basic_auth_encoding_invalid", "BasicAuthKeyIsValid"]),
        (refusal::BASIC_VALUES, "BasicAuthCheck", ["IHD", "basic_auth_values_malformed", "BasicAuthKeyIsValid"]),
        (refusal::BASIC_BODY_USER, "BasicAuthCheck", ["BIV", "basic_auth_body_username_missing", "BasicAuthKeyIsValid"]),
        (refusal::KEY_RATE_LIMIT, "KeyLimits", ["RLT", "session_rate_limited", "RateLimitAndQuotaCheck"]),
        (refusal::API_RATE_LIMIT, "ApiRateLimit", ["RLT", "api_rate_limited", "RateLimitForAPI"]),
        (refusal::QUOTA_EXCEEDED, "KeyLimits", ["QEX", "quota_exceeded", "RateLimitAndQuotaCheck"]),
        (refusal::REQUEST_TOO_LARGE, "RequestSize", ["BTL", "body_too_large", "RequestSizeLimitMiddleware"]),
        (refusal::LENGTH_REQUIRED, "RequestSize", ["CLM", "content_length_missing", "RequestSizeLimitMiddleware"]),
        (refusal::BREAKER_OPEN, "CircuitBreak", ["CBO", "circuit_breaker_open", "ReverseProxy"]),
        (refusal::ALL_HOSTS_DOWN, "", ["NHU", "no_healthy_upstreams", "ReverseProxy"]),
    ] {
        let class = of_refusal(&refused, middleware).unwrap();
        assert_eq!([class.flag, class.details, class.source], expected, "{refused:?}");
        let flag = if expected[0] == "NHU" { "URS" } else { expected[0] };
        assert_eq!(flags_of_refusal(&refused), [flag, ""], "{refused:?}");
    }
    for (refused, middleware) in [
        (refusal::FORBIDDEN_ENDPOINT, "AccessCheck"),
        (refusal::BASIC_REFUSED, "BasicAuthCheck"),
        (refusal::JWT_NO_POLICY, "JwtAuth"),
        (refusal::KEY_INACTIVE, "KeyStateCheck"),
        (refusal::API_DISALLOWED, "AccessRights"),
        (refusal::RESOURCE_DISALLOWED, "AccessRights"),
        (refusal::IP_DISALLOWED, "IpAllow"),
        (refusal::VERSION_UNKNOWN, ""),
        (refusal::LOOP_TOO_DEEP, ""),
        (refusal::OPENID_MISSING, "OpenIdAuth"),
    ] {
        assert_eq!(of_refusal(&refused, middleware), None, "{refused:?}");
    }
    let flagged = CATALOGUE.iter().filter(|refusal| of_refusal(refusal, "").is_some()).count();
    assert!(flagged > 25, "{flagged}");
}

/// Flag and details of faults; those with TLS, resets and the client's end recorded from Tyk 5.14.0, others from its rules.
#[test]
fn a_fault_has_the_class_of_its_reason() {
    let os = |errno: Errno| FaultReason::Os(errno.raw_os_error());
    for (kind, reason, expected) in [
        (FaultKind::Lookup, FaultReason::Other, ["DNS", "dns_not_found"]),
        (FaultKind::Connect, os(Errno::CONNREFUSED), ["UCF", "connection_refused"]),
        (FaultKind::Connect, os(Errno::HOSTUNREACH), ["NRH", "host_unreachable"]),
        (FaultKind::Connect, os(Errno::NETUNREACH), ["NRH", "network_unreachable"]),
        (FaultKind::Connect, os(Errno::TIMEDOUT), ["UCT", "connection_timeout"]),
        (FaultKind::Connect, FaultReason::Other, ["UCF", "connection_refused"]),
        (FaultKind::ConnectTimeout, FaultReason::Other, ["URT", "request_timeout"]),
        (FaultKind::UpstreamTimeout, FaultReason::Other, ["URT", "context_deadline_exceeded"]),
        (FaultKind::UpstreamClosed, os(Errno::CONNRESET), ["URR", "connection_reset"]),
        (FaultKind::UpstreamClosed, os(Errno::PIPE), ["EPI", "broken_pipe"]),
        (FaultKind::UpstreamClosed, os(Errno::CONNABORTED), ["CAB", "connection_aborted"]),
        (FaultKind::UpstreamClosed, os(Errno::NETRESET), ["NRS", "network_reset"]),
        (FaultKind::UpstreamClosed, FaultReason::TlsRefused, ["TLH", "tls_handshake_failure"]),
        (FaultKind::UpstreamClosed, FaultReason::Other, ["UPE", "upstream_error"]),
        (FaultKind::UpstreamHeadTooLarge, FaultReason::Other, ["UPE", "upstream_error"]),
        (FaultKind::Tls, FaultReason::CertificateExpired, ["TLE", "tls_certificate_expired"]),
        (FaultKind::Tls, FaultReason::CertificateIssuer, ["TLN", "tls_unknown_authority"]),
        (FaultKind::Tls, FaultReason::CertificateName, ["TLM", "tls_hostname_mismatch"]),
        (FaultKind::Tls, FaultReason::CertificateInvalid, ["TLI", "tls_certificate_invalid"]),
        (FaultKind::Tls, FaultReason::TlsProtocol, ["TLP", "tls_protocol_error"]),
        (FaultKind::Tls, FaultReason::TlsVersion, ["TLP", "tls_protocol_version_error"]),
        (FaultKind::Tls, FaultReason::TlsRefused, ["TLH", "tls_handshake_failure"]),
        (FaultKind::Tls, FaultReason::TlsAlert, ["TLA", "tls_alert_received"]),
        (FaultKind::Tls, FaultReason::Other, ["UPE", "upstream_error"]),
        (FaultKind::ClientGone, FaultReason::Other, ["CDC", "client_disconnected"]),
    ] {
        let fault = Fault { kind, detail: String::new(), reason };
        let class = of_fault(&fault).unwrap();
        assert_eq!([class.flag, class.details], expected, "{kind:?} {reason:?}");
        assert_eq!(class.source, PROXY);
        assert_eq!(flags_of_fault(&fault), [expected[0], if kind == FaultKind::ConnectTimeout { "UCT" } else { "" }]);
    }
    assert_eq!(of_fault(&Fault { kind: FaultKind::BodyTooLarge, detail: String::new(), reason: FaultReason::Other }), None);
}
