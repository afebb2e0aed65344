//! Idempotent requests that are sent a second time when their target is slow. The tests compare who answered and how often targets were asked;
//! a target that must not be first answers only when another one has been asked, or never.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Definition, Gateway, Upstream, api, eventually, get, reply, request};
use crate::servers::free_port;

fn fast(name: &'static str) -> Upstream {
    Upstream::start(move |_| reply("200 OK", &[], name))
}

/// A target that takes requests and never answers.
fn silent() -> Upstream {
    Upstream::raw(|mut wire, _| drop(wire.rest()))
}

/// A target that answers, and long after a second sending.
fn slow(name: &'static str) -> Upstream {
    Upstream::start(move |_| {
        thread::sleep(Duration::from_millis(1_500));
        reply("200 OK", &[], name)
    })
}

fn hedged(urls: &[String], rules: Value, more: Value) -> Definition {
    let targets: Vec<Value> = urls.iter().map(|url| json!({"url": url})).collect();
    let mut upstream = json!({"targets": targets, "hedge": rules});
    crate::harness::definition::merge(&mut upstream, &more);
    api("a", "/a/", "http://unused.test").set("tollgate", json!({"upstream": upstream}))
}

fn always() -> Value {
    json!({"after_ms": 100, "percentile": 0, "budget_percent": 100})
}

