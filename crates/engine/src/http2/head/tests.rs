use super::*;
use tollgate_http::HeaderStorage;

#[path = "invariants.rs"]
mod invariants;

fn written(request: Request<()>, has_body: bool) -> Result<String, u16> {
    let (head, ()) = request.into_parts();
    let mut out = Vec::new();
    write_request(&head, has_body, &mut out).map(|_| String::from_utf8(out).unwrap())
}

#[test]
fn a_request_becomes_a_head_of_http_1_1() {
    let request = Request::get("https://api.test/a%20b?q=1")
        .header("x-own", "1")
        .header("cookie", "a=1")
        .header("cookie", "b=2")
        .header("te", "trailers")
        .body(())
        .unwrap();
    assert_eq!(
        written(request, false).unwrap(),
        "GET /a%20b?q=1 HTTP/1.1\r\nHost: api.test\r\nx-own: 1\r\nte: trailers\r\ncookie: a=1; b=2\r\n\r\n"
    );
    let request = Request::post("https://api.test/").body(()).unwrap();
    assert!(written(request, true).unwrap().contains("\r\nTransfer-Encoding: chunked\r\n"));
    let request = Request::post("https://api.test/").header("content-length", "3").body(()).unwrap();
    assert!(!written(request, true).unwrap().contains("Transfer-Encoding"));
}

#[test]
fn the_host_is_one() {
    for (uri, host, expected) in [
        ("https://api.test/", None, Ok("api.test")),
        ("https://api.test/", Some("api.test"), Ok("api.test")),
        ("https://api.test/", Some("other.test"), Err(400)),
        ("/", Some("api.test"), Ok("api.test")),
        ("/", None, Err(400)),
    ] {
        let mut request = Request::get(uri);
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let head = written(request.body(()).unwrap(), false);
        let found = head.as_ref().map(|head| head.split("Host: ").nth(1).unwrap().split("\r\n").next().unwrap());
        assert_eq!(found.map_err(|status| *status), expected, "{uri} {host:?}");
    }
}

#[test]
fn nothing_of_the_connection_passes() {
    let mut request = Request::get("https://api.test/").body(()).unwrap();
    for (name, value) in
        [("connection", "x"), ("keep-alive", "1"), ("transfer-encoding", "chunked"), ("upgrade", "h2c"), ("proxy-connection", "x")]
    {
        request.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    assert_eq!(written(request, false).unwrap(), "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n");
    assert_eq!(written(Request::connect("api.test:443").body(()).unwrap(), false), Err(501));
}

#[test]
fn trailers_come_back_as_they_went() {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    trailers.insert("x-two", HeaderValue::from_static("a: b"));
    trailers.insert("content-length", HeaderValue::from_static("5"));
    let mut lines = Vec::new();
    write_trailers(&trailers, &mut lines);
    trailers.remove("content-length");
    assert_eq!(read_trailers(&lines), trailers);
}

#[test]
fn an_answer_is_framed_by_what_is_known_of_it() {
    for (status, length, to_head, has_body, expected) in [
        (200, None, false, true, Body::Chunked),
        (200, Some("5"), false, true, Body::Length(5)),
        (200, None, false, false, Body::None),
        (200, Some("5"), true, false, Body::None),
        (204, None, false, false, Body::None),
    ] {
        let mut response = Response::builder().status(status);
        if let Some(length) = length {
            response = response.header("content-length", length);
        }
        let (head, ()) = response.body(()).unwrap().into_parts();
        let mut out = Vec::new();
        assert_eq!(write_response(&head, to_head, has_body, &mut out), expected);
        let mut storage = HeaderStorage::new();
        let parsed = ParsedResponse::parse(&out, to_head, &mut storage).unwrap().unwrap();
        assert_eq!((parsed.body, parsed.keep_alive), (expected, false), "{status} {length:?}");
    }
}

/// The fuzzer's corpus without a fuzzer.
#[test]
fn a_head_that_goes_over_and_back_is_one_head() {
    crate::mutation::Corpus::read("http2_head").each_and_mutated(20_000, invariants::http2_head);
}
