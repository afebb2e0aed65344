//! Messages through the gateway: keep-alive and pipelining, heads, interim and bodyless responses, forwarded headers, HTTP/1.0.

use serde_json::json;

use crate::harness::wire::Framing;
use crate::harness::{Gateway, Seen, Upstream, api, get, ok, reply, request};

fn gateway_for(upstream: &Upstream) -> Gateway {
    Gateway::start(json!({}), [api("a", "/a/", &upstream.url())])
}

#[test]
fn one_connection_carries_many_requests_on_each_side() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for number in 0..20 {
        let response = client.ask(get(&format!("/a/{number}")));
        assert_eq!((response.status, response.text().as_str()), (200, "ok"));
        assert!(!response.announces_close());
    }
    assert_eq!(upstream.requests(), 20);
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &seen.target));
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    let mut batch = String::new();
    for number in 0..40 {
        match number % 3 {
            0 => batch.push_str(&get(&format!("/a/{number}"))),
            1 => batch.push_str(&request("POST", &format!("/a/{number}"), &[], "a body of some length")),
            _ => batch.push_str(&format!(
                "POST /a/{number} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
            )),
        }
    }
    client.send(batch);
    for number in 0..40 {
        assert_eq!(client.response("GET").text(), format!("/{number}"));
    }
}

#[test]
fn a_request_cut_at_every_byte_is_the_same_request() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &seen.text()));
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    let text = "POST /a/x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n6;k=v\r\n-bytes\r\n0\r\n\r\n";
    for byte in text.as_bytes() {
        client.send([*byte]);
    }
    assert_eq!(client.response("POST").text(), "four-bytes");
    assert_eq!(client.ask(get("/a/")).status, 200);
}

