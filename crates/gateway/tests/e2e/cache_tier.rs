//! Redis as the second tier of the response cache: what one gateway stores another serves, in Tyk's format, and whatever happens to Redis
//! is at most a miss.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::cache_purges::{confirmed, follow_purges};
use crate::harness::{Definition, Gateway, Response, Seen, Upstream, api, eventually, reply, request};
use crate::keys::{call, create, keyed, session};
use crate::servers::Server;

/// Counts its answers. The path `/large` has a body of 300 KB, and `/cut` one that ends early.
fn counting() -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen: &Seen| {
        let body = format!("answer {} to {}", count.fetch_add(1, Ordering::SeqCst) + 1, seen.target);
        match seen.target.as_str() {
            "/large" => reply("200 OK", &[], &format!("{body}{}", "x".repeat(300_000))),
            "/cut" => format!("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n{body}").into_bytes(),
            _ => reply("200 OK", &["X-Upstream: 1", "ETag: \"e\""], &body),
        }
    })
}

fn cached(definition: Definition) -> Definition {
    definition.set("cache_options", json!({"enable_cache": true, "cache_timeout": 600, "cache_all_safe_requests": true}))
}

pub(crate) fn on(server: &Server) -> Value {
    crate::shared_keys::patient(json!({"storage": {"type": "redis", "host": "127.0.0.1", "port": server.port}}))
}

/// A gateway that keeps what it caches from now on.
fn one(conf: &Value, definition: Definition) -> Gateway {
    let gateways = [Gateway::start(conf.clone(), [definition])];
    follow_purges(&gateways);
    let [gateway] = gateways;
    gateway
}

/// Two of them that know each other.
pub(crate) fn two(conf: &Value, definition: &Definition) -> [Gateway; 2] {
    let gateways = [(); 2].map(|()| Gateway::start(conf.clone(), [Definition(definition.0.clone())]));
    follow_purges(&gateways);
    gateways
}

fn is_hit(answer: &Response) -> bool {
    assert_eq!(answer.status, 200, "{answer}");
    answer.header("x-tyk-cached-response").is_some()
}

pub(crate) fn names(server: &Server) -> Vec<String> {
    let mut names: Vec<String> = server.cli(&["KEYS", "cache-*"]).lines().map(str::to_owned).collect();
    names.retain(|name| !name.is_empty());
    names.sort();
    names
}

fn in_seconds(seconds: i64) -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64 + seconds
}

/// What md5sum says of `GET-/a/x`.
const NAME: &str = "cache-aa127.0.0.1206a8a2020e3e9c5ab7464647a7458a2";

#[test]
fn what_one_gateway_stores_another_serves_under_tyks_name_and_in_tyks_format() {
    let (server, upstream) = (Server::start(&[]), counting());
    let [one, other] = two(&on(&server), &cached(api("a", "/a/", &upstream.url())));
    let first = one.get("/a/x");
    assert!(!is_hit(&first));
    eventually("it is written", || names(&server) == [NAME]);
    let text = server.cli(&["GET", NAME]);
    let (encoded, expires) = text.split_once('|').unwrap();
    let wire = String::from_utf8(STANDARD.decode(encoded).unwrap()).unwrap();
    assert!(
        wire.starts_with("HTTP/1.1 200 OK\r\n") && wire.contains("X-Upstream: 1\r\n") && wire.ends_with("\r\n\r\nanswer 1 to /x"),
        "{wire}"
    );
    let left: i64 = server.cli(&["TTL", NAME]).parse().unwrap();
    assert!(
        (590..=600).contains(&left) && (590..=600).contains(&(expires.parse::<i64>().unwrap() - in_seconds(0))),
        "{left} {expires}"
    );
    let second = other.get("/a/x");
    assert_eq!((is_hit(&second), second.text(), second.header("x-upstream")), (true, first.text(), Some("1")));
    // From its memory now, and 304 to those who have it.
    server.cli(&["FLUSHALL"]);
    assert!(is_hit(&other.get("/a/x")));
    assert_eq!(other.send(request("GET", "/a/x", &["If-None-Match: \"e\""], "")).status, 304);
    assert_eq!(upstream.requests(), 1);
    // HEAD has an entry of its own, and a body of 300 KB goes the same way.
    for request in [request("HEAD", "/a/x", &[], ""), request("GET", "/a/large", &[], "")] {
        let before = upstream.requests();
        let known = names(&server).len();
        let first = one.send(&request);
        eventually("it is written", || names(&server).len() > known);
        let second = other.send(&request);
        assert_eq!((is_hit(&second), second.text()), (true, first.text()));
        assert_eq!(upstream.requests() - before, 1);
    }
}

