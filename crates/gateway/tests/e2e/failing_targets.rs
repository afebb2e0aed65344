//! Targets that die, hang, flap and fail while requests are in flight: real nginx, killed and stopped. The tests count requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::nginx::Nginx;
use crate::harness::{Definition, Gateway, Upstream, api, eventually, get, reply, request};
use crate::servers::free_port;

const CLIENTS: usize = 16;

fn balanced(urls: &[String], rules: Value) -> Definition {
    let targets: Vec<Value> = urls.iter().map(|url| json!({"url": url})).collect();
    let mut upstream = json!({"targets": targets});
    crate::harness::definition::merge(&mut upstream, &rules);
    api("a", "/a/", "http://unused.test").set("tollgate", json!({"upstream": upstream}))
}

fn four_nginx() -> Vec<Nginx> {
    (0..4).map(|number| Nginx::start(&format!("location / {{ return 200 {number}; }}"))).collect()
}

fn urls(nginx: &[Nginx]) -> Vec<String> {
    nginx.iter().map(Nginx::url).collect()
}

/// Clients that send requests until they are told to stop. Counts what they get.
struct Load {
    stop: Arc<AtomicBool>,
    good: Arc<AtomicUsize>,
    bad: Arc<AtomicUsize>,
    clients: Vec<thread::JoinHandle<()>>,
}

