use crate::{Body, HeaderStorage, Response};

fn check(bytes: &str, to_head: bool, expect: (u16, Body, bool)) {
    let mut storage = HeaderStorage::new();
    let response = Response::parse(bytes.as_bytes(), to_head, &mut storage).unwrap().unwrap();
    assert_eq!((response.status, response.body, response.keep_alive), expect, "{bytes}");
}

#[test]
fn the_body_follows_from_status_method_and_headers() {
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false, (200, Body::Length(5), true));
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true, (200, Body::None, true));
    check("HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n", false, (200, Body::Chunked, true));
    check("HTTP/1.1 200 OK\r\n\r\n", false, (200, Body::UntilClose, false));
    check("HTTP/1.1 204 No Content\r\n\r\n", false, (204, Body::None, true));
    check("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", false, (304, Body::None, true));
    check("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", false, (200, Body::Length(5), false));
    check("HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n", false, (200, Body::Length(5), true));
    check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n", false, (200, Body::Length(5), false));
}

#[test]
fn ambiguous_responses_are_refused() {
    for lines in
        ["Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", "Content-Length: 1\r\nContent-Length: 1\r\n", "A: b\nB: c\r\n"]
    {
        let bytes = format!("HTTP/1.1 200 OK\r\n{lines}\r\n");
        assert!(Response::parse(bytes.as_bytes(), false, &mut HeaderStorage::new()).is_err(), "{lines}");
    }
}
