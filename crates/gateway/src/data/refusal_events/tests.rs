use super::{EventKey, event_of, user_of};
use crate::data::refusal::{self, CATALOGUE};
use tollgate_model::events::EventKind;

/// Which refusals are events in Tyk (31e219b): calls of AuthFailed, FireEvent and handleRateLimitFailure in its middlewares.
#[test]
fn refusals_are_the_events_of_tyk() {
    for (middleware, refusal, wanted) in [
        ("TokenAuth", refusal::AUTH_MISSING, None),
        ("BasicAuthCheck", refusal::BASIC_MISSING, None),
        ("JwtAuth", refusal::JWT_MISSING, Some((EventKind::AuthFailure, EventKey::Text("")))),
        ("OpenIdAuth", refusal::OPENID_MISSING, Some((EventKind::AuthFailure, EventKey::Text("[JWT]")))),
        ("TokenAuth", refusal::KEY_DISALLOWED, Some((EventKind::AuthFailure, EventKey::OfRequest))),
        ("BasicAuthCheck", refusal::BASIC_REFUSED, Some((EventKind::AuthFailure, EventKey::User))),
        ("IpAllow", refusal::IP_DISALLOWED, Some((EventKind::AuthFailure, EventKey::Address))),
        ("KeyStateCheck", refusal::KEY_EXPIRED, Some((EventKind::KeyExpired, EventKey::OfRequest))),
        ("KeyStateCheck", refusal::KEY_INACTIVE, Some((EventKind::KeyExpired, EventKey::OfRequest))),
        ("KeyLimits", refusal::KEY_RATE_LIMIT, Some((EventKind::RateLimitExceeded, EventKey::OfRequest))),
        ("KeyLimits", refusal::QUOTA_EXCEEDED, Some((EventKind::QuotaExceeded, EventKey::OfRequest))),
        ("ApiRateLimit", refusal::API_RATE_LIMIT, Some((EventKind::RateLimitExceeded, EventKey::ApiLimit))),
        ("OrgLimits", refusal::ORG_QUOTA, Some((EventKind::OrgQuotaExceeded, EventKey::Organisation))),
        ("OrgLimits", refusal::ORG_RATE_LIMIT, Some((EventKind::OrgRateLimitExceeded, EventKey::Organisation))),
        ("OrgLimits", refusal::ORG_DISABLED, None),
        ("AccessCheck", refusal::FORBIDDEN_ENDPOINT, Some((EventKind::VersionFailure, EventKey::Text("")))),
        ("AccessRights", refusal::API_DISALLOWED, None),
        ("CircuitBreak", refusal::BREAKER_OPEN, None),
    ] {
        let event = event_of(middleware, &refusal).map(|(kind, _, key)| (kind, key));
        assert_eq!(event, wanted, "{middleware} {}", refusal.cause);
    }
}

#[test]
fn every_event_of_a_refusal_has_words() {
    for refusal in CATALOGUE {
        if let Some((kind, message, _)) = event_of("", refusal) {
            assert!(!message.is_empty(), "{}", kind.name());
        }
    }
}

#[test]
fn users_are_named_without_their_passwords() {
    for (line, user) in [
        ("Basic YWxpY2U6c2VjcmV0", Some("alice")),
        ("basic YWxpY2U6c2U6Y3JldA==", Some("alice")),
        ("Basic YWxpY2U=", None),
        ("Basic %%%", None),
        ("Bearer YWxpY2U6c2VjcmV0", None),
        ("", None),
    ] {
        assert_eq!(user_of(line).as_deref(), user, "{line}");
    }
}
