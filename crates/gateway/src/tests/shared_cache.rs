//! The cache by RFC 9111 request by request: ranges, refreshing, errors, who gets what, and what definitions change.

use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::harness::shared_cache::{Answered, scripted, shared};
use super::harness::{Definition, Gateway, Response, Seen, Upstream, eventually, reply, request};

pub(super) const FRESH: &str = "Cache-Control: max-age=60";
pub(super) const TAG: &str = "ETag: \"e\"";
pub(super) const GET: Asked = ("GET", &[]);

/// Method, perhaps with a query or the word `body`, and header lines.
pub(super) type Asked = (&'static str, &'static [&'static str]);

pub(super) fn ok(lines: &'static [&'static str]) -> Answered {
    ("200 OK", lines)
}

pub(super) fn start(upstream: &Upstream, rules: Value) -> Gateway {
    Gateway::start(json!({}), [shared(upstream, rules)])
}

fn written((method, lines): Asked, path: &str) -> String {
    let mut words = method.split(' ');
    let (method, more) = (words.next().unwrap(), words.next().unwrap_or_default());
    match more {
        "body" => request(method, path, lines, "hi"),
        query => request(method, &format!("{path}{query}"), lines, ""),
    }
}

/// What became of a request: whether it was a hit, went to the upstream, or validated what is stored there; and its status.
pub(super) fn outcome(gateway: &Gateway, upstream: &Upstream, asked: Asked, path: &str) -> (String, Response) {
    let before = upstream.requests();
    let answer = gateway.send(written(asked, path));
    let word = match upstream.requests() - before {
        0 => "hit",
        1 if asked.1.iter().any(|line| line.starts_with("If-")) => "fetch",
        1 if upstream.last().header("if-none-match").or(upstream.last().header("if-modified-since")).is_some() => "validate",
        1 => "fetch",
        _ => "several",
    };
    (format!("{word} {}", answer.status), answer)
}

#[test]
fn a_hit_tells_its_age_and_cache_status_tells_what_happened() {
    let upstream =
        scripted(vec![ok(&[FRESH, "Age: 7", "Connection: X-Hop", "X-Hop: 1", "X-End: 1"]), ok(&["Cache-Control: no-store"])]);
    let gateway = start(&upstream, json!({}));
    let first = gateway.get("/a/0");
    let told = first.header("cache-status").and_then(|status| status.strip_prefix("Tollgate; fwd=uri-miss; ttl="));
    let ttl: u64 = told.and_then(|rest| rest.strip_suffix("; stored")).expect("a time").parse().unwrap();
    // A minute without the seven seconds that it is old, and without what the answer took.
    assert!((30..=53).contains(&ttl), "{ttl}");
    let hit = gateway.get("/a/0");
    let age: u64 = hit.header("age").expect("Age (RFC 9111 §4)").parse().unwrap();
    assert!((7..60).contains(&age), "{age}");
    assert!(hit.header("cache-status").is_some_and(|status| status.starts_with("Tollgate; hit; ttl=")), "{hit}");
    assert_eq!((hit.header("x-hop"), hit.header("x-end")), (None, Some("1")), "RFC 9111 §3.1");
    assert_eq!(hit.head.all("date").len(), 1);
    assert_eq!(gateway.get("/a/1").header("cache-status"), Some("Tollgate; fwd=uri-miss; detail=no-store"));
    let post = gateway.send(request("POST", "/a/0", &[], "x"));
    assert_eq!(post.header("cache-status"), Some("Tollgate; fwd=method"));
}

#[test]
fn a_stored_whole_gives_its_ranges() {
    let upstream = scripted(vec![ok(&[FRESH, TAG, "Content-Type: text/plain"])]);
    let gateway = start(&upstream, json!({}));
    // A range of what is not stored is the upstream's to answer.
    let missed = gateway.send(request("GET", "/a/0", &["Range: bytes=0-1"], ""));
    assert_eq!((missed.status, upstream.last().header("range")), (200, Some("bytes=0-1")));
    let whole = gateway.get("/a/0").text();
    let of = |range: &str| gateway.send(request("GET", "/a/0", &[&format!("Range: bytes={range}")], ""));
    for (range, first, last) in [("0-3", 0, 3), ("-2", 6, 7), ("5-", 5, 7), ("2-100", 2, 7)] {
        let part = of(range);
        assert_eq!((part.status, part.text().as_str()), (206, &whole[first..=last]), "{range}");
        assert_eq!(part.header("content-range"), Some(format!("bytes {first}-{last}/8").as_str()));
    }
    let several = of("0-0,7-7");
    assert_eq!(several.status, 206);
    assert!(several.header("content-type").unwrap().starts_with("multipart/byteranges; boundary="));
    assert_eq!(of("8-").header("content-range"), Some("bytes */8"));
    assert_eq!(upstream.requests(), 2);
}

#[test]
fn unsafe_methods_invalidate_where_they_succeed() {
    let upstream = Upstream::start(|seen: &Seen| match seen.method.as_str() {
        "GET" => reply("200 OK", &[FRESH], "x"),
        _ if seen.target.contains("broken") => reply("500 Broken", &[], ""),
        _ => reply("204 No Content", &[], ""),
    });
    let gateway = start(&upstream, json!({}));
    for method in ["POST", "PUT", "DELETE", "PATCH", "PURGE"] {
        for (path, expect) in [("/a/x", "fetch 200"), ("/a/broken", "hit 200")] {
            gateway.get(path);
            gateway.send(request(method, path, &[], ""));
            assert_eq!(outcome(&gateway, &upstream, GET, path).0, expect, "RFC 9111 §4.4: {method} {path}");
        }
    }
    gateway.send(request("OPTIONS", "/a/x", &[], ""));
    assert_eq!(outcome(&gateway, &upstream, GET, "/a/x").0, "hit 200", "a safe method changes nothing");
}

#[test]
fn a_head_that_differs_ends_the_stored_response() {
    let version = Arc::new(AtomicUsize::new(1));
    let shown = version.clone();
    let upstream = Upstream::start(move |seen: &Seen| {
        let tag = format!("ETag: \"{}\"", shown.load(Ordering::SeqCst));
        reply("200 OK", &["Cache-Control: max-age=1", "Age: 2", &tag], if seen.method == "HEAD" { "" } else { "x" })
    });
    let gateway = start(&upstream, json!({}));
    gateway.get("/a/x");
    version.store(2, Ordering::SeqCst);
    // It is stale, so HEAD goes to the upstream (RFC 9111 §4.3.5).
    gateway.send(request("HEAD", "/a/x", &[], ""));
    assert_eq!(outcome(&gateway, &upstream, GET, "/a/x").0, "fetch 200");
    assert_eq!(outcome(&gateway, &upstream, GET, "/a/x").0, "validate 200");
}

#[test]
fn directives_of_requests_can_be_ignored() {
    let upstream = scripted(vec![ok(&[FRESH])]);
    let gateway = start(&upstream, json!({"ignore_request_directives": true}));
    gateway.get("/a/0");
    for line in ["Cache-Control: no-cache", "Cache-Control: no-store", "Pragma: no-cache", "Cache-Control: max-age=0"] {
        assert_eq!(outcome(&gateway, &upstream, ("GET", Box::leak(Box::new([line]))), "/a/0").0, "hit 200", "{line}");
    }
}

#[test]
fn a_confirmed_response_is_fresh_again_and_keeps_its_body() {
    let upstream = scripted(vec![ok(&["Cache-Control: max-age=60", "Age: 61", TAG])]);
    let gateway = start(&upstream, json!({}));
    let first = gateway.get("/a/0");
    let validated = gateway.get("/a/0");
    assert_eq!((validated.status, &validated.body), (200, &first.body));
    assert_eq!(upstream.last().header("if-none-match"), Some("\"e\""));
    assert!(validated.header("cache-status").unwrap().starts_with("Tollgate; fwd=stale; fwd-status=304; ttl="), "{validated}");
    assert_eq!(outcome(&gateway, &upstream, GET, "/a/0").0, "hit 200");
    // A client that has it gets 304, also where the upstream is asked for it.
    let gateway = start(&upstream, json!({}));
    gateway.get("/a/0");
    let asked = gateway.send(request("GET", "/a/0", &["If-None-Match: \"e\""], ""));
    assert_eq!((asked.status, asked.body.len()), (304, 0));
}

#[test]
fn a_confirmation_of_another_version_is_no_confirmation() {
    let upstream = Upstream::start(|seen: &Seen| match (seen.header("if-none-match"), seen.target.as_str()) {
        (None, _) => reply("200 OK", &["Cache-Control: max-age=1", "Age: 2", "ETag: \"one\""], "whole"),
        // RFC 9111 §4.3.4: it selects nothing that is stored.
        (Some(_), _) => b"HTTP/1.1 304 Not Modified\r\nETag: \"two\"\r\n\r\n".to_vec(),
    });
    let gateway = start(&upstream, json!({}));
    gateway.get("/a/x");
    let answer = gateway.get("/a/x");
    assert_eq!((answer.status, answer.text().as_str()), (200, "whole"));
    let asked: Vec<bool> = upstream.seen().iter().map(|seen| seen.header("if-none-match").is_some()).collect();
    assert_eq!(asked, [false, true, false], "it is asked once more, without the condition");
}

#[test]
fn a_stale_response_is_served_while_it_is_refreshed() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let upstream = Upstream::start(move |_| {
        let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
        let age = if number == 1 { "Age: 2" } else { "X-None: 1" };
        reply("200 OK", &["Cache-Control: max-age=1, stale-while-revalidate=600", age], &format!("answer {number}"))
    });
    let gateway = start(&upstream, json!({}));
    assert_eq!(gateway.get("/a/x").text(), "answer 1");
    assert_eq!(gateway.get("/a/x").text(), "answer 1", "RFC 5861 §3: nobody waits");
    eventually("the response is refreshed", || count.load(Ordering::SeqCst) >= 2 && gateway.get("/a/x").text() != "answer 1");
    let refreshing = upstream.seen().into_iter().nth(1).unwrap();
    assert_eq!((refreshing.method.as_str(), refreshing.target.as_str()), ("GET", "/x"));
    assert_eq!(refreshing.header("x-forwarded-for"), Some("127.0.0.1"));
    assert_eq!(refreshing.header("host"), Some(upstream.address.to_string().as_str()));
}