#[test]
fn figures_count_a_response_of_the_second_tier_as_one_hit() {
    let (server, upstream) = (Server::start(&[]), counting());
    let [one, other] = two(&on(&server), &cached(api("a", "/a/", &upstream.url())));
    one.get("/a/x");
    eventually("it is written", || names(&server).len() == 1);
    assert!(is_hit(&other.get("/a/x")));
    let figures = |gateway: &Gateway| {
        let report = gateway.control("GET", "/tyk/cache", "").json();
        ["hits", "misses"].map(|name| report["apis"][0][name].as_u64().unwrap())
    };
    assert_eq!((figures(&one), figures(&other)), ([0, 1], [1, 0]));
}

#[test]
fn what_tyk_has_written_is_served_and_what_is_broken_is_a_miss() {
    let (server, upstream) = (Server::start(&[]), counting());
    let gateway = one(&on(&server), cached(api("a", "/a/", &upstream.url())));
    let put = |text: &str| server.cli(&["SET", NAME, text]);
    let forget = || assert_eq!(gateway.control("DELETE", "/tyk/cache/a", "").status, 200);
    let encoded = |wire: &str, expires: i64| format!("{}|{expires}", STANDARD.encode(wire));
    let whole = "HTTP/1.1 203 Non-Authoritative Information\r\nContent-Length: 2\r\nX-By: tyk\r\n\r\nhi";
    put(&encoded(whole, in_seconds(60)));
    let answer = gateway.get("/a/x");
    assert_eq!((answer.status, answer.text().as_str(), answer.header("x-by")), (203, "hi", Some("tyk")));
    assert_eq!((answer.header("x-tyk-cached-response"), upstream.requests()), (Some("1"), 0));
    for (number, broken) in [
        encoded(whole, in_seconds(-5)),
        encoded(whole, 0),
        STANDARD.encode(whole),
        format!("{}|{}|", STANDARD.encode(whole), in_seconds(60)),
        format!("%%%|{}", in_seconds(60)),
        encoded("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi", in_seconds(60)),
        encoded("HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nhi", in_seconds(60)),
        encoded("no HTTP", in_seconds(60)),
        String::new(),
    ]
    .iter()
    .enumerate()
    {
        forget();
        put(broken);
        let answer = gateway.get("/a/x");
        assert_eq!((answer.status, is_hit(&answer), upstream.requests()), (200, false, number + 1), "{broken}: {answer}");
    }
    forget();
    server.cli(&["LPUSH", NAME, "a list"]);
    assert!(!is_hit(&gateway.get("/a/x")));
}

