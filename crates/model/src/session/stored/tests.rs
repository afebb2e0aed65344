use super::*;

fn stored(shown: &str) -> StoredSession {
    let session = Session { rate: 5.0, per: 1.0, alias: "a \"quoted\" name".into(), ..Session::default() };
    StoredSession { shown: shown.to_owned(), session }
}

#[test]
fn what_is_written_is_read_again() {
    for shown in ["default1f75", "", "\u{e9}\"\\\n"] {
        let stored = stored(shown);
        let document = stored.to_bytes();
        assert_eq!(StoredSession::shown(&document).as_deref(), Some(shown));
        assert_eq!(StoredSession::parse(&document), Some(stored));
    }
}

#[test]
fn how_a_key_is_shown_is_borrowed_where_nothing_is_escaped() {
    assert!(matches!(StoredSession::shown(&stored("default1f75").to_bytes()), Some(Cow::Borrowed(_))));
}

#[test]
fn what_is_no_such_document_is_none() {
    for text in ["", "{", "[]", "{}", r#"{"shown": "x"}"#, r#"{"shown": 1, "session": {}}"#, r#"{"session": {}}"#] {
        assert_eq!(StoredSession::shown(text.as_bytes()), None, "{text}");
        assert_eq!(StoredSession::parse(text.as_bytes()), None, "{text}");
    }
    let no_session = br#"{"shown": "x", "session": 5}"#;
    assert_eq!((StoredSession::shown(no_session).as_deref(), StoredSession::parse(no_session)), (Some("x"), None));
}

#[test]
fn a_document_says_until_when_it_is_kept() {
    let stored = stored("default1f75");
    for kept_until in [None, Some(5_000)] {
        let document = stored.to_bytes_until(kept_until);
        assert_eq!(StoredSession::outline(&document), Some((Cow::Borrowed("default1f75"), kept_until)));
        assert_eq!(StoredSession::parse(&document).as_ref(), Some(&stored));
    }
}
