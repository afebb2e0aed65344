use super::*;

/// The events of a stream that arrives in pieces of so many bytes, and what is left.
fn split(stream: &str, piece: usize) -> (Vec<String>, String) {
    let mut reader = EventReader::new(64);
    let mut events = Vec::new();
    for mut bytes in stream.as_bytes().chunks(piece) {
        while let Some(event) = reader.next(&mut bytes).unwrap() {
            events.push(String::from_utf8(event.to_vec()).unwrap());
        }
    }
    let rest = String::from_utf8(reader.rest().to_vec()).unwrap();
    (events, rest)
}

#[test]
fn events_end_with_an_empty_line_of_any_kind() {
    let streams = [
        ("data: a\n\ndata: b\n\n", vec!["data: a\n\n", "data: b\n\n"], ""),
        ("data: a\r\n\r\ndata: b\r\n\r\n", vec!["data: a\r\n\r", "\n", "data: b\r\n\r", "\n"], ""),
        ("data: a\r\rdata: b", vec!["data: a\r\r"], "data: b"),
        ("\n\ndata: a\n", vec!["\n", "\n"], "data: a\n"),
        ("id: 1\ndata: a\ndata: b\n\n: c\n\n", vec!["id: 1\ndata: a\ndata: b\n\n", ": c\n\n"], ""),
    ];
    for (stream, events, rest) in streams {
        for piece in [1, 2, 3, 100] {
            let found = split(stream, piece);
            assert_eq!(found, (events.iter().map(ToString::to_string).collect(), rest.to_owned()), "{stream:?} by {piece}");
            assert_eq!(found.0.concat() + &found.1, stream);
        }
    }
}

/// Clients take the mark off the stream, not off each event: behind it a line has another name.
#[test]
fn only_a_stream_begins_with_a_mark() {
    for piece in [1, 2, 100] {
        let (events, rest) = split("\u{feff}data: a\n\n\u{feff}event: x\ndata: b\n\n\u{feff}", piece);
        assert_eq!((events.len(), rest.as_str()), (2, "\u{feff}"));
        let parts: Vec<EventParts> = events.iter().filter_map(|event| EventParts::read(event.as_bytes())).collect();
        assert_eq!(parts.iter().map(|parts| parts.data.as_slice()).collect::<Vec<_>>(), [b"a", b"b"]);
        assert!(parts.iter().all(EventParts::is_message));
    }
    assert_eq!(split("\u{feff}data: a", 1), (vec![], "data: a".to_owned()));
}

#[test]
fn an_event_is_bounded() {
    let mut reader = EventReader::new(8);
    let mut bytes = &b"data: 123456"[..];
    assert_eq!(reader.next(&mut bytes), Err(EventTooLarge));
    assert_eq!((reader.rest(), bytes), (&b"data: 123"[..], &b"456"[..]), "no more is kept than shows that it is too large");
}

#[test]
fn parts_are_read_as_browsers_do() {
    let parts = EventParts::read(b"event:x\ndata\ndata:  a\nid:1\n\n").unwrap();
    assert_eq!((parts.kind.as_slice(), parts.data.as_slice()), (&b"x"[..], &b"\n a"[..]));
    assert_eq!(EventParts::read(b"event: x\n\n"), None);
}
