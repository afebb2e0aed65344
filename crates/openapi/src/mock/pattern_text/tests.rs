use super::*;

#[test]
fn patterns_get_a_text_that_they_accept() {
    for (pattern, expect) in [
        ("^/v1/accounts", Some("/v1/accounts")),
        ("^[0-9]{4}-[a-f]+$", Some("0000-a")),
        ("^\\d{3}[\\w-]?$", Some("000")),
        ("(red|green)s?", Some("red")),
        ("^(?:(?:a|b){2}|c)$", Some("aa")),
        ("[^a-z]", Some("A")),
        ("^\\u00e9$", Some("\u{e9}")),
        ("^$", Some("")),
        // Fewer repetitions than the end needs, and what runs in no linear time.
        ("\\Ba\\B", None),
        ("^(?=a)b", None),
        ("^a{2000}$", None),
    ] {
        assert_eq!(fitting(pattern).as_deref(), expect, "{pattern}");
    }
}
