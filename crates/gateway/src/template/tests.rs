use super::*;

#[path = "invariants.rs"]
mod invariants;

#[test]
fn text_is_cut_at_variables() {
    let parts = |text: &str| Template::new(text, true).parts;
    assert_eq!(parts("plain"), [Part::Literal("plain".into())]);
    assert_eq!(
        parts("a-$tyk_context.path/$tyk_context.headers_X_Y!"),
        [
            Part::Literal("a-".into()),
            Part::Variable(Variable::Path),
            Part::Literal("/".into()),
            Part::Variable(Variable::Header("X-Y".into())),
            Part::Literal("!".into())
        ]
    );
    assert_eq!(parts("$tyk_context.jwt_claims_a.b"), [Part::Variable(Variable::Claim("a.b".into()))]);
    assert_eq!(parts("$tyk_meta.x"), [Part::Variable(Variable::Nothing)]);
    assert_eq!(Template::new("$tyk_context.path", false).parts, [Part::Variable(Variable::Nothing)]);
    assert_eq!(Template::new("plain", true).literal(), Some("plain"));
    assert_eq!(Template::new("", true).literal(), Some(""));
    assert_eq!(Template::new("$tyk_context.path", true).literal(), None);
}

#[test]
fn parameters_and_cookies_are_found_by_name() {
    assert_eq!(parameter("a=1&b%20c=2+3%21&d", "b c").as_deref(), Some("2 3!"));
    assert_eq!(parameter("a=1&d", "d").as_deref(), Some(""));
    assert_eq!(parameter("a=1", "b"), None);
    assert_eq!(cookie("a=1; b=\"2\"", "b"), Some("2"));
    assert_eq!(encode_form("a b/ü"), "a+b%2F%C3%BC");
}

/// The fuzzer's corpus without a fuzzer.
#[test]
fn any_query_and_cookie_is_read_as_it_was_written() {
    crate::mutation::Corpus::read("form").each_and_mutated(20_000, invariants::form);
}
