//! What orchestrators ask all the time is answered whatever else the control plane does.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::gateway::SECRET;
use crate::harness::{Gateway, api, get, request};

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
