//! The end of a gateway: what runs is finished, what waits is told, and nothing outstays the limit.

use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::json;

use crate::harness::{Gateway, PATIENCE, Upstream, api, eventually, get, ok};
use crate::upgrade;

/// An upstream that says when a request has come and answers when it is told to.
pub(crate) fn held() -> (Upstream, Receiver<()>, Sender<()>) {
    let (arrived, wait_arrived) = channel();
    let (go_on, wait) = channel::<()>();
    let (arrived, wait) = (Mutex::new(arrived), Mutex::new(wait));
    let upstream = Upstream::start(move |_| {
        let _ = arrived.lock().unwrap().send(());
        let _ = wait.lock().unwrap().recv_timeout(PATIENCE);
        ok()
    });
    (upstream, wait_arrived, go_on)
}

#[test]
fn a_request_in_flight_is_finished_and_nothing_new_is_taken() {
    let (upstream, arrived, go_on) = held();
    let mut gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut idle = gateway.connect();
    assert_eq!(idle.ask(get("/hello")).status, 200);
    let mut client = gateway.connect();
    client.send(get("/a/"));
    arrived.recv_timeout(PATIENCE).expect("the request is at the upstream");

    gateway.signal("TERM");
    idle.expect_close();
    let port = gateway.port;
    eventually("new connections are refused", || TcpStream::connect(("127.0.0.1", port)).is_err());
    go_on.send(()).unwrap();
    let response = client.response("GET");
    assert_eq!((response.status, response.text().as_str()), (200, "ok"));
    assert!(response.announces_close(), "{response}");
    client.expect_close();
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn an_idle_gateway_ends_at_once() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({"tollgate": {"timeouts": {"drain_ms": 600_000}}}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    assert_eq!(client.ask(get("/a/")).status, 200);
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success());
    client.expect_close();
}

#[test]
fn what_takes_longer_than_the_limit_is_cut() {
    let (upstream, arrived, _go_on) = held();
    let mut gateway = Gateway::start(json!({"tollgate": {"timeouts": {"drain_ms": 300}}}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    client.send(get("/a/"));
    arrived.recv_timeout(PATIENCE).expect("the request is at the upstream");
    gateway.signal("TERM");
    gateway.wait_for_exit();
    assert!(client.try_response("GET").is_err());
}

#[test]
fn tunnels_end_with_the_limit() {
    let upstream = upgrade::echo();
    let mut conf = upgrade::enabled();
    crate::harness::definition::merge(&mut conf, &json!({"tollgate": {"timeouts": {"drain_ms": 300}}}));
    let mut gateway = Gateway::start(conf, [api("a", "/a/", &upstream.url())]);
    let mut client = upgrade::open(&gateway, "/a/");
    gateway.signal("TERM");
    gateway.wait_for_exit();
    client.expect_close();
}

#[test]
fn requests_already_sent_on_one_connection_are_answered() {
    let (upstream, arrived, go_on) = held();
    let mut gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    client.send(get("/a/1"));
    arrived.recv_timeout(PATIENCE).expect("the request is at the upstream");
    gateway.signal("TERM");
    go_on.send(()).unwrap();
    assert_eq!(client.response("GET").status, 200);
    assert!(gateway.wait_for_exit().success());
}

#[test]
fn an_interrupt_and_a_quit_end_it_too() {
    for signal in ["INT", "QUIT"] {
        let mut gateway = Gateway::start(json!({}), []);
        gateway.signal(signal);
        assert!(gateway.wait_for_exit().success());
    }
}

#[test]
fn with_a_delay_it_says_not_ready_and_still_serves_new_connections() {
    let upstream = Upstream::ok();
    let mut gateway = Gateway::start(json!({"graceful_shutdown_delay_seconds": 600}), [api("a", "/a/", &upstream.url())]);
    assert_eq!(gateway.connect().ask(get("/ready")).status, 200);
    gateway.signal("TERM");
    eventually("it is no longer ready", || gateway.connect().ask(get("/ready")).status == 503);
    assert_eq!(gateway.connect().ask(get("/a/")).status, 200, "load balancers have not noticed yet");
    gateway.signal("TERM");
    assert!(gateway.wait_for_exit().success(), "another signal ends the delay");
}

#[test]
fn readiness_is_withdrawn_while_it_drains() {
    let (upstream, arrived, go_on) = held();
    let mut gateway = Gateway::start(json!({}), [api("a", "/a/", &upstream.url())]);
    let mut client = gateway.connect();
    client.send(get("/a/"));
    arrived.recv_timeout(PATIENCE).expect("the request is at the upstream");
    gateway.signal("TERM");
    let port = gateway.port;
    // Either nobody listens any more or the answer is no.
    eventually("it is no longer ready", || match TcpStream::connect(("127.0.0.1", port)) {
        Err(_) => true,
        Ok(socket) => {
            let mut probe = crate::harness::Connection::over(socket);
            probe.try_send(get("/ready")).is_err() || probe.try_response("GET").map_or(true, |response| response.status == 503)
        }
    });
    go_on.send(()).unwrap();
    assert_eq!(client.response("GET").status, 200);
    gateway.wait_for_exit();
}
