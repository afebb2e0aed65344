use super::{line, text};

#[test]
fn what_a_terminal_acts_on_is_shown_instead() {
    for (given, shown) in [
        ("shop", "shop"),
        ("Größe 東京 🚀", "Größe 東京 🚀"),
        ("\x1b[2J\x1b]0;owned\x07", "\\u001b[2J\\u001b]0;owned\\u0007"),
        ("a\u{9b}31mb", "a\\u009b31mb"),
        ("abc\rxyz", "abc\\u000dxyz"),
        ("\u{202e}gnp.exe", "\\u202egnp.exe"),
        ("\u{2066}a\u{2069}", "\\u2066a\\u2069"),
        ("\u{7f}\0", "\\u007f\\u0000"),
    ] {
        assert_eq!((text(given).as_ref(), line(given).as_ref()), (shown, shown));
    }
    assert_eq!((text("a\n\tb").as_ref(), line("a\n\tb").as_ref()), ("a\n\tb", "a\\u000a\\u0009b"));
}

#[test]
fn documents_stay_what_they_are() {
    let document = serde_json::json!({"name": "\u{202e}\u{9b}\x1b"});
    let shown = text(&document.to_string()).into_owned();
    assert!(!shown.contains('\u{202e}'));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), document);
}