#[test]
fn a_stale_response_stands_in_for_an_error_where_it_may() {
    let broken = Arc::new(Mutex::new("none"));
    let kind = broken.clone();
    let upstream = Upstream::start(move |seen: &Seen| match *kind.lock().unwrap() {
        "500" => reply("503 Broken", &[], "broken"),
        "dead" => Vec::new(),
        _ if seen.target == "/strict" => {
            reply("200 OK", &["Cache-Control: max-age=1, stale-if-error=600, must-revalidate", "Age: 2", TAG], "good")
        }
        _ => reply("200 OK", &["Cache-Control: max-age=1, stale-if-error=600", "Age: 2", TAG], "good"),
    });
    let gateway = start(&upstream, json!({}));
    for target in ["/a/x", "/a/strict"] {
        *broken.lock().unwrap() = "none";
        gateway.get(target);
        for how in ["500", "dead"] {
            *broken.lock().unwrap() = how;
            let answer = gateway.get(target);
            let is_good = target == "/a/x";
            assert_eq!(
                (answer.status == 200, answer.text() == "good"),
                (is_good, is_good),
                "RFC 5861 §4: {target} {how}: {answer}"
            );
        }
    }
}

#[test]
fn a_definition_with_both_caches_or_unknown_fields_is_a_problem() {
    let upstream = Upstream::ok();
    let gateway = start(&upstream, json!({}));
    for (definition, expect) in [
        (
            shared(&upstream, json!({})).set("cache_options", json!({"enable_cache": true})),
            "$.tollgate.cache: cache_options.enable_cache is on as well",
        ),
        (shared(&upstream, json!({"by_caler": true})), "$.tollgate.cache.by_caler: unknown field"),
        (shared(&upstream, json!({"wait_ms_max": 60_001})), "$.tollgate.cache.wait_ms_max: must be at most 60000"),
        (shared(&upstream, json!({"memory_mib": 1_000})), "$.tollgate.cache.memory_mib: is more than half"),
    ] {
        gateway.write_api(&definition);
        gateway.reload();
        let log = gateway.log();
        let (path, message) = expect.split_once(": ").unwrap();
        assert!(log.contains(path) && log.contains(message), "{expect} in\n{log}");
        assert_eq!(gateway.get("/a/x").status, 200, "the last good version serves");
    }
}

#[test]
fn the_example_in_the_documentation_works() {
    let upstream = scripted(vec![ok(&[FRESH, "Vary: Accept-Language"])]);
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/caching.md")).unwrap();
    let blocks = page.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    let example: Vec<&str> = blocks.filter(|block| block.contains("\"tollgate\"")).collect();
    assert_eq!(example.len(), 1, "the page has one example");
    let example = example[0].replace("http://127.0.0.1:9000", &upstream.url());
    let definition: Value = serde_json::from_str(&example).unwrap();
    let gateway = Gateway::start(json!({}), [Definition(definition)]);
    assert!(!gateway.log().contains("catalogue.json"), "no problem: {}", gateway.log());
    let text = |lines: &[&str]| gateway.send(request("GET", "/catalogue/0", lines, "")).text();
    assert_eq!(
        [text(&[]), text(&[]), text(&["X-Tenant: b"]), text(&["Accept-Language: de"])],
        ["answer 1", "answer 1", "answer 2", "answer 3"]
    );
    assert_eq!(text(&["Cache-Control: no-cache"]), "answer 1");
}
