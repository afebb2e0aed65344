use super::*;

#[test]
fn events_are_read_however_they_arrive() {
    let text = b": hello\nevent: next\ndata: {\"data\":\ndata: 1}\n\ndata:2\r\n\r\nid: 7\nevent: complete\n\n";
    let expected = [("next", "{\"data\":\n1}"), ("", "2"), ("complete", "")];
    for size in [1, 3, text.len()] {
        let mut parser = EventParser::default();
        let pushed = text.chunks(size).map(|part| parser.push(part).unwrap());
        let events: Vec<ServerEvent> = pushed.flatten().collect();
        let read: Vec<(&str, &str)> =
            events.iter().map(|event| (event.name.as_str(), std::str::from_utf8(&event.data).unwrap())).collect();
        assert_eq!(read, expected, "in parts of {size}");
    }
}

#[test]
fn an_endless_event_is_refused() {
    let mut parser = EventParser::default();
    let line = [b"data: ".as_slice(), &[b'x'; 1 << 20], b"\n"].concat();
    assert!((0..20).any(|_| parser.push(&line).is_err()));
}
