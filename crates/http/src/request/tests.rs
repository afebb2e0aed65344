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
    for host in ["a/b", "u@a", "a b", "a:port", "a:1:2", "a:123456", "", ":80", "a,b", "[::1", "[]", "[g]", "[::1]x", "::1"] {
        assert_eq!(refused(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")), Malformed::Host, "{host}");
    }
    for host in ["a", "a.b:80", "a_b", "[::1]", "[::1]:80", "127.0.0.1:"] {
        let bytes = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert!(Request::parse(bytes.as_bytes(), &mut HeaderStorage::new()).is_ok(), "{host}");
    }
    assert_eq!(refused("GET a HTTP/1.1\r\nHost: a\r\n\r\n"), Malformed::Target);
    assert_eq!(refused("GET * HTTP/1.1\r\nHost: a\r\n\r\n"), Malformed::Target);
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
    assert_eq!(refused("GET / HTTP/2.0"), Malformed::Version);
    assert_eq!(refused("GET / HTTP/x"), Malformed::Syntax);
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

/// What a rule of the RFCs about request heads requires of intermediaries.
enum Expect {
    Accepted(crate::Version, Body),
    Refused(Malformed),
}

#[test]
fn request_heads_are_read_as_the_rfcs_demand() {
    use crate::Version::{Http10, Http11};
    use Expect::{Accepted, Refused};
    use Malformed::*;
    const PLAIN: Expect = Accepted(Http11, Body::None);
    let cases: &[(&str, &str, Expect)] = &[
        // RFC 9110 §2.5, RFC 9112 §2.3: the version.
        ("a later minor version is the latest one known", "GET / HTTP/1.2\r\nHost: a\r\n", PLAIN),
        ("a later minor version is the latest one known", "GET / HTTP/1.9\r\nHost: a\r\n", PLAIN),
        ("HTTP/1.0 needs no Host", "GET / HTTP/1.0\r\n", Accepted(Http10, Body::None)),
        ("another major version is not served", "GET / HTTP/2.0\r\nHost: a\r\n", Refused(Malformed::Version)),
        ("another major version is not served", "GET / HTTP/0.9\r\nHost: a\r\n", Refused(Malformed::Version)),
        ("another major version is not served", "GET / HTTP/9.9\r\nHost: a\r\n", Refused(Malformed::Version)),
        ("a version has a minor digit", "GET / HTTP/1\r\nHost: a\r\n", Refused(Syntax)),
        ("a version has a minor digit", "GET / HTTP/1.\r\nHost: a\r\n", Refused(Syntax)),
        ("a version has one digit on each side", "GET / HTTP/01.01\r\nHost: a\r\n", Refused(Syntax)),
        ("a version has one digit on each side", "GET / HTTP/1.10\r\nHost: a\r\n", Refused(Syntax)),
        ("a version has one digit on each side", "GET / HTTP/11.1\r\nHost: a\r\n", Refused(Syntax)),
        ("the version is in upper case", "GET / http/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("the version is in upper case", "GET / Http/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("a version has no space in it", "GET / HTTP/ 1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("the name is HTTP", "GET / HTTQ/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("there is a version", "GET /\r\nHost: a\r\n", Refused(Syntax)),
        // RFC 9112 §3: the request line.
        ("single spaces part the words", "GET  / HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("single spaces part the words", "GET /  HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("single spaces part the words", "GET / HTTP/1.1 \r\nHost: a\r\n", Refused(Syntax)),
        ("a tab is no space", "GET\t/ HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("a tab is no space", "GET /\tHTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("a target has no space", "GET /pa th HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("there is a target", "GET HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("a method is a token", "G[T / HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("there is a method", " / HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("methods are not the gateway's to judge", "FOOBAR / HTTP/1.1\r\nHost: a\r\n", PLAIN),
        // §2.2: lines.
        ("empty lines before a request are skipped", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n", PLAIN),
        ("a bare CR ends no line", "GET / HTTP/1.1\rHost: a\r\n", Refused(Syntax)),
        ("a bare CR is in no value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n", Refused(Syntax)),
        ("no space stands before the first line", "GET / HTTP/1.1\r\n Host: a\r\n", Refused(Syntax)),
        ("no space stands before the first line", "GET / HTTP/1.1\r\n \r\nHost: a\r\n", Refused(Syntax)),
        // §3.2: targets.
        ("an absolute target is served", "GET http://a/b HTTP/1.1\r\nHost: a\r\n", PLAIN),
        ("an absolute target needs a host", "GET http:///b HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("an absolute target needs a host", "GET http://:80/b HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("an absolute target has no user", "GET http://u@a/b HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("other schemes are not served", "GET ftp://a/b HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("the asterisk is for OPTIONS", "OPTIONS * HTTP/1.1\r\nHost: a\r\n", PLAIN),
        ("the asterisk is for OPTIONS", "GET * HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("an authority is for CONNECT, which is not served", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n", Refused(Connect)),
        ("an authority is for CONNECT, which is not served", "CONNECT / HTTP/1.1\r\nHost: a\r\n", Refused(Connect)),
        ("an authority is for CONNECT", "GET a:443 HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("a target has no fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("a target is ASCII", "GET /caf\u{e9} HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("a target is ASCII", "GET /?q=\u{2028} HTTP/1.1\r\nHost: a\r\n", Refused(Target)),
        ("a target has no control byte", "GET /\0 HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        ("a target has no control byte", "GET /\u{7f} HTTP/1.1\r\nHost: a\r\n", Refused(Syntax)),
        // §3.2, RFC 9110 §7.2: Host.
        ("HTTP/1.1 needs a Host", "GET / HTTP/1.1\r\nX: a\r\n", Refused(Host)),
        ("an absolute target needs one too", "GET http://a/ HTTP/1.1\r\nX: a\r\n", Refused(Host)),
        ("there is one Host", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", Refused(Host)),
        ("there is one Host", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n", Refused(Host)),
        ("a Host names a host", "GET / HTTP/1.1\r\nHost: \r\n", Refused(Host)),
        ("a Host names one host", "GET / HTTP/1.1\r\nHost: a,b\r\n", Refused(Host)),
        ("a Host has no path", "GET / HTTP/1.1\r\nHost: a/b\r\n", Refused(Host)),
        ("a Host has no user", "GET / HTTP/1.1\r\nHost: u@a\r\n", Refused(Host)),
        // §5: header lines.
        ("no space stands before the colon", "GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n", Refused(Syntax)),
        ("no tab stands in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\tY: a\r\n", Refused(Syntax)),
        ("a name is not empty", "GET / HTTP/1.1\r\nHost: a\r\n: a\r\n", Refused(Syntax)),
        ("a name is a token", "GET / HTTP/1.1\r\nHost: a\r\nX[Y: a\r\n", Refused(Syntax)),
        ("a name is ASCII", "GET / HTTP/1.1\r\nHost: a\r\nX\u{e9}: a\r\n", Refused(Syntax)),
        ("a line has a colon", "GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n", Refused(Syntax)),
        ("lines are not folded", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n", Refused(Syntax)),
        ("a value has no control byte", "GET / HTTP/1.1\r\nHost: a\r\nX: a\x07b\r\n", Refused(Syntax)),
        ("a value may be empty", "GET / HTTP/1.1\r\nHost: a\r\nX:\r\n", PLAIN),
        // §6.1: Transfer-Encoding.
        ("chunks are read", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n", Accepted(Http11, Body::Chunked)),
        ("in any case", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\tChunked \r\n", Accepted(Http11, Body::Chunked)),
        ("a coding not last", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n", Refused(TransferEncoding)),
        ("an unknown coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n", Refused(TransferEncoding)),
        ("identity is none", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n", Refused(TransferEncoding)),
        ("chunked twice", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n", Refused(TransferEncoding)),
        ("parameters", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;a=b\r\n", Refused(TransferEncoding)),
        ("an empty coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n", Refused(TransferEncoding)),
        ("in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n", Refused(TransferEncoding)),
        (
            "a length beside a coding",
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
            Refused(ContentLength),
        ),
        // §6.2, §6.3, RFC 9110 §8.6: Content-Length.
        ("no framing is no body", "POST / HTTP/1.1\r\nHost: a\r\n", PLAIN),
        ("zero is no body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n", PLAIN),
        ("a number has no zeros before it", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0200\r\n", Refused(ContentLength)),
        ("also if it has no eight", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 005\r\n", Refused(ContentLength)),
        ("zero is one digit", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 00\r\n", Refused(ContentLength)),
        ("two spaces before a length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:  5\r\n", Refused(ContentLength)),
        ("a space behind a length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5 \r\n", Refused(ContentLength)),
        ("a tab before a length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\t5\r\n", Refused(ContentLength)),
        ("a tab behind a length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\t\r\n", Refused(ContentLength)),
        ("no space before a length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:5\r\n", Accepted(Http11, Body::Length(5))),
        ("no number", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: abc\r\n", Refused(ContentLength)),
        ("nothing", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n", Refused(ContentLength)),
        ("a sign", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n", Refused(ContentLength)),
        ("a sign", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -0\r\n", Refused(ContentLength)),
        ("a list", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5, 5\r\n", Refused(ContentLength)),
        ("an underscore", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1_0\r\n", Refused(ContentLength)),
        ("no number fits", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n", Refused(ContentLength)),
        ("twice", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n", Refused(ContentLength)),
    ];
    for (rule, head, expect) in cases {
        let bytes = format!("{head}\r\n");
        let mut storage = HeaderStorage::new();
        let parsed = Request::parse(bytes.as_bytes(), &mut storage);
        match (parsed, expect) {
            (Ok(Some(request)), Accepted(version, body)) => {
                assert_eq!((request.version, request.body, request.head_len), (*version, *body, bytes.len()), "{rule}: {head:?}");
            }
            (Err(error), Refused(expect)) => assert_eq!(error, *expect, "{rule}: {head:?}"),
            (Ok(Some(_)), Refused(_)) => panic!("{rule}: {head:?} is accepted"),
            (Ok(None), _) => panic!("{rule}: {head:?} waits for more"),
            (Err(error), Accepted(..)) => panic!("{rule}: {head:?} is refused: {error}"),
        }
    }
}

#[test]
fn options_of_no_path_is_about_the_server() {
    for (target, expect) in [("http://a", "*"), ("http://a/", "/"), ("*", "*")] {
        let bytes = format!("OPTIONS {target} HTTP/1.1\r\nHost: a\r\n\r\n");
        let mut storage = HeaderStorage::new();
        assert_eq!(Request::parse(bytes.as_bytes(), &mut storage).unwrap().unwrap().target, expect, "{target}");
    }
}