#[test]
fn callers_and_versions_have_entries_of_their_own() {
    let (server, upstream) = (Server::start(&[]), counting());
    let mut conf = on(&server);
    conf["hash_keys"] = true.into();
    let [one, other] = two(&conf, &cached(keyed("a", &upstream)));
    let keys = [create(&one, &session(json!({}))), create(&one, &session(json!({})))];
    let first = keys.each_ref().map(|key| call(&one, "/a/x", key).text());
    assert_ne!(first[0], first[1]);
    eventually("both are written", || names(&server).len() == 2);
    assert!(
        keys.iter().all(|key| names(&server).iter().any(|name| name.starts_with(&format!("cache-aa{key}")))),
        "{:?}",
        names(&server)
    );
    assert_eq!(keys.each_ref().map(|key| call(&other, "/a/x", key).text()), first);

    let server = Server::start(&[]);
    let version =
        |path: &str| json!({"name": path, "use_extended_paths": true, "override_target": format!("{}{path}/", upstream.url())});
    let versioned = cached(api("v", "/v/", &upstream.url()))
        .set("definition", json!({"location": "header", "key": "X-Version"}))
        .set("version_data", json!({"not_versioned": false, "versions": {"one": version("/one"), "two": version("/two")}}));
    let [one, other] = two(&on(&server), &versioned);
    let of =
        |gateway: &Gateway, version: &str| gateway.send(request("GET", "/v/x", &[&format!("X-Version: {version}")], "")).text();
    let first = [of(&one, "one"), of(&one, "two")];
    assert!(first[0].ends_with("/one/x") && first[1].ends_with("/two/x"), "{first:?}");
    eventually("both are written", || names(&server).len() == 2);
    assert_eq!([of(&other, "one"), of(&other, "two")], first);
}

#[test]
fn a_purge_also_empties_redis_and_leaves_other_apis_alone() {
    let (server, upstream) = (Server::start(&[]), counting());
    // The name of one begins with that of the other.
    let conf = on(&server);
    let start = || Gateway::start(conf.clone(), ["a", "ab"].map(|id| cached(api(id, &format!("/{id}/"), &upstream.url()))));
    let gateways = [start(), start()];
    follow_purges(&gateways);
    let [one, other] = gateways;
    for (method, target, body) in [
        ("DELETE", "/tyk/cache/a", ""),
        ("POST", "/tyk/cache/a/purge", r#"{"urls": ["/a/x"]}"#),
        ("POST", "/tyk/cache/a/purge", r#"{"tags": ["t"]}"#),
    ] {
        let texts = ["/a/x", "/ab/x"].map(|target| one.get(target).text());
        eventually("they are written", || names(&server).len() == 2);
        assert_eq!(["/a/x", "/ab/x"].map(|target| other.get(target).text()), texts);
        confirmed(|| one.control(method, target, body));
        assert_eq!(names(&server).len(), 1, "{:?}", names(&server));
        assert_eq!(other.get("/ab/x").text(), texts[1]);
        if !body.contains("tags") {
            assert!(![one.get("/a/x").text(), other.get("/a/x").text()].contains(&texts[0]));
        }
        one.control("DELETE", "/tyk/cache/a", "");
    }
}

#[test]
fn what_is_filled_on_another_gateway_while_it_is_purged_is_stored_nowhere() {
    let (began, begun) = std::sync::mpsc::channel();
    let (go, gone) = std::sync::mpsc::channel::<()>();
    let (began, gone) = (std::sync::Mutex::new(began), std::sync::Mutex::new(gone));
    let (server, is_old) = (Server::start(&[]), std::sync::atomic::AtomicBool::new(true));
    let upstream = Upstream::start(move |_: &Seen| {
        if !is_old.swap(false, Ordering::SeqCst) {
            return reply("200 OK", &[], "new");
        }
        began.lock().unwrap().send(()).unwrap();
        gone.lock().unwrap().recv().unwrap();
        reply("200 OK", &[], "old")
    });
    let [one, other] = two(&on(&server), &cached(api("a", "/a/", &upstream.url())));
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| other.get("/a/x").text());
        begun.recv().unwrap();
        confirmed(|| one.control("DELETE", "/tyk/cache/a", ""));
        go.send(()).unwrap();
        assert_eq!(asked.join().unwrap(), "old");
    });
    assert_eq!(names(&server), [] as [&str; 0]);
    assert_eq!([other.get("/a/x").text(), one.get("/a/x").text()], ["new", "new"]);
}

