use super::*;

/// The head as it is read after the repair: status, lines and body length; `None` if it stays malformed.
fn read(bytes: &str) -> Option<(u16, String, usize)> {
    let RepairedHead::Head(head, used) = repair_head(bytes.as_bytes()) else { return None };
    assert_eq!(repair_head(&head), RepairedHead::Unrepaired, "{bytes:?} is repaired once");
    let mut storage = HeaderStorage::new();
    let response = Response::parse(&head, false, &mut storage).ok()??;
    assert!(!response.keep_alive && response.head_len == head.len());
    let line = |(name, value): (&str, &[u8])| format!("{name}={}", String::from_utf8_lossy(value));
    let lines: Vec<_> = response.headers.iter().map(line).filter(|line| line != "Connection=close").collect();
    Some((response.status, lines.join("|"), used))
}

#[test]
fn what_the_rfc_allows_to_mend_is_mended() {
    for (bytes, expect) in [
        ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "Content-Length=2"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok", "Content-Length=2"),
        ("\n\r\nHTTP/1.1 200 OK\nA: 1\n\n", "A=1"),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n 2\r\n\t 3\r\nB: 4\r\n\r\n", "A=1 2 3|B=4"),
        ("HTTP/1.1 200 OK\r\nA:\r\n 2\r\n\r\n", "A=2"),
        ("HTTP/1.1 200 OK\r\nA: 1\r\n \r\n\r\n", "A=1"),
        ("HTTP/1.1 200 OK\r\nA : 1\r\nB\t : 2 \r\n\r\n", "A=1|B=2"),
        ("HTTP/1.1 200 OK\nA : 1\n 2\n\n", "A=1 2"),
    ] {
        let (status, lines, used) = read(bytes).unwrap_or_else(|| panic!("{bytes:?}"));
        assert_eq!((status, lines.as_str()), (200, expect), "{bytes:?}");
        let body = bytes.get(used..).unwrap();
        assert!(body.is_empty() || body == "ok", "{bytes:?}: {body:?}");
    }
}

#[test]
fn everything_else_stays_malformed() {
    for bytes in [
        // A repaired line can contradict others.
        "HTTP/1.1 200 OK\r\nContent-Length : 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 2\nContent-Length: 3\n\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n",
        "HTTP/1.1 200 OK\nA: 1\rB: 2\n\n",
        "HTTP/1.1 200 OK\nA B: 1\n\n",
        "HTTP/1.1 200 OK\n : 1\n\n",
        "HTTP/1.1 200 OK\n A: 1\n\n",
        "HTTP/1.1 200 OK\nA\n\n",
        "HTTP/1.1 200 OK\nA: \0\n\n",
        "nonsense\n\n",
    ] {
        assert_eq!(read(bytes), None, "{bytes:?}");
    }
    let well_formed = b"HTTP/1.1 200 OK\r\nA: 1\r\n\r\n";
    assert_eq!(repair_head(well_formed), RepairedHead::Unrepaired);
}

#[test]
fn an_incomplete_head_is_waited_for() {
    let bytes = b"HTTP/1.1 200 OK\nA : 1\n 2\n\n";
    for end in 0..bytes.len() {
        assert_eq!(repair_head(bytes.get(..end).unwrap()), RepairedHead::Incomplete, "{end}");
    }
}

#[test]
fn nothing_is_waited_for_that_can_become_no_head() {
    for bytes in ["SSH-2.0-OpenSSH\r\n", "SSH", "\nSSH-2.0-OpenSSH", "HTTP/1.1 200 OK\nA B: 1\n", "HTTP/1.1 2000 OK\n"] {
        assert_eq!(repair_head(bytes.as_bytes()), RepairedHead::Unrepaired, "{bytes:?}");
    }
}
