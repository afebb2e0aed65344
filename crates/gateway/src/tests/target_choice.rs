//! Which target gets a request: weights, hashes, cookies, and parts of a split.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::harness::{Gateway, Upstream, api, reply, request};

fn named(names: &[&'static str]) -> Vec<Upstream> {
    names.iter().copied().map(|name| Upstream::start(move |_| reply("200 OK", &[], name))).collect()
}

fn gateway(upstreams: &[Upstream], weights: &[u32], rules: Value) -> Gateway {
    let targets = upstreams.iter().zip(weights).map(|(upstream, weight)| json!({"url": upstream.url(), "weight": weight}));
    let mut upstream = json!({"targets": targets.collect::<Vec<_>>()});
    super::harness::definition::merge(&mut upstream, &rules);
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
