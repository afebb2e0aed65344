use super::*;

fn lines(lines: &[(&str, &str)]) -> Lines {
    lines.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn changes_are_seen_and_leave_the_list_as_it_is() {
    let list = lines(&[("X-One", "1"), ("X-One", "2"), ("X-Two", "3")]);
    let mut changes = HeaderChanges::default();
    assert_eq!(changes.first(&list, "x-one"), Some("1"));
    changes.add(&list, "x-one", "4").unwrap();
    assert_eq!(changes.current(&list).collect::<Vec<_>>(), [("X-Two", "3"), ("X-One", "1"), ("X-One", "2"), ("X-One", "4")]);
    changes.set(&list, "X-TWO", "5").unwrap();
    changes.remove(&list, "x-one").unwrap();
    changes.set(&list, "x-new", "6").unwrap();
    assert_eq!((changes.first(&list, "x-one"), changes.first(&list, "x-two")), (None, Some("5")));
    assert_eq!(list.len(), 3);
    assert_eq!(changes.applied_to(list), lines(&[("X-Two", "5"), ("X-New", "6")]));
}

#[test]
fn all_headers_are_replaced() {
    let list = lines(&[("A", "1"), ("B", "2")]);
    let mut changes = HeaderChanges::default();
    changes.set(&list, "c", "3").unwrap();
    changes.remove_all(&list).unwrap();
    changes.add(&list, "b", "4").unwrap();
    assert_eq!(changes.applied_to(list), lines(&[("B", "4")]));
}

#[test]
fn what_a_call_sets_has_a_maximum() {
    let mut changes = HeaderChanges::default();
    let long = "x".repeat(100_000);
    assert!(changes.set(&[], "a", &long).is_ok() && changes.set(&[], "a", &long).is_ok());
    assert!(changes.set(&[], "a", &long).is_err());
}

#[test]
fn lists_are_written_and_read() {
    let list = lines(&[("X-One", "1"), ("x-empty", "")]);
    let bytes = written(list.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    assert_eq!(bytes, b"\x02\0\0\0\x05\0\0\0\x01\0\0\0\x07\0\0\0\0\0\0\0x-one\x001\0x-empty\0\0");
    assert_eq!(read(&bytes), Some(lines(&[("x-one", "1"), ("x-empty", "")])));
    assert_eq!(read(b""), Some(Lines::new()));
}

#[test]
fn malformed_lists_are_refused() {
    for bytes in [
        &b"\x01"[..],
        b"\x01\0\0\0",
        b"\xff\xff\xff\xff",
        b"\x01\0\0\0\xff\xff\xff\xff\x01\0\0\0a\0b\0",
        b"\x01\0\0\0\x01\0\0\0\x05\0\0\0a\0b\0",
        b"\x01\0\0\0\x01\0\0\0\x01\0\0\0\xff\0b\0",
    ] {
        assert_eq!(read(bytes), None, "{bytes:?}");
    }
}
