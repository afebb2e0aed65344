use crate::refusal::{self, CATALOGUE};

/// Flag, details and source of refusals; recorded from Tyk 5.14.0.
#[test]
fn refusals_have_the_classes_that_tyk_gives_them() {
    for (refused, expected) in [
        (refusal::AUTH_MISSING, ["AMF", "auth_field_missing", "AuthKey"]),
        (refusal::JWT_MISSING, ["AMF", "jwt_field_missing", "JWTMiddleware"]),
        (refusal::BASIC_MISSING, ["AMF", "basic_auth_field_missing", "BasicAuthKeyIsValid"]),
        (refusal::OAUTH_MISSING, ["AMF", "oauth_field_missing", "Oauth2KeyExists"]),
        (refusal::OAUTH_MALFORMED, ["IHD", "oauth_field_malformed", "Oauth2KeyExists"]),
        (refusal::OAUTH_KEY_UNKNOWN, ["AKI", "oauth_key_not_found", "Oauth2KeyExists"]),
        (refusal::KEY_DISALLOWED, ["AKI", "auth_key_not_found", "AuthKey"]),
        (refusal::JWT_EXPIRED, ["TKE", "jwt_token_expired", "JWTMiddleware"]),
        (refusal::JWT_NOT_YET, ["TCV", "jwt_claims_invalid", "JWTMiddleware"]),
        (refusal::JWT_BEFORE_ISSUED, ["TCV", "jwt_claims_invalid", "JWTMiddleware"]),
        (refusal::JWT_REFUSED, ["TKI", "jwt_token_invalid", "JWTMiddleware"]),
        (refusal::JWT_METHOD, ["TKI", "jwt_unexpected_signing_method", "JWTMiddleware"]),
        (refusal::BASIC_FORMAT, ["IHD", "basic_auth_header_malformed", "BasicAuthKeyIsValid"]),
        (refusal::BASIC_ENCODING, ["IHD", "basic_auth_encoding_invalid", "BasicAuthKeyIsValid"]),
        (refusal::BASIC_VALUES, ["IHD", "basic_auth_values_malformed", "BasicAuthKeyIsValid"]),
        (refusal::BASIC_BODY_USER, ["BIV", "basic_auth_body_username_missing", "BasicAuthKeyIsValid"]),
        (refusal::KEY_RATE_LIMIT, ["RLT", "session_rate_limited", "RateLimitAndQuotaCheck"]),
        (refusal::API_RATE_LIMIT, ["RLT", "api_rate_limited", "RateLimitForAPI"]),
        (refusal::QUOTA_EXCEEDED, ["QEX", "quota_exceeded", "RateLimitAndQuotaCheck"]),
        (refusal::REQUEST_TOO_LARGE, ["BTL", "body_too_large", "RequestSizeLimitMiddleware"]),
        (refusal::LENGTH_REQUIRED, ["CLM", "content_length_missing", "RequestSizeLimitMiddleware"]),
        (refusal::BREAKER_OPEN, ["CBO", "circuit_breaker_open", "ReverseProxy"]),
        (refusal::ALL_HOSTS_DOWN, ["NHU", "no_healthy_upstreams", "ReverseProxy"]),
    ] {
        let class = refused.facts.class.unwrap();
        assert_eq!([class.flag, class.details, class.source], expected, "{refused:?}");
        let flag = if expected[0] == "NHU" { "URS" } else { expected[0] };
        assert_eq!(refused.facts.flag, flag, "{refused:?}");
    }
    for refused in [
        refusal::FORBIDDEN_ENDPOINT,
        refusal::BASIC_REFUSED,
        refusal::JWT_NO_POLICY,
        refusal::KEY_INACTIVE,
        refusal::API_DISALLOWED,
        refusal::RESOURCE_DISALLOWED,
        refusal::IP_DISALLOWED,
        refusal::VERSION_UNKNOWN,
        refusal::LOOP_TOO_DEEP,
        refusal::OPENID_MISSING,
    ] {
        assert_eq!(refused.facts.class, None, "{refused:?}");
    }
    let flagged = CATALOGUE.iter().filter(|refusal| refusal.facts.class.is_some()).count();
    assert!(flagged > 25, "{flagged}");
}
