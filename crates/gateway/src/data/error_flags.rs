//! Tyk's classes of errors: the flags by which `error_overrides` tells them apart, and the words that the access log has for them.

use crate::data::refusal::{BASIC_BODY_PASSWORD, BASIC_BODY_USER, BASIC_ENCODING, BASIC_VALUES, Refusal};
use crate::observe::error_class::{ErrorClass, PROXY, UPSTREAM};
use rustix::io::Errno;
use tollgate_engine::{Fault, FaultKind, FaultReason};

/// A class as a constant, so that classified errors need no memory.
macro_rules! class {
    ($flag:literal, $details:literal, $source:expr) => {
        Some(&ErrorClass { flag: $flag, details: $details, source: $source })
    };
}

const TOKEN: &str = "AuthKey";
const JWT: &str = "JWTMiddleware";
const BASIC: &str = "BasicAuthKeyIsValid";
const OAUTH: &str = "Oauth2KeyExists";
const LIMITS: &str = "RateLimitAndQuotaCheck";
const SIZE: &str = "RequestSizeLimitMiddleware";
const SCHEMA: &str = "ValidateJSON";
const DOCUMENT: &str = "ValidateRequest";

/// The class of upstreams' responses of 5xx.
pub(crate) const UPSTREAM_5XX: Option<&ErrorClass> = class!("URS", "upstream_response_5xx", UPSTREAM);

/// The class of a refusal; none for one that Tyk does not classify. `middleware` is the one that refused, empty if it does not matter which.
pub(crate) fn of_refusal(refusal: &Refusal, middleware: &str) -> Option<&'static ErrorClass> {
    match refusal.cause {
        "auth_missing" => of_missing_credentials(middleware),
        "key_unknown" => class!("AKI", "auth_key_not_found", TOKEN),
        "key_certificate_unknown" => class!("AKI", "auth_cert_not_found", TOKEN),
        "key_certificate_missing" => class!("CRQ", "auth_cert_required", TOKEN),
        "key_certificate_mismatch" => class!("CMM", "auth_cert_mismatch", TOKEN),
        "key_certificate_expired" => class!("TKE", "auth_cert_expired", TOKEN),
        "oauth_key_unknown" => class!("AKI", "oauth_key_not_found", OAUTH),
        "oauth_malformed" => class!("IHD", "oauth_field_malformed", OAUTH),
        "oauth_client_gone" => class!("EAD", "oauth_client_deleted", OAUTH),
        "jwt_expired" => class!("TKE", "jwt_token_expired", JWT),
        "jwt_not_yet" | "jwt_claims" => class!("TCV", "jwt_claims_invalid", JWT),
        "jwt_refused" => class!("TKI", "jwt_token_invalid", JWT),
        "jwt_method" => class!("TKI", "jwt_unexpected_signing_method", JWT),
        "basic_malformed" => of_malformed_basic(refusal),
        "key_rate_limit" => class!("RLT", "session_rate_limited", LIMITS),
        "api_rate_limit" => class!("RLT", "api_rate_limited", "RateLimitForAPI"),
        "quota_exceeded" => class!("QEX", "quota_exceeded", LIMITS),
        "length_required" => class!("CLM", "content_length_missing", SIZE),
        "request_too_large" => class!("BTL", "body_too_large", SIZE),
        "body_not_json" => class!("BIV", "json_parse_error", SCHEMA),
        "body_invalid" => class!("BIV", "schema_validation_failed", SCHEMA),
        "request_invalid" => class!("BIV", "schema_validation_failed", DOCUMENT),
        "breaker_open" => class!("CBO", "circuit_breaker_open", PROXY),
        "all_hosts_down" => class!("NHU", "no_healthy_upstreams", PROXY),
        _ => None,
    }
}

/// The flags by which a rule may name a refusal.
pub(crate) fn flags_of_refusal(refusal: &Refusal) -> [&'static str; 2] {
    match of_refusal(refusal, "") {
        // In Tyk a server of its own answers then, so that rules see the 503 of an upstream.
        Some(class) if class.flag == "NHU" => ["URS", ""],
        Some(class) => [class.flag, ""],
        None => [""; 2],
    }
}

fn of_missing_credentials(middleware: &str) -> Option<&'static ErrorClass> {
    match middleware {
        "JwtAuth" => class!("AMF", "jwt_field_missing", JWT),
        "BasicAuthCheck" => class!("AMF", "basic_auth_field_missing", BASIC),
        "OAuthToken" => class!("AMF", "oauth_field_missing", OAUTH),
        "OpenIdAuth" | "PluginAuth" | "IntrospectionAuth" => None,
        _ => class!("AMF", "auth_field_missing", TOKEN),
    }
}

