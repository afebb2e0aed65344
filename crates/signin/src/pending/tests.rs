use super::{PendingSignIn, ReturnedAnswer};

#[test]
fn a_sign_in_is_read_as_it_was_kept() {
    let pending = PendingSignIn::new("okta").expect("random numbers");
    assert!(PendingSignIn::of_kept(&pending.kept()) == Some(pending.clone()));
    assert!(pending.verifier.len() >= 43 && pending.kept().len() < 4_000, "as RFC 7636 and browsers want it");
    let other = PendingSignIn::new("okta").expect("random numbers");
    assert!(other.state != pending.state && other.nonce != pending.nonce && other.verifier != pending.verifier);
    for text in ["", ".", "a.b.c", "a.b.c.", "a..c.d", "a.b.c.d.e", "...", "a.b.c.d."] {
        assert!(PendingSignIn::of_kept(text).is_none(), "{text}");
    }
}

#[test]
fn an_answer_that_can_be_read_in_two_ways_is_not_read() {
    let some = |text: &str| Some(text.to_owned());
    let cases = [
        ("code=a&state=b&iss=https%3A%2F%2Fc", (some("a"), some("b"), some("https://c"))),
        ("state=b+c&code=%20", (some(" "), some("b c"), None)),
        ("code=a&code=b&state=c", (None, some("c"), None)),
        ("code=a&state=c&state=c", (some("a"), None, None)),
        ("", (None, None, None)),
        ("state=%ff", (None, None, None)),
    ];
    for (query, (code, state, issuer)) in cases {
        let answer = ReturnedAnswer { code, state, issuer, error: None, description: None };
        assert_eq!(ReturnedAnswer::of_query(query), answer, "{query}");
    }
    assert_eq!(ReturnedAnswer::of_query("error=access_denied").error, some("access_denied"));
}
