//! What orchestrators ask all the time is answered whatever else the control plane does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, api, eventually, get, request};

/// Long enough that a probe that waits for such a call stands out.
const CALL_MIN: Duration = Duration::from_secs(1);
/// Calls at the same time: more than there are threads for them.
const CALLS: usize = 4;

/// A definition that takes long to read and to check: much of it says nothing to the gateway.
fn large(members: usize) -> String {
    let filler: serde_json::Map<String, Value> = (0..members).map(|number| (format!("m{number}"), json!([number]))).collect();
    api("large", "/large/", "http://127.0.0.1:9").set("config_data", filler).0.to_string()
}

/// How long some calls of the control API take that are made at the same time, and the longest wait for a probe meanwhile.
fn beside_calls(gateway: &Gateway, probe: &str, body: &str) -> (Duration, Duration) {
    let running = AtomicUsize::new(CALLS);
    thread::scope(|scope| {
        let calls: Vec<_> = (0..CALLS)
            .map(|_| {
                scope.spawn(|| {
                    let begun = Instant::now();
                    let status = gateway.control("POST", "/tyk/apis", body).status;
                    running.fetch_sub(1, Ordering::SeqCst);
                    assert_eq!(status, 200);
                    begun.elapsed()
                })
            })
            .collect();
        let mut longest = Duration::ZERO;
        let mut client = gateway.connect();
        let secret = format!("x-tyk-authorization: {SECRET}");
        while running.load(Ordering::SeqCst) > 0 {
            let begun = Instant::now();
            let response = client.ask(request("GET", probe, &[&secret], ""));
            assert_eq!(response.status, 200, "{response}");
            longest = longest.max(begun.elapsed());
        }
        (calls.into_iter().map(|call| call.join().unwrap()).min().unwrap(), longest)
    })
}

#[test]
fn probes_are_answered_while_the_control_api_works() {
    let gateway = Gateway::start(json!({}), []);
    for probe in ["/live", "/ready", "/hello", "/tyk/metrics"] {
        let mut members = 50_000;
        let (call, longest) = loop {
            let (call, longest) = beside_calls(&gateway, probe, &large(members));
            if call >= CALL_MIN || members >= 800_000 {
                break (call, longest);
            }
            members *= 2;
        };
        assert!(longest < call / 3, "{probe} took {longest:?} beside calls of {call:?} with {members} members");
    }
    assert_eq!(gateway.send(get("/live")).status, 200);
}

/// What a gateway may hold beyond what it has at rest: bodies within their bound, and the engine's and the kernel's buffers.
const HELD_KIB_MAX: u64 = (128 + 64) * 1024;

#[test]
fn bodies_that_never_end_are_bounded_together() {
    let gateway = Gateway::start(json!({}), []);
    let before = gateway.rss_kib();
    let head =
        format!("POST /tyk/apis HTTP/1.1\r\nHost: h\r\nx-tyk-authorization: {SECRET}\r\nContent-Length: {}\r\n\r\n", 16 << 20);
    let block = vec![b' '; 15 << 20];
    let refused = AtomicUsize::new(0);
    // All that can be held, and half as much again.
    let mut held: Vec<_> = thread::scope(|scope| {
        let senders: Vec<_> = (0..12)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = gateway.connect();
                    client.send(&head);
                    if client.try_send(&block).is_err() {
                        refused.fetch_add(1, Ordering::SeqCst);
                    }
                    client
                })
            })
            .collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    eventually("those beyond the bound are told to come again", || {
        held.retain_mut(|client| {
            client.socket().set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            match client.try_response("POST") {
                Ok(response) => {
                    assert_eq!((response.status, response.header("retry-after")), (503, Some("1")), "{response}");
                    refused.fetch_add(1, Ordering::SeqCst);
                    false
                }
                Err(_) => !client.is_closed(),
            }
        });
        refused.load(Ordering::SeqCst) >= 3
    });
    let now = gateway.rss_kib();
    assert!(now < before + HELD_KIB_MAX, "{before} KiB before, {now} KiB now");
    assert_eq!(gateway.send(get("/live")).status, 200);
    drop(held);
    let text = api("a", "/a/", "http://127.0.0.1:9").0.to_string();
    eventually("there is room again", || gateway.control("POST", "/tyk/apis", &text).status == 200);
}

#[test]
fn connections_to_a_port_of_its_own_leave_descriptors_to_clients() {
    let port = std::net::TcpListener::bind("127.0.0.2:0").unwrap().local_addr().unwrap().port();
    let gateway = Gateway::start(json!({"control_api_port": port, "tollgate": {"control_listen_address": "127.0.0.2"}}), []);
    let before = gateway.open_files_at_rest();
    let connect = || std::net::TcpStream::connect(("127.0.0.2", port)).expect("a connection");
    let idle: Vec<_> = (0..1_100).map(|_| connect()).collect();
    eventually("as many are accepted as may be", || gateway.open_files() >= before + 1_024);
    assert!(gateway.open_files_at_rest() <= before + 1_024 + 8, "{} files, {before} before", gateway.open_files());
    drop(idle);
    let secret = format!("x-tyk-authorization: {SECRET}");
    let response = crate::harness::Connection::over(connect()).ask(request("GET", "/tyk/apis", &[&secret], ""));
    assert_eq!(response.status, 200, "{response}");
}
