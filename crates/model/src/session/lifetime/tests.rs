use super::Lifetime::{Forever, Seconds, Unset};
use super::*;
use serde_json::{Value, json};

const NOW: i64 = 1_000_000;

/// The lifetime of a session with these fields under APIs with these lifetimes.
fn lifetime(rules: LifetimeRules, session: &Value, apis: &[i64], respects_expiry: bool) -> Lifetime {
    let (session, _) = Session::from_value(session).unwrap();
    session.lifetime(rules, apis.iter().map(|seconds| ApiLifetime { seconds: *seconds, respects_expiry }), NOW)
}

fn check(session: Value, apis: &[i64], plain: Lifetime, respecting: Lifetime) {
    let respects = LifetimeRules { respects_expiry: true, ..LifetimeRules::default() };
    assert_eq!(lifetime(LifetimeRules::default(), &session, apis, false), plain, "{session} {apis:?}");
    assert_eq!(
        lifetime(LifetimeRules::default(), &session, apis, true),
        respecting,
        "{session} {apis:?}, the API respects the expiry"
    );
    assert_eq!(lifetime(respects, &session, apis, false), respecting, "{session} {apis:?}, the gateway respects the expiry");
}

#[test]
fn what_the_session_says_comes_before_what_its_apis_say_and_the_longest_of_these_counts() {
    check(json!({"expires": NOW + 30}), &[], Unset, Unset);
    check(json!({"expires": NOW + 30}), &[0, 0], Unset, Unset);
    check(json!({"expires": NOW + 30}), &[0, 60, 20], Seconds(60), Seconds(60));
    check(json!({"expires": NOW + 30, "session_lifetime": 10}), &[60], Seconds(10), Seconds(30));
    check(json!({"expires": NOW + 30, "session_lifetime": 10}), &[0], Seconds(10), Seconds(30));
    check(json!({"expires": NOW - 30}), &[60], Seconds(60), Seconds(60));
    check(json!({"session_lifetime": -5}), &[60], Seconds(60), Unset);
}

#[test]
fn a_key_that_never_expires_is_kept_as_tyk_keeps_it() {
    check(json!({"expires": 0}), &[60], Seconds(60), Unset);
    check(json!({"expires": -1}), &[60], Seconds(60), Forever);
    check(json!({"expires": -7}), &[60], Seconds(60), Unset);
}

#[test]
fn what_becomes_of_an_expired_key_comes_before_lifetimes() {
    let with = |fields: Value| {
        let mut session = json!({"expires": NOW + 30, "session_lifetime": 10});
        session.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        session
    };
    for (fields, expect) in [
        (json!({"post_expiry_action": "delete"}), Seconds(30)),
        (json!({"post_expiry_action": "delete", "post_expiry_grace_period": 50}), Seconds(30)),
        (json!({"post_expiry_action": "delete", "expires": NOW - 5}), Seconds(1)),
        (json!({"post_expiry_action": "delete", "expires": 0}), Unset),
        (json!({"post_expiry_action": "retain", "post_expiry_grace_period": 50}), Seconds(80)),
        (json!({"post_expiry_action": "retain", "post_expiry_grace_period": 50, "expires": NOW - 60}), Seconds(1)),
        (json!({"post_expiry_action": "retain", "post_expiry_grace_period": -1}), Forever),
        (json!({"post_expiry_action": "retain", "post_expiry_grace_period": -1, "expires": 0}), Unset),
    ] {
        check(with(fields), &[60], expect, expect);
    }
    // Without a grace period, the action has no effect.
    check(with(json!({"post_expiry_action": "retain"})), &[60], Seconds(10), Seconds(30));
    check(with(json!({"post_expiry_grace_period": 50})), &[60], Seconds(10), Seconds(30));
}

#[test]
fn what_the_gateway_forces_comes_before_everything() {
    for (forced_s, expect) in [(100, Seconds(100)), (0, Unset), (-1, Forever)] {
        let rules = LifetimeRules { forced_s: Some(forced_s), respects_expiry: true };
        let session = json!({"expires": NOW + 3_000, "session_lifetime": 10, "post_expiry_action": "delete"});
        assert_eq!(lifetime(rules, &session, &[60], true), expect);
        assert_eq!(lifetime(rules, &session, &[], true), expect);
    }
}
