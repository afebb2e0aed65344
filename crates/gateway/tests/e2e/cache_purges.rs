//! Purges of the response cache: by API, URL, prefix and tag, through the control API, the command line and Tyk's message, on one gateway and on
//! several that share a Redis.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::commands::tollgate;
use crate::harness::{Definition, Gateway, Response, Seen, Upstream, api, eventually, reply};
use crate::servers::{Cluster, Sentinel, Server};

/// Counts its answers, and tags them with what the query names.
fn counting() -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen: &Seen| {
        let number = count.fetch_add(1, Ordering::SeqCst) + 1;
        let tags = seen.target.split_once("?tags=").map_or("", |(_, tags)| tags);
        let lines = [format!("Surrogate-Key: {}", tags.replace('+', " "))];
        reply("200 OK", &[&lines[0]], &format!("answer {number}"))
    })
}

fn cached(id: &str, upstream: &Upstream) -> Definition {
    let options = json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true});
    api(id, &format!("/{id}/"), &upstream.url()).set("cache_options", options)
}

fn is_hit(answer: &Response) -> bool {
    assert_eq!(answer.status, 200, "{answer}");
    answer.header("x-tyk-cached-response").is_some()
}

fn purge(gateway: &Gateway, api: &str, scope: Value) -> Response {
    gateway.control("POST", &format!("/tyk/cache/{api}/purge"), &scope.to_string())
}

/// Settings for gateways on this Redis, whose messages are signed.
fn on(server: &Server) -> Value {
    with_storage(json!({"type": "redis", "host": "127.0.0.1", "port": server.port}))
}

pub(crate) fn with_storage(storage: Value) -> Value {
    crate::shared_keys::patient(json!({"storage": storage, "node_secret": "352d20ee67be67f6340b4c0605b044b7"}))
}

fn gateways<const N: usize>(server: &Server, upstream: &Upstream) -> [Gateway; N] {
    gateways_with(&on(server), upstream)
}

/// Gateways that know each other.
fn gateways_with<const N: usize>(conf: &Value, upstream: &Upstream) -> [Gateway; N] {
    let gateways = [(); N].map(|()| Gateway::start(conf.clone(), [cached("a", upstream), cached("b", upstream)]));
    follow_purges(&gateways);
    gateways
}

/// Waits until gateways know each other and have dropped what they had when they began to follow purges.
pub(crate) fn follow_purges(gateways: &[Gateway]) {
    for gateway in gateways {
        eventually("the gateways know each other", || {
            gateway.control("GET", "/tyk/cache", "").json()["gateways"].as_array().unwrap().len() == gateways.len()
        });
    }
}

/// Purges until all gateways have confirmed it: on a busy machine, one may take longer than it may.
pub(crate) fn confirmed(purge: impl Fn() -> Response) {
    eventually("all gateways confirm the purge", || purge().status == 200);
}

#[test]
fn urls_prefixes_and_tags_are_purged_and_nothing_else() {
    let upstream = counting();
    // One URL in 32,768 shares its place in the table of purges with another, and another one in each process.
    let start = || Gateway::start(json!({}), [cached("a", &upstream), cached("b", &upstream)]);
    let mut gateway = start();
    let targets =
        ["/a/p", "/a/p?x=1", "/a/p/1", "/a/p/1?x=1", "/a/pq", "/a/t1?tags=red+blue", "/a/t2?tags=blue", "/b/p", "/b/t?tags=blue"];
    let all: Vec<&str> = targets.to_vec();
    for (scope, purged) in [
        (json!({"urls": ["/a/p"]}), vec!["/a/p"]),
        (json!({"urls": ["/a/p?x=1", "/nothing"]}), vec!["/a/p?x=1"]),
        // As the upstream is asked.
        (json!({"urls": ["/p/1"]}), vec!["/a/p/1"]),
        (json!({"prefixes": ["/a/p/"]}), vec!["/a/p", "/a/p?x=1", "/a/p/1", "/a/p/1?x=1"]),
        (json!({"prefixes": ["/a/p/1"]}), vec!["/a/p/1", "/a/p/1?x=1"]),
        (json!({"prefixes": ["/a"]}), all[..7].to_vec()),
        (json!({"tags": ["red"]}), vec!["/a/t1?tags=red+blue"]),
        (json!({"tags": ["blue", "green"], "soft": true}), vec!["/a/t1?tags=red+blue", "/a/t2?tags=blue"]),
        (json!({"everything": true}), all[..7].to_vec()),
    ] {
        let gone_from = |gateway: &Gateway| -> Vec<&str> {
            all.iter().for_each(|target| drop(gateway.get(target)));
            assert!(all.iter().all(|target| is_hit(&gateway.get(target))));
            let answer = purge(gateway, "a", scope.clone());
            assert_eq!((answer.status, answer.json()["message"].as_str()), (200, Some("cache invalidated")), "{scope}");
            all.iter().copied().filter(|target| !is_hit(&gateway.get(target))).collect()
        };
        let mut gone = gone_from(&gateway);
        if gone.len() > purged.len() {
            gateway = start();
            gone = gone_from(&gateway);
        }
        assert_eq!(gone, purged, "{scope}");
    }
}

