use super::{is_for, is_logout, may_be_identity};
use serde_json::{Value, json};
use tollgate_access::jwt::Claims;
use tollgate_model::members::Members;

fn claims(claims: &Value) -> Claims {
    Claims(Members::parse(claims.to_string().as_bytes()).expect("an object"))
}

#[test]
fn a_token_is_for_the_client_that_asked_for_it() {
    for (value, expect) in [
        (json!({"aud": "us"}), true),
        (json!({"aud": ["us"]}), true),
        (json!({"aud": ["us"], "azp": "us"}), true),
        (json!({"aud": ["us", "other"], "azp": "us"}), true),
        (json!({"aud": ["us", "other"]}), false),
        (json!({"aud": ["us", "other"], "azp": "other"}), false),
        (json!({"aud": "us", "azp": "other"}), false),
        (json!({"aud": "us", "azp": ["us"]}), false),
        (json!({"aud": "us "}), false),
        (json!({"aud": ["other"], "azp": "us"}), false),
        (json!({"aud": []}), false),
        (json!({}), false),
    ] {
        assert_eq!(is_for(&claims(&value), "us"), expect, "{value}");
    }
}

#[test]
fn one_kind_of_token_is_not_taken_for_another() {
    let kind = |kind: Value| may_be_identity(Some(&kind));
    assert!(may_be_identity(None) && kind(json!("JWT")));
    assert!(!kind(json!("at+jwt")) && !kind(json!("AT+JWT")) && !kind(json!("application/at+jwt")) && !kind(json!("logout+jwt")));
    assert!(!kind(json!(7)));
    let event = "http://schemas.openid.net/event/backchannel-logout";
    assert!(is_logout(&claims(&json!({"events": {event: {}}}))));
    for value in
        [json!({}), json!({"events": {}}), json!({"events": {event: true}}), json!({"events": event}), json!({"events": [event]})]
    {
        assert!(!is_logout(&claims(&value)), "{value}");
    }
}
