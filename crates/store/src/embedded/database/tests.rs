use super::end_of;

#[test]
fn the_end_of_a_prefix_is_behind_every_text_that_begins_so() {
    for (prefix, end) in [
        ("", None),
        ("a", Some("b")),
        ("quota-", Some("quota.")),
        ("a\u{10ffff}", Some("b")),
        ("\u{10ffff}", None),
        ("\u{d7ff}", Some("\u{e000}")),
        ("a\0", Some("a\u{1}")),
    ] {
        assert_eq!(end_of(prefix).as_deref(), end, "{prefix:?}");
    }
}
