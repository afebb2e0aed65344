//! Other bodies by a template: what upstreams and clients see of them, in every framing, coding and protocol. Names and wordings are those of
//! Tyk's `mw_transform.go` and `res_handler_transform.go`.

use serde_json::json;

use crate::harness::http2::{ask, connect, converse, get as get_http2, post as post_http2, upload};
use crate::harness::transforms::{framed, request_transform, response_transform};
use crate::harness::wire::{Broken, Framing};
use crate::harness::{Gateway, Seen, Upstream, error_json, get, reply, request};

#[test]
fn a_request_goes_on_with_what_the_template_makes() {
    let upstream = Upstream::ok();
    let text = r#"{"name": "{{.user.name}}", "items": [{{range $i, $x := .items}}{{if $i}}, {{end}}{{$x.id}}{{end}}]}"#;
    let gateway = Gateway::start(json!({}), [request_transform(&upstream, text)]);
    let body = br#"{"user": {"name": "Ann"}, "items": [{"id": 1}, {"id": 2.5}]}"#;
    let wanted = r#"{"name": "Ann", "items": [1, 2.5]}"#;
    for framing in ["length", "chunked"] {
        let answer = gateway.send(framed("POST /a/t HTTP/1.1\r\nHost: h\r\nX-Own: kept\r\n", framing, body));
        assert_eq!(answer.status, 200, "{framing}");
        let seen = upstream.last();
        assert_eq!((seen.text().as_str(), seen.framing), (wanted, Framing::Length), "{framing}");
        assert_eq!((seen.header("x-own"), seen.trailers.len()), (Some("kept"), 0));
    }
    // Other methods and endpoints go on as they are.
    gateway.send(request("PUT", "/a/t", &[], "as it is"));
    assert_eq!(upstream.last().text(), "as it is");
    gateway.send(request("POST", "/a/other", &[], "as it is"));
    assert_eq!(upstream.last().text(), "as it is");
    converse(async {
        let client = connect(gateway.port).await;
        let answer = upload(&client, post_http2("/a/t"), body, None).await.unwrap();
        assert_eq!(answer.status, 200);
    });
    assert_eq!(upstream.last().text(), wanted);
}

#[test]
fn a_client_gets_what_the_template_makes_of_a_response() {
    let upstream = Upstream::start(|seen: &Seen| {
        let framing = seen.target.split('=').nth(1).unwrap_or("length");
        framed(
            "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nX-Own: kept\r\n",
            framing,
            br#"{"secret": 1, "name": "Ann"}"#,
        )
    });
    let gateway = Gateway::start(json!({}), [response_transform(&upstream, r#"{"n": "{{.name}}"}"#)]);
    let mut client = gateway.connect();
    for framing in ["length", "chunked", "close", "length"] {
        let answer = client.ask(get(&format!("/a/t?f={framing}")));
        assert_eq!((answer.status, answer.text().as_str()), (201, r#"{"n": "Ann"}"#), "{framing}");
        assert_eq!((answer.framing, answer.header("x-own"), answer.trailers.len()), (Framing::Length, Some("kept"), 0));
        // Another endpoint passes as it is, on the same connection.
        let answer = client.ask(get("/a/other?f=chunked"));
        assert_eq!((answer.text().as_str(), answer.framing), (r#"{"secret": 1, "name": "Ann"}"#, Framing::Chunked));
    }
    converse(async {
        let client = connect(gateway.port).await;
        for framing in ["length", "chunked", "close"] {
            let answer = ask(&client, get_http2(&format!("/a/t?f={framing}"))).await.unwrap();
            assert_eq!((answer.status, answer.text().as_str()), (201, r#"{"n": "Ann"}"#), "{framing}");
        }
    });
    // To an old client too.
    let answer = gateway.send("GET /a/t?f=chunked HTTP/1.0\r\nHost: h\r\n\r\n");
    assert_eq!(answer.text(), r#"{"n": "Ann"}"#);
}

#[test]
fn a_response_that_is_too_large_or_cut_is_an_error() {
    let upstream = Upstream::start(|seen: &Seen| match seen.target.split('?').nth(1).unwrap_or_default() {
        "large" => reply("200 OK", &[], &format!("\"{}\"", "x".repeat(60_000))),
        "large-chunks" => framed("HTTP/1.1 200 OK\r\n", "chunked", &vec![b'x'; 60_000]),
        "cut" => b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n{\"name\": ".to_vec(),
        "cut-chunks" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n9\r\n{\"name\": \r\n".to_vec(),
        "bad-chunks" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"nam\r\nzz\r\n".to_vec(),
        _ => reply("200 OK", &[], r#"{"name": "Ann"}"#),
    });
    let conf = json!({"http_server_options": {"max_response_body_size": 50_000}});
    let gateway = Gateway::start(conf, [response_transform(&upstream, "{{.name}}")]);
    let mut client = gateway.connect();
    for (query, message) in [
        ("large", "Response body too large"),
        ("large-chunks", "Response body too large"),
        ("cut", "There was a problem proxying the request"),
        ("cut-chunks", "There was a problem proxying the request"),
        ("bad-chunks", "There was a problem proxying the request"),
    ] {
        let answer = client.ask(get(&format!("/a/t?{query}")));
        assert_eq!((answer.status, answer.text()), (500, error_json(message)), "{query}");
        // The client's connection goes on.
        assert_eq!(client.ask(get("/a/t")).text(), "Ann", "{query}");
    }
    // Where nothing reads it a large one passes, and a cut one is cut.
    assert_eq!(client.ask(get("/a/other?large")).body.len(), 60_002);
    client.send(get("/a/other?cut"));
    assert!(matches!(client.try_response("GET"), Err(Broken::Cut(_))));
}