/// Second sendings that were answered first, and others.
fn counts(gateway: &Gateway) -> (u64, u64) {
    let text = gateway.control("GET", "/tyk/metrics", "").text();
    let of = |first: &str| {
        let start = format!("tollgate_hedges_total{{api=\"a\",version=\"Default\",part=\"\",first=\"{first}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&start)).map_or(0, |number| number.parse::<f64>().unwrap() as u64)
    };
    (of("second"), of("other"))
}

#[test]
fn the_response_that_begins_first_reaches_the_client() {
    let (silent, fast) = (silent(), fast("fast"));
    let gateway = Gateway::start(json!({}), [hedged(&[silent.url(), fast.url()], always(), json!({}))]);
    let mut client = gateway.connect();
    for target in ["/a/x", "/a/y?q", "/a/z"] {
        // By turns: one of two goes to the silent target first.
        assert_eq!(
            (client.ask(get(target)).text(), client.ask(get(target)).text()),
            ("fast".to_owned(), "fast".to_owned()),
            "{target}"
        );
    }
    assert!(counts(&gateway).0 > 0);
    let asked: HashSet<String> = fast.take_targets().into_iter().collect();
    assert_eq!(asked, HashSet::from(["/x", "/y?q", "/z"].map(str::to_owned)));
    // A request with a body too, if its method is repeatable.
    assert_eq!(client.ask(request("PUT", "/a/", &[], "body")).text(), "fast");
    assert_eq!(client.ask(request("PUT", "/a/", &[], "body")).text(), "fast");
    assert!(fast.seen().iter().all(|seen| seen.text() == "body" || seen.method == "GET"));
}

#[test]
fn what_must_not_be_repeated_is_sent_once() {
    let (slow, fast) = (slow("slow"), fast("fast"));
    let rules = json!({"after_ms": 100, "percentile": 0, "budget_percent": 100, "body_bytes_max": 10});
    let gateway = Gateway::start(json!({}), [hedged(&[slow.url(), fast.url()], rules, json!({}))]);
    let mut client = gateway.connect();
    for (method, body) in [("POST", "body"), ("PATCH", ""), ("PUT", "more than ten bytes")] {
        let answers = [client.ask(request(method, "/a/", &[], body)).text(), client.ask(request(method, "/a/", &[], body)).text()];
        let names: HashSet<&str> = answers.iter().map(String::as_str).collect();
        assert_eq!(names, HashSet::from(["slow", "fast"]), "{method}");
    }
    assert_eq!(counts(&gateway), (0, 0));
    assert_eq!((slow.requests(), fast.requests()), (3, 3));
}

#[test]
fn a_second_target_that_fails_or_is_late_changes_nothing() {
    let slow = slow("slow");
    let dead = format!("http://127.0.0.1:{}", free_port());
    let silent = silent();
    for (other, expected) in [(dead, (0, 1)), (silent.url(), (0, 1))] {
        // The weights choose the first target.
        let mut definition = hedged(&[slow.url(), other], always(), json!({}));
        definition.0["tollgate"]["upstream"]["targets"][0]["weight"] = json!(1_000);
        let gateway = Gateway::start(json!({}), [definition]);
        let mut client = gateway.connect();
        assert_eq!(client.ask(get("/a/")).text(), "slow");
        assert_eq!(counts(&gateway), expected);
        assert_eq!(client.ask(request("POST", "/a/", &[], "")).text(), "slow", "the connection is usable");
        eventually("nothing is in flight", || {
            gateway
                .control("GET", "/tyk/metrics", "")
                .text()
                .lines()
                .filter(|line| line.starts_with("tollgate_target_in_flight{"))
                .all(|line| line.ends_with(" 0"))
        });
    }
}

#[test]
fn the_second_target_gets_its_own_host_and_path() {
    let (silent, fast) = (silent(), fast("fast"));
    let urls = [format!("{}/one", silent.url()), format!("{}/two?k=v", fast.url())];
    let gateway = Gateway::start(json!({}), [hedged(&urls, always(), json!({}))]);
    let mut client = gateway.connect();
    assert_eq!((client.ask(get("/a/x?y")).text(), client.ask(get("/a/x?y")).text()), ("fast".to_owned(), "fast".to_owned()));
    for seen in fast.seen() {
        assert_eq!((seen.target.as_str(), seen.header("host")), ("/two/x?k=v&y", Some(fast.address.to_string().as_str())));
    }
}

#[test]
fn the_budget_bounds_second_sendings() {
    // All are slow: without a budget, every request would be sent twice.
    let all: Vec<Upstream> = (0..4)
        .map(|_| {
            Upstream::start(|_| {
                thread::sleep(Duration::from_millis(60));
                reply("200 OK", &[], "")
            })
        })
        .collect();
    let urls: Vec<String> = all.iter().map(Upstream::url).collect();
    let rules = json!({"after_ms": 20, "percentile": 0, "budget_percent": 5});
    let gateway = Arc::new(Gateway::start(json!({}), [hedged(&urls, rules, json!({}))]));
    let clients = (0..8).map(|_| {
        let mut client = gateway.connect();
        thread::spawn(move || (0..50).for_each(|_| assert_eq!(client.ask(get("/a/")).status, 200)))
    });
    clients.collect::<Vec<_>>().into_iter().for_each(|client| client.join().unwrap());
    let (won, other) = counts(&gateway);
    let twice = (won + other) as usize;
    assert!((1..=20).contains(&twice), "{twice} of 400 requests were sent twice");
    // A request may be answered before a connection for its second sending is there.
    let asked: usize = all.iter().map(Upstream::requests).sum();
    assert!((400..=400 + twice).contains(&asked), "{asked}, of which {twice} are second ones");
}

#[test]
fn a_percentile_of_recent_latencies_is_the_time_to_wait() {
    let lags = Arc::new(AtomicBool::new(false));
    let switch = lags.clone();
    let one = Upstream::start(move |_| {
        while switch.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(20));
        }
        reply("200 OK", &[], "one")
    });
    let other = fast("other");
    let rules = json!({"percentile": 99, "after_ms": 50, "budget_percent": 100});
    let gateway = Gateway::start(json!({}), [hedged(&[one.url(), other.url()], rules, json!({}))]);
    let mut client = gateway.connect();
    (0..300).for_each(|_| assert_eq!(client.ask(get("/a/")).status, 200));
    let (won, sent) = counts(&gateway);
    assert!(won + sent < 100, "{won} and {sent} of 300 requests were sent twice, though none was slower than the others");
    lags.store(true, Ordering::SeqCst);
    let all_from_the_other = (0..10).all(|_| client.ask(get("/a/")).text() == "other");
    lags.store(false, Ordering::SeqCst);
    assert!(all_from_the_other);
    assert!(counts(&gateway).0 > won);
}

#[test]
fn rules_that_cannot_work_are_errors_with_their_place() {
    let upstream = Upstream::ok();
    for (rules, field, message) in [
        (json!({"percentile": 0}), "hedge.after_ms", "every request would be sent twice"),
        (json!({"percentile": 100}), "hedge.percentile", "from 50 to below 100"),
        (json!({"percentile": 10}), "hedge.percentile", "from 50 to below 100"),
        (json!({"budget_percent": 0}), "hedge.budget_percent", "from 1 to 100"),
        (json!({"budget": 5}), "hedge.budget", ""),
    ] {
        let gateway = Gateway::start(json!({}), [hedged(&[upstream.url()], rules, json!({}))]);
        assert_eq!(gateway.get("/a/").status, 404, "{field}");
        let log = gateway.log();
        assert!(
            log.lines().any(|line| line.contains("ERROR") && line.contains(field) && line.contains(message)),
            "{field} in\n{log}"
        );
    }
}
