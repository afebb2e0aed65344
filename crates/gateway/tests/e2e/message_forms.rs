//! The forms of requests: what is passed on has one form only, whatever form it came in; what proxies may be asked to answer is answered; what
//! is no request gets the status that the RFCs name.

use serde_json::json;

use crate::harness::http2::{ask, connect, converse, post, upload};
use crate::harness::{Connection, Gateway, Seen, Upstream, api, get, ok, request};

/// An upstream that keeps the bytes of each request's body as they came.
fn recorder() -> (Upstream, std::sync::Arc<std::sync::Mutex<Vec<u8>>>) {
    let bytes = std::sync::Arc::<std::sync::Mutex<Vec<u8>>>::default();
    let note = bytes.clone();
    let upstream = Upstream::raw(move |mut wire, _| {
        while let Ok(head) = wire.head() {
            let seen = Seen::of(head);
            let mut body = Vec::new();
            if seen.head.has("transfer-encoding") {
                while !body.ends_with(b"0\r\n\r\n") {
                    body.extend(wire.exactly(1).expect("a body"));
                }
            } else if let Some(length) = seen.header("content-length") {
                body = wire.exactly(length.parse().expect("a length")).expect("a body");
            }
            *note.lock().unwrap() = [seen.head.raw.as_slice(), &body].concat();
            wire.send(ok());
        }
    });
    (upstream, bytes)
}

#[test]
fn what_is_passed_on_has_one_form() {
    let (upstream, bytes) = recorder();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    let plain = "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let rows = [
        // Content-Length.
        ("Content-Length: 5\r\n\r\nhello", "Content-Length: 5\r\n\r\nhello"),
        ("content-length:5\r\n\r\nhello", "content-length:5\r\n\r\nhello"),
        ("Content-Length: 0\r\n\r\n", "Content-Length: 0\r\n\r\n"),
        ("Content-Length: 5\r\nContent_Length: 50\r\n\r\nhello", "Content-Length: 5\r\n\r\nhello"),
        ("Content-Length: 5\r\nTransfer_Encoding: chunked\r\n\r\nhello", "Content-Length: 5\r\n\r\nhello"),
        // Transfer-Encoding.
        ("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", plain),
        ("Transfer-Encoding: CHUNKED\r\n\r\n5\r\nhello\r\n0\r\n\r\n", plain),
        ("Transfer-Encoding:\tchunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", plain),
        ("Transfer-Encoding: chunked \r\n\r\n5\r\nhello\r\n0\r\n\r\n", plain),
        // Chunks.
        ("Transfer-Encoding: chunked\r\n\r\n00005\r\nhello\r\n000\r\n\r\n", plain),
        ("Transfer-Encoding: chunked\r\n\r\n5;a\r\nhello\r\n0;b=c\r\n\r\n", plain),
        ("Transfer-Encoding: chunked\r\n\r\n5 ; a = \"b;\\\"c\" ; d\r\nhello\r\n0\r\n\r\n", plain),
        ("Transfer-Encoding: chunked\r\n\r\n05;a=b\r\nhello\r\n00;a\r\nHost: evil\r\n\r\n", plain),
    ];
    for (came, expect) in rows {
        for cut in [false, true] {
            let text = format!("POST /a/ HTTP/1.1\r\nHost: h\r\n{came}");
            match cut {
                true => text.as_bytes().iter().for_each(|byte| client.send([*byte])),
                false => client.send(&text),
            }
            assert_eq!(client.response("POST").status, 200, "{came:?}");
            let seen = String::from_utf8_lossy(&bytes.lock().unwrap()).into_owned();
            assert!(seen.ends_with(&format!("\r\n{expect}")), "{came:?} is passed on as {seen:?}");
            assert_eq!(seen.matches("ontent-").count(), expect.matches("ontent-").count(), "{seen:?}");
            assert!(!seen.contains('_'), "{seen:?}");
        }
    }
}

