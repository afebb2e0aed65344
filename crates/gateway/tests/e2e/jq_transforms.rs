//! Other bodies by a jq filter: what upstreams and clients see of them, in every framing, coding and protocol. Names and wordings are those of
//! Tyk's `mw_transform_jq.go` and `res_handler_jq_transform.go`.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::harness::http2::{ask, connect, converse, get as get_http2, post as post_http2, upload};
use crate::harness::wire::Framing;
use crate::harness::{Definition, Gateway, Seen, Upstream, api, get, request};

fn entry(method: &str, filter: &str) -> Value {
    json!([{"path": "/t", "method": method, "filter": filter}])
}

fn request_filter(upstream: &Upstream, filter: &str) -> Definition {
    api("a", "/a/", &upstream.url()).list("transform_jq", entry("POST", filter))
}

fn response_filter(upstream: &Upstream, filter: &str) -> Definition {
    let definition = api("a", "/a/", &upstream.url()).list("transform_jq_response", entry("GET", filter));
    definition.set("response_processors", json!([{"name": "response_body_transform_jq", "options": {}}]))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn chunked(start: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("{start}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
    for piece in body.chunks(7) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    bytes
}

#[test]
fn a_request_goes_on_with_what_the_filter_makes() {
    let upstream = Upstream::ok();
    // The filter of Tyk's own example.
    let filter = r#"{"body": (.body + {"TRANSFORMED-REQUEST-BY-JQ": true, path: ._tyk_context.path, user_agent: ._tyk_context.headers_User_Agent}), "rewrite_headers": {"X-added-rewrite-headers": .body.foo, "X-number": 5, "Content-Length": "1", "X-bad": "a\nb"}, "tyk_context": {"foo-val": .body.foo, "n": 5}}"#;
    let headers =
        json!([{"path": "/t", "method": "POST", "add_headers": {"X-Foo": "$tyk_context.foo-val", "X-N": "$tyk_context.n"}}]);
    let definition = request_filter(&upstream, filter).set("enable_context_vars", true).list("transform_headers", headers);
    let gateway = Gateway::start(json!({}), [definition]);
    let start = "POST /a/t HTTP/1.1\r\nHost: h\r\nUser-Agent: test\r\nX-Added-Rewrite-Headers: old\r\n";
    let body = br#"{"foo": "<bar>"}"#;
    // Written as Go writes it.
    let wanted = r#"{"TRANSFORMED-REQUEST-BY-JQ":true,"foo":"\u003cbar\u003e","path":"/a/t","user_agent":"test"}"#;
    let with_length = [format!("{start}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat();
    let closed = gzip(body);
    let compressed =
        [format!("{start}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", closed.len()).as_bytes(), &closed].concat();
    for bytes in [with_length, chunked(start, body), compressed] {
        assert_eq!(gateway.send(bytes).status, 200);
        let seen = upstream.last();
        assert_eq!((seen.text().as_str(), seen.framing), (wanted, Framing::Length));
        let header = |name: &str| seen.header(name).map(str::to_owned);
        assert_eq!(header("x-added-rewrite-headers").as_deref(), Some("<bar>"));
        assert_eq!((header("x-foo").as_deref(), header("x-n").as_deref()), (Some("<bar>"), Some("5")));
        // Only texts that fit a header line are set, and none that frames the message; the coding is gone.
        assert_eq!((header("x-number"), header("x-bad"), header("content-encoding")), (None, None, None));
    }
    converse(async {
        let client = connect(gateway.port).await;
        let answer = upload(&client, post_http2("/a/t"), body, None).await.unwrap();
        assert_eq!(answer.status, 200);
    });
    let seen = upstream.last();
    assert_eq!(seen.header("x-foo"), Some("<bar>"));
    let made: Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!((&made["foo"], &made["path"]), (&json!("<bar>"), &json!("/a/t")));
    // Other methods and endpoints go on as they are.
    gateway.send(request("PUT", "/a/t", &[], "as it is"));
    assert_eq!(upstream.last().text(), "as it is");
    gateway.send(request("POST", "/a/other", &[], "as it is"));
    assert_eq!(upstream.last().text(), "as it is");
}

#[test]
fn a_client_gets_what_the_filter_makes_of_a_response() {
    let body = br#"{"secret": 1, "name": "Ann"}"#;
    let upstream = Upstream::start(move |seen: &Seen| {
        let start = "HTTP/1.1 201 Created\r\nX-Own: one\r\nX-Own: two\r\nX-Secret: 1\r\n";
        match seen.target.split('?').nth(1).unwrap_or_default() {
            "chunked" => chunked(start, body),
            "gzip" => {
                let closed = gzip(body);
                let head = format!("{start}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", closed.len());
                [head.as_bytes(), &closed].concat()
            }
            _ => [format!("{start}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat(),
        }
    });
    let filter =
        r#"{body: (.body | del(.secret) + {own: $own}), rewrite_headers: {"X-Secret": "-", "X-Path": ._tyk_context.path}}"#;
    let filter = format!("._tyk_response_headers[\"X-Own\"] as $own | {filter}");
    let gateway = Gateway::start(json!({}), [response_filter(&upstream, &filter).set("enable_context_vars", true)]);
    let wanted = r#"{"name":"Ann","own":["one","two"]}"#;
    let mut client = gateway.connect();
    for form in ["length", "chunked", "gzip"] {
        let answer = client.ask(get(&format!("/a/t?{form}")));
        let text = match answer.header("content-encoding") {
            Some("gzip") => {
                let mut text = String::new();
                GzDecoder::new(answer.body.as_slice()).read_to_string(&mut text).unwrap();
                text
            }
            _ => answer.text(),
        };
        assert_eq!((answer.status, text.as_str(), answer.framing), (201, wanted, Framing::Length), "{form}");
        assert_eq!((answer.header("x-secret"), answer.header("x-path")), (Some("-"), Some("/a/t")));
        assert_eq!(answer.header("content-encoding").is_some(), form == "gzip");
        // Another endpoint passes as it is, on the same connection.
        assert_eq!(client.ask(get("/a/other?chunked")).body, body);
    }
    converse(async {
        let client = connect(gateway.port).await;
        for form in ["length", "chunked"] {
            let answer = ask(&client, get_http2(&format!("/a/t?{form}"))).await.unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (201, wanted), "{form}");
        }
    });
}
