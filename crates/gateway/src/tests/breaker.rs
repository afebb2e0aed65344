//! The circuit breaker: it opens after enough failures, answers alone while open, and closes again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::harness::{Gateway, Upstream, api, error_json, eventually, get, ok, reply, request};

const OPEN: &str = "Service temporarily unavailable.";

fn breaking(upstream: &Upstream, entry: Value) -> Gateway {
    Gateway::start(json!({}), [api("a", "/a/", &upstream.url()).list("circuit_breakers", json!([entry]))])
}

fn statuses(gateway: &Gateway, target: &str, count: usize) -> Vec<u16> {
    (0..count).map(|_| gateway.get(target).status).collect()
}

#[test]
fn it_opens_when_half_of_enough_samples_failed() {
    let upstream = Upstream::start(|_| reply("500 Broken", &[], "broken"));
    let entry = json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 60, "disable_half_open_state": true});
    let gateway = breaking(&upstream, entry);
    assert_eq!(statuses(&gateway, "/a/x", 6), [500, 500, 500, 503, 503, 503]);
    assert_eq!(upstream.requests(), 3);
    assert_eq!(gateway.get("/a/x").text(), error_json(OPEN));
}

#[test]
fn it_is_of_one_path_and_one_method() {
    let upstream = Upstream::start(|_| reply("502 Broken", &[], "broken"));
    let entry = json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 60, "disable_half_open_state": true});
    let gateway = breaking(&upstream, entry);
    assert_eq!(statuses(&gateway, "/a/x", 4), [502, 502, 502, 503]);
    assert_eq!(statuses(&gateway, "/a/y", 5), [502; 5]);
    assert_eq!(gateway.send(request("POST", "/a/x", &[], "")).status, 502);
}

#[test]
fn it_stays_closed_while_few_fail() {
    let upstream = Upstream::start(|seen| if seen.target.ends_with("bad") { reply("500 Broken", &[], "") } else { ok() });
    let entry = json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 4, "return_to_service_after": 60, "disable_half_open_state": true});
    let gateway = breaking(&upstream, entry);
    for _ in 0..4 {
        assert_eq!(statuses(&gateway, "/a/x?ok", 2), [200, 200]);
        assert_eq!(gateway.get("/a/x?bad").status, 500);
    }
    let clients = (0..8).map(|_| gateway.get("/a/x?404").status).collect::<Vec<_>>();
    assert_eq!(clients, [200; 8]);
}

#[test]
fn an_error_of_the_client_is_no_failure() {
    let upstream = Upstream::start(|_| reply("404 Nothing", &[], ""));
    let entry = json!({"path": "/x", "method": "GET", "threshold_percent": 0.1, "samples": 2, "return_to_service_after": 60, "disable_half_open_state": true});
    let gateway = breaking(&upstream, entry);
    assert_eq!(statuses(&gateway, "/a/x", 6), [404; 6]);
}

#[test]
fn an_upstream_that_cannot_be_reached_counts() {
    let upstream = Upstream::raw(|wire, _| drop(wire));
    let entry = json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 60, "disable_half_open_state": true});
    let gateway = breaking(&upstream, entry);
    assert_eq!(statuses(&gateway, "/a/x", 5), [500, 500, 500, 503, 503]);
}

fn recovering(entry: Value) {
    let healthy = Arc::new(AtomicBool::new(false));
    let switch = healthy.clone();
    let upstream = Upstream::start(move |_| if switch.load(Ordering::SeqCst) { ok() } else { reply("500 Broken", &[], "") });
    let gateway = breaking(&upstream, entry);
    assert_eq!(statuses(&gateway, "/a/x", 4), [500, 500, 500, 503]);
    healthy.store(true, Ordering::SeqCst);
    let mut client = gateway.connect();
    eventually("the path is served again", || client.ask(get("/a/x")).status == 200);
    eventually("and stays served", || (0..5).all(|_| client.ask(get("/a/x")).status == 200));
}

#[test]
fn it_returns_to_service_after_its_time() {
    recovering(
        json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 1, "disable_half_open_state": true}),
    );
}

#[test]
fn half_open_it_tries_before_its_time() {
    recovering(json!({"path": "/x", "method": "GET", "threshold_percent": 0.5, "samples": 3, "return_to_service_after": 600}));
}
