use super::*;

#[test]
fn perl_classes_are_ascii() {
    for (expression, text, expect) in [
        (r"^\w+$", "az_09", true),
        (r"^\w+$", "é", false),
        (r"^\W$", "é", true),
        (r"^\d$", "7", true),
        (r"^\d$", "٣", false),
        (r"^\D$", "٣", true),
        (r"^\s$", " ", true),
        (r"^\s$", "\u{a0}", false),
        (r"^\s$", "\u{b}", false),
        (r"^\S$", "\u{2003}", true),
        (r"^[\w.-]+$", "a.b-c", true),
        (r"^[\w.-]+$", "ä.b", false),
        (r"^[^\d/]+$", "٣", true),
        (r"^[^\d/]+$", "3", false),
        (r"^[\D]$", "٣", true),
        (r"a\b", "aé", true),
        (r"a\B", "aé", false),
        (r"a\B", "ab", true),
        (r"^\\d$", r"\d", true),
        (r"^\\d$", "1", false),
        (r"^[[:alpha:]]$", "é", false),
        (r"^[[:word:]]+$", "é", false),
        (r"^\pL$", "é", true),
        (r"^.$", "é", true),
        // A character that folds to a letter of a class belongs to it, as in Go.
        (r"(?i)^\w$", "\u{212a}", true),
        (r"^\w$", "\u{212a}", false),
    ] {
        assert_eq!(compile(expression).unwrap().is_match(text), expect, "{expression} {text:?}");
        assert_eq!(compile_for_bytes(expression).unwrap().is_match(text.as_bytes()), expect, "{expression} {text:?}");
    }
}

#[test]
fn an_expression_without_escapes_is_not_copied() {
    assert!(matches!(ascii("^/a/[0-9]+$"), Cow::Borrowed(_)));
}

#[test]
fn a_backslash_at_the_end_is_an_error() {
    assert!(compile("/a\\").is_err());
    assert!(compile(r"[\b]").is_err());
}