impl Load {
    fn start(gateway: &Gateway, request: &str) -> Load {
        let (stop, good, bad) = <(Arc<AtomicBool>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let clients = (0..CLIENTS).map(|_| {
            let (stop, good, bad) = (stop.clone(), good.clone(), bad.clone());
            let (mut client, request) = (gateway.connect(), request.to_owned());
            thread::spawn(move || {
                while !stop.load(Ordering::SeqCst) {
                    let count = if client.ask(&request).status == 200 { &good } else { &bad };
                    count.fetch_add(1, Ordering::SeqCst);
                }
            })
        });
        Load { clients: clients.collect(), stop, good, bad }
    }

    fn good(&self) -> usize {
        self.good.load(Ordering::SeqCst)
    }

    fn bad(&self) -> usize {
        self.bad.load(Ordering::SeqCst)
    }

    /// Waits for this many more good answers.
    fn passes(&self, requests: usize) {
        let until = self.good() + requests;
        eventually("the load goes on", || self.good() >= until);
    }

    fn end(self) -> usize {
        self.stop.store(true, Ordering::SeqCst);
        self.clients.into_iter().for_each(|client| client.join().unwrap());
        self.bad.load(Ordering::SeqCst)
    }
}

#[test]
fn when_one_of_four_dies_only_what_was_in_flight_and_five_more_fail() {
    let mut nginx = four_nginx();
    let gateway =
        Gateway::start(json!({}), [balanced(&urls(&nginx), json!({"health": {"ejected_ms": 600_000, "ejected_ms_max": 600_000}}))]);
    let load = Load::start(&gateway, &get("/a/"));
    load.passes(2_000);
    assert_eq!(load.bad(), 0);
    nginx[1].kill();
    load.passes(4_000);
    let failed = load.end();
    assert!(failed <= 5 + CLIENTS, "{failed} requests failed");
    assert!(failed > 0, "nothing failed, so nothing was tested");
}

#[test]
fn with_retries_no_idempotent_request_fails_when_one_of_four_dies_and_returns() {
    let mut nginx = four_nginx();
    let gateway = Gateway::start(json!({}), [balanced(&urls(&nginx), json!({"health": {}, "retries": {}}))]);
    let load = Load::start(&gateway, &get("/a/"));
    load.passes(2_000);
    for _ in 0..3 {
        nginx[2].kill();
        load.passes(1_500);
        nginx[2] = Nginx::start_at(nginx[2].port, "", "location / { return 200 2; }");
        load.passes(1_500);
    }
    assert_eq!(load.end(), 0);
    eventually("the target that returned gets requests", || gateway.get("/a/").text() == "2");
}

#[test]
fn a_stopped_target_costs_no_idempotent_request() {
    let nginx = four_nginx();
    // No budget stops it: sixteen requests hang at once.
    let rules = json!({"health": {"consecutive_faults": 3}, "retries": {"try_ms": 2_000, "budget_per_s_min": 1_000}});
    let gateway = Gateway::start(json!({}), [balanced(&urls(&nginx), rules)]);
    let load = Load::start(&gateway, &get("/a/"));
    load.passes(1_000);
    nginx[0].signal("-STOP");
    load.passes(2_000);
    nginx[0].signal("-CONT");
    load.passes(1_000);
    assert_eq!(load.end(), 0);
}

#[test]
fn a_target_that_fails_one_in_three_is_ejected_by_its_share_of_faults() {
    let mut nginx = four_nginx();
    let third = "split_clients $request_id $part { 33.3% 1; * 0; }";
    nginx[3] = Nginx::start_at(nginx[3].port, third, "location / { if ($part) { return 500; } return 200 3; }");
    let health = json!({"consecutive_faults": 0, "fault_percent": 25, "ejected_ms": 600_000, "ejected_ms_max": 600_000});
    let gateway = Gateway::start(json!({}), [balanced(&urls(&nginx), json!({"health": health}))]);
    let load = Load::start(&gateway, &get("/a/"));
    eventually("it fails", || load.bad() > 0);
    eventually("it is ejected", || gateway.log().contains("target ejected"));
    let failed = load.bad();
    load.passes(3_000);
    assert!(load.end() <= failed + CLIENTS, "it gets no more requests");
    assert!(gateway.log().contains("fault_share"), "{}", gateway.log());
}

#[test]
fn retries_hide_one_failure_in_three() {
    let third = "split_clients $request_id $part { 33.3% 1; * 0; }";
    let flaky = Nginx::start_at(free_port(), third, "location / { if ($part) { return 503; } return 200 flaky; }");
    let steady = Nginx::start("location / { return 200 steady; }");
    let retries = json!({"retries": {"budget_percent": 100}});
    let gateway = Gateway::start(json!({}), [balanced(&[flaky.url(), steady.url()], retries)]);
    let mut client = gateway.connect();
    assert!((0..300).all(|_| client.ask(get("/a/")).status == 200));
}

#[test]
fn when_all_are_dead_retries_add_at_most_a_tenth_of_the_load() {
    // They accept, read and close: each try is a connection.
    let dead: Vec<Upstream> = (0..4).map(|_| Upstream::start(|_| Vec::new())).collect();
    let urls: Vec<String> = dead.iter().map(Upstream::url).collect();
    let rules = json!({"health": {}, "retries": {"tries": 5, "budget_per_s_min": 0, "backoff_ms": 1}});
    let gateway = Gateway::start(json!({}), [balanced(&urls, rules)]);
    let mut client = gateway.connect();
    for _ in 0..1_000 {
        assert_eq!(client.ask(get("/a/")).status, 500);
    }
    let tries: usize = dead.iter().map(Upstream::requests).sum();
    assert!((1_050..=1_100).contains(&tries), "{tries} tries of 1000 requests");
}

#[test]
fn the_first_target_that_returns_is_found_by_requests() {
    let mut nginx = four_nginx();
    let health = json!({"ejected_ms": 600_000, "ejected_ms_max": 600_000});
    let gateway = Gateway::start(json!({}), [balanced(&urls(&nginx), json!({"health": health}))]);
    nginx.iter_mut().for_each(Nginx::kill);
    let mut client = gateway.connect();
    for _ in 0..40 {
        assert_eq!(client.ask(get("/a/")).status, 500);
    }
    nginx[3] = Nginx::start_at(nginx[3].port, "", "location / { return 200 back; }");
    // Each request tries one of four: the chance that 80 miss it is 1 to 10 000 millions.
    let missed = (0..80).take_while(|_| client.ask(get("/a/")).status != 200).count();
    assert!(missed < 80);
    assert!((0..200).all(|_| client.ask(get("/a/")).text() == "back"), "the others get no requests");
}

#[test]
fn what_its_target_received_is_sent_again_only_if_that_does_no_harm() {
    let closing = Upstream::start(|_| Vec::new());
    let good = Upstream::start(|seen| reply("200 OK", &[], &format!("{} {}", seen.method, seen.text())));
    let rules = json!({"retries": {"budget_percent": 100, "budget_per_s_min": 1000}});
    let gateway = Gateway::start(json!({}), [balanced(&[closing.url(), good.url()], rules)]);
    for _ in 0..4 {
        assert_eq!(gateway.send(request("PUT", "/a/", &[], "hello")).text(), "PUT hello");
    }
    let posts: Vec<u16> = (0..4).map(|_| gateway.send(request("POST", "/a/", &[], "x")).status).collect();
    assert_eq!(posts, [500, 200, 500, 200]);
    // A large body is forwarded, and not kept.
    let large = "x".repeat(100_000);
    let puts: Vec<u16> = (0..4).map(|_| gateway.send(request("PUT", "/a/", &[], &large)).status).collect();
    assert_eq!(puts, [500, 200, 500, 200]);
}

#[test]
fn a_request_that_reached_no_target_is_sent_again_whatever_its_method() {
    let dead = format!("http://127.0.0.1:{}", free_port());
    let good = Upstream::ok();
    let rules = json!({"retries": {"budget_percent": 100, "budget_per_s_min": 1000}});
    let gateway = Gateway::start(json!({}), [balanced(&[dead, good.url()], rules)]);
    assert!((0..6).all(|_| gateway.send(request("POST", "/a/", &[], "x")).status == 200));
    assert_eq!(good.requests(), 6);
}

#[test]
fn the_next_target_gets_its_own_host_and_path() {
    let bad = Upstream::start(|_| reply("503 Busy", &[], "busy"));
    let good = Upstream::ok();
    let rules = json!({"retries": {"budget_percent": 100, "budget_per_s_min": 1000}});
    let urls = [format!("{}/old", bad.url()), format!("{}/new?v=2", good.url())];
    let gateway = Gateway::start(json!({}), [balanced(&urls, rules)]);
    assert_eq!(gateway.get("/a/x?q=1").status, 200);
    assert_eq!(bad.last().target, "/old/x?q=1");
    assert_eq!(good.last().target, "/new/x?v=2&q=1");
    assert_eq!(good.last().header("host"), Some(good.address.to_string().as_str()));
}

#[test]
fn a_response_that_no_retry_improves_reaches_the_client() {
    let busy: Vec<Upstream> = (0..2).map(|_| Upstream::start(|_| reply("503 Busy", &["X-Own: yes"], "busy"))).collect();
    let urls: Vec<String> = busy.iter().map(Upstream::url).collect();
    let rules = json!({"retries": {"tries": 3, "backoff_ms": 1, "budget_percent": 100, "budget_per_s_min": 1000}});
    let gateway = Gateway::start(json!({}), [balanced(&urls, rules)]);
    let response = gateway.get("/a/");
    assert_eq!((response.status, response.text().as_str()), (503, "busy"));
    assert_eq!(response.header("x-own"), Some("yes"));
    assert_eq!(busy.iter().map(Upstream::requests).sum::<usize>(), 3);
}

#[test]
fn health_survives_a_reload() {
    let mut nginx = four_nginx();
    let rules = json!({"health": {"ejected_ms": 600_000, "ejected_ms_max": 600_000}});
    let definition = balanced(&urls(&nginx), rules);
    let gateway = Gateway::start(json!({}), [definition.clone()]);
    nginx[0].kill();
    let mut client = gateway.connect();
    let failed = (0..100).filter(|_| client.ask(get("/a/")).status != 200).count();
    assert_eq!(failed, 5);
    gateway.write_api(&definition.set("name", "another"));
    gateway.reload();
    eventually("the new name is in effect", || gateway.control("GET", "/tyk/apis/a", "").text().contains("another"));
    assert!((0..100).all(|_| client.ask(get("/a/")).status == 200), "it is still ejected");
}

#[test]
fn rules_that_cannot_work_are_errors_with_their_place() {
    let good = Upstream::ok();
    let rules = json!({
        "targets": [{"url": good.url(), "weight": 0}],
        "retries": {"tries": 0},
        "health": {"interval_ms": 0, "fault_percent": 101},
        "typo": 1,
    });
    let definition = api("a", "/a/", &good.url()).set("tollgate", json!({"upstream": rules}));
    let unread = api("c", "/c/", &good.url()).set("tollgate", json!({"upstream": {"retries": {"causes": ["conect"]}}}));
    let gateway = Gateway::start(json!({}), [definition, api("b", "/b/", &good.url()), unread]);
    assert_eq!((gateway.get("/a/").status, gateway.get("/b/").status), (404, 200));
    let log = gateway.log();
    for place in ["typo", "retries.causes[0]", "retries.tries", "health.interval_ms", "health.fault_percent", "upstream.targets"] {
        assert!(log.contains(place), "{place} in {log}");
    }
}

/// What a target that was ejected gets of some requests once it is there again.
struct Returned {
    gateway: Gateway,
    back: Upstream,
    _others: Vec<Upstream>,
}

impl Returned {
    /// A target of four that has just returned, and takes this long to get its full share.
    fn with_slow_start(slow_start_ms: u64) -> Returned {
        let fails = Arc::new(AtomicBool::new(true));
        let switch = fails.clone();
        let back =
            Upstream::start(
                move |_| {
                    if switch.load(Ordering::SeqCst) { reply("503 Busy", &[], "") } else { reply("200 OK", &[], "") }
                },
            );
        let others: Vec<Upstream> = (0..3).map(|_| Upstream::ok()).collect();
        let urls: Vec<String> = [&back].into_iter().chain(&others).map(Upstream::url).collect();
        let health = json!({"consecutive_faults": 1, "ejected_ms": 500, "slow_start_ms": slow_start_ms});
        let gateway = Gateway::start(json!({}), [balanced(&urls, json!({"health": health}))]);
        let mut client = gateway.connect();
        eventually("it is ejected", || client.ask(get("/a/")).status == 503);
        fails.store(false, Ordering::SeqCst);
        let seen = back.requests();
        eventually("it returns", || client.ask(get("/a/")).status == 200 && back.requests() > seen);
        Returned { gateway, back, _others: others }
    }

