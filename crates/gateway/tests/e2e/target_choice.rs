//! Which target gets a request when another has failed, and copies for mirrors.

use serde_json::{Value, json};
use std::collections::BTreeSet;

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
    let mut sent: usize = 0;
    // More than 64 at one time are not sent.
    eventually("copies arrive", || {
        assert_eq!(client.ask(request("GET", "/a/", &[], "")).status, 200);
        sent += 1;
        sent >= 400 && gone.requests() > 100
    });
    // Half of them; six standard deviations are exceeded once in 500 millions.
    let most = sent as f64 / 2.0 + 3.0 * (sent as f64).sqrt();
    assert!(gone.requests() as f64 <= most, "{} of {sent}", gone.requests());
}
