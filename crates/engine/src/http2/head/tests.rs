use super::*;
use tollgate_http::HeaderStorage;
use tollgate_http2::HpackDecoder;

#[path = "invariants.rs"]
mod invariants;

/// A request with these fields, preceded by those of `:method`, `:scheme`, `:path` and `:authority` that are given.
fn request(fields: &[(&str, &str)]) -> FieldList {
    let mut block = HeaderBlock::default();
    fields.iter().for_each(|(name, value)| block.field(name.as_bytes(), value.as_bytes()));
    let mut list = FieldList::new(32 * 1024);
    HpackDecoder::new().decode(block.bytes(), &mut list).unwrap();
    list.check_request().unwrap();
    list
}

fn of(method: &str, path: &str, authority: Option<&str>, more: &[(&str, &str)]) -> FieldList {
    let mut fields = vec![(":method", method), (":scheme", "https"), (":path", path)];
    fields.extend(authority.map(|authority| (":authority", authority)));
    request(&[&fields, more].concat())
}

fn written(fields: &FieldList, has_body: bool) -> Result<String, u16> {
    let mut out = Vec::new();
    write_request(fields, has_body, &mut out).map(|_| String::from_utf8(out).unwrap())
}

#[test]
fn a_request_becomes_a_head_of_http_1_1() {
    let more = [("x-own", "1"), ("cookie", "a=1"), ("te", "trailers"), ("cookie", "b=2")];
    assert_eq!(
        written(&of("GET", "/a%20b?q=1", Some("api.test"), &more), false).unwrap(),
        "GET /a%20b?q=1 HTTP/1.1\r\nHost: api.test\r\nx-own: 1\r\nte: trailers\r\ncookie: a=1; b=2\r\n\r\n"
    );
    let post = of("POST", "/", Some("api.test"), &[]);
    assert!(written(&post, true).unwrap().contains("\r\nTransfer-Encoding: chunked\r\n"));
    let post = of("POST", "/", Some("api.test"), &[("content-length", "3")]);
    assert!(!written(&post, true).unwrap().contains("Transfer-Encoding"));
}

#[test]
fn the_host_is_one() {
    for (authority, hosts, expected) in [
        (Some("api.test"), vec![], Ok("api.test")),
        (Some("api.test"), vec!["api.test"], Ok("api.test")),
        (Some("api.test"), vec!["API.test"], Ok("api.test")),
        (Some("api.test"), vec!["other.test"], Err(400)),
        (Some("api.test"), vec!["api.test", "other.test"], Err(400)),
        (Some(""), vec!["api.test"], Ok("api.test")),
        (None, vec!["api.test"], Ok("api.test")),
        (None, vec!["api.test", "other.test"], Err(400)),
        (None, vec![], Err(400)),
    ] {
        let more: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
        let head = written(&of("GET", "/", authority, &more), false);
        let found = head.as_ref().map(|head| head.split("Host: ").nth(1).unwrap().split("\r\n").next().unwrap());
        assert_eq!(found.map_err(|status| *status), expected, "{authority:?} {hosts:?}");
    }
}

#[test]
fn a_connect_is_not_served() {
    assert_eq!(written(&request(&[(":method", "CONNECT"), (":authority", "api.test:443")]), false), Err(501));
}

#[test]
fn cookies_are_one_line() {
    assert_eq!(lines(&of("GET", "/", None, &[("x", "1"), ("cookie", "a=1"), ("cookie", "b=2")])), 2);
    assert_eq!(lines(&of("GET", "/", None, &[("x", "1")])), 1);
}

#[test]
fn trailers_come_back_as_they_went() {
    let mut block = HeaderBlock::default();
    for (name, value) in [("grpc-status", "0"), ("x-two", "a: b"), ("content-length", "5")] {
        block.field(name.as_bytes(), value.as_bytes());
    }
    let mut fields = FieldList::new(4096);
    HpackDecoder::new().decode(block.bytes(), &mut fields).unwrap();
    let mut lines = Vec::new();
    write_trailers(&fields, &mut lines);
    assert_eq!(lines, b"grpc-status: 0\r\nx-two: a: b\r\n");
    let mut again = FieldList::new(4096);
    HpackDecoder::new().decode(read_trailers(&lines).bytes(), &mut again).unwrap();
    assert!(again.all().eq([("grpc-status", "0"), ("x-two", "a: b")].map(|(name, value)| (name.as_bytes(), value.as_bytes()))));
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
        let mut block = HeaderBlock::default();
        block.status(status);
        length.iter().for_each(|length| block.field(b"content-length", length.as_bytes()));
        let mut fields = FieldList::new(4096);
        HpackDecoder::new().decode(block.bytes(), &mut fields).unwrap();
        fields.check_response().unwrap();
        let mut out = Vec::new();
        assert_eq!(write_response(&fields, to_head, has_body, &mut out), expected);
        let mut storage = HeaderStorage::new();
        let parsed = ParsedResponse::parse(&out, to_head, &mut storage).unwrap().unwrap();
        assert_eq!((parsed.body, parsed.keep_alive), (expected, false), "{status} {length:?}");
    }
}

/// Runs the fuzzer's corpus without a fuzzer.
#[test]
fn a_head_that_goes_over_and_back_is_one_head() {
    crate::mutation::Corpus::read("http2_head").each_and_mutated(20_000, invariants::http2_head);
}
