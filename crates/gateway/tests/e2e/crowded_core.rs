//! Connections that a core without time gives to another one, as far as it can be seen from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Gateway, Upstream, api, get};

/// How long the machine is given to let one core work without a pause.
const TIME_MAX: Duration = Duration::from_secs(10);
/// A core that works for so much of its time gives connections away.
const BUSY: f64 = 0.9;
/// What a core that serves nobody never reaches.
const AT_WORK: f64 = 0.2;
/// Fewer than are packed onto one core.
const CLIENTS: usize = 6;

/// How much of their time both cores worked lately.
fn busy(gateway: &Gateway) -> [f64; 2] {
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    [0, 1].map(|core| {
        let name = format!("tollgate_core_busy_ratio{{core=\"{core}\"}} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name)).expect("the figure");
        line.parse().expect("a number")
    })
}

#[test]
fn a_core_without_time_gives_connections_to_one_that_has() {
    let upstream = Upstream::ok();
    // Takes the gateway much longer than its client.
    let rewrite = json!([{"path": "/slow", "method": "GET", "match_pattern": "/slow/(.*)(.*)(.*)(a|aa)+(.*)", "rewrite_to": "/x"}]);
    let gateway = Gateway::start(json!({}), [api("slow", "/slow/", &upstream.url()).list("url_rewrites", rewrite)]);
    let request = get(&format!("/slow/slow/{}", "a".repeat(6_000)));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = gateway.connect();
                while !is_over.load(Ordering::Relaxed) {
                    assert_eq!(client.ask(&request).status, 200, "a connection that moves loses nothing");
                }
            });
        }
        let begun = Instant::now();
        let mut most: f64 = 0.0;
        let has_moved = loop {
            let [first, second] = busy(&gateway);
            if second > AT_WORK {
                break true;
            }
            most = most.max(first);
            if begun.elapsed() > TIME_MAX {
                break false;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        is_over.store(true, Ordering::Relaxed);
        if !has_moved && most < BUSY {
            return eprintln!("skipped: the machine let a core work for {most} of its time at most, and {BUSY} was needed");
        }
        assert!(has_moved, "one core worked for {most} of its time and the other one had nothing to do");
    });
}
