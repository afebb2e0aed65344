//! What orchestrators ask all the time is answered whatever else the control plane does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, api, eventually, get, request};

/// Probes that must be answered one after the other while calls run: a probe that waited for them would be the last one.
const PROBES_MIN: usize = 20;
/// The largest call.
const MEMBERS_MAX: usize = 800_000;
/// Calls at the same time: more than there are threads for them.
const CALLS: usize = 4;

/// A definition that takes long to read and to check: much of it says nothing to the gateway.
fn large(members: usize) -> String {
    let filler: serde_json::Map<String, Value> = (0..members).map(|number| (format!("m{number}"), json!([number]))).collect();
    api("large", "/large/", "http://127.0.0.1:9").set("config_data", filler).0.to_string()
}

/// How many probes are answered, one after the other, while this many calls of the control API are under way and none is finished.
fn beside_calls(gateway: &Gateway, probe: &str, body: &str) -> usize {
    let secret = format!("x-tyk-authorization: {SECRET}");
    let call = request("POST", "/tyk/apis", &[&secret, "Connection: close"], body);
    let (sent, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..CALLS {
            scope.spawn(|| {
                let mut client = gateway.connect();
                client.send(&call);
                sent.fetch_add(1, Ordering::SeqCst);
                let status = client.response("POST").status;
                finished.fetch_add(1, Ordering::SeqCst);
                assert_eq!(status, 200);
            });
        }
        let mut client = gateway.connect();
        eventually("all calls are sent", || sent.load(Ordering::SeqCst) == CALLS);
        let mut answered = 0;
        loop {
            let response = client.ask(request("GET", probe, &[&secret], ""));
            assert_eq!(response.status, 200, "{response}");
            if finished.load(Ordering::SeqCst) > 0 {
                return answered;
            }
            answered += 1;
        }
    })
}

#[test]
fn probes_are_answered_while_the_control_api_works() {
    let gateway = Gateway::start(json!({}), []);
    for probe in ["/live", "/ready", "/hello", "/tyk/metrics"] {
        let mut members = 50_000;
        let mut answered = beside_calls(&gateway, probe, &large(members));
        // Calls that are too short say nothing.
        while answered < PROBES_MIN && members < MEMBERS_MAX {
            members *= 2;
            answered = beside_calls(&gateway, probe, &large(members));
        }
        assert!(answered >= PROBES_MIN, "{answered} answers to {probe} while calls with {members} members were under way");
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
    let port = crate::servers::free_port();
    let gateway = Gateway::start(json!({"control_api_port": port, "tollgate": {"control_listen_address": "127.0.0.2"}}), []);
    let before = gateway.open_files_at_rest();
    let connect = || std::net::TcpStream::connect(("127.0.0.2", port)).expect("a connection");
    let idle: Vec<_> = (0..1_100).map(|_| connect()).collect();
    eventually("as many are accepted as may be", || gateway.open_files() + 8 >= before + 1_024);
    assert!(gateway.open_files_at_rest() <= before + 1_024 + 8, "{} files, {before} before", gateway.open_files());
    drop(idle);
    let secret = format!("x-tyk-authorization: {SECRET}");
    let response = crate::harness::Connection::over(connect()).ask(request("GET", "/tyk/apis", &[&secret], ""));
    assert_eq!(response.status, 200, "{response}");
}
