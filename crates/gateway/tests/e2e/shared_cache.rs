//! The cache by RFC 9111: what the gateway stores, reuses and validates, request by request, each rule with its section. The rules have their
//! own tables in the crate; these show that it is asked about the requests and responses as they are.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::clock_jumps::library;
use crate::harness::http2::{ask, connect, converse};
use crate::harness::{Definition, Gateway, Response, Seen, Setup, Upstream, api, eventually, get, reply, request};
use crate::keys::{call, create, keyed, session};

const FRESH: &str = "Cache-Control: max-age=60";
const TAG: &str = "ETag: \"e\"";
const MODIFIED: &str = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT";
const GET: Asked = ("GET", &[]);
const AUTHORISED: Asked = ("GET", &["Authorization: Basic YTpi"]);
const STALE_IS_FINE: Asked = ("GET", &["Cache-Control: max-stale=1000"]);

/// Method, perhaps with a query or the word `body`, and header lines.
type Asked = (&'static str, &'static [&'static str]);
/// Status and header lines.
type Answered = (&'static str, &'static [&'static str]);

fn ok(lines: &'static [&'static str]) -> Answered {
    ("200 OK", lines)
}

/// Answers with what the path's number stands for, and with 304 to who has it. No two bodies are alike.
pub(crate) fn scripted(answers: Vec<Answered>) -> Upstream {
    let count = AtomicUsize::new(0);
    Upstream::start(move |seen: &Seen| {
        let path = seen.target.split('?').next().unwrap_or_default();
        let number: usize = path.rsplit('/').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        let (status, lines) = answers[number];
        let has_it =
            |condition: &str, line: &str| match (seen.header(condition), lines.iter().find(|known| known.starts_with(line))) {
                (Some(asked), Some(known)) => known.ends_with(asked),
                _ => false,
            };
        if has_it("if-none-match", "ETag: ") || has_it("if-modified-since", "Last-Modified: ") {
            let lines: Vec<&str> = lines.iter().copied().filter(|line| !line.starts_with("Age")).collect();
            return format!("HTTP/1.1 304 Not Modified\r\n{}\r\n\r\n", lines.join("\r\n")).into_bytes();
        }
        let count = count.fetch_add(1, Ordering::SeqCst) + 1;
        reply(status, lines, if seen.method == "HEAD" { String::new() } else { format!("answer {count}") }.as_str())
    })
}

/// The API `a` with `tollgate.cache`.
pub(crate) fn shared(upstream: &Upstream, rules: Value) -> Definition {
    with_cache(api("a", "/a/", &upstream.url()), rules)
}

pub(crate) fn with_cache(definition: Definition, rules: Value) -> Definition {
    definition.set("tollgate", json!({"cache": rules}))
}

fn start(upstream: &Upstream, rules: Value) -> Gateway {
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
fn outcome(gateway: &Gateway, upstream: &Upstream, asked: Asked, path: &str) -> (String, Response) {
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
fn each_rule_of_rfc_9111_that_concerns_a_shared_cache_holds() {
    let rows: Vec<(&str, &str, Asked, Answered, Asked, &str)> = vec![
        // (section, rule, first request, response, second request, expect)
        ("§3", "a fresh response is used again", GET, ok(&[FRESH]), GET, "hit 200"),
        ("§3", "a method that is not understood is not stored", ("POST", &[]), ok(&[FRESH]), GET, "fetch 200"),
        (
            "§3",
            "a status that the cache does not know is stored if it says for how long",
            GET,
            ("299 Other", &[FRESH]),
            GET,
            "hit 299",
        ),
        (
            "§5.2.2.3",
            "unless it must be understood",
            GET,
            ("299 Other", &["Cache-Control: max-age=60, must-understand"]),
            GET,
            "fetch 299",
        ),
        ("§3", "a status of one request is not stored", GET, ("429 Many", &[FRESH]), GET, "fetch 429"),
        ("§3", "a part is not stored", GET, ("206 Part", &[FRESH, "Content-Range: bytes 0-9/20"]), GET, "fetch 206"),
        ("§3", "no-store in the response", GET, ok(&["Cache-Control: max-age=60, no-store"]), GET, "fetch 200"),
        ("§3", "letter case does not matter", GET, ok(&["cache-CONTROL: Max-Age=60, NO-STORE"]), GET, "fetch 200"),
        ("§5.2.1.5", "no-store in the request", ("GET", &["Cache-Control: no-store"]), ok(&[FRESH]), GET, "fetch 200"),
        ("§5.2.2.7", "private", GET, ok(&["Cache-Control: max-age=60, private"]), GET, "fetch 200"),
        ("§5.2.2.7", "private with names", GET, ok(&["Cache-Control: max-age=60, private=\"X\""]), GET, "fetch 200"),
        ("§3.5", "Authorization", AUTHORISED, ok(&[FRESH]), GET, "fetch 200"),
        ("§3.5", "Authorization for another user", AUTHORISED, ok(&[FRESH]), ("GET", &["Authorization: Basic Yjpj"]), "fetch 200"),
        ("§3.5", "Authorization with public", AUTHORISED, ok(&["Cache-Control: max-age=60, public"]), GET, "hit 200"),
        ("§3.5", "Authorization with s-maxage", AUTHORISED, ok(&["Cache-Control: s-maxage=60"]), GET, "hit 200"),
        (
            "§3.5",
            "Authorization with must-revalidate",
            AUTHORISED,
            ok(&["Cache-Control: max-age=60, must-revalidate"]),
            GET,
            "hit 200",
        ),
        (
            "§5.2.2.3",
            "must-understand beside no-store",
            GET,
            ok(&["Cache-Control: max-age=60, must-understand, no-store"]),
            GET,
            "hit 200",
        ),
        (
            "§5.2.2.3",
            "a status that must be understood",
            GET,
            ("299 Other", &["Cache-Control: max-age=60, must-understand, no-store"]),
            GET,
            "fetch 299",
        ),
        ("§3", "nothing says how long", GET, ok(&[]), GET, "fetch 200"),
        ("§3", "an error with a lifetime is stored", GET, ("404 Nothing", &[FRESH]), GET, "hit 404"),
        ("§3", "a redirect without a lifetime is not", GET, ("302 Found", &["Location: /y", MODIFIED]), GET, "fetch 302"),
        ("§7.3", "a cookie is for one client", GET, ok(&[FRESH, "Set-Cookie: a=b"]), GET, "fetch 200"),
        ("§4", "another query is another resource", GET, ok(&[FRESH]), ("GET ?q", &[]), "fetch 200"),
        ("§4", "a stored GET answers no POST", GET, ok(&[FRESH]), ("POST", &[]), "fetch 200"),
        ("§4", "a stored GET answers HEAD", GET, ok(&[FRESH]), ("HEAD", &[]), "hit 200"),
        ("§4", "a body of GET may change the response", GET, ok(&[FRESH]), ("GET body", &[]), "fetch 200"),
        ("§5.2.2.4", "no-cache is never used unasked", GET, ok(&["Cache-Control: max-age=60, no-cache", TAG]), GET, "validate 200"),
        ("§5.2.2.4", "no-cache without a validator", GET, ok(&["Cache-Control: max-age=60, no-cache"]), GET, "fetch 200"),
        ("§5.4", "Pragma in a response without Cache-Control", GET, ok(&["Pragma: no-cache", MODIFIED]), GET, "validate 200"),
        ("§5.2.1.4", "no-cache in the request", GET, ok(&[FRESH]), ("GET", &["Cache-Control: no-cache"]), "fetch 200"),
        (
            "§5.2.1.4",
            "no-cache in the request, with a validator",
            GET,
            ok(&[FRESH, TAG]),
            ("GET", &["Cache-Control: no-cache"]),
            "validate 200",
        ),
        ("§5.4", "Pragma in the request", GET, ok(&[FRESH]), ("GET", &["Pragma: no-cache"]), "fetch 200"),
        (
            "§5.4",
            "Pragma beside Cache-Control",
            GET,
            ok(&[FRESH]),
            ("GET", &["Pragma: no-cache", "Cache-Control: max-age=30"]),
            "hit 200",
        ),
        (
            "§4.1",
            "Vary with the same value",
            ("GET", &["Accept-Language: de"]),
            ok(&[FRESH, "Vary: accept-language"]),
            ("GET", &["accept-language: de"]),
            "hit 200",
        ),
        (
            "§4.1",
            "Vary with another value",
            ("GET", &["Accept-Language: de"]),
            ok(&[FRESH, "Vary: accept-language"]),
            ("GET", &["Accept-Language: en"]),
            "fetch 200",
        ),
        ("§4.1", "Vary with no value", ("GET", &["Accept-Language: de"]), ok(&[FRESH, "Vary: accept-language"]), GET, "fetch 200"),
        (
            "§4.1",
            "Vary with one of two values",
            ("GET", &["X-A: 1", "X-B: 1"]),
            ok(&[FRESH, "Vary: X-A", "Vary: X-B"]),
            ("GET", &["X-A: 1"]),
            "fetch 200",
        ),
        ("§4.1", "Vary by everything", GET, ok(&[FRESH, "Vary: *"]), GET, "fetch 200"),
        (
            "§4.1",
            "Vary by what the gateway adds",
            ("GET", &["X-Forwarded-For: 10.0.0.1"]),
            ok(&[FRESH, "Vary: X-Forwarded-For"]),
            GET,
            "fetch 200",
        ),
        ("§4.2.1", "s-maxage before max-age", GET, ok(&["Cache-Control: max-age=60, s-maxage=0"]), GET, "fetch 200"),
        (
            "§4.2.1",
            "max-age before Expires",
            GET,
            ok(&["Cache-Control: max-age=0", "Expires: Fri, 01 Jan 2100 00:00:00 GMT"]),
            GET,
            "fetch 200",
        ),
        ("§5.3", "Expires in the future", GET, ok(&["Expires: Fri, 01 Jan 2100 00:00:00 GMT"]), GET, "hit 200"),
        ("§5.3", "an Expires that is no date has passed", GET, ok(&["Expires: 0", MODIFIED]), GET, "validate 200"),
        ("§4.2.1", "a lifetime that is no number is none", GET, ok(&["Cache-Control: max-age=soon"]), GET, "fetch 200"),
        ("§4.2.2", "a guess by Last-Modified", GET, ok(&[MODIFIED]), GET, "hit 200"),
        ("§4.2.2", "no guess for a cookie", ("GET", &["Cookie: a=b"]), ok(&[MODIFIED]), GET, "validate 200"),
        ("§4.2.3", "Age counts", GET, ok(&[FRESH, "Age: 61"]), GET, "fetch 200"),
        ("§4.2.3", "the time since Date counts", GET, ok(&[FRESH, "Date: Sun, 06 Nov 1994 08:49:37 GMT"]), GET, "fetch 200"),
        (
            "§4.2.4",
            "must-revalidate",
            GET,
            ok(&["Cache-Control: max-age=1, must-revalidate", "Age: 2", TAG]),
            STALE_IS_FINE,
            "validate 200",
        ),
        (
            "§4.2.4",
            "proxy-revalidate",
            GET,
            ok(&["Cache-Control: max-age=1, proxy-revalidate", "Age: 2", TAG]),
            STALE_IS_FINE,
            "validate 200",
        ),
        (
            "§5.2.2.10",
            "s-maxage revalidates",
            GET,
            ok(&["Cache-Control: s-maxage=1", "Age: 2", TAG]),
            STALE_IS_FINE,
            "validate 200",
        ),
        ("§5.2.1.2", "a client takes a stale one", GET, ok(&["Cache-Control: max-age=1", "Age: 2", TAG]), STALE_IS_FINE, "hit 200"),
        ("§4.3.1", "a stale one is validated", GET, ok(&["Cache-Control: max-age=1", "Age: 2", TAG]), GET, "validate 200"),
        (
            "§4.3.1",
            "a stale one is validated by its date",
            GET,
            ok(&["Cache-Control: max-age=1", "Age: 2", MODIFIED]),
            GET,
            "validate 200",
        ),
        ("§4.3.2", "the client has it", GET, ok(&[FRESH, TAG]), ("GET", &["If-None-Match: \"f\", W/\"e\""]), "hit 304"),
        ("§4.3.2", "the client has another one", GET, ok(&[FRESH, TAG]), ("GET", &["If-None-Match: \"f\""]), "hit 200"),
        ("§4.3.2", "the client has any", GET, ok(&[FRESH]), ("GET", &["If-None-Match: *"]), "hit 304"),
        (
            "§4.3.2",
            "the client has it since then",
            GET,
            ok(&[FRESH, MODIFIED]),
            ("GET", &["If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"]),
            "hit 304",
        ),
        (
            "§4.3.2",
            "the tag decides before the date",
            GET,
            ok(&[FRESH, TAG, MODIFIED]),
            ("GET", &["If-None-Match: \"f\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"]),
            "hit 200",
        ),
        ("§4.3.2", "If-Match is for the upstream", GET, ok(&[FRESH, TAG]), ("GET", &["If-Match: \"e\""]), "fetch 200"),
        (
            "§4.3.2",
            "a condition on a miss is answered here",
            ("GET", &["X-First: 1"]),
            ok(&[FRESH, TAG]),
            ("GET ?other", &["If-None-Match: \"e\""]),
            "fetch 304",
        ),
        ("§5.2.1.1", "max-age in the request", GET, ok(&[FRESH, "Age: 10"]), ("GET", &["Cache-Control: max-age=5"]), "fetch 200"),
        ("§5.2.1.3", "min-fresh in the request", GET, ok(&[FRESH]), ("GET", &["Cache-Control: min-fresh=100"]), "fetch 200"),
        ("§5.2.1.7", "only-if-cached, and it is", GET, ok(&[FRESH]), ("GET", &["Cache-Control: only-if-cached"]), "hit 200"),
        ("§5.2.1.7", "only-if-cached, and it is not", GET, ok(&[]), ("GET", &["Cache-Control: only-if-cached"]), "hit 504"),
        ("RFC 9213 §2.2", "CDN-Cache-Control forbids", GET, ok(&[FRESH, "CDN-Cache-Control: no-store"]), GET, "fetch 200"),
        (
            "RFC 9213 §2.2",
            "CDN-Cache-Control allows",
            GET,
            ok(&["Cache-Control: no-store", "CDN-Cache-Control: max-age=60"]),
            GET,
            "hit 200",
        ),
        ("RFC 9110 §14", "a range of a stored whole", GET, ok(&[FRESH]), ("GET", &["Range: bytes=0-5"]), "hit 206"),
        ("RFC 9110 §14", "a range beyond it", GET, ok(&[FRESH]), ("GET", &["Range: bytes=1000-"]), "hit 416"),
        (
            "RFC 9110 §13.1.5",
            "a range of another version",
            GET,
            ok(&[FRESH, TAG]),
            ("GET", &["Range: bytes=0-5", "If-Range: \"f\""]),
            "hit 200",
        ),
        (
            "RFC 9110 §13.1.5",
            "a range of this version",
            GET,
            ok(&[FRESH, TAG]),
            ("GET", &["Range: bytes=0-5", "If-Range: \"e\""]),
            "hit 206",
        ),
    ];
    let upstream = scripted(rows.iter().map(|row| row.3).collect());
    let gateway = start(&upstream, json!({}));
    let mut wrong = Vec::new();
    for (index, (section, rule, first, _, second, expect)) in rows.into_iter().enumerate() {
        let path = format!("/a/{index}");
        let (_, one) = outcome(&gateway, &upstream, first, &path);
        let (found, other) = outcome(&gateway, &upstream, second, &path);
        let shows_first = one.body == other.body;
        let is_bare = second.0 == "HEAD" || matches!(other.status, 206 | 304 | 416 | 504);
        if found != expect || (!is_bare && shows_first == expect.starts_with("fetch")) {
            wrong.push(format!("{section}: {rule}: {found}, not {expect}\n{one}\n{other}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}

#[test]
fn responses_age_as_time_passes() {
    let rows: Vec<(&str, &str, Answered, Asked, &str)> = vec![
        ("§4.2", "a fresh one", ok(&["Cache-Control: max-age=500"]), GET, "hit 200"),
        ("§4.2", "a stale one", ok(&["Cache-Control: max-age=50"]), GET, "fetch 200"),
        ("§4.2", "a stale one with a validator", ok(&["Cache-Control: max-age=50", TAG]), GET, "validate 200"),
        ("§4.2.3", "Age and the time here add up", ok(&["Cache-Control: max-age=500", "Age: 450"]), GET, "fetch 200"),
        ("§4.2.1", "s-maxage", ok(&["Cache-Control: s-maxage=500, max-age=1"]), GET, "hit 200"),
        (
            "§4.2.4",
            "max-stale within its bound",
            ok(&["Cache-Control: max-age=50"]),
            ("GET", &["Cache-Control: max-stale=100"]),
            "hit 200",
        ),
        (
            "§4.2.4",
            "max-stale beyond its bound",
            ok(&["Cache-Control: max-age=50"]),
            ("GET", &["Cache-Control: max-stale=10"]),
            "fetch 200",
        ),
        (
            "§5.2.1.1",
            "max-age of the request",
            ok(&["Cache-Control: max-age=500"]),
            ("GET", &["Cache-Control: max-age=50"]),
            "fetch 200",
        ),
        (
            "RFC 5861 §3",
            "too stale to be served meanwhile",
            ok(&["Cache-Control: max-age=50, stale-while-revalidate=20"]),
            GET,
            "fetch 200",
        ),
    ];
    let upstream = scripted(rows.iter().map(|row| row.2).collect());
    let folder = tempfile::tempdir().unwrap();
    let clock = folder.path().join("clock");
    std::fs::write(&clock, "+0").unwrap();
    let gateway = Setup::new(json!({}))
        .api(shared(&upstream, json!({})))
        .env("LD_PRELOAD", library().to_str().unwrap())
        .env("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap())
        .env("FAKETIME_NO_CACHE", "1")
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        .env("DONT_FAKE_MONOTONIC", "1")
        .start();
    let path = |index: usize| format!("/a/{index}");
    (0..rows.len()).for_each(|index| drop(gateway.get(&path(index))));
    std::fs::write(&clock, "+100").unwrap();
    let outcomes = rows.iter().enumerate().map(|(index, row)| (row, outcome(&gateway, &upstream, row.3, &path(index))));
    let wrong: Vec<String> = outcomes
        .filter(|(row, (found, _))| found != row.4)
        .map(|((section, rule, .., expect), (found, answer))| format!("{section}: {rule}: {found}, not {expect}\n{answer}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
    let age: u64 = gateway.get("/a/0").header("age").expect("Age").parse().unwrap();
    assert!((100..150).contains(&age), "{age}");
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
fn head_is_answered_from_get_with_its_length_over_both_protocols() {
    let upstream = scripted(vec![ok(&[FRESH])]);
    let gateway = start(&upstream, json!({}));
    let whole = gateway.get("/a/0");
    let mut client = gateway.connect();
    let head = client.ask(request("HEAD", "/a/0", &[], ""));
    assert_eq!((head.status, head.header("content-length")), (200, Some("8")));
    // The connection goes on behind it.
    assert_eq!(client.ask(get("/a/0")).body, whole.body);
    converse(async {
        let client = connect(gateway.port).await;
        let asked = http::Request::head("http://gateway.test/a/0").body(()).unwrap();
        let head = ask(&client, asked).await.unwrap();
        assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("8"), 0));
    });
    assert_eq!(upstream.requests(), 1);
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
fn two_spellings_are_two_resources_and_no_spelling_gets_anothers_answer() {
    // Which response a request gets must be the one that the upstream gives to it: each of these reaches the upstream by itself.
    let upstream = Upstream::start(|seen: &Seen| {
        let of = |name: &str| seen.head.all(name).join("|");
        let names = [
            "x-forwarded-host",
            "x-forwarded-proto",
            "x-original-url",
            "x-host",
            "forwarded",
            "x_forwarded_host",
            "x-http-method-override",
            "x-forwarded-port",
            "x-forwarded-prefix",
            "x-forwarded-scheme",
            "x-forwarded-server",
            "x-forwarded-path",
            "x-forwarded-uri",
            "x-forwarded-ssl",
            "x-original-host",
            "x-override-url",
            "x-rewrite-url",
            "x-http-method",
            "x-method-override",
        ];
        let body = names.iter().fold(seen.target.clone(), |body, name| format!("{body} {}", of(name)));
        reply("200 OK", &[FRESH], &body)
    });
    let gateway = Gateway::start(json!({"http_server_options": {"skip_url_cleaning": true}}), [shared(&upstream, json!({}))]);
    let plain = |target: &str| request("GET", target, &[], "");
    let with = |lines: &[&str]| request("GET", "/a/x", lines, "");
    let requests = [
        plain("/a/x"),
        plain("/a/X"),
        plain("/a/x/"),
        plain("/a/y//x"),
        plain("/a/x//"),
        plain("/a/./x"),
        plain("/a/y/../x"),
        plain("/a/%78"),
        plain("/a/x%2F"),
        plain("/a/x%2f"),
        plain("/a/x%20"),
        plain("/a/x+"),
        plain("/a/x%00"),
        plain("/a/x%3Fq"),
        plain("/a/x;a"),
        plain("/a/x%3Ba"),
        plain("/a/x%23a"),
        plain("/a/x?"),
        plain("/a/x?q"),
        plain("/a/x?Q"),
        plain("/a/x?q="),
        plain("/a/x?q&r"),
        plain("/a/x?r&q"),
        plain("/a/x?q%26r"),
        plain("/a/x/a.css"),
        plain("/a/x%2Fa.css"),
        plain("/a/x;a.css"),
        with(&["X-Forwarded-Host: evil"]),
        with(&["X-Forwarded-Host: evil", "X-Forwarded-Host: good"]),
        with(&["X-Forwarded-Host: evil, good"]),
        with(&["X_Forwarded_Host: bad"]),
        with(&["X-Forwarded-Proto: http"]),
        with(&["X-Original-URL: /admin"]),
        with(&["X-Host: evil"]),
        with(&["Forwarded: host=evil"]),
        with(&["X-HTTP-Method-Override: DELETE"]),
        with(&["X-Forwarded-Port: 1"]),
        with(&["X-Forwarded-Prefix: /evil"]),
        with(&["X-Forwarded-Scheme: http"]),
        with(&["X-Forwarded-Server: evil"]),
        with(&["X-Forwarded-Path: /evil"]),
        with(&["X-Forwarded-Uri: /evil"]),
        with(&["X-Forwarded-Ssl: off"]),
        with(&["X-Original-Host: evil"]),
        with(&["X-Override-URL: /admin"]),
        with(&["X-Rewrite-URL: /admin"]),
        with(&["X-HTTP-Method: DELETE"]),
        with(&["X-Method-Override: DELETE"]),
    ];
    let bodies: Vec<String> = requests.iter().map(|request| gateway.send(request).text()).collect();
    assert_eq!(upstream.requests(), requests.len(), "each goes to the upstream once: {bodies:#?}");
    for (request, body) in requests.iter().zip(&bodies) {
        assert_eq!(&gateway.send(request).text(), body, "{request}");
    }
    assert_eq!(upstream.requests(), requests.len());
}

#[test]
fn a_host_that_the_upstream_does_not_see_fills_nothing() {
    let upstream = scripted(vec![ok(&[FRESH])]);
    let preserved = with_cache(api("b", "/b/", &upstream.url()), json!({})).set("proxy/preserve_host_header", true);
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({})), preserved]);
    let of = |target: &str, host: &str| gateway.send(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).text();
    assert_eq!([of("/a/0", "one"), of("/a/0", "evil.test:99")], ["answer 1", "answer 1"]);
    let preserved = [of("/b/0", "one"), of("/b/0", "two"), of("/b/0", "ONE"), of("/b/0", "one:80")];
    assert_eq!(preserved, ["answer 2", "answer 3", "answer 2", "answer 4"]);
}

#[test]
fn configured_headers_and_callers_distinguish_responses() {
    let upstream = scripted(vec![ok(&["Cache-Control: max-age=60"]), ok(&["Cache-Control: s-maxage=60"])]);
    let all = with_cache(keyed("a", &upstream), json!({"by_headers": ["X-Lang"]}));
    let own = with_cache(keyed("b", &upstream), json!({"by_caller": true})).set("strip_auth_data", true);
    let gateway = Gateway::start(json!({}), [all, own]);
    let rights =
        json!({"access_rights": {"a": {"api_id": "a", "versions": ["Default"]}, "b": {"api_id": "b", "versions": ["Default"]}}});
    let keys = [create(&gateway, &session(rights.clone())), create(&gateway, &session(rights))];
    // The upstream may know who asks: what it does not allow to share is not shared (RFC 9111 §3.5).
    assert_eq!(keys.each_ref().map(|key| call(&gateway, "/a/0", key).text()), ["answer 1", "answer 2"]);
    assert_eq!(keys.each_ref().map(|key| call(&gateway, "/a/1", key).text()), ["answer 3", "answer 3"]);
    let lang = |lang: &str| {
        gateway.send(request("GET", "/a/1", &[&format!("Authorization: {}", keys[0]), &format!("X-Lang: {lang}")], "")).text()
    };
    assert_eq!([lang("de"), lang("en"), lang("de")], ["answer 4", "answer 5", "answer 4"]);
    for _ in 0..2 {
        assert_eq!(keys.each_ref().map(|key| call(&gateway, "/b/0", key).text()), ["answer 6", "answer 7"]);
    }
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
fn an_answer_gets_what_belongs_to_its_own_request() {
    let upstream = scripted(vec![ok(&[FRESH, "X-Ratelimit-Limit: 7", "X-Upstream: 1"])]);
    let definition = shared(&upstream, json!({}))
        .set("enable_context_vars", true)
        .version("global_response_headers_remove", json!(["X-Upstream"]))
        .list(
            "transform_response_headers",
            json!([{"path": "/0", "method": "GET", "add_headers": {"X-Who": "$tyk_context.headers_X_Who"}}]),
        );
    let gateway = Gateway::start(json!({"tollgate": {"request_id": true}}), [definition]);
    for who in ["one", "two"] {
        let answer = gateway.send(request("GET", "/a/0", &[&format!("X-Who: {who}"), &format!("X-Request-Id: {who}")], ""));
        assert_eq!((answer.head.all("x-who"), answer.head.all("x-request-id")), (vec![who], vec![who]), "{answer}");
        assert_eq!((answer.head.all("x-ratelimit-limit"), answer.header("x-upstream")), (vec!["0"], None));
        assert_eq!(answer.text(), "answer 1");
    }
}

#[test]
fn what_a_transform_makes_is_what_is_stored() {
    let upstream =
        Upstream::start(|_| reply("200 OK", &[FRESH, "ETag: \"e\"", "Content-Type: application/json"], r#"{"name": "x"}"#));
    let source = "aGVsbG8ge3submFtZX19"; // hello {{.name}}
    let entry = |more: Value| {
        let mut data = json!({"input_type": "json", "template_mode": "blob", "template_source": source});
        crate::harness::definition::merge(&mut data, &more);
        json!([{"path": "/x", "method": "GET", "template_data": data}])
    };
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({})).list("transform_response", entry(json!({})))]);
    for _ in 0..2 {
        let answer = gateway.get("/a/x");
        assert_eq!((answer.text().as_str(), answer.header("etag")), ("hello x", Some("W/\"e\"")));
    }
    let has_it = gateway.send(request("GET", "/a/x", &["If-None-Match: W/\"e\""], ""));
    assert_eq!((has_it.status, upstream.requests()), (304, 1));
    // The first one who asks may have it as well.
    let gateway = Gateway::start(json!({}), [shared(&upstream, json!({})).list("transform_response", entry(json!({})))]);
    let has_it = gateway.send(request("GET", "/a/x", &["If-None-Match: \"e\""], ""));
    assert_eq!((has_it.status, has_it.body.len()), (304, 0));
    assert_eq!(gateway.get("/a/x").text(), "hello x");
    // One that shows all that it sees does not see who asks.
    let all = STANDARD.encode("{{range $name, $value := .}}{{$name}} {{end}}");
    let showing = entry(json!({"template_source": all}));
    let definition = shared(&upstream, json!({})).set("enable_context_vars", true).list("transform_response", showing);
    assert_eq!(Gateway::start(json!({}), [definition]).get("/a/x").text(), "name ");
    // One that depends on who asks can't be for all.
    gateway.write_api(&shared(&upstream, json!({})).list("transform_response", entry(json!({"enable_session": true}))));
    gateway.control("GET", "/tyk/reload/?block=true", "");
    assert!(gateway.log().contains("makes another response of each request"), "{}", gateway.log());
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
        gateway.control("GET", "/tyk/reload/?block=true", "");
        let log = gateway.log();
        let (path, message) = expect.split_once(": ").unwrap();
        assert!(log.contains(path) && log.contains(message), "{expect} in\n{log}");
        assert_eq!(gateway.get("/a/x").status, 200, "the last good version serves");
    }
}

#[test]
fn a_reload_keeps_what_is_stored_unless_the_definition_has_changed() {
    let upstream = scripted(vec![ok(&[FRESH])]);
    let gateway = start(&upstream, json!({}));
    assert_eq!(gateway.get("/a/0").text(), "answer 1");
    gateway.reload();
    assert_eq!(gateway.get("/a/0").text(), "answer 1");
    gateway.write_api(&shared(&upstream, json!({"wait_ms_max": 1_000})));
    gateway.reload();
    assert_eq!(gateway.get("/a/0").text(), "answer 2");
    assert_eq!(gateway.control("DELETE", "/tyk/cache/a", "").status, 200);
    assert_eq!(gateway.get("/a/0").text(), "answer 3");
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
