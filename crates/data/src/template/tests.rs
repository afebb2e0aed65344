use super::*;

fn secrets() -> SecretSources {
    let pairs = |list: &[(&str, &str)]| list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    SecretSources {
        environment: pairs(&[("TYK_SECRET_TOKEN", "e1"), ("TOKEN", "not this one")]),
        secrets: pairs(&[("key", "c1"), ("a.b", "c2"), ("broken", "a\nb")]),
        ..SecretSources::default()
    }
}

fn cut(text: &str, context: bool) -> ValueTemplate {
    ValueTemplate::new(text, VariableScope { context, secrets: &secrets() })
}

#[test]
fn text_is_cut_at_variables() {
    let parts = |text: &str| cut(text, true).parts;
    assert_eq!(parts("plain"), [ValuePart::Literal("plain".into())]);
    assert_eq!(
        parts("a-$tyk_context.path/$tyk_context.headers_X_Y!"),
        [
            ValuePart::Literal("a-".into()),
            ValuePart::Variable(Variable::Path),
            ValuePart::Literal("/".into()),
            ValuePart::Variable(Variable::Header("X-Y".into())),
            ValuePart::Literal("!".into())
        ]
    );
    assert_eq!(parts("$tyk_context.jwt_claims_a.b"), [ValuePart::Variable(Variable::Claim("a.b".into()))]);
    assert_eq!(parts("$tyk_meta.x.y"), [ValuePart::Variable(Variable::Meta("x.y".into()))]);
    assert_eq!(cut("$tyk_context.path", false).parts, [ValuePart::Variable(Variable::Nothing)]);
    assert_eq!(cut("$tyk_meta.x", false).parts, [ValuePart::Variable(Variable::Meta("x".into()))]);
    assert_eq!(cut("plain", true).literal(), Some("plain"));
    assert_eq!(cut("", true).literal(), Some(""));
    assert_eq!(cut("$tyk_context.path", true).literal(), None);
}

#[test]
fn secrets_are_a_part_of_the_text() {
    for (text, expect) in [
        ("Bearer $secret_conf.key", "Bearer c1"),
        ("<$secret_conf.a.b>", "<c2>"),
        ("$secret_env.token$secret_env.TOKEN", "e1e1"),
        ("<$secret_conf.missing|$secret_env.missing|$secret_vault.a/b|$secret_consul.a>", "<|||>"),
        ("$secret_file./nowhere/at/all", ""),
        ("$secret_other.x", "$secret_other.x"),
    ] {
        assert_eq!(cut(text, false).literal(), Some(expect), "{text}");
    }
    let missing = |text| missing_secrets(text, &secrets());
    assert_eq!(missing("$secret_conf.key $tyk_meta.x"), []);
    assert_eq!(
        missing("$secret_conf.none/$secret_conf.broken$secret_vault.a/b"),
        [
            ("$secret_conf.none", "has no value"),
            ("$secret_conf.broken", "has line ends or other control characters"),
            ("$secret_vault.a/b", "can't be read: no store \"vault\" is configured")
        ]
        .map(|(reference, why)| (reference.to_owned(), why.to_owned()))
    );
}

#[test]
fn a_url_holds_values_escaped_unless_it_begins_with_one_that_is_a_url() {
    let made = |before: &str, value: &str| {
        let mut url = before.to_owned();
        append_to_url(value, &mut url);
        url
    };
    assert_eq!(made("", "http://a/?b&c"), "http://a/?b&c");
    assert_eq!(made("/x?u=", "http://a/?b&c"), "/x?u=http%3A%2F%2Fa%2F%3Fb%26c");
    assert_eq!(made("", "a/b"), "a%2Fb");
    assert_eq!(made("", "https:evil"), "https%3Aevil");
}