#[test]
fn a_response_cut_at_every_byte_is_the_same_response() {
    let upstream = Upstream::raw(|mut wire, _| {
        while Seen::read(&mut wire).is_some() {
            for byte in b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n3\r\n-by\r\n0\r\nX-End: 1\r\n\r\n" {
                wire.send([*byte]);
            }
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..3 {
        let response = client.ask(get("/a/"));
        assert_eq!(response.text(), "four-by");
        assert_eq!(response.trailers, [("X-End".to_owned(), "1".to_owned())]);
    }
}

#[test]
fn empty_lines_before_a_request_are_skipped() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    assert_eq!(client.ask(format!("\r\n{}", get("/a/"))).status, 200);
}

#[test]
fn head_has_the_length_of_the_body_it_does_not_have() {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/length" => b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n".to_vec(),
        "/chunks" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
        _ => b"HTTP/1.1 200 OK\r\nX-Plain: 1\r\n\r\n".to_vec(),
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    let length = client.ask(request("HEAD", "/a/length", &[], ""));
    assert_eq!((length.status, length.header("content-length")), (200, Some("1234")));
    assert_eq!(client.ask(request("HEAD", "/a/chunks", &[], "")).status, 200);
    assert_eq!(client.ask(request("HEAD", "/a/plain", &[], "")).header("x-plain"), Some("1"));
    assert_eq!(client.ask(request("HEAD", "/a/length", &[], "")).status, 200);
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn an_answer_of_the_gateway_to_head_has_no_body() {
    let gateway = Gateway::start(json!({}), []);
    let mut client = gateway.connect();
    for _ in 0..2 {
        assert_eq!(client.ask(request("HEAD", "/nowhere", &[], "")).status, 404);
    }
    assert_eq!(client.ask(get("/nowhere")).text(), "Not Found");
}

#[test]
fn responses_without_a_body_leave_the_connections_in_step() {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/204" => b"HTTP/1.1 204 No Content\r\nX-Kind: none\r\nContent-Length: 0\r\n\r\n".to_vec(),
        "/304" => b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 99\r\n\r\n".to_vec(),
        _ => reply("200 OK", &[], "body"),
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..3 {
        let none = client.ask(get("/a/204"));
        assert_eq!((none.status, none.header("x-kind"), none.header("content-length")), (204, Some("none"), None));
        let unchanged = client.ask(get("/a/304"));
        assert_eq!((unchanged.status, unchanged.header("etag")), (304, Some("\"x\"")));
        assert_eq!(client.ask(get("/a/200")).text(), "body");
    }
    assert_eq!(upstream.connections(), 1);
}

#[test]
fn connection_tokens_cannot_take_away_what_the_gateway_needs() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    let response = client.ask(request("POST", "/a/", &["Connection: host, content-length, x-forwarded-for"], "body"));
    assert!(response.status == 200 || response.status == 400, "{response}");
    if response.status == 200 {
        let seen = upstream.last();
        assert_eq!((seen.head.all("host").len(), seen.text().as_str()), (1, "body"));
        assert_eq!(seen.header("x-forwarded-for"), Some("127.0.0.1"));
    }
}

// --- interim responses ---

#[test]
fn early_hints_reach_the_client_before_the_answer() {
    let upstream = Upstream::start(|_| {
        let mut bytes = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n".to_vec();
        bytes.extend(ok());
        bytes
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.ask(get("/a/"));
        assert_eq!((response.interim.as_slice(), response.status), ([103].as_slice(), 200));
    }
}

#[test]
fn a_client_that_asks_first_gets_its_100_and_sends_the_body_then() {
    let upstream = Upstream::raw(|mut wire, _| {
        while let Ok(head) = wire.head() {
            if Seen::of(head.clone()).header("expect").is_some() {
                wire.send("HTTP/1.1 100 Continue\r\n\r\n");
            }
            let body = wire.request_body(&head).unwrap();
            wire.send(reply("200 OK", &[], &String::from_utf8_lossy(&body.bytes)));
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..2 {
        client.send("POST /a/ HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(client.head().unwrap().first, "HTTP/1.1 100 Continue");
        client.send("hello");
        let response = client.response("POST");
        assert_eq!((response.status, response.text().as_str(), response.interim.len()), (200, "hello", 0));
    }
}

#[test]
fn a_client_that_asks_first_may_be_refused_without_sending() {
    let upstream = Upstream::raw(|mut wire, _| {
        if wire.head().is_ok() {
            wire.send("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
            let _ = wire.rest();
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    client.send("POST /a/ HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    let response = client.response("POST");
    assert_eq!((response.status, response.text().as_str()), (417, "no"));
}

#[test]
fn a_client_that_does_not_wait_for_its_100_is_served_too() {
    let upstream = Upstream::start(|seen| reply("200 OK", &[], &seen.text()));
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.ask(request("POST", "/a/", &["Expect: 100-continue"], "hello"));
        assert_eq!((response.status, response.text().as_str()), (200, "hello"));
    }
}

#[test]
fn a_refusal_of_the_gateway_does_not_wait_for_an_expected_body() {
    let gateway = Gateway::start(json!({}), []);
    let mut client = gateway.connect();
    client.send("POST /nowhere HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 50\r\n\r\n");
    assert_eq!(client.response("POST").status, 404);
}

// --- HTTP/1.0 ---

#[test]
fn a_client_of_http_1_0_gets_its_answer_and_the_close() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    let response = client.ask("GET /a/ HTTP/1.0\r\nHost: h\r\n\r\n");
    assert_eq!((response.status, response.text().as_str()), (200, "ok"));
    client.expect_close();
    assert_eq!(upstream.last().version, "HTTP/1.1");
}

#[test]
fn a_client_of_http_1_0_may_keep_the_connection() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..3 {
        let response = client.ask("GET /a/ HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!(response.text(), "ok");
        assert!(response.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("keep-alive")), "{response}");
    }
}

#[test]
fn a_client_of_http_1_0_never_sees_chunks() {
    let upstream = Upstream::start(|_| {
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n4\r\n-two\r\n0\r\nX-T: 1\r\n\r\n".to_vec()
    });
    let gateway = gateway_for(&upstream);
    for line in ["", "Connection: keep-alive\r\n"] {
        let response = gateway.send(format!("GET /a/ HTTP/1.0\r\nHost: h\r\n{line}\r\n"));
        assert_eq!(response.text(), "one-two");
        assert_ne!(response.framing, Framing::Chunked);
    }
}

#[test]
fn a_client_of_http_1_0_gets_no_interim_response() {
    let upstream = Upstream::start(|_| [b"HTTP/1.1 103 Early Hints\r\n\r\n".to_vec(), ok()].concat());
    let gateway = gateway_for(&upstream);
    let response = gateway.send("GET /a/ HTTP/1.0\r\nHost: h\r\n\r\n");
    assert_eq!((response.status, response.interim.len()), (200, 0));
}

#[test]
fn a_client_of_http_1_0_needs_no_host() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    assert_eq!(gateway.send("GET /a/ HTTP/1.0\r\n\r\n").status, 200);
}

#[test]
fn a_body_that_ends_with_the_upstreams_connection_is_chunked_for_the_client() {
    let body = "0123456789abcdef".repeat(20_000);
    for version in ["HTTP/1.0", "HTTP/1.1"] {
        let upstream = Upstream::once(format!("{version} 200 OK\r\nX-Old: 1\r\n\r\n{body}"));
        let gateway = gateway_for(&upstream);
        let mut client = gateway.connect();
        for _ in 0..2 {
            let response = client.ask(get("/a/"));
            assert_eq!((response.version.as_str(), response.header("x-old")), ("HTTP/1.1", Some("1")));
            assert_eq!((response.framing, response.header("connection")), (Framing::Chunked, None));
            assert!(response.text() == body, "the body changed");
        }
        let response = gateway.send("GET /a/ HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n");
        assert_eq!((response.framing, response.text() == body), (Framing::UntilClose, true));
        assert_eq!(client.ask("HEAD /a/ HTTP/1.1\r\nHost: h\r\n\r\n").status, 200);
    }
}

#[test]
fn a_client_that_says_close_is_closed() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    for target in ["/a/", "/nowhere"] {
        let mut client = gateway.connect();
        let response = client.ask(request("GET", target, &["Connection: close"], ""));
        assert!(response.announces_close(), "{response}");
        client.expect_close();
    }
}

/// RFC 9110 §6.6.1.
#[test]
fn a_response_without_a_date_gets_one_and_its_own_stays() {
    let upstream = Upstream::start(|seen| match seen.target.as_str() {
        "/own" => reply("200 OK", &["Date: Sun, 06 Nov 1994 08:49:37 GMT"], "ok"),
        "/none" => reply("200 OK", &[], "ok"),
        "/204" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        _ => b"HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
    });
    let gateway = gateway_for(&upstream);
    assert_eq!(gateway.get("/a/own").head.all("date"), ["Sun, 06 Nov 1994 08:49:37 GMT"]);
    for path in ["/a/none", "/a/204"] {
        let answer = gateway.get(path);
        assert_eq!(answer.head.all("date").len(), 1, "{path}: {answer}");
        let age = std::time::SystemTime::now().duration_since(httpdate::parse_http_date(answer.header("date").unwrap()).unwrap());
        assert!(age.is_ok_and(|age| age.as_secs() < 60), "{path}: {answer}");
    }
    let raw = String::from_utf8(gateway.raw("GET /a/early HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")).unwrap();
    let (interim, last) = raw.split_once("\r\n\r\n").unwrap();
    assert!(!interim.contains("Date") && last.contains("\r\nDate: "), "{raw}");
}