fn of_malformed_basic(refusal: &Refusal) -> Option<&'static ErrorClass> {
    match refusal {
        refusal if *refusal == BASIC_BODY_USER => class!("BIV", "basic_auth_body_username_missing", BASIC),
        refusal if *refusal == BASIC_BODY_PASSWORD => class!("BIV", "basic_auth_body_password_missing", BASIC),
        refusal if *refusal == BASIC_ENCODING => class!("IHD", "basic_auth_encoding_invalid", BASIC),
        refusal if *refusal == BASIC_VALUES => class!("IHD", "basic_auth_values_malformed", BASIC),
        _ => class!("IHD", "basic_auth_header_malformed", BASIC),
    }
}

/// The class of a fault; none for one that is neither the upstream's nor the client's end.
pub(crate) fn of_fault(fault: &Fault) -> Option<&'static ErrorClass> {
    match fault.kind {
        FaultKind::Lookup => class!("DNS", "dns_not_found", PROXY),
        FaultKind::UpstreamTimeout => class!("URT", "context_deadline_exceeded", PROXY),
        FaultKind::ConnectTimeout => class!("URT", "request_timeout", PROXY),
        FaultKind::Tls | FaultKind::UpstreamClosed => of_reason(fault.reason),
        FaultKind::Connect => match fault.reason {
            FaultReason::Os(number) => of_errno(Errno::from_raw_os_error(number)),
            _ => class!("UCF", "connection_refused", PROXY),
        },
        FaultKind::UpstreamMalformed(_) | FaultKind::UpstreamHeadTooLarge => class!("UPE", "upstream_error", PROXY),
        FaultKind::ClientGone => class!("CDC", "client_disconnected", PROXY),
        FaultKind::BodyTooLarge | FaultKind::BodyMalformed(_) | FaultKind::ClientTimeout | FaultKind::TooManyTunnels => None,
    }
}

/// The flags by which a rule may name a fault.
pub(crate) fn flags_of_fault(fault: &Fault) -> [&'static str; 2] {
    let flag = of_fault(fault).map_or("", |class| class.flag);
    // Tyk calls it by either, depending on who was first to notice.
    [flag, if fault.kind == FaultKind::ConnectTimeout { "UCT" } else { "" }]
}

/// TLS alerts come after the handshake too: with TLS 1.3 a server refuses a client's certificate then.
fn of_reason(reason: FaultReason) -> Option<&'static ErrorClass> {
    match reason {
        FaultReason::CertificateExpired => class!("TLE", "tls_certificate_expired", PROXY),
        FaultReason::CertificateName => class!("TLM", "tls_hostname_mismatch", PROXY),
        FaultReason::CertificateIssuer => class!("TLN", "tls_unknown_authority", PROXY),
        FaultReason::CertificateInvalid => class!("TLI", "tls_certificate_invalid", PROXY),
        FaultReason::TlsProtocol => class!("TLP", "tls_protocol_error", PROXY),
        FaultReason::TlsVersion => class!("TLP", "tls_protocol_version_error", PROXY),
        FaultReason::TlsAlert => class!("TLA", "tls_alert_received", PROXY),
        FaultReason::TlsRefused | FaultReason::TlsHandshake => class!("TLH", "tls_handshake_failure", PROXY),
        FaultReason::Os(number) => of_errno(Errno::from_raw_os_error(number)),
        // The upstream closed without a word.
        FaultReason::Other => class!("UPE", "upstream_error", PROXY),
    }
}

fn of_errno(errno: Errno) -> Option<&'static ErrorClass> {
    match errno {
        Errno::CONNREFUSED => class!("UCF", "connection_refused", PROXY),
        Errno::TIMEDOUT => class!("UCT", "connection_timeout", PROXY),
        Errno::CONNRESET => class!("URR", "connection_reset", PROXY),
        Errno::NETUNREACH => class!("NRH", "network_unreachable", PROXY),
        Errno::HOSTUNREACH => class!("NRH", "host_unreachable", PROXY),
        Errno::PIPE => class!("EPI", "broken_pipe", PROXY),
        Errno::CONNABORTED => class!("CAB", "connection_aborted", PROXY),
        Errno::NETRESET => class!("NRS", "network_reset", PROXY),
        _ => class!("UPE", "upstream_error", PROXY),
    }
}

#[cfg(test)]
mod tests;
