//! Answers that the gateway gives before a request's body has come: what is left of a small body is read and forgotten, so that the
//! connection can be used again, and nothing of it is taken for a request.

use std::time::Duration;

use serde_json::json;

use crate::harness::{Connection, Gateway, Shared, Upstream, api, eventually, get, request};

static SHARED: Shared = Shared::new(start);

fn start() -> (Upstream, Gateway) {
    let upstream = Upstream::ok();
    let apis = [api("open", "/open/", &upstream.url()), api("keyed", "/keyed/", &upstream.url()).with_keys()];
    let gateway = Gateway::start(json!({}), apis);
    (upstream, gateway)
}

/// A client whose request's head was answered with a refusal.
fn refused(gateway: &Gateway, framing: &str) -> Connection {
    let mut client = gateway.connect();
    client.send(format!("POST /keyed/ HTTP/1.1\r\nHost: h\r\n{framing}\r\n\r\n"));
    let response = client.response("POST");
    assert_eq!(response.status, 401, "{response}");
    assert!(!response.announces_close(), "{response}");
    client
}

/// The connection goes on with the next request, and only that one reached the upstream.
fn expect_next(upstream: &Upstream, client: &mut Connection) {
    let response = client.ask(get("/open/next"));
    assert_eq!(response.status, 200, "{response}");
    assert_eq!(upstream.take_targets(), ["/next"]);
}

/// A body that would be a request if anybody took it for one.
const BODY: &str = "GET /open/smuggled HTTP/1.1\r\nHost: h\r\n\r\n";

#[test]
fn a_small_body_that_comes_after_its_answer_is_read_and_forgotten() {
    let shared = SHARED.turn();
    let mut client = refused(&shared.gateway, &format!("Content-Length: {}", BODY.len()));
    client.send(BODY);
    expect_next(&shared.upstream, &mut client);
    // In pieces, and the next request with the last of them.
    let mut client = refused(&shared.gateway, &format!("Content-Length: {}", BODY.len()));
    let (first, last) = BODY.split_at(9);
    client.send(first);
    std::thread::sleep(Duration::from_millis(50));
    client.send(format!("{last}{}", get("/open/next")));
    assert_eq!(client.response("GET").status, 200);
    assert_eq!(shared.upstream.take_targets(), ["/next"]);
    expect_next(&shared.upstream, &mut client);
}

#[test]
fn the_chunks_of_a_small_body_are_read_and_forgotten() {
    let shared = SHARED.turn();
    let mut client = refused(&shared.gateway, "Transfer-Encoding: chunked");
    for piece in [format!("{:x}\r\n{BODY}", BODY.len()), "\r\n0\r\n".to_owned(), "X-Trailer: 1\r\n\r\n".to_owned()] {
        client.send(piece);
        std::thread::sleep(Duration::from_millis(20));
    }
    expect_next(&shared.upstream, &mut client);
}

#[test]
fn a_body_at_the_bound_is_read_and_a_larger_one_closes() {
    let shared = SHARED.turn();
    let bytes_max = 64 * 1024;
    let mut client = refused(&shared.gateway, &format!("Content-Length: {bytes_max}"));
    client.send("x".repeat(bytes_max));
    expect_next(&shared.upstream, &mut client);

    let mut client = shared.gateway.connect();
    client.send(format!("POST /keyed/ HTTP/1.1\r\nHost: h\r\nContent-Length: {}\r\n\r\n", bytes_max + 1));
    let response = client.response("POST");
    assert!(response.status == 401 && response.announces_close(), "{response}");
    client.expect_close();
}

#[test]
fn chunks_without_end_close() {
    let shared = SHARED.turn();
    let mut client = refused(&shared.gateway, "Transfer-Encoding: chunked");
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    // More than the gateway reads before it closes, and less than it takes afterwards so that the end is an orderly one.
    for _ in 0..20 {
        let _ = client.try_send(&chunk);
    }
    client.expect_close();
    assert_eq!(shared.upstream.requests(), 0);
}

#[test]
fn what_is_no_chunk_closes() {
    let shared = SHARED.turn();
    let mut client = refused(&shared.gateway, "Transfer-Encoding: chunked");
    client.send(BODY);
    client.expect_close();
    assert_eq!(shared.upstream.requests(), 0);
}

#[test]
fn a_body_that_does_not_come_soon_closes() {
    let (_upstream, gateway) = start();
    let mut silent = refused(&gateway, "Content-Length: 10");
    let mut slow = refused(&gateway, "Content-Length: 1000");
    // Each piece comes in time and all of them do not.
    eventually("a piece now and then does not keep the connection open", || {
        std::thread::sleep(Duration::from_millis(100));
        slow.try_send("x").is_err()
    });
    silent.expect_close();
}

#[test]
fn who_waits_to_be_told_to_send_the_body_is_closed() {
    let shared = SHARED.turn();
    let mut client = shared.gateway.connect();
    client.send("POST /keyed/ HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 50\r\n\r\n");
    let response = client.response("POST");
    assert!(response.status == 401 && response.announces_close(), "{response}");
    client.expect_close();
}

#[test]
fn who_asks_for_the_close_gets_it() {
    let shared = SHARED.turn();
    let mut client = shared.gateway.connect();
    let response = client.ask("POST /keyed/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 50\r\n\r\n");
    assert!(response.status == 401 && response.announces_close(), "{response}");
    client.expect_close();
}

#[test]
fn a_drain_does_not_wait_for_such_bodies() {
    let (_upstream, mut gateway) = start();
    let mut client = refused(&gateway, "Content-Length: 10");
    gateway.signal("TERM");
    client.send("0123456789");
    client.expect_close();
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn an_upstream_that_fails_during_an_upload_leaves_the_connection_usable() {
    let upstream = Upstream::raw(|mut wire, _| drop(wire.head()));
    let open = Upstream::ok();
    let apis = [api("failing", "/failing/", &upstream.url()), api("open", "/open/", &open.url())];
    let gateway = Gateway::start(json!({}), apis);
    let mut client = gateway.connect();
    client.send("POST /failing/ HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n01234");
    let response = client.response("POST");
    assert_eq!(response.status, 500, "{response}");
    assert!(!response.announces_close(), "{response}");
    client.send("56789");
    assert_eq!(client.ask(request("POST", "/open/next", &[], "body")).status, 200);
    assert_eq!(open.last().text(), "body");
}
