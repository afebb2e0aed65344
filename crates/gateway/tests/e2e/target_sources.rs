//! Where targets come from besides lists: SRV records of DNS; and which zone they are in.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::harness::dns::{NameServer, ServiceRecord};
use crate::harness::{Gateway, Upstream, api, eventually, get, reply};

type Records = Option<Vec<ServiceRecord>>;

fn named(names: &[&'static str]) -> Vec<Upstream> {
    names.iter().map(|&name| Upstream::start(move |_| reply("200 OK", &["Connection: close"], name))).collect()
}

/// Answers by name.
fn counts(gateway: &Gateway, requests: usize) -> HashMap<String, usize> {
    let mut client = gateway.connect();
    let mut counts = HashMap::new();
    (0..requests).for_each(|_| *counts.entry(client.ask(get("/a/")).text()).or_default() += 1);
    counts
}

fn found(server: &NameServer, fallback: &str, over: Value) -> Gateway {
    let mut upstream = json!({"srv": {"name": "_http._tcp.shop.example"}, "balance": "random"});
    crate::harness::definition::merge(&mut upstream, &over);
    let definition = api("a", "/a/", fallback).set("tollgate", json!({"upstream": upstream}));
    Gateway::start(json!({"tollgate": {"dns": {"servers": [server.address.to_string()]}}}), [definition])
}

#[test]
fn targets_of_srv_records_have_their_weights_and_priorities() {
    let (first, fallback) = (named(&["a", "b", "reserve"]), Upstream::start(|_| reply("200 OK", &[], "written")));
    let ports: Vec<u16> = first.iter().map(Upstream::port).collect();
    let host = || "127.0.0.1.".trim_end_matches('.').to_owned();
    let known: Arc<Mutex<Records>> =
        Arc::new(Mutex::new(Some(vec![(10, 3, ports[0], host()), (10, 1, ports[1], host()), (20, 1, ports[2], host())])));
    let answer = known.clone();
    let server = NameServer::of_services(move |name| match name {
        "_http._tcp.shop.example" => answer.lock().unwrap().clone(),
        _ => Some(Vec::new()),
    });
    let gateway = found(
        &server,
        &fallback.url(),
        json!({"health": {"consecutive_faults": 1, "ejected_ms": 600_000, "ejected_ms_max": 600_000}}),
    );
    eventually("the records are used", || gateway.get("/a/").text() != "written");
    // Six standard deviations of 1,000 draws with 3/4 are 82.
    let seen = counts(&gateway, 1_000);
    assert_eq!(seen.get("reserve"), None, "{seen:?}");
    assert!((668..=832).contains(&seen["a"]), "{seen:?}");
    // Whatever goes wrong, the last good list stays.
    for broken in [None, Some(Vec::new()), Some(vec![(0, 0, 0, host())])] {
        *known.lock().unwrap() = broken.clone();
        let asked = server.asked();
        eventually("it is asked again", || server.asked() > asked + 1);
        assert_eq!(gateway.get("/a/").status, 200, "{broken:?}");
        assert!(["a", "b"].contains(&gateway.get("/a/").text().as_str()), "{broken:?}");
    }
    let failures = gateway.log().matches("discovery failed").count();
    assert_eq!(failures, 1, "once for the outage: {}", gateway.log());
    // The list of another answer is used, and the reserve when no other works.
    drop(first);
    *known.lock().unwrap() = Some(vec![(10, 1, ports[0], host()), (20, 1, fallback.port(), host())]);
    eventually("the reserve is used", || gateway.get("/a/").text() == "written");
}

#[test]
fn the_own_zone_is_preferred_and_others_take_over_what_it_is_missing() {
    let mut upstreams = named(&["here", "here", "elsewhere", "nowhere"]);
    let zones = ["a", "a", "b", ""];
    let targets: Vec<Value> =
        upstreams.iter().zip(zones).map(|(upstream, zone)| json!({"url": upstream.url(), "zone": zone})).collect();
    let rules = json!({"targets": targets, "health": {"consecutive_faults": 1, "ejected_ms": 600_000, "ejected_ms_max": 600_000}, "retries": {"budget_percent": 100}});
    let start = |zone: &str| {
        let definition = api("a", "/a/", "http://unused.test").set("tollgate", json!({"upstream": rules}));
        Gateway::start(json!({"tollgate": {"zone": zone}}), [definition])
    };
    let gateway = start("a");
    assert_eq!(counts(&gateway, 200), HashMap::from([("here".to_owned(), 200)]));
    assert_eq!(counts(&start("b"), 100), HashMap::from([("elsewhere".to_owned(), 100)]));
    // A zone without targets, or none, prefers nothing.
    for zone in ["c", ""] {
        assert_eq!(
            counts(&start(zone), 100),
            HashMap::from([("here".to_owned(), 50), ("elsewhere".to_owned(), 25), ("nowhere".to_owned(), 25)])
        );
    }
    // One of two is left: it keeps 70 percent, half of the zone with the reserve. Five standard deviations of 1,000 draws are 72.
    drop(upstreams.remove(1));
    counts(&gateway, 50);
    let seen = counts(&gateway, 1_000);
    assert!((628..=772).contains(&seen["here"]), "{seen:?}");
    drop(upstreams.remove(0));
    counts(&gateway, 50);
    let seen = counts(&gateway, 100);
    assert_eq!(seen.get("here"), None, "{seen:?}");
}