#[test]
fn what_comes_over_http_2_has_the_same_form() {
    let (upstream, bytes) = recorder();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    converse(async {
        let client = connect(gateway.port).await;
        let mut with_length = post("/a/");
        with_length.headers_mut().insert("content-length", http::HeaderValue::from_static("5"));
        assert_eq!(upload(&client, with_length, b"hello", None).await.unwrap().status, 200);
        let seen = String::from_utf8_lossy(&bytes.lock().unwrap()).into_owned();
        assert!(seen.ends_with("content-length: 5\r\n\r\nhello"), "{seen:?}");
        let mut padded = post("/a/");
        padded.headers_mut().insert("content-length", http::HeaderValue::from_static("005"));
        assert_eq!(upload(&client, padded, b"hello", None).await.unwrap().status, 400);
        assert_eq!(upload(&client, post("/a/"), b"hello", None).await.unwrap().status, 200);
        let seen = String::from_utf8_lossy(&bytes.lock().unwrap()).into_owned();
        assert!(seen.ends_with("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "{seen:?}");
    });
}

#[test]
fn a_response_has_one_form_too() {
    let upstream = Upstream::raw(|mut wire, _| {
        while let Some(seen) = Seen::read(&mut wire) {
            wire.send(match seen.target.as_str() {
                "/length" => "HTTP/1.1 200 OK\r\nContent-Length:  005\r\n\r\nhello",
                "/head" => "HTTP/1.1 200 OK\r\nContent-Length: 005\r\n\r\n",
                "/later" => "HTTP/1.2 200 OK\r\nContent-Length: 5\r\n\r\nhello",
                _ => "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0005;a=b\r\nhello\r\n00;c\r\n\r\n",
            });
        }
    });
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let ask = |method: &str, target: &str| {
        let lines = format!("{method} {target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        String::from_utf8(gateway.raw(lines)).unwrap()
    };
    assert!(ask("GET", "/a/length").ends_with("\r\n\r\nhello"));
    assert!(ask("GET", "/a/length").contains("\r\nContent-Length: 5\r\n"));
    assert!(ask("HEAD", "/a/head").contains("\r\nContent-Length: 5\r\n"));
    assert!(ask("GET", "/a/later").starts_with("HTTP/1.1 200 OK\r\n"));
    let chunked = ask("GET", "/a/chunks");
    assert!(
        chunked.contains("\r\nTransfer-Encoding: chunked\r\n") && chunked.ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
        "{chunked:?}"
    );
}

/// Sends a head without its empty line, and gives the status.
fn status(gateway: &Gateway, head: &str) -> (u16, bool) {
    let mut client = gateway.connect();
    client.send(format!("{head}\r\n\r\n"));
    let response = client.try_response("GET").unwrap_or_else(|broken| panic!("{head:?}: {broken}"));
    (response.status, response.announces_close())
}

#[test]
fn what_is_no_request_gets_the_status_that_the_rfcs_name() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    for (head, expect) in [
        ("GET /a/ HTTP/1\r\nHost: h", 400),
        ("GET /a/ HTTP/01.01\r\nHost: h", 400),
        ("GET /a/ http/1.1\r\nHost: h", 400),
        ("GET /a/b c HTTP/1.1\r\nHost: h", 400),
        ("GET /a/\r\nHost: h", 400),
        ("GET /a/ HTTP/2.0\r\nHost: h", 505),
        ("GET /a/ HTTP/3.0\r\nHost: h", 505),
        ("PRI * HTTP/2.0\r\nHost: h", 505),
        ("GET /a/caf\u{e9} HTTP/1.1\r\nHost: h", 400),
        ("GET /a/?q=\u{e9} HTTP/1.1\r\nHost: h", 400),
        ("GET /a/ HTTP/1.1\r\nHost:", 400),
        ("GET /a/ HTTP/1.1\r\nHost: a,b", 400),
        ("CONNECT upstream.test:443 HTTP/1.1\r\nHost: upstream.test:443", 501),
        ("CONNECT /a/ HTTP/1.1\r\nHost: h", 501),
        ("TRACE * HTTP/1.1\r\nHost: h", 400),
    ] {
        assert_eq!(status(&gateway, head), (expect, true), "{head:?}");
    }
    assert_eq!(upstream.requests(), 0);
    assert_eq!(status(&gateway, "GET /a/ HTTP/1.2\r\nHost: h"), (200, false));
    assert_eq!(upstream.last().version, "HTTP/1.1");
}

#[test]
fn a_broken_chunk_extension_is_refused_before_it_reaches_the_upstream() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    for size in ["5;", "5; ", "5;a;", "5;[", "5;a=", "5;a=\"b", "5 ", "5;a\u{7f}", "5;=b"] {
        let response =
            gateway.send(format!("POST /a/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\nhello\r\n0\r\n\r\n"));
        assert_eq!((response.status, response.announces_close()), (400, true), "{size:?}");
    }
    assert_eq!(upstream.requests(), 0);
}

#[test]
fn options_of_the_server_is_answered() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/", &upstream.url())]);
    let mut client = gateway.connect();
    for target in ["*", "http://gateway.test"] {
        let response = client.ask(request("OPTIONS", target, &[], ""));
        assert_eq!((response.status, response.header("content-length")), (200, Some("0")), "{target}");
    }
    assert_eq!(client.ask(request("OPTIONS", "*", &[], "a body")).status, 200);
    assert_eq!(client.ask(get("/")).status, 200, "the connection stays");
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn forwardings_are_counted_where_a_client_asks_for_it() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    let mut ask = |method: &str, left: &str| {
        let before = upstream.requests();
        let response = client.ask(request(method, "/a/", &[&format!("Max-Forwards: {left}")], ""));
        let seen = (upstream.requests() > before).then(|| upstream.last().header("max-forwards").unwrap_or_default().to_owned());
        (response.status, seen)
    };
    assert_eq!(ask("OPTIONS", "0"), (200, None));
    assert_eq!(ask("TRACE", "0"), (405, None));
    assert_eq!(ask("OPTIONS", "2"), (200, Some("1".into())));
    assert_eq!(ask("TRACE", "10"), (200, Some("9".into())));
    assert_eq!(ask("OPTIONS", "soon"), (200, Some("soon".into())), "a value that is no number is nobody's limit");
    assert_eq!(ask("GET", "0"), (200, Some("0".into())), "the limit is for OPTIONS and TRACE");
}

#[test]
fn connect_is_refused_over_http_2_alike() {
    let gateway = Gateway::start(json!({}), []);
    converse(async {
        let client = connect(gateway.port).await;
        let refused = http::Request::connect("upstream.test:443").body(()).unwrap();
        assert_eq!(ask(&client, refused).await.unwrap().status, 501);
    });
}

/// A connection that is refused says so and ends, so that nothing behind it is read as a request.
#[test]
fn nothing_behind_a_refused_request_is_served() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    for first in ["CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n", "GET /a/\u{e9} HTTP/1.1\r\nHost: h\r\n\r\n"] {
        let mut client: Connection = gateway.connect();
        client.send(format!("{first}{}", get("/a/")));
        assert!(client.response("GET").announces_close());
        client.expect_close();
    }
    assert_eq!(upstream.requests(), 0);
}