#[test]
fn without_redis_or_while_it_hangs_a_request_goes_upstream() {
    let (mut server, upstream) = (Server::start(&[]), counting());
    let gateway = one(&on(&server), cached(api("a", "/a/", &upstream.url())));
    gateway.get("/a/x");
    eventually("it is written", || names(&server).len() == 1);
    server.signal("STOP");
    assert!(is_hit(&gateway.get("/a/x")), "memory does not ask");
    for number in 0..20 {
        let target = format!("/a/hangs-{number}");
        assert!(!is_hit(&gateway.get(&target)));
        assert!(is_hit(&gateway.get(&target)), "it is in memory all the same");
    }
    server.signal("CONT");
    eventually("it is back", || gateway.get("/ready").status == 200);
    server.kill();
    eventually("the end is noticed", || gateway.get("/ready").status == 503);
    for number in 0..20 {
        let target = format!("/a/gone-{number}");
        assert_eq!((is_hit(&gateway.get(&target)), is_hit(&gateway.get(&target))), (false, true));
    }
    server.restart();
    let mut number = 0;
    eventually("responses are written again", || {
        number += 1;
        gateway.get(&format!("/a/back-{number}"));
        !names(&server).is_empty()
    });
}

#[test]
fn a_separate_store_has_the_responses_and_a_cut_one_is_in_none() {
    let (keys, responses, upstream) = (Server::start(&[]), Server::start(&[]), counting());
    let separate = json!({"type": "redis", "host": "127.0.0.1", "port": responses.port, "database": 3});
    let mut with_both = on(&keys);
    with_both["enable_separate_cache_store"] = true.into();
    with_both["cache_storage"] = separate.clone();
    // The keys of the second may be in each gateway's own store.
    let alone = json!({"enable_separate_cache_store": true, "cache_storage": separate});
    for conf in [with_both, alone] {
        let [one, other] = two(&conf, &cached(api("a", "/a/", &upstream.url())));
        let stored = || responses.cli(&["-n", "3", "KEYS", "cache-*"]);
        let mut client = one.connect();
        client.send(request("GET", "/a/cut", &[], ""));
        assert!(client.try_response("GET").is_err());
        let text = one.get("/a/x").text();
        eventually("it is written", || stored() == NAME);
        assert_eq!((other.get("/a/x").text(), names(&keys).len()), (text.clone(), 0));
        confirmed(|| one.control("DELETE", "/tyk/cache/a", ""));
        assert_eq!(stored(), "");
        assert_ne!(other.get("/a/x").text(), text);
        other.control("DELETE", "/tyk/cache/a", "");
    }
}

#[test]
fn a_full_memory_drops_and_answers_all_the_same() {
    let (server, upstream) = (Server::start(&[]), counting());
    let mut conf = on(&server);
    conf["tollgate"]["cache"] = json!({"memory_mib_max": 2, "body_bytes_max": 400_000});
    let [one, other] = two(&conf, &cached(api("a", "/a/", &upstream.url())));
    let texts: Vec<String> = (0..3_000).map(|number| one.get(&format!("/a/{number}")).text()).collect();
    assert!(texts.iter().enumerate().all(|(number, text)| text.ends_with(&format!("to /{number}"))));
    for number in 0..20 {
        assert!(one.get(&format!("/a/large?{number}")).text().starts_with("answer "));
    }
    let report = one.control("GET", "/tyk/cache", "").json();
    let (bytes, max) = (report["bytes"].as_u64().unwrap(), report["bytes_max"].as_u64().unwrap());
    assert!(bytes <= max && max == 2 << 20, "{report}");
    assert!(report["apis"][0]["evicted"].as_u64().unwrap() > 500, "{report}");
    assert!(report["apis"][0]["entries"].as_u64().unwrap() < 2_500, "{report}");
    // Redis has more than memory does; whatever comes is the right one.
    for (number, text) in texts.iter().enumerate().rev().step_by(7) {
        let answer = other.get(&format!("/a/{number}")).text();
        assert!(answer == *text || answer.ends_with(&format!("to /{number}")), "{number}: {answer}");
    }
}
