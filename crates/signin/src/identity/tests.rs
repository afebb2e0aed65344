use super::SignedIdentity;
use serde_json::json;
use tollgate_access::jwt::Claims;
use tollgate_model::members::Members;

fn identity(claims: &serde_json::Value) -> SignedIdentity {
    let claims = Claims(Members::parse(claims.to_string().as_bytes()).expect("an object"));
    SignedIdentity { subject: "0815".to_owned(), sid: None, issued_unix_s: 1, claims, incomplete: None, token: String::new() }
}

#[test]
fn a_claim_has_a_value_exactly_or_in_its_list() {
    let identity = identity(&json!({
        "groups": ["ops", "team-a", 7], "role": "admin", "resource": {"console": {"roles": ["reader"]}}, "flag": true,
    }));
    for (claim, value, expect) in [
        ("groups", "ops", true),
        ("groups", "op", false),
        ("groups", "7", false),
        ("role", "admin", true),
        ("role", "adm", false),
        ("resource.console.roles", "reader", true),
        ("flag", "true", false),
        ("missing", "", false),
    ] {
        assert_eq!(identity.has(claim, value), expect, "{claim} {value}");
    }
}

#[test]
fn a_name_is_for_people_and_a_mail_address_counts_if_it_is_verified() {
    assert_eq!(identity(&json!({"name": "Ann\u{7}\nB"})).name("name"), "AnnB");
    assert_eq!(identity(&json!({"name": 7})).name("name"), "0815");
    assert_eq!(identity(&json!({"name": "x".repeat(1000)})).name("name").len(), 100);
    for (claims, expect) in [
        (json!({"email": "Ann@Example.com", "email_verified": true}), Some("ann@example.com")),
        (json!({"email": "ann@example.com", "email_verified": "true"}), Some("ann@example.com")),
        (json!({"email": "ann@example.com", "email_verified": false}), None),
        (json!({"email": "ann@example.com", "email_verified": 1}), None),
        (json!({"email": "ann@example.com"}), None),
        (json!({"email_verified": true}), None),
    ] {
        assert_eq!(identity(&claims).verified_email().as_deref(), expect, "{claims}");
    }
}