    fn share(&self) -> f64 {
        const REQUESTS: usize = 400;
        let (mut client, before) = (self.gateway.connect(), self.back.requests());
        (0..REQUESTS).for_each(|_| assert_eq!(client.ask(get("/a/")).status, 200));
        (self.back.requests() - before) as f64 / REQUESTS as f64
    }
}

#[test]
fn a_target_that_returns_is_not_flooded_and_has_its_share_in_the_end() {
    // Half of its share would be an eighth of the requests.
    let first = Returned::with_slow_start(240_000).share();
    assert!(first < 0.125, "{first} at first");
    let soon = Returned::with_slow_start(1_000);
    eventually("it gets its share", || (0.2..=0.3).contains(&soon.share()));
}

/// Sends requests from several clients at once.
fn load(gateway: &Gateway, requests: usize) {
    const CLIENTS: usize = 6;
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = gateway.connect();
                (0..requests / CLIENTS).for_each(|_| assert_eq!(client.ask(get("/a/")).status, 200));
            });
        }
    });
}

/// That latencies do not suffer then is simulated in the tests of `tollgate-balance`.
#[test]
fn a_target_that_is_a_hundred_times_slower_gets_few_requests_or_none() {
    const REQUESTS: usize = 600;
    let late = |ms: u64| {
        Upstream::start(move |_| {
            thread::sleep(Duration::from_millis(ms));
            reply("200 OK", &[], "")
        })
    };
    let fast: Vec<Upstream> = (0..3).map(|_| late(4)).collect();
    // What guards: the choice itself, or that the slow target is ejected.
    let ejection = json!({
        "consecutive_faults": 0, "latency_factor": 3, "latency_ms_min": 100, "interval_ms": 1_000, "requests_min": 2,
        "ejected_ms": 600_000, "ejected_ms_max": 600_000,
    });
    for (rules, share_max) in [
        (json!({"balance": "peak_ewma"}), 0.125),
        (json!({"health": ejection.clone()}), 0.0),
        (json!({"balance": "least_requests", "health": ejection}), 0.0),
    ] {
        let slow = late(400);
        let urls: Vec<String> = fast.iter().chain([&slow]).map(Upstream::url).collect();
        let gateway = Gateway::start(json!({}), [balanced(&urls, rules.clone())]);
        // The gateway learns first.
        if share_max > 0.0 {
            load(&gateway, 120);
        } else {
            let port = slow.port().to_string();
            eventually("it is ejected", || {
                load(&gateway, 60);
                gateway.log().lines().any(|line| line.contains("target ejected") && line.contains(&port))
            });
        }
        let known = slow.requests();
        load(&gateway, REQUESTS);
        let share = (slow.requests() - known) as f64 / REQUESTS as f64;
        // Without a guard, it gets a quarter of the requests.
        assert!(share <= share_max, "{rules}: {share}");
    }
}
