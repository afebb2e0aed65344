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
fn braces_and_brackets_mean_what_they_mean_in_go() {
    for (expression, text, expect) in [
        ("^/{$", "/{", true),
        ("^/{}$", "/{}", true),
        ("^/{id}/{$", "/{id}/{", true),
        ("^a{,2}$", "a{,2}", true),
        ("^a{2,x}$", "a{2,x}", true),
        ("^a{02}$", "a{02}", true),
        ("^a{2}$", "aa", true),
        ("^a{2,}$", "aaa", true),
        ("^a{0,1}$", "aa", false),
        ("^[{}]{2}$", "{}", true),
        ("^[[]$", "[", true),
        ("^[^[]$", "[", false),
        ("^[]a]+$", "]a", true),
        ("^[^]a]$", "]", false),
        ("^[a-z&&[^b]$", "b", true),
        ("^[a-z&&[^b]$", "^", true),
        ("^[a-z&&[^b]]$", "b]", true),
        ("^[a~~b]$", "~", true),
        ("^[+--]$", ",", true),
        ("^[--/]$", ".", true),
        (r"^[\w-.]+$", "a-.", true),
        (r"^[\w-.]$", "/", false),
        (r"^[\x41-\x43]$", "B", true),
        (r"^[\x{41}-C]$", "B", true),
        (r"^[\p{Greek}-]+$", "\u{3b1}-", true),
        (r"^[\[\]-]+$", "[]-", true),
        ("^[[:digit:]-]+$", "1-", true),
        ("^[[:]+$", "[:", true),
        (r"^\Qa.{2}\E.$", "a.{2}x", true),
        (r"^\Qa.{2}\E.$", "ab{2}x", false),
        (r"^\Qa+$", "a+$", true),
        (r"^\<a\>$", "<a>", true),
        (r"^\x{41}{2}$", "AA", true),
        (r"^\p{Greek}{2}$", "\u{3b1}\u{3b2}", true),
        (r"a\b{start}", "a{start}", true),
    ] {
        assert_eq!(compile(expression).unwrap().is_match(text), expect, "{expression} {text:?}");
    }
}

#[test]
fn an_expression_that_means_the_same_is_not_copied() {
    for expression in ["^/a/[0-9]+$", "/a/([^/]+)", "^/a/[^/]{2}$"] {
        assert!(matches!(in_engine_syntax(expression), Cow::Borrowed(_)), "{expression}");
    }
}

#[test]
fn a_backslash_at_the_end_is_an_error() {
    assert!(compile("/a\\").is_err());
    assert!(compile(r"[\b]").is_err());
}
