//! Which target gets a request: weights, hashes, cookies, and parts of a split.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use crate::harness::{Gateway, Seen, Upstream, api, eventually, reply, request};

fn named(names: &[&'static str]) -> Vec<Upstream> {
    names.iter().copied().map(|name| Upstream::start(move |_| reply("200 OK", &[], name))).collect()
}

fn gateway(upstreams: &[Upstream], weights: &[u32], rules: Value) -> Gateway {
    let targets = upstreams.iter().zip(weights).map(|(upstream, weight)| json!({"url": upstream.url(), "weight": weight}));
    let mut upstream = json!({"targets": targets.collect::<Vec<_>>()});
    crate::harness::definition::merge(&mut upstream, &rules);
    Gateway::start(json!({}), [api("a", "/a/", "http://unused.test").set("tollgate", json!({"upstream": upstream}))])
}

fn counts(gateway: &Gateway, requests: usize, line: impl Fn(usize) -> String) -> HashMap<String, usize> {
    let mut client = gateway.connect();
    let mut counts = HashMap::new();
    for number in 0..requests {
        let text = client.ask(request("GET", "/a/x", &[&line(number)], "")).text();
        *counts.entry(text).or_default() += 1;
    }
    counts
}

#[test]
fn requests_follow_the_weights() {
    let upstreams = named(&["a", "b", "c"]);
    let gateway = gateway(&upstreams, &[3, 1, 0], json!({}));
    let counts = counts(&gateway, 400, |_| "X: y".to_owned());
    assert_eq!(counts, HashMap::from([("a".to_owned(), 300), ("b".to_owned(), 100)]));
}

#[test]
fn the_same_header_goes_to_the_same_target() {
    let upstreams = named(&["a", "b", "c", "d"]);
    let rules = json!({"balance": "hash", "hash": {"by": "header", "name": "X-User"}});
    let gateway = gateway(&upstreams, &[1; 4], rules);
    let mut homes: HashMap<usize, String> = HashMap::new();
    let mut client = gateway.connect();
    for number in 0..600 {
        let user = number % 200;
        let home = client.ask(request("GET", "/a/", &[&format!("X-User: u{user}")], "")).text();
        assert_eq!(*homes.entry(user).or_insert_with(|| home.clone()), home);
    }
    // 200 users on 4 targets: 50 each, with a standard deviation of 6.1. Six of those are exceeded once in 500 millions.
    for name in ["a", "b", "c", "d"] {
        let share = homes.values().filter(|home| *home == name).count();
        assert!((13..=87).contains(&share), "{name}: {share}");
    }
}

#[test]
fn paths_cookies_and_addresses_can_be_hashed() {
    let upstreams = named(&["a", "b", "c", "d"]);
    for (by, line) in [("cookie", "Cookie: other=1; user=x"), ("address", "X: y"), ("path", "X: y")] {
        let gateway = gateway(&upstreams, &[1; 4], json!({"balance": "hash", "hash": {"by": by, "name": "user"}}));
        assert_eq!(counts(&gateway, 50, |_| line.to_owned()).len(), 1, "{by}");
    }
    let gateway = gateway(&upstreams, &[1; 4], json!({"balance": "hash", "hash": {"by": "cookie", "name": "user"}}));
    assert_eq!(counts(&gateway, 200, |_| "X: y".to_owned()).len(), 4, "without a cookie at random");
}

#[test]
fn a_cookie_keeps_a_client_with_its_target_and_does_not_name_it() {
    let upstreams = named(&["a", "b", "c"]);
    let gateway = gateway(&upstreams, &[1; 3], json!({"sticky_cookie": {"name": "home", "secure": true, "max_age_s": 60}}));
    let first = gateway.get("/a/");
    let line = first.header("set-cookie").unwrap().to_owned();
    let (pair, attributes) = line.split_once(';').unwrap();
    assert_eq!(attributes, " Path=/; HttpOnly; SameSite=Lax; Max-Age=60; Secure");
    assert!(!upstreams.iter().any(|upstream| line.contains(&upstream.port().to_string())), "{line}");
    let mut client = gateway.connect();
    for _ in 0..30 {
        let next = client.ask(request("GET", "/a/", &[&format!("Cookie: x=y; {pair}")], ""));
        assert_eq!((next.text(), next.header("set-cookie")), (first.text(), None));
    }
    let stranger = gateway.send(request("GET", "/a/", &["Cookie: home=0123456789abcdef"], ""));
    assert!(stranger.header("set-cookie").is_some(), "an unknown value is replaced");
}

#[test]
fn a_client_whose_target_failed_gets_the_next_ones_cookie() {
    let upstreams = vec![Upstream::start(|_| reply("503 Busy", &[], "busy")), Upstream::ok()];
    let rules = json!({"sticky_cookie": {}, "retries": {"budget_percent": 100, "budget_per_s_min": 100}});
    let gateway = gateway(&upstreams, &[1; 2], rules);
    let first = gateway.get("/a/");
    assert_eq!((first.status, upstreams[0].requests()), (200, 1));
    let lines = first.head.all("set-cookie");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let pair = lines[0].split(';').next().unwrap().to_owned();
    let mut client = gateway.connect();
    (0..10).for_each(|_| assert_eq!(client.ask(request("GET", "/a/", &[&format!("Cookie: {pair}")], "")).status, 200));
    assert_eq!(upstreams[0].requests(), 1, "the cookie names the target that answered");
}

#[test]
fn a_split_follows_headers_cookies_and_shares() {
    let upstreams = named(&["base"]);
    let other = named(&["canary", "blue"]);
    let split = json!({"split": [
        {"name": "canary", "percent": 10, "header": {"name": "X-Canary"}, "targets": [{"url": other[0].url()}]},
        {"name": "blue", "cookie": {"name": "color", "value": "blue"}, "targets": [{"url": other[1].url()}]},
    ]});
    let gateway = gateway(&upstreams, &[1], split);
    assert_eq!(counts(&gateway, 20, |_| "X-Canary: any".to_owned()).len(), 1);
    assert!(counts(&gateway, 20, |_| "Cookie: color=blue".to_owned()).contains_key("blue"));
    let counts = counts(&gateway, 2_000, |_| "Cookie: color=red".to_owned());
    // 200 of 2000, with a standard deviation of 13.4. Six of those are exceeded once in 500 millions.
    let canary = counts["canary"];
    assert!((120..=280).contains(&canary) && counts["base"] == 2_000 - canary, "{counts:?}");
    assert!(!gateway.get("/a/").text().is_empty());
}

#[test]
fn a_mirror_gets_copies_and_the_client_notices_nothing() {
    let upstreams = named(&["main"]);
    // Its answers are slow, wrong and large.
    let mirror = Upstream::start(|_| reply("500 Wrong", &[], &"x".repeat(1_000_000)));
    let gateway = gateway(&upstreams, &[1], json!({"mirror": {"url": mirror.url(), "body_bytes_max": 1000}}));
    let mut client = gateway.connect();
    for number in 0..20 {
        let response = client.ask(request("POST", &format!("/a/x?n={number}"), &["X-Own: yes"], "body"));
        assert_eq!((response.status, response.text().as_str()), (200, "main"));
    }
    eventually("all copies arrive", || mirror.requests() == 20);
    let (sent, copied) = (upstreams[0].seen(), mirror.seen());
    assert!(copied.iter().all(|seen| seen.method == "POST" && seen.text() == "body" && seen.header("x-own") == Some("yes")));
    assert!(copied.iter().all(|seen| seen.header("host") == Some(mirror.address.to_string().as_str())));
    let targets = |seen: &[Seen]| seen.iter().map(|seen| seen.target.clone()).collect::<BTreeSet<_>>();
    assert_eq!(targets(&sent), targets(&copied));
    assert_eq!(sent[0].header("x-forwarded-for"), copied[0].header("x-forwarded-for"));
    // A large body is forwarded, but not copied.
    assert_eq!(client.ask(request("POST", "/a/large", &[], &"x".repeat(2_000))).status, 200);
    assert_eq!(client.ask(request("GET", "/a/last", &[], "")).status, 200);
    eventually("the last copy arrives", || mirror.last().target == "/last");
    assert_eq!(mirror.requests(), 21);
}

#[test]
fn a_mirror_that_is_gone_costs_nothing() {
    let upstreams = named(&["main"]);
    let gone = Upstream::start(|_| Vec::new());
    let gateway = gateway(&upstreams, &[1], json!({"mirror": {"url": gone.url(), "percent": 50}}));
    let mut client = gateway.connect();
    assert!((0..400).all(|_| client.ask(request("GET", "/a/", &[], "")).status == 200));
    // 200 of 400, with a standard deviation of 10. Six of those are exceeded once in 500 millions. More than 64 at one time are not sent.
    eventually("copies arrive", || gone.requests() > 100);
    assert!(gone.requests() <= 260, "{}", gone.requests());
}