#[test]
fn a_purge_that_says_nothing_or_something_else_is_refused() {
    let gateway = Gateway::start(json!({}), []);
    let many: Vec<String> = (0..257).map(|number| format!("/{number}")).collect();
    for (body, part) in [
        (json!({}), "name what to purge"),
        (json!({"soft": true}), "name what to purge"),
        (json!({"url": "/a"}), "unknown field `url`"),
        (json!({"urls": "/a"}), "the body is no purge"),
        (json!({"urls": ["/a", "http://host/a"]}), "$.urls[1]: \"http://host/a\" must begin with /"),
        (json!({"prefixes": ["/a?b"]}), "$.prefixes[0]: \"/a?b\" must have no query"),
        (json!({"tags": ["a", "b c"]}), "$.tags[1]: \"b c\" must be one tag"),
        (json!({"tags": [""]}), "$.tags[0]"),
        (json!({"urls": many}), "257 urls, prefixes and tags in one purge, at most 256"),
    ] {
        let answer = purge(&gateway, "a", body.clone());
        assert!(answer.status == 400 && answer.json()["message"].as_str().unwrap().contains(part), "{body}: {answer}");
    }
    assert_eq!(gateway.send(crate::harness::request("POST", "/tyk/cache/a/purge", &[], r#"{"everything": true}"#)).status, 403);
}

#[test]
fn a_response_that_is_on_its_way_when_a_purge_comes_is_not_stored() {
    let (began, begun) = std::sync::mpsc::channel();
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let (began, gone) = (std::sync::Mutex::new(began), std::sync::Mutex::new(gone));
    let upstream = Upstream::start(move |seen: &Seen| {
        if seen.target == "/slow" {
            began.lock().unwrap().send(()).unwrap();
            gone.lock().unwrap().recv().unwrap();
        }
        reply("200 OK", &["Cache-Tag: slow,other"], "old")
    });
    let gateway = Gateway::start(json!({}), [cached("a", &upstream)]);
    for scope in [json!({"everything": true}), json!({"urls": ["/a/slow"]}), json!({"tags": ["slow"]})] {
        let before = upstream.requests();
        std::thread::scope(|scoped| {
            let asked = scoped.spawn(|| gateway.get("/a/slow"));
            begun.recv().unwrap();
            assert_eq!(purge(&gateway, "a", scope.clone()).status, 200);
            go.send(()).unwrap();
            assert_eq!(asked.join().unwrap().text(), "old");
        });
        go.send(()).unwrap();
        assert!(!is_hit(&gateway.get("/a/slow")), "{scope}");
        begun.recv().unwrap();
        assert!(is_hit(&gateway.get("/a/slow")), "{scope}");
        assert_eq!(upstream.requests() - before, 2, "{scope}");
        assert_eq!(purge(&gateway, "a", json!({"everything": true})).status, 200);
    }
}

#[test]
fn a_purge_is_in_effect_on_all_gateways_when_it_is_answered() {
    let (server, upstream) = (Server::start(&[]), counting());
    let gateways = gateways::<3>(&server, &upstream);
    let fill =
        || gateways.iter().for_each(|gateway| ["/a/x", "/a/y?tags=t", "/b/x"].iter().for_each(|target| drop(gateway.get(target))));
    for round in 0..20 {
        let by = &gateways[round % 3];
        fill();
        assert!(gateways.iter().all(|gateway| is_hit(&gateway.get("/a/x")) && is_hit(&gateway.get("/a/y?tags=t"))));
        confirmed(|| match round % 4 {
            0 => by.control("DELETE", "/tyk/cache/a", ""),
            1 => purge(by, "a", json!({"tags": ["t"]})),
            2 => purge(by, "a", json!({"urls": ["/a/x"]})),
            _ => purge(by, "a", json!({"prefixes": ["/a/"]})),
        });
        let number = |gateway: &Gateway, target: &str| gateway.get(target).text();
        let seen = upstream.requests();
        assert!(gateways.iter().all(|gateway| is_hit(&gateway.get("/b/x"))), "{round}: other APIs keep theirs");
        assert_eq!(upstream.requests(), seen);
        let purged = if round % 4 == 1 { "/a/y?tags=t" } else { "/a/x" };
        let answers: Vec<String> = gateways.iter().map(|gateway| number(gateway, purged)).collect();
        // Whoever asked first has made what all of them may have; nobody has what was there before.
        assert!(
            answers.iter().all(|text| text["answer ".len()..].parse::<usize>().unwrap() > seen),
            "{round}: {answers:?} after {seen}"
        );
    }
}

#[test]
fn a_cluster_and_a_sentinel_carry_purges_as_one_server_does() {
    let (cluster, sentinel, upstream) = (Cluster::start(), Sentinel::start(1), counting());
    let node = format!("127.0.0.1:{}", cluster.nodes[0].port);
    let watcher = format!("127.0.0.1:{}", sentinel.sentinels[0].port);
    for storage in [
        json!({"type": "redis", "enable_cluster": true, "addrs": [node]}),
        json!({"type": "redis", "master_name": "mymaster", "addrs": [watcher]}),
    ] {
        let [one, other] = &gateways_with(&with_storage(storage), &upstream);
        for round in 0..8 {
            // The other one may ask the upstream too, before it can find the first answer in Redis.
            let before = [one, other].map(|gateway| gateway.get("/a/x?tags=t").text());
            assert!(is_hit(&one.get("/a/x?tags=t")) && is_hit(&other.get("/a/x?tags=t")));
            drop([one, other].map(|gateway| gateway.get("/b/x")));
            confirmed(|| match round % 4 {
                0 => other.control("DELETE", "/tyk/cache/a", ""),
                1 => purge(other, "a", json!({"tags": ["t"]})),
                2 => purge(other, "a", json!({"urls": ["/a/x?tags=t"]})),
                _ => purge(other, "a", json!({"prefixes": ["/a/"]})),
            });
            for gateway in [one, other] {
                let text = gateway.get("/a/x?tags=t").text();
                assert!(
                    !before.contains(&text),
                    "{round}: nobody has what was purged when the purge is answered: {text} {before:?}"
                );
                assert!(is_hit(&gateway.get("/b/x")), "{round}: other APIs keep theirs");
            }
            other.control("DELETE", "/tyk/cache/a", "");
        }
    }
}

#[test]
fn a_gateway_that_does_not_confirm_is_named_and_purges_when_it_can() {
    let (server, upstream) = (Server::start(&[]), counting());
    let [one, two] = gateways::<2>(&server, &upstream);
    two.get("/a/x");
    let known = || one.control("GET", "/tyk/cache", "").json()["gateways"].as_array().unwrap().len();
    let answer = loop {
        two.signal("STOP");
        let answer = one.control("DELETE", "/tyk/cache/a", "");
        // Whoever has said nothing for five seconds counts as gone.
        let is_known = known() == 2;
        two.signal("CONT");
        if is_known {
            break answer;
        }
        eventually("it is there again", || known() == 2);
        two.get("/a/x");
    };
    let said = answer.json()["message"].as_str().unwrap().to_owned();
    assert_eq!(answer.status, 500, "{answer}");
    assert!(said.starts_with("Cache invalidation failed: not confirmed within a second by "), "{said}");
    assert!(said.contains(&format!(":{} (process ", two.port)), "{said}");
    eventually("it has purged", || upstream.requests() > 1 || !is_hit(&two.get("/a/x")));
    eventually("purges are confirmed again", || one.control("DELETE", "/tyk/cache/a", "").status == 200);
    // One that ends is not waited for.
    drop(two);
    eventually("nobody waits for it", || one.control("DELETE", "/tyk/cache/a", "").status == 200);
}

#[test]
fn a_gateway_that_hears_nothing_for_a_while_misses_no_purge() {
    let (server, upstream) = (Server::start(&[]), counting());
    let [one, two] = gateways::<2>(&server, &upstream);
    for _ in 0..5 {
        let old = two.get("/a/x").text();
        server.cli(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        // Whether it is confirmed in time or not.
        let status = one.control("DELETE", "/tyk/cache/a", "").status;
        if status == 200 {
            assert_ne!(two.get("/a/x").text(), old);
        }
        eventually("the purge is read", || two.get("/a/x").text() != old);
    }
    // What is lost with Redis' memory is taken for a purge of everything.
    let old = two.get("/a/x").text();
    server.cli(&["FLUSHALL"]);
    eventually("purges are confirmed again", || one.control("DELETE", "/tyk/cache/b", "").status == 200);
    eventually("nobody trusts what may have been purged", || two.get("/a/x").text() != old);
}

#[test]
fn without_redis_a_purge_is_local_and_says_so() {
    let (mut server, upstream) = (Server::start(&[]), counting());
    let [one, two] = gateways::<2>(&server, &upstream);
    let old = two.get("/a/x").text();
    one.get("/a/x");
    server.kill();
    eventually("the end is noticed", || one.get("/ready").status == 503);
    assert!(is_hit(&one.get("/a/x")), "memory serves on");
    let answer = one.control("DELETE", "/tyk/cache/a", "");
    let said = answer.json()["message"].as_str().unwrap().to_owned();
    assert!(answer.status == 500 && said.contains("only this gateway has purged"), "{answer}");
    assert!(!is_hit(&one.get("/a/x")));
    assert_eq!(two.get("/a/x").text(), old);
    server.restart();
    eventually("it is back", || one.control("DELETE", "/tyk/cache/a", "").status == 200);
    eventually("the other has read it", || two.get("/a/x").text() != old);
}

#[test]
fn tyks_message_purges_and_ours_is_tyks() {
    let (server, upstream) = (Server::start(&[]), counting());
    let [one] = gateways::<1>(&server, &upstream);
    let secret = "352d20ee67be67f6340b4c0605b044b7";
    let signature: String = Sha256::digest(format!("DeleteAPICachea{secret}")).iter().map(|byte| format!("{byte:02x}")).collect();
    let message =
        |signature: &str| json!({"command": "DeleteAPICache", "payload": "a", "signature": signature, "algorithm": 5}).to_string();
    one.get("/a/x");
    server.cli(&["PUBLISH", "tyk.cluster.notifications", &message("wrong")]);
    eventually("the wrong signature is told", || one.log().contains("a message of another gateway is ignored"));
    assert!(is_hit(&one.get("/a/x")));
    server.cli(&["PUBLISH", "tyk.cluster.notifications", &message(&signature)]);
    eventually("it is purged", || !is_hit(&one.get("/a/x")));
    let monitor = std::process::Command::new("redis-cli")
        .args(["-p", &server.port.to_string(), "SUBSCRIBE", "tyk.cluster.notifications"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    eventually("it is subscribed", || server.cli(&["PUBSUB", "NUMSUB", "tyk.cluster.notifications"]).ends_with('3'));
    confirmed(|| one.control("DELETE", "/tyk/cache/a", ""));
    server.cli(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    let said = String::from_utf8(monitor.wait_with_output().unwrap().stdout).unwrap();
    let sent = said.lines().find(|line| line.contains("DeleteAPICache")).unwrap_or_else(|| panic!("{said}"));
    let sent: Value = serde_json::from_str(sent.trim()).unwrap();
    assert_eq!((&sent["payload"], &sent["signature"], &sent["algorithm"]), (&json!("a"), &json!(signature), &json!(5)));
}

#[test]
fn the_command_line_purges_clears_and_shows() {
    let upstream = counting();
    let gateway = Gateway::start(json!({}), [cached("a", &upstream), api("plain", "/plain/", &upstream.url())]);
    let fill = || ["/a/x", "/a/y?tags=t"].iter().for_each(|target| drop(gateway.get(target)));
    fill();
    assert_eq!(tollgate(&gateway, "cache purge a --path /a/x").ok(), "a: purged\n");
    assert_eq!((is_hit(&gateway.get("/a/x")), is_hit(&gateway.get("/a/y?tags=t"))), (false, true));
    assert_eq!(tollgate(&gateway, "cache purge a --tag t --tag u --soft").ok(), "a: purged\n");
    assert_eq!((is_hit(&gateway.get("/a/x")), is_hit(&gateway.get("/a/y?tags=t"))), (true, false));
    assert_eq!(tollgate(&gateway, "cache clear a plain").ok(), "a: purged\nplain: purged\n");
    assert_eq!((is_hit(&gateway.get("/a/x")), is_hit(&gateway.get("/a/y?tags=t"))), (false, false));
    let status = tollgate(&gateway, "cache status").ok();
    let row = status.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>();
    assert_eq!(row[..5], ["a", "25.0%", "2", "6", "0"], "{status}");
    let json = tollgate(&gateway, "cache status a --json").json();
    assert_eq!((&json["apis"][0]["hits"], &json["apis"][0]["entries"]), (&json!(2), &json!(2)), "{json}");
    tollgate(&gateway, "cache status plain").fails(1, "no API with the id plain uses the cache");
    tollgate(&gateway, "cache purge none --path /x").fails(1, "there is no API with the id none");
    tollgate(&gateway, "cache purge a --path x").fails(1, "$.urls[0]: \"x\" must begin with /");
    tollgate(&gateway, "cache purge a").fails(2, "--path <PATH>");
    tollgate(&gateway, "cache clear").fails(2, "<API>");
}
