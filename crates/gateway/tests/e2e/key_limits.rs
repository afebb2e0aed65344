//! How often a key may come: rates, several at once, throttling, quotas, and what clients are told of them.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::keys::{call, create, session, start, with_key};

#[test]
fn a_throttled_request_is_held_and_then_served_while_others_go_on() {
    let (upstream, gateway) = start(json!({}));
    let held = create(&gateway, &session(json!({"rate": 1, "per": 2, "throttle_interval": 0.25, "throttle_retry_limit": 40})));
    let free = create(&gateway, &session(json!({})));
    let begun = Instant::now();
    assert_eq!(call(&gateway, "/a/first", &held).status, 200);
    let mut waiting: Vec<_> = (0..3).map(|_| gateway.connect()).collect();
    waiting.iter_mut().for_each(|client| client.send(with_key("/a/held", &held)));
    let mut others: Vec<_> = (0..8).map(|_| gateway.connect()).collect();
    for _ in 0..10 {
        for client in &mut others {
            assert_eq!(client.ask(with_key("/a/free", &free)).status, 200);
        }
    }
    let is_served = upstream.seen().iter().any(|seen| seen.target == "/held");
    assert!(!is_served || begun.elapsed() >= Duration::from_millis(1900), "nothing is served before its time");
    for client in &mut waiting {
        assert_eq!(client.response("GET").status, 200);
    }
    // The clocks of test and gateway are read at different moments.
    assert!(begun.elapsed() > Duration::from_millis(5900), "{:?}", begun.elapsed());
    assert_eq!(waiting[0].ask(crate::harness::get("/hello")).status, 200, "the connection goes on");
}

#[test]
fn bytes_that_come_while_a_request_is_held_do_not_hurry_it() {
    let (_upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"rate": 1, "per": 3600, "throttle_interval": 0.2, "throttle_retry_limit": 3})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    let begun = Instant::now();
    let mut client = gateway.connect();
    client.send(with_key("/a/", &key));
    // The next request, byte by byte.
    for byte in crate::harness::get("/hello").bytes() {
        client.send([byte]);
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(client.response("GET").status, 429);
    assert!(begun.elapsed() >= Duration::from_millis(590), "{:?}", begun.elapsed());
    assert_eq!(client.response("GET").status, 200, "what came meanwhile is not lost");
}

#[test]
fn a_client_that_goes_while_it_is_held_costs_nothing() {
    let (_upstream, gateway) = start(json!({}));
    let key = create(&gateway, &session(json!({"rate": 1, "per": 1, "throttle_interval": 0.1, "throttle_retry_limit": 1000})));
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
    let files = gateway.open_files();
    for _ in 0..50 {
        let mut client = gateway.connect();
        client.send(with_key("/a/", &key));
        client.reset();
    }
    crate::harness::eventually("their connections are closed", || gateway.open_files() <= files + 2);
    assert_eq!(call(&gateway, "/a/", &key).status, 200);
}

#[test]
fn a_quota_is_exact_when_eight_connections_hammer_it() {
    let (upstream, gateway) = start(json!({"tollgate": {"threads": 4}}));
    for (fields, other) in [
        (json!({"quota_max": 300, "quota_renewal_rate": 3600}), 403),
        (json!({"rate": 300, "per": 36_000}), 429),
        (json!({"rate": 1e9, "per": 1, "quota_max": 300, "quota_renewal_rate": 3600}), 403),
    ] {
        let before = upstream.requests();
        let key = create(&gateway, &session(fields.clone()));
        let served: usize = thread::scope(|scope| {
            let client = || {
                let mut client = gateway.connect();
                let mut answers = (0..100).map(|_| client.ask(with_key("/a/", &key)).status);
                answers
                    .by_ref()
                    .filter(|status| {
                        if *status == other {
                            false
                        } else {
                            assert_eq!(*status, 200);
                            true
                        }
                    })
                    .count()
            };
            let clients: Vec<_> = (0..8).map(|_| scope.spawn(client)).collect();
            clients.into_iter().map(|client| client.join().expect("a client")).sum()
        });
        assert_eq!((served, upstream.requests() - before), (300, 300), "{fields}");
    }
}
