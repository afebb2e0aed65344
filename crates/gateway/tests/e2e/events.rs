//! Server-sent events: each one is with the client before the upstream sends the next, over every pair of protocols.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use bytes::Bytes;
use http::Response;
use serde_json::json;

use crate::harness::http2::{Http2Upstream, connect, converse, get as get_http2};
use crate::harness::{Gateway, Seen, Upstream, api, get};

const EVENTS: usize = 20;

fn event(number: usize) -> String {
    format!("id: {number}\ndata: {}\n\n", "x".repeat(number * 10))
}

/// How an upstream of HTTP/1.1 frames its events.
#[derive(Clone, Copy, PartialEq)]
enum Framing {
    Chunked,
    UntilClose,
}

/// Sends an event whenever it is told to, and ends with what tells it.
fn upstream(framing: Framing, permits: Receiver<()>) -> Upstream {
    let permits = Mutex::new(permits);
    Upstream::raw(move |mut wire, _| {
        if Seen::read(&mut wire).is_none() {
            return;
        }
        let chunked = framing == Framing::Chunked;
        let line = if chunked { "Transfer-Encoding: chunked" } else { "Connection: close" };
        wire.send(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{line}\r\n\r\n"));
        let permits = permits.lock().unwrap();
        for number in 0..EVENTS {
            if permits.recv().is_err() {
                return;
            }
            let text = event(number);
            wire.send(if chunked { format!("{:x}\r\n{text}\r\n", text.len()) } else { text });
        }
        wire.send(if chunked { "0\r\n\r\n" } else { "" });
    })
}

fn http2_upstream(permits: Receiver<()>) -> Http2Upstream {
    let permits = std::sync::Arc::new(Mutex::new(permits));
    Http2Upstream::start(None, move |_, mut respond| {
        let permits = permits.clone();
        async move {
            let head = Response::builder().header("content-type", "text/event-stream").body(()).unwrap();
            let mut stream = respond.send_response(head, false).unwrap();
            for number in 0..EVENTS {
                while permits.lock().unwrap().try_recv().is_err() {
                    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                }
                stream.send_data(Bytes::from(event(number)), false).unwrap();
            }
            stream.send_data(Bytes::new(), true).unwrap();
        }
    })
}

/// Lets event after event be sent, each when the one before has come.
fn read_over_http1(gateway: &Gateway, permits: &Sender<()>) {
    let mut wire = gateway.connect();
    wire.send(get("/a/"));
    let head = wire.head().expect("a head before any event");
    assert_eq!(head.get("content-type"), Some("text/event-stream"));
    for number in 0..EVENTS {
        permits.send(()).unwrap();
        let mut got = Vec::new();
        while got.len() < event(number).len() {
            got.extend(wire.chunk().expect("a piece of the event"));
        }
        assert_eq!(String::from_utf8(got).unwrap(), event(number));
    }
    assert_eq!(wire.chunk().expect("the end"), b"");
}

fn read_over_http2(gateway: &Gateway, permits: &Sender<()>) {
    converse(async {
        let mut client = connect(gateway.port).await.ready().await.unwrap();
        let (answer, _) = client.send_request(get_http2("/a/"), true).unwrap();
        let answer = answer.await.expect("a head before any event");
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        let mut content = answer.into_body();
        for number in 0..EVENTS {
            permits.send(()).unwrap();
            let mut got = Vec::new();
            while got.len() < event(number).len() {
                let data = content.data().await.expect("more").expect("a piece of the event");
                content.flow_control().release_capacity(data.len()).unwrap();
                got.extend_from_slice(&data);
            }
            assert_eq!(String::from_utf8(got).unwrap(), event(number));
        }
        while let Some(rest) = content.data().await {
            assert!(rest.expect("the end").is_empty());
        }
    });
}

#[test]
fn each_event_comes_before_the_next_is_sent() {
    for framing in [Framing::Chunked, Framing::UntilClose] {
        for read in [read_over_http1, read_over_http2] {
            let (permits, waiting) = channel();
            let upstream = upstream(framing, waiting);
            let gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
            read(&gateway, &permits);
        }
    }
    for read in [read_over_http1, read_over_http2] {
        let (permits, waiting) = channel();
        let upstream = http2_upstream(waiting);
        let gateway = Gateway::start(json!({}), [api("a", "/a/", &format!("h2c://{}", upstream.address))]);
        read(&gateway, &permits);
    }
}
