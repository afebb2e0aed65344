use crate::{Body, HeaderStorage, Malformed, Request, Version};

fn refused(bytes: &str) -> Malformed {
    match Request::parse(bytes.as_bytes(), &mut HeaderStorage::new()) {
        Err(error) => error,
        Ok(Some(_)) => panic!("accepted: {bytes:?}"),
        Ok(None) => panic!("waits for more: {bytes:?}"),
    }
}

#[test]
fn a_plain_request_is_read() {
    let bytes = b"GET /a/b?c=d HTTP/1.1\r\nHost: x:80\r\nConnection: keep-alive\r\n\r\nrest";
    let mut storage = HeaderStorage::new();
    let request = Request::parse(bytes, &mut storage).unwrap().unwrap();
    assert_eq!((request.method, request.path(), request.query()), ("GET", "/a/b", Some("c=d")));
    assert_eq!(request.authority, b"x:80");
    assert_eq!((request.body, request.keep_alive, request.version), (Body::None, true, Version::Http11));
    assert_eq!(&bytes[request.head_len..], b"rest");
}

#[test]
fn every_prefix_of_a_request_waits_for_more() {
    let bytes = b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for end in 0..bytes.len() {
        assert!(Request::parse(&bytes[..end], &mut HeaderStorage::new()).unwrap().is_none(), "{end}");
    }
    assert!(Request::parse(bytes, &mut HeaderStorage::new()).unwrap().is_some());
}

#[test]
fn an_absolute_target_wins_over_host() {
    let bytes = b"GET http://b:1/p?q HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut storage = HeaderStorage::new();
    let request = Request::parse(bytes, &mut storage).unwrap().unwrap();
    assert_eq!((request.authority, request.target), (&b"b:1"[..], "/p?q"));
}

#[test]
fn ambiguous_framing_is_refused() {
    let with = |lines: &str| refused(&format!("POST / HTTP/1.1\r\nHost: x\r\n{lines}\r\n"));
    assert_eq!(with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), Malformed::ContentLength);
    assert_eq!(with("Content-Length: 3\r\nContent-Length: 3\r\n"), Malformed::ContentLength);
    for value in ["", "-1", "+1", "1, 1", "0x10", "1 1", "9999999999999999999", "१"] {
        assert_eq!(with(&format!("Content-Length: {value}\r\n")), Malformed::ContentLength, "{value}");
    }
    for value in ["gzip, chunked", "chunked, chunked", "identity", "xchunked", "chunked\t;a", ""] {
        assert_eq!(with(&format!("Transfer-Encoding: {value}\r\n")), Malformed::TransferEncoding, "{value}");
    }
    assert_eq!(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), Malformed::TransferEncoding);
    assert_eq!(refused("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), Malformed::TransferEncoding);
}

#[test]
fn lines_that_hide_something_are_refused() {
    assert_eq!(refused("GET / HTTP/1.1\nHost: x\r\n\r\n"), Malformed::BareLf);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n"), Malformed::BareLf);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: x\r\n\n"), Malformed::BareLf);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n"), Malformed::Syntax);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"), Malformed::Syntax);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"), Malformed::Syntax);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n"), Malformed::Syntax);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n"), Malformed::Syntax);
    assert_eq!(refused("GET / HTTP/2.0\r\nHost: x\r\n\r\n"), Malformed::Version);
}

#[test]
fn host_and_target_must_be_sane() {
    assert_eq!(refused("GET / HTTP/1.1\r\n\r\n"), Malformed::Host);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), Malformed::Host);
    for host in ["a/b", "u@a", "a b", "a:port", "a:1:2", "a:123456", "[::1", "[]", "[g]", "[::1]x", "::1"] {
        assert_eq!(refused(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")), Malformed::Host, "{host}");
    }
    for host in ["a", "a.b:80", "a_b", "[::1]", "[::1]:80", "127.0.0.1:", ""] {
        let bytes = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert!(Request::parse(bytes.as_bytes(), &mut HeaderStorage::new()).is_ok(), "{host}");
    }
    assert_eq!(refused("GET a HTTP/1.1\r\nHost: a\r\n\r\n"), Malformed::Target);
    assert_eq!(refused("GET * HTTP/1.1\r\nHost: a\r\n\r\n"), Malformed::Target);
    assert_eq!(refused("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"), Malformed::Target);
    assert_eq!(refused("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"), Malformed::Target);
}

#[test]
fn more_lines_than_there_is_room_for_are_refused() {
    let lines = "A: b\r\n".repeat(crate::HEADER_LINES_MAX);
    assert_eq!(refused(&format!("GET / HTTP/1.1\r\nHost: x\r\n{lines}\r\n")), Malformed::TooManyLines);
}

#[test]
fn a_path_is_plain_when_it_means_itself() {
    for (target, expect) in [
        ("/", true),
        ("/a/b.c/?q=%2f//..", true),
        ("/a%20b", false),
        ("//a", false),
        ("/a//b", false),
        ("/a/./b", false),
        ("/a/../b", false),
        ("/a/.b", false),
        ("http://x//a", false),
        ("http://x/a", true),
    ] {
        let bytes = format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n");
        let mut storage = HeaderStorage::new();
        let request = Request::parse(bytes.as_bytes(), &mut storage).unwrap().unwrap();
        assert_eq!(request.path_is_plain(), expect, "{target}");
    }
}

#[test]
fn empty_lines_before_a_request_are_skipped() {
    let bytes = b"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut storage = HeaderStorage::new();
    let request = Request::parse(bytes, &mut storage).unwrap().unwrap();
    assert_eq!((request.method, request.head_len), ("GET", bytes.len()));
    assert_eq!(refused("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Malformed::BareLf);
}

#[test]
fn a_fault_is_refused_before_the_head_is_complete() {
    assert_eq!(refused("GET / HTTP/2"), Malformed::Version);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n"), Malformed::ContentLength);
    assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nA b"), Malformed::Syntax);
    assert_eq!(refused("\u{16}\u{3}\u{1}"), Malformed::Syntax);
}

#[test]
fn storage_is_used_again() {
    let mut storage = HeaderStorage::new();
    let first = b"GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\n\r\n";
    assert_eq!(Request::parse(first, &mut storage).unwrap().unwrap().headers.len(), 3);
    let second = b"GET / HTTP/1.1\r\nhOST: \t b \t\r\n\r\n";
    let request = Request::parse(second, &mut storage).unwrap().unwrap();
    assert_eq!(request.headers.iter().collect::<Vec<_>>(), [("hOST", &b"b"[..])]);
}
