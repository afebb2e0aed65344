//! Connections to upstreams and their reuse, replay when a reused one has died, and the time limits of both sides.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::harness::wire::Broken;
use crate::harness::{Gateway, Seen, Upstream, api, error_json, eventually, get, ok, reply, request};

fn gateway_for(upstream: &Upstream) -> Gateway {
    Gateway::start(json!({}), [api("a", "/a/", &upstream.url())])
}

#[test]
fn a_connection_that_the_upstream_closes_is_not_used_again() {
    let upstream = Upstream::start(|_| reply("200 OK", &["Connection: close"], "ok"));
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for number in 1..=5 {
        let response = client.ask(request("POST", "/a/", &[], "x"));
        assert_eq!(response.status, 200, "{response}");
        assert!(!response.announces_close(), "the client's connection has nothing to do with it");
        assert_eq!(upstream.connections(), number);
    }
}

#[test]
fn an_answer_longer_than_it_says_does_not_reach_the_next_request() {
    let upstream = Upstream::raw(|mut wire, _| {
        while Seen::read(&mut wire).is_some() {
            if wire
                .try_send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
                .is_err()
            {
                return;
            }
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..5 {
        assert_eq!(client.ask(get("/a/")).text(), "ok");
    }
}

/// Answers the first request of each of the first connections, then drops the connection on its second request.
fn forgetful(read_by: Arc<AtomicUsize>, before_close: &'static str) -> Upstream {
    Upstream::raw(move |mut wire, index| {
        let Some(_) = Seen::read(&mut wire) else { return };
        read_by.fetch_add(1, Ordering::SeqCst);
        wire.send(reply("200 OK", &[], &index.to_string()));
        if Seen::read(&mut wire).is_some() {
            read_by.fetch_add(1, Ordering::SeqCst);
            wire.send(before_close);
        }
    })
}

#[test]
fn an_idempotent_request_on_a_connection_that_died_is_sent_again() {
    for method in ["GET", "HEAD", "OPTIONS", "DELETE"] {
        let read = Arc::new(AtomicUsize::new(0));
        let upstream = forgetful(read.clone(), "");
        let gateway = gateway_for(&upstream);
        let mut client = gateway.connect();
        assert_eq!(client.ask(get("/a/")).text(), "0");
        let second = client.ask(request(method, "/a/", &[], ""));
        assert_eq!(second.status, 200, "{method}: {second}");
        assert_eq!((read.load(Ordering::SeqCst), upstream.connections()), (3, 2), "{method}");
    }
}

#[test]
fn a_post_is_never_sent_twice() {
    let read = Arc::new(AtomicUsize::new(0));
    let upstream = forgetful(read.clone(), "");
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/a/")).status, 200);
    let second = client.ask(request("POST", "/a/", &[], "order"));
    assert_eq!((second.status, second.text()), (500, error_json("There was a problem proxying the request")));
    assert_eq!(read.load(Ordering::SeqCst), 2);
}

#[test]
fn a_request_is_not_sent_again_once_an_answer_has_begun() {
    let read = Arc::new(AtomicUsize::new(0));
    let upstream = forgetful(read.clone(), "HTTP/1.1 200 O");
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/a/")).status, 200);
    assert_eq!(client.ask(get("/a/")).status, 500);
    assert_eq!(read.load(Ordering::SeqCst), 2);
}

#[test]
fn a_request_is_not_sent_again_when_its_connection_was_new() {
    let upstream = Upstream::start(|_| Vec::new());
    let gateway = gateway_for(&upstream);
    assert_eq!(gateway.get("/a/").status, 500);
    assert_eq!(upstream.requests(), 1);
}

#[test]
fn a_connection_closed_while_idle_is_noticed_before_a_post_is_put_on_it() {
    let upstream = Upstream::raw(|mut wire, _| {
        if Seen::read(&mut wire).is_some() {
            wire.send(ok());
        }
    });
    let gateway = gateway_for(&upstream);
    let mut client = gateway.connect();
    for _ in 0..5 {
        assert_eq!(client.ask(request("POST", "/a/", &[], "x")).status, 200);
        expect_closed_by(upstream.port());
    }
}

/// Waits until who listens on this port has closed all connections, and whoever made them can know it.
pub(crate) fn expect_closed_by(port: u16) {
    const ESTABLISHED: &str = "01";
    let to = format!(":{port:04X}");
    eventually("all connections are closed", || {
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let mut lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        // A line has the number, this end, the other end and the state.
        !lines.any(|line| matches!(line[..], [_, _, other, ESTABLISHED, ..] if other.ends_with(&to)))
    });
}

// --- time limits ---

#[test]
fn an_upstream_that_does_not_begin_to_answer_is_given_up() {
    let upstream = Upstream::raw(|mut wire, _| {
        let _ = wire.rest();
    });
    let gateway = Gateway::start(json!({"proxy_default_timeout": 1}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    for _ in 0..2 {
        let response = client.ask(get("/a/"));
        assert_eq!((response.status, response.text()), (504, error_json("Upstream service reached hard timeout.")));
    }
}

#[test]
fn an_upstream_that_stops_inside_a_body_is_given_up() {
    for start in ["Content-Length: 100\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"] {
        let upstream = Upstream::raw(move |mut wire, _| {
            if Seen::read(&mut wire).is_some() {
                wire.send(format!("HTTP/1.1 200 OK\r\n{start}"));
                let _ = wire.rest();
            }
        });
        let gateway = Gateway::start(
            json!({"proxy_default_timeout": 1, "http_server_options": {"read_timeout": 1}}),
            [api("a", "/a/", &upstream.url())],
        );
        let mut client = gateway.connect();
        client.send(get("/a/"));
        let broken = client.try_response("GET").expect_err("the body never ends");
        assert!(matches!(broken, Broken::Cut(_)), "{broken}");
    }
}

#[test]
fn an_idle_client_is_closed_after_its_time() {
    let upstream = Upstream::ok();
    let gateway = Gateway::start(json!({"tollgate": {"timeouts": {"client_idle_ms": 300}}}), [api("a", "/a/", &upstream.url())]);
    let mut silent = gateway.connect();
    let mut served = gateway.connect();
    assert_eq!(served.ask(get("/a/")).status, 200);
    served.expect_close();
    silent.expect_close();
}

#[test]
fn a_slow_answer_is_not_an_idle_client() {
    let upstream = Upstream::start(|_| {
        std::thread::sleep(Duration::from_millis(900));
        ok()
    });
    let gateway = Gateway::start(
        json!({"tollgate": {"timeouts": {"client_idle_ms": 200, "head_ms": 200}}}),
        [api("a", "/a/", &upstream.url())],
    );
    assert_eq!(gateway.get("/a/").status, 200);
}

#[test]
fn the_connections_of_gone_clients_are_given_back() {
    let upstream = Upstream::ok();
    let gateway = gateway_for(&upstream);
    let clients: Vec<_> = (0..50)
        .map(|_| {
            let mut client = gateway.connect();
            client.ask(get("/a/"));
            client
        })
        .collect();
    let busy = gateway.open_files();
    drop(clients);
    eventually("the sockets of 50 clients are closed", || gateway.open_files() + 50 <= busy);
    eventually("clients are served", || gateway.get("/a/").status == 200);
}
