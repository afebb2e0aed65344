use super::*;

fn token(name: &str, text: &str, expires_unix_s: u64) -> ApiToken {
    ApiToken {
        id: format!("id-{name}"),
        name: name.to_owned(),
        role: Role::Editor,
        scope: OperatorScope::default(),
        digest: digest(text),
        made_by: "ann".to_owned(),
        created_unix_s: 1,
        expires_unix_s,
    }
}

#[test]
fn a_token_is_good_until_it_ends_or_is_removed() {
    let mut tokens = ApiTokens::default();
    tokens.add(token("ci", "one", 100), 10).unwrap();
    assert_eq!(tokens.verified("one", 99).map(|token| token.name.as_str()), Some("ci"));
    assert!(tokens.verified("one", 100).is_none());
    assert!(tokens.verified("two", 50).is_none());
    assert!(tokens.verified(&digest("one"), 50).is_none(), "the digest is no token");
    assert!(tokens.remove("id-ci").is_some());
    assert!(tokens.verified("one", 50).is_none());
}

#[test]
fn a_name_is_of_one_token_until_that_has_ended() {
    let mut tokens = ApiTokens::default();
    tokens.add(token("ci", "one", 100), 10).unwrap();
    assert!(tokens.add(token("ci", "two", 200), 99).is_err());
    tokens.add(token("ci", "two", 200), 100).unwrap();
    assert_eq!(tokens.tokens.len(), 1);
}

#[test]
fn tokens_that_have_ended_make_room() {
    let mut tokens = ApiTokens::default();
    for number in 0..TOKENS_MAX {
        tokens.add(token(&number.to_string(), "x", 100), 10).unwrap();
    }
    assert!(tokens.add(token("more", "x", 300), 50).is_err());
    tokens.add(token("more", "x", 300), 100).unwrap();
    assert_eq!(tokens.tokens.len(), 1);
}

#[test]
fn a_token_has_a_form() {
    assert!(is_token(&text(&"a1".repeat(16))));
    for other in ["", "tollgate_", "secret", &"a1".repeat(32), &text(&"a-".repeat(32)), &text(&"a".repeat(500))] {
        assert!(!is_token(other), "{other}");
    }
}
