use super::IdRule;

#[test]
fn ids_that_fit_are_kept_and_others_always_become_the_same() {
    for (rule, id, fits) in [
        (IdRule::Any, "a b c", true),
        (IdRule::Short, "call_abc", true),
        (IdRule::Short, "call_0123456789012345678901234567890123456789", false),
        (IdRule::Nine, "abc123DEF", true),
        (IdRule::Nine, "call_1234", false),
        (IdRule::Nine, "toolu_01", false),
        (IdRule::Plain, "call_a-B", true),
        (IdRule::Plain, "functions.weather:0", false),
        (IdRule::Plain, "", false),
    ] {
        let made = rule.fit(id);
        assert_eq!(made == id, fits, "{id}");
        assert_eq!(made, rule.fit(id));
        assert_eq!(rule.fit(&made), made, "{id} fits then");
    }
    assert_ne!(IdRule::Nine.fit("a"), IdRule::Nine.fit("b"));
}
