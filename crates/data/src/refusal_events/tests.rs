use super::user_of;
use crate::refusal::{self, CATALOGUE, EventKey};
use tollgate_model::events::EventKind;

/// Which refusals are events in Tyk (31e219b): calls of AuthFailed, FireEvent and handleRateLimitFailure in its middlewares.
#[test]
fn refusals_are_the_events_of_tyk() {
    for (refusal, wanted) in [
        (refusal::AUTH_MISSING, None),
        (refusal::BASIC_MISSING, None),
        (refusal::JWT_MISSING, Some((EventKind::AuthFailure, EventKey::Text("")))),
        (refusal::OPENID_MISSING, Some((EventKind::AuthFailure, EventKey::Text("[JWT]")))),
        (refusal::KEY_DISALLOWED, Some((EventKind::AuthFailure, EventKey::OfRequest))),
        (refusal::BASIC_REFUSED, Some((EventKind::AuthFailure, EventKey::User))),
        (refusal::IP_DISALLOWED, Some((EventKind::AuthFailure, EventKey::Address))),
        (refusal::KEY_EXPIRED, Some((EventKind::KeyExpired, EventKey::OfRequest))),
        (refusal::KEY_INACTIVE, Some((EventKind::KeyExpired, EventKey::OfRequest))),
        (refusal::KEY_RATE_LIMIT, Some((EventKind::RateLimitExceeded, EventKey::OfRequest))),
        (refusal::QUOTA_EXCEEDED, Some((EventKind::QuotaExceeded, EventKey::OfRequest))),
        (refusal::API_RATE_LIMIT, Some((EventKind::RateLimitExceeded, EventKey::ApiLimit))),
        (refusal::ORG_QUOTA, Some((EventKind::OrgQuotaExceeded, EventKey::Organisation))),
        (refusal::ORG_RATE_LIMIT, Some((EventKind::OrgRateLimitExceeded, EventKey::Organisation))),
        (refusal::ORG_DISABLED, None),
        (refusal::WAF_DENIED, Some((EventKind::WafDenied, EventKey::OfRequest))),
        (refusal::WAF_RESPONSE_DENIED, Some((EventKind::WafDenied, EventKey::OfRequest))),
        (refusal::FORBIDDEN_ENDPOINT, Some((EventKind::VersionFailure, EventKey::Text("")))),
        (refusal::API_DISALLOWED, None),
        (refusal::BREAKER_OPEN, None),
        (refusal::of_plugin(401, String::new(), true), Some((EventKind::AuthFailure, EventKey::OfRequest))),
        (refusal::of_plugin(401, String::new(), false), None),
        (refusal::jwt_claims(String::new()), None),
    ] {
        let event = refusal.facts.event.map(|event| (event.kind, event.key));
        assert_eq!(event, wanted, "{}", refusal.cause);
    }
}

#[test]
fn every_event_of_a_refusal_has_words() {
    for event in CATALOGUE.iter().filter_map(|refusal| refusal.facts.event) {
        // The refusal itself says why a token is missing.
        assert!(!event.message.is_empty() || event.kind == EventKind::UpstreamOAuthError, "{}", event.kind.name());
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
