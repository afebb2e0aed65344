//! RFC 9111 as a table: one row for each requirement on a shared cache, with its section. A row sends one request through an empty cache, lets time
//! pass, and looks at what becomes of a second one.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::expect_used)]

mod harness;

use harness::{DATE, Exchange, MODIFIED, START_MS, api, describe, fetch, get, head_of, request};
use tollgate_cache::{ApiCacheSettings, Decision, Filled};

type Lines = &'static [(&'static str, &'static str)];

struct Row {
    section: &'static str,
    rule: &'static str,
    first: Exchange,
    after_s: u64,
    second: Exchange,
    expect: &'static str,
}

fn row(section: &'static str, rule: &'static str, first: Exchange, after_s: u64, second: Exchange, expect: &'static str) -> Row {
    Row { section, rule, first, after_s, second, expect }
}

/// A GET without lines of its own, answered with 200 and these lines.
fn ok(response: Lines) -> Exchange {
    get(&[]).answered(200, response)
}

fn cached(cache_control: &'static str) -> Exchange {
    match cache_control {
        "max-age=60" => ok(&[("Cache-Control", "max-age=60")]),
        other => panic!("{other}"),
    }
}

fn check(rows: Vec<Row>) {
    let mut failures = Vec::new();
    for Row { section, rule, first, after_s, second, expect } in rows {
        let api = api(ApiCacheSettings::default());
        fetch(&api, &first, START_MS);
        let found = describe(&api.lookup(&request(&second), START_MS + after_s * 1000));
        if found != expect {
            failures.push(format!("§{section}: {rule}: {found}, not {expect}"));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

#[test]
fn storing_section_3() {
    const MAX_AGE: Lines = &[("Cache-Control", "max-age=60")];
    const NO_STORE: Lines = &[("Cache-Control", "no-store, max-age=60")];
    const MUST_UNDERSTAND: Lines = &[("Cache-Control", "no-store, must-understand, max-age=60")];
    const SECRET: Lines = &[("Authorization", "Bearer x")];
    check(vec![
        row("3", "an interim response is not final", get(&[]).answered(103, MAX_AGE), 1, get(&[]), "fetch"),
        row(
            "5.2.3",
            "unknown directives are ignored",
            ok(&[("Cache-Control", "community=\"no-store\", x-no-store, max-age=60, immutable")]),
            1,
            get(&[]),
            "hit",
        ),
        row("3", "explicit freshness may be stored", ok(MAX_AGE), 1, get(&[]), "hit"),
        row(
            "3",
            "a method that is not understood must not be stored",
            get(&[]).by("FETCH").answered(200, MAX_AGE),
            1,
            get(&[]).by("FETCH"),
            "bypass",
        ),
        row("3", "the answer to POST is not for GET", get(&[]).by("POST").answered(200, MAX_AGE), 1, get(&[]), "fetch"),
        row("3", "the answer to OPTIONS is not for GET", get(&[]).by("OPTIONS").answered(200, MAX_AGE), 1, get(&[]), "fetch"),
        row("3", "methods are case-sensitive", get(&[]).by("get").answered(200, MAX_AGE), 1, get(&[]), "fetch"),
        row("3", "no-store must not be stored", ok(NO_STORE), 1, get(&[]), "fetch"),
        row(
            "3",
            "no-store on a line of its own must not be stored",
            ok(&[("Cache-Control", "max-age=60"), ("Cache-Control", "no-store")]),
            1,
            get(&[]),
            "fetch",
        ),
        row(
            "3",
            "no-store of the request must not be stored",
            get(&[("Cache-Control", "no-store")]).answered(200, MAX_AGE),
            1,
            get(&[]),
            "fetch",
        ),
        row("3", "private must not be stored", ok(&[("Cache-Control", "private, max-age=60")]), 1, get(&[]), "fetch"),
        row(
            "3",
            "private with names must not be stored with them",
            ok(&[("Cache-Control", "private=\"x-a\", max-age=60")]),
            1,
            get(&[]),
            "fetch",
        ),
        row("3", "206 is a part", get(&[]).answered(206, MAX_AGE), 1, get(&[]), "fetch"),
        row("3", "304 is no whole", get(&[]).answered(304, MAX_AGE), 1, get(&[]), "fetch"),
        row("3", "an unknown final status with freshness", get(&[]).answered(299, MAX_AGE), 1, get(&[]), "hit 299"),
        row("3", "an unknown error with freshness", get(&[]).answered(499, MAX_AGE), 1, get(&[]), "hit 499"),
        row("3", "the last status with freshness", get(&[]).answered(599, MAX_AGE), 1, get(&[]), "hit 599"),
        row("3", "no final status at all", get(&[]).answered(600, MAX_AGE), 1, get(&[]), "fetch"),
        row(
            "4.2.2",
            "no guess for an unknown status",
            get(&[]).answered(299, &[("Last-Modified", MODIFIED), ("Cache-Control", "public")]),
            1,
            get(&[]),
            "fetch",
        ),
        row("RFC 6585 5", "431 must not be stored", get(&[]).answered(431, MAX_AGE), 1, get(&[]), "fetch"),
        row("RFC 8470 5.2", "425 belongs to one request", get(&[]).answered(425, MAX_AGE), 1, get(&[]), "fetch"),
        row(
            "3",
            "no freshness and no heuristic status",
            get(&[]).answered(302, &[("Last-Modified", MODIFIED)]),
            1,
            get(&[]),
            "fetch",
        ),
        row("3", "302 with freshness", get(&[]).answered(302, MAX_AGE), 1, get(&[]), "hit 302"),
        row("3", "404 with freshness", get(&[]).answered(404, MAX_AGE), 1, get(&[]), "hit 404"),
        row("3", "nothing said at all", ok(&[]), 1, get(&[]), "fetch"),
        row("RFC 6585 6", "429 must not be stored", get(&[]).answered(429, MAX_AGE), 1, get(&[]), "fetch"),
        row("RFC 6585 5", "428 must not be stored", get(&[]).answered(428, MAX_AGE), 1, get(&[]), "fetch"),
        row("RFC 6585 6", "511 must not be stored", get(&[]).answered(511, MAX_AGE), 1, get(&[]), "fetch"),
        row("3", "401 belongs to one client", get(&[]).answered(401, MAX_AGE), 1, get(&[]), "fetch"),
        row("3.3", "a cut response must not be stored as whole", ok(MAX_AGE).cut(), 1, get(&[]), "fetch"),
        row("3.3", "less than Content-Length is incomplete", ok(MAX_AGE).short(), 1, get(&[]), "fetch"),
        row("3.3", "more than Content-Length is incomplete", ok(MAX_AGE).long(), 1, get(&[]), "fetch"),
        row("3.5", "Authorization must not be shared", get(SECRET).answered(200, MAX_AGE), 1, get(&[]), "fetch"),
        row(
            "3.5",
            "Authorization must not be shared with the same client",
            get(SECRET).answered(200, MAX_AGE),
            1,
            get(SECRET),
            "fetch",
        ),
        row("3.5", "who asks may be known by other means", get(&[]).authorised().answered(200, MAX_AGE), 1, get(&[]), "fetch"),
        row(
            "3.5",
            "public allows it",
            get(SECRET).answered(200, &[("Cache-Control", "public, max-age=60")]),
            1,
            get(SECRET),
            "hit",
        ),
        row("3.5", "s-maxage allows it", get(SECRET).answered(200, &[("Cache-Control", "s-maxage=60")]), 1, get(&[]), "hit"),
        row(
            "3.5",
            "must-revalidate allows it",
            get(SECRET).answered(200, &[("Cache-Control", "must-revalidate, max-age=60")]),
            1,
            get(&[]),
            "hit",
        ),
        row(
            "3.5",
            "no heuristic with Authorization",
            get(SECRET).answered(200, &[("Cache-Control", "public"), ("Last-Modified", MODIFIED)]),
            1,
            get(SECRET),
            "validate",
        ),
        row("5.2.2.3", "must-understand beats no-store for a known status", ok(MUST_UNDERSTAND), 1, get(&[]), "hit"),
        row(
            "5.2.2.3",
            "must-understand must not store an unknown status",
            get(&[]).answered(299, MUST_UNDERSTAND),
            1,
            get(&[]),
            "fetch",
        ),
        row(
            "7.3",
            "cookies of one client are not for all",
            ok(&[("Cache-Control", "public, max-age=60"), ("Set-Cookie", "a=b")]),
            1,
            get(&[]),
            "fetch",
        ),
    ]);
}

#[test]
fn matching_section_4_1() {
    const BY_ACCEPT: Lines = &[("Cache-Control", "max-age=60"), ("Vary", "Accept")];
    const JSON: Lines = &[("Accept", "application/json")];
    check(vec![
        row("4.1", "the same header", get(JSON).answered(200, BY_ACCEPT), 1, get(JSON), "hit"),
        row(
            "4.1",
            "letter case of names is free",
            get(JSON).answered(200, &[("Cache-Control", "max-age=60"), ("vary", "ACCEPT")]),
            1,
            get(&[("ACCEPT", "application/json")]),
            "hit",
        ),
        row(
            "4.1",
            "another value must not be used",
            get(JSON).answered(200, BY_ACCEPT),
            1,
            get(&[("Accept", "text/html")]),
            "fetch",
        ),
        row("4.1", "an absent header must match an absent one", get(JSON).answered(200, BY_ACCEPT), 1, get(&[]), "fetch"),
        row("4.1", "absent and absent", ok(BY_ACCEPT), 1, get(&[]), "hit"),
        row("4.1", "a header that was absent", ok(BY_ACCEPT), 1, get(JSON), "fetch"),
        row(
            "4.1",
            "all names must match",
            get(&[("Accept", "a"), ("X", "1")])
                .answered(200, &[("Cache-Control", "max-age=60"), ("Vary", "Accept"), ("Vary", "X")]),
            1,
            get(&[("Accept", "a"), ("X", "2")]),
            "fetch",
        ),
        row(
            "4.1",
            "other headers are free",
            get(JSON).answered(200, BY_ACCEPT),
            1,
            get(&[("Accept", "application/json"), ("X", "2")]),
            "hit",
        ),
        row("4.1", "* never matches", ok(&[("Cache-Control", "max-age=60"), ("Vary", "*")]), 1, get(&[]), "fetch"),
        row(
            "4.1",
            "* among names never matches",
            ok(&[("Cache-Control", "max-age=60"), ("Vary", "Accept, *")]),
            1,
            get(&[]),
            "fetch",
        ),
        row("4", "another URI", ok(&[("Cache-Control", "max-age=60")]), 1, get(&[]).of("/other"), "fetch"),
        row("4", "another query", ok(&[("Cache-Control", "max-age=60")]), 1, get(&[]).of("/x?"), "fetch"),
        row("4", "a request with a body", ok(&[("Cache-Control", "max-age=60")]), 1, get(&[]).with_body(), "bypass"),
        row("4", "unsafe methods are written through", ok(&[("Cache-Control", "max-age=60")]), 1, get(&[]).by("PUT"), "bypass"),
    ]);
}

#[test]
fn freshness_section_4_2() {
    check(vec![
        row("4.2", "fresh until the last second", cached("max-age=60"), 59, get(&[]), "hit"),
        row("4.2", "stale when age reaches the lifetime", cached("max-age=60"), 60, get(&[]), "fetch"),
        row("4.2.1", "s-maxage beats max-age", ok(&[("Cache-Control", "max-age=60, s-maxage=10")]), 10, get(&[]), "fetch"),
        row(
            "4.2.1",
            "s-maxage beats Expires",
            ok(&[("Cache-Control", "s-maxage=10"), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT")]),
            10,
            get(&[]),
            "fetch",
        ),
        row("4.2.1", "max-age beats Expires", ok(&[("Cache-Control", "max-age=60"), ("Expires", "0")]), 10, get(&[]), "hit"),
        row(
            "4.2.1",
            "Expires minus Date",
            ok(&[("Date", "Fri, 15 Jan 2027 08:00:00 GMT"), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT")]),
            59,
            get(&[]),
            "hit",
        ),
        row(
            "4.2.1",
            "Expires is over",
            ok(&[("Date", "Fri, 15 Jan 2027 08:00:00 GMT"), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT")]),
            60,
            get(&[]),
            "fetch",
        ),
        row(
            "4.2.1",
            "Expires counts from the upstream's clock",
            ok(&[("Date", "Fri, 15 Jan 2027 08:00:30 GMT"), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT")]),
            30,
            get(&[]),
            "fetch",
        ),
        row("4.2.1", "conflicting max-age is stale", ok(&[("Cache-Control", "max-age=60, max-age=90")]), 1, get(&[]), "fetch"),
        row(
            "4.2.1",
            "conflicting Expires is stale",
            ok(&[("Expires", "Fri, 15 Jan 2027 08:01:00 GMT"), ("Expires", "Fri, 15 Jan 2027 08:02:00 GMT")]),
            1,
            get(&[]),
            "fetch",
        ),
        row(
            "4.2.1",
            "invalid max-age is stale",
            ok(&[("Cache-Control", "max-age=soon"), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT")]),
            1,
            get(&[]),
            "fetch",
        ),
        row(
            "5.3",
            "an invalid Expires is in the past",
            ok(&[("Expires", "0"), ("Last-Modified", MODIFIED)]),
            1,
            get(&[]),
            "validate",
        ),
        row("5.3", "-1 is in the past", ok(&[("Expires", "-1"), ("ETag", "\"a\"")]), 1, get(&[]), "validate"),
        row("4.2.2", "a tenth of the time since the last change", ok(&[("Last-Modified", MODIFIED)]), 99, get(&[]), "hit"),
        row("4.2.2", "and not more", ok(&[("Last-Modified", MODIFIED)]), 100, get(&[]), "validate"),
        row(
            "4.2.2",
            "no heuristic with explicit freshness",
            ok(&[("Last-Modified", MODIFIED), ("Cache-Control", "max-age=1")]),
            50,
            get(&[]),
            "validate",
        ),
        row(
            "4.2.2",
            "no heuristic for requests with cookies",
            get(&[("Cookie", "a=b")]).answered(200, &[("Last-Modified", MODIFIED)]),
            1,
            get(&[]),
            "validate",
        ),
        row(
            "4.2.2",
            "no heuristic for a change in the future",
            ok(&[("Last-Modified", "Fri, 15 Jan 2027 09:00:00 GMT")]),
            1,
            get(&[]),
            "validate",
        ),
        row(
            "4.2.3",
            "Age of caches before us counts",
            ok(&[("Cache-Control", "max-age=60"), ("Age", "50")]),
            10,
            get(&[]),
            "fetch",
        ),
        row(
            "4.2.3",
            "time since Date counts",
            ok(&[("Cache-Control", "max-age=60"), ("Date", "Fri, 15 Jan 2027 07:59:10 GMT")]),
            10,
            get(&[]),
            "fetch",
        ),
        row(
            "4.2.3",
            "a Date in the future is not younger than now",
            ok(&[("Cache-Control", "max-age=60"), ("Date", "Fri, 15 Jan 2027 09:00:00 GMT")]),
            60,
            get(&[]),
            "fetch",
        ),
        row("5.1", "the first Age counts", ok(&[("Cache-Control", "max-age=60"), ("Age", "50, 0")]), 10, get(&[]), "fetch"),
        row(
            "5.1",
            "an Age that is no number is ignored",
            ok(&[("Cache-Control", "max-age=60"), ("Age", "-5")]),
            10,
            get(&[]),
            "hit",
        ),
        row(
            "1.2.2",
            "numbers too large are the largest",
            ok(&[("Cache-Control", "max-age=99999999999999999999")]),
            1_000_000,
            get(&[]),
            "hit",
        ),
        row(
            "1.2.2",
            "an Age too large is the largest",
            ok(&[("Cache-Control", "max-age=60"), ("Age", "99999999999999999999"), ("ETag", "\"a\"")]),
            1,
            get(&[]),
            "validate",
        ),
        row(
            "5.4",
            "Pragma counts where Cache-Control is absent",
            ok(&[("Pragma", "no-cache"), ("Expires", "Fri, 15 Jan 2027 08:01:00 GMT"), ("ETag", "\"a\"")]),
            1,
            get(&[]),
            "validate",
        ),
    ]);
}

#[test]
fn stale_responses_section_4_2_4() {
    const STALE: Lines = &[("Cache-Control", "max-age=60, stale-while-revalidate=30"), ("ETag", "\"a\"")];
    const MAX_STALE: Lines = &[("Cache-Control", "max-stale")];
    check(vec![
        row(
            "4.2.4",
            "must not be stale unless allowed",
            ok(&[("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]),
            61,
            get(&[]),
            "validate",
        ),
        row(
            "4.2.4",
            "the client may allow it",
            ok(&[("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]),
            61,
            get(MAX_STALE),
            "stale",
        ),
        row(
            "5.2.2.2",
            "must-revalidate must not be stale",
            ok(&[("Cache-Control", "max-age=60, must-revalidate"), ("ETag", "\"a\"")]),
            61,
            get(MAX_STALE),
            "validate",
        ),
        row(
            "5.2.2.8",
            "proxy-revalidate must not be stale",
            ok(&[("Cache-Control", "max-age=60, proxy-revalidate"), ("ETag", "\"a\"")]),
            61,
            get(MAX_STALE),
            "validate",
        ),
        row(
            "5.2.2.10",
            "s-maxage must not be stale",
            ok(&[("Cache-Control", "s-maxage=60"), ("ETag", "\"a\"")]),
            61,
            get(MAX_STALE),
            "validate",
        ),
        row(
            "5.2.2.4",
            "no-cache must be validated",
            ok(&[("Cache-Control", "no-cache, max-age=60"), ("ETag", "\"a\"")]),
            1,
            get(&[]),
            "validate",
        ),
        row(
            "5.2.2.4",
            "no-cache must be validated whatever the client allows",
            ok(&[("Cache-Control", "no-cache, max-age=60"), ("ETag", "\"a\"")]),
            1,
            get(MAX_STALE),
            "validate",
        ),
        row(
            "5.2.2.4",
            "no-cache with names must not be used with them",
            ok(&[("Cache-Control", "no-cache=\"x-a\", max-age=60"), ("ETag", "\"a\"")]),
            1,
            get(&[]),
            "validate",
        ),
        row("RFC 5861 3", "stale while somebody asks", ok(STALE), 61, get(&[]), "stale+revalidate"),
        row("RFC 5861 3", "and not longer", ok(STALE), 90, get(&[]), "validate"),
        row(
            "RFC 5861 3",
            "never with must-revalidate",
            ok(&[("Cache-Control", "max-age=60, stale-while-revalidate=30, must-revalidate"), ("ETag", "\"a\"")]),
            61,
            get(&[]),
            "validate",
        ),
        row(
            "RFC 5861 3",
            "never with s-maxage",
            ok(&[("Cache-Control", "s-maxage=60, stale-while-revalidate=30"), ("ETag", "\"a\"")]),
            61,
            get(&[]),
            "validate",
        ),
    ]);
}

#[test]
fn request_directives_section_5_2_1() {
    const FRESH: Lines = &[("Cache-Control", "max-age=60"), ("ETag", "\"a\"")];
    check(vec![
        row("5.2.1.1", "max-age of the request", ok(FRESH), 10, get(&[("Cache-Control", "max-age=9")]), "validate"),
        row("5.2.1.1", "max-age that is met", ok(FRESH), 10, get(&[("Cache-Control", "max-age=10")]), "hit"),
        row("5.2.1.1", "max-age=0", ok(FRESH), 1, get(&[("Cache-Control", "max-age=0")]), "validate"),
        row("5.2.1.2", "max-stale within its bound", ok(FRESH), 70, get(&[("Cache-Control", "max-stale=10")]), "stale"),
        row("5.2.1.2", "max-stale beyond its bound", ok(FRESH), 71, get(&[("Cache-Control", "max-stale=10")]), "validate"),
        row("5.2.1.3", "min-fresh that is met", ok(FRESH), 30, get(&[("Cache-Control", "min-fresh=30")]), "hit"),
        row("5.2.1.3", "min-fresh that is not", ok(FRESH), 31, get(&[("Cache-Control", "min-fresh=30")]), "validate"),
        row("5.2.1.4", "no-cache of the request", ok(FRESH), 1, get(&[("Cache-Control", "no-cache")]), "validate"),
        row("5.4", "Pragma of the request", ok(FRESH), 1, get(&[("Pragma", "no-cache")]), "validate"),
        row(
            "5.4",
            "Pragma beside Cache-Control does not count",
            ok(FRESH),
            1,
            get(&[("Pragma", "no-cache"), ("Cache-Control", "max-age=9")]),
            "hit",
        ),
        row("5.2.1.5", "no-store of the request", ok(FRESH), 1, get(&[("Cache-Control", "no-store")]), "bypass"),
        row("5.2.1.7", "only-if-cached with something stored", ok(FRESH), 1, get(&[("Cache-Control", "only-if-cached")]), "hit"),
        row(
            "5.2.1.7",
            "only-if-cached with nothing stored is 504",
            ok(FRESH),
            1,
            get(&[("Cache-Control", "only-if-cached")]).of("/other"),
            "504",
        ),
        row(
            "5.2.1.7",
            "only-if-cached with something stale is 504",
            ok(FRESH),
            60,
            get(&[("Cache-Control", "only-if-cached")]),
            "504",
        ),
    ]);
}

#[test]
fn clients_can_be_denied_a_say() {
    let api = api(ApiCacheSettings { honours_requests: false, ..ApiCacheSettings::default() });
    fetch(&api, &cached("max-age=60"), START_MS);
    for value in ["no-cache", "no-store", "max-age=0", "min-fresh=90"] {
        let lines: Lines = Box::leak(Box::new([("Cache-Control", value)]));
        assert_eq!(describe(&api.lookup(&request(&get(lines)), START_MS + 1000)), "hit", "{value}");
    }
}

#[test]
fn targeted_directives_rfc_9213() {
    check(vec![
        row(
            "2.2",
            "the targeted field replaces Cache-Control",
            ok(&[("Cache-Control", "no-store"), ("CDN-Cache-Control", "max-age=60")]),
            1,
            get(&[]),
            "hit",
        ),
        row(
            "2.2",
            "and forbids where Cache-Control allows",
            ok(&[("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "no-store")]),
            1,
            get(&[]),
            "fetch",
        ),
        row(
            "2.2",
            "Expires does not count beside it",
            ok(&[("Expires", "Fri, 15 Jan 2027 08:01:00 GMT"), ("CDN-Cache-Control", "public"), ("ETag", "\"a\"")]),
            1,
            get(&[]),
            "validate",
        ),
        row(
            "2.1",
            "an invalid one is ignored",
            ok(&[("Cache-Control", "no-store"), ("CDN-Cache-Control", "max-age = 60")]),
            1,
            get(&[]),
            "fetch",
        ),
        row(
            "2.1",
            "an empty one is ignored",
            ok(&[("Cache-Control", "max-age=60"), ("CDN-Cache-Control", "")]),
            1,
            get(&[]),
            "hit",
        ),
        row(
            "2.1",
            "several lines are one field",
            ok(&[("CDN-Cache-Control", "max-age=60"), ("CDN-Cache-Control", "no-store")]),
            1,
            get(&[]),
            "fetch",
        ),
    ]);
}

#[test]
fn conditions_of_clients_section_4_3_2() {
    const TAGGED: Lines = &[
        ("Cache-Control", "max-age=60"),
        ("ETag", "\"a\""),
        ("Last-Modified", MODIFIED),
        ("Content-Type", "text/plain"),
        ("Date", DATE),
    ];
    let plain = || ok(TAGGED);
    check(vec![
        row("4.3.2", "the client has it", plain(), 1, get(&[("If-None-Match", "\"a\"")]), "hit 304"),
        row("4.3.2", "the client has another one", plain(), 1, get(&[("If-None-Match", "\"b\"")]), "hit"),
        row(
            "4.3.2",
            "If-Modified-Since does not count beside If-None-Match",
            plain(),
            1,
            get(&[("If-None-Match", "\"b\""), ("If-Modified-Since", DATE)]),
            "hit",
        ),
        row("4.3.2", "not modified since", plain(), 1, get(&[("If-Modified-Since", MODIFIED)]), "hit 304"),
        row("4.3.2", "modified since", plain(), 1, get(&[("If-Modified-Since", "Fri, 15 Jan 2027 07:00:00 GMT")]), "hit"),
        row("4.3.2", "If-Match is the upstream's", plain(), 1, get(&[("If-Match", "\"b\"")]), "bypass"),
        row("4.3.2", "If-Unmodified-Since is the upstream's", plain(), 1, get(&[("If-Unmodified-Since", MODIFIED)]), "bypass"),
        row("4.3.2", "conditions are for 200", get(&[]).answered(404, TAGGED), 1, get(&[("If-None-Match", "\"a\"")]), "hit 404"),
        row("4.3.1", "a stale one is validated with what is stored", plain(), 60, get(&[("If-None-Match", "\"b\"")]), "validate"),
        row("RFC 9110 14.2", "a range of the whole", plain(), 1, get(&[("Range", "bytes=1-2")]), "hit 206"),
        row("RFC 9110 14.2", "a range outside", plain(), 1, get(&[("Range", "bytes=100-")]), "hit 416"),
        row("RFC 9110 14.2", "Range is for GET", plain(), 1, get(&[("Range", "bytes=1-2")]).by("HEAD"), "hit"),
        row("RFC 9110 14.2", "Range is for 200", get(&[]).answered(404, TAGGED), 1, get(&[("Range", "bytes=1-2")]), "hit 404"),
        row(
            "RFC 9110 13.2.2",
            "conditions come before ranges",
            plain(),
            1,
            get(&[("Range", "bytes=1-2"), ("If-None-Match", "\"a\"")]),
            "hit 304",
        ),
        row(
            "RFC 9110 13.1.5",
            "If-Range with this version",
            plain(),
            1,
            get(&[("Range", "bytes=1-2"), ("If-Range", "\"a\"")]),
            "hit 206",
        ),
        row(
            "RFC 9110 13.1.5",
            "If-Range with another version",
            plain(),
            1,
            get(&[("Range", "bytes=1-2"), ("If-Range", "\"b\"")]),
            "hit",
        ),
        row("3.4", "a part is not fetched as a whole", ok(TAGGED), 1, get(&[("Range", "bytes=1-2")]).of("/other"), "bypass"),
        row("4", "HEAD from GET", plain(), 1, get(&[]).by("HEAD"), "hit"),
        row("4", "HEAD without a stored GET", plain(), 1, get(&[]).by("HEAD").of("/other"), "bypass"),
    ]);
}

#[test]
fn a_304_freshens_what_is_stored_section_4_3_4() {
    struct Update(&'static str, Lines, Lines, &'static str);
    let rows = [
        Update(
            "the same tag",
            &[("ETag", "\"a\"")],
            &[("ETag", "\"a\""), ("Cache-Control", "max-age=60"), ("X", "2")],
            "served: X=2, then hit",
        ),
        Update("no tag", &[("ETag", "\"a\"")], &[("X", "2")], "served: X=2, then hit"),
        Update("another strong tag must not update", &[("ETag", "\"a\"")], &[("ETag", "\"b\""), ("X", "2")], "again, then fetch"),
        Update("a weak tag that matches", &[("ETag", "W/\"a\"")], &[("ETag", "W/\"a\""), ("X", "2")], "served: X=2, then hit"),
        Update("another weak tag", &[("ETag", "W/\"a\"")], &[("ETag", "W/\"b\""), ("X", "2")], "again, then fetch"),
        Update("a strong tag for a stored weak one", &[("ETag", "W/\"a\"")], &[("ETag", "\"a\""), ("X", "2")], "again, then fetch"),
        Update(
            "the same date",
            &[("Last-Modified", MODIFIED)],
            &[("Last-Modified", MODIFIED), ("X", "2")],
            "served: X=2, then hit",
        ),
        Update("another date", &[("Last-Modified", MODIFIED)], &[("Last-Modified", DATE), ("X", "2")], "again, then fetch"),
        Update(
            "no-store from now on",
            &[("ETag", "\"a\"")],
            &[("Cache-Control", "no-store"), ("X", "2")],
            "served: X=1, then fetch",
        ),
        Update(
            "what describes the bytes stays",
            &[("ETag", "\"a\"")],
            &[("Content-Length", "0"), ("Content-Encoding", "br"), ("X", "2")],
            "served: X=2, then hit",
        ),
        Update(
            "hop-by-hop lines are not taken over",
            &[("ETag", "\"a\"")],
            &[("Connection", "X"), ("X", "2")],
            "served: X=1, then hit",
        ),
    ];
    for Update(rule, validators, update, expect) in rows {
        let api = api(ApiCacheSettings::default());
        let lines: Vec<(&str, &str)> =
            [("Cache-Control", "max-age=60"), ("X", "1")].into_iter().chain(validators.iter().copied()).collect();
        fetch(&api, &get(&[]).answered(200, Box::leak(lines.into_boxed_slice())), START_MS);
        let later = START_MS + 61_000;
        let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), later) else { panic!("{rule}") };
        assert!(!fill.conditions().is_empty(), "{rule}");
        let first = match fill.head(304, &update, None, later) {
            Filled::Serve(answer) => {
                let head = head_of(&answer);
                assert!(head.contains("Content-Length: 10\r\n") && !head.contains("Content-Encoding"), "{rule}: {head}");
                assert!(head.contains("fwd-status=304"), "{rule}: {head}");
                let x = head.lines().find_map(|line| line.strip_prefix("X: ")).unwrap_or("none").to_owned();
                assert_eq!(head.matches("X: ").count(), 1, "{rule}: {head}");
                format!("served: X={x}")
            }
            Filled::Again(fill) => {
                assert!(fill.conditions().is_empty(), "{rule}");
                "again".into()
            }
            other => format!("{other:?}"),
        };
        let then = describe(&api.lookup(&request(&get(&[])), later + 1000));
        assert_eq!(format!("{first}, then {then}"), expect, "{rule}");
    }
}

/// Every validator that is stored is sent (RFC 9110 §13.1.2, §13.1.3), and none that could not be compared.
#[test]
fn conditional_requests_name_what_is_stored_section_4_3_1() {
    let cases: [(Lines, Lines); 5] = [
        (&[("ETag", "\"a\""), ("Last-Modified", MODIFIED)], &[("If-None-Match", "\"a\""), ("If-Modified-Since", MODIFIED)]),
        (&[("ETag", "W/\"a\"")], &[("If-None-Match", "W/\"a\"")]),
        (&[("Last-Modified", MODIFIED)], &[("If-Modified-Since", MODIFIED)]),
        (&[("ETag", "unquoted"), ("Last-Modified", MODIFIED)], &[("If-Modified-Since", MODIFIED)]),
        (&[("ETag", "\"a\""), ("Last-Modified", "yesterday")], &[("If-None-Match", "\"a\"")]),
    ];
    for (validators, expect) in cases {
        let api = api(ApiCacheSettings::default());
        let lines: Vec<(&str, &str)> = [("Cache-Control", "max-age=60")].into_iter().chain(validators.iter().copied()).collect();
        assert!(fetch(&api, &get(&[]).answered(200, Box::leak(lines.into_boxed_slice())), START_MS));
        let Decision::Fetch(fill) = api.lookup(&request(&get(&[])), START_MS + 60_000) else { panic!("stale") };
        let expect: Vec<_> = expect.iter().map(|(name, value)| (*name, value.as_bytes().to_vec())).collect();
        assert_eq!(fill.conditions(), expect, "{validators:?}");
    }
}

#[test]
fn a_changed_response_replaces_the_stored_one_section_4_3_3() {
    let api = api(ApiCacheSettings::default());
    fetch(&api, &ok(&[("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]), START_MS);
    fetch(&api, &ok(&[("Cache-Control", "max-age=60"), ("ETag", "\"b\"")]), START_MS + 61_000);
    let Decision::Serve(answer) = api.lookup(&request(&get(&[])), START_MS + 62_000) else { panic!("a hit") };
    assert!(head_of(&answer).contains("ETag: \"b\""));
    assert_eq!(api.figures().entries, 2 - 1, "the old one is gone");
}

#[test]
fn errors_are_hidden_where_that_is_allowed_rfc_5861() {
    struct Error(&'static str, Lines, Lines, Option<u16>, u64, &'static str);
    const ALLOWED: Lines = &[("Cache-Control", "max-age=60, stale-if-error=30"), ("ETag", "\"a\"")];
    const STRICT: Lines = &[("Cache-Control", "max-age=60, stale-if-error=30, must-revalidate"), ("ETag", "\"a\"")];
    const PLAIN: Lines = &[("Cache-Control", "max-age=60"), ("ETag", "\"a\"")];
    let rows = [
        Error("no answer", ALLOWED, &[], None, 61, "stale"),
        Error("503", ALLOWED, &[], Some(503), 61, "stale"),
        Error("500", ALLOWED, &[], Some(500), 61, "stale"),
        Error("501 is no failure", ALLOWED, &[], Some(501), 61, "passed"),
        Error("404 is no failure", ALLOWED, &[], Some(404), 61, "passed"),
        Error("429 is no failure", ALLOWED, &[], Some(429), 61, "passed"),
        Error("longer than allowed", ALLOWED, &[], None, 91, "error"),
        Error("not allowed", PLAIN, &[], None, 61, "error"),
        Error("503 that may not be hidden", PLAIN, &[], Some(503), 61, "passed"),
        Error("§5.2.2.2: must-revalidate must not hide errors", STRICT, &[], None, 61, "error"),
        Error("allowed by the client", PLAIN, &[("Cache-Control", "stale-if-error=10")], None, 61, "stale"),
        Error("§5.2.2.2: not even for the client", STRICT, &[("Cache-Control", "stale-if-error=10")], None, 61, "error"),
        Error("the client wants the upstream's word", ALLOWED, &[("Cache-Control", "no-cache")], None, 61, "error"),
    ];
    for Error(rule, response, asked, status, after_s, expect) in rows {
        let api = api(ApiCacheSettings::default());
        fetch(&api, &ok(response), START_MS);
        let now = START_MS + after_s * 1000;
        let Decision::Fetch(fill) = api.lookup(&request(&get(asked)), now) else { panic!("{rule}") };
        let found = match status {
            None => {
                if fill.failed(502, now).is_some() {
                    "stale"
                } else {
                    "error"
                }
            }
            Some(status) => match fill.head(status, &[("X", "1")], Some(0), now) {
                Filled::Serve(answer) if answer.status() == 200 => "stale",
                Filled::Pass(_) => "passed",
                other => panic!("{rule}: {other:?}"),
            },
        };
        assert_eq!(found, expect, "{rule}");
    }
}

#[test]
fn unsafe_methods_invalidate_section_4_4() {
    for (method, status, target, expect) in [
        ("POST", 200, "/x", "fetch"),
        ("PUT", 204, "/x", "fetch"),
        ("DELETE", 302, "/x", "fetch"),
        ("PATCH", 201, "/x", "fetch"),
        ("MKCOL", 200, "/x", "fetch"),
        ("POST", 404, "/x", "hit"),
        ("POST", 500, "/x", "hit"),
        ("POST", 200, "/y", "hit"),
        ("OPTIONS", 200, "/x", "hit"),
        ("HEAD", 200, "/x", "hit"),
        ("GET", 200, "/x", "hit"),
    ] {
        let api = api(ApiCacheSettings::default());
        fetch(&api, &cached("max-age=60"), START_MS);
        api.after_unsafe(&request(&get(&[]).by(method).of(target)), status);
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS + 1000)), expect, "{method} {status} {target}");
    }
}

#[test]
fn a_head_that_differs_makes_the_stored_response_useless_section_4_3_5() {
    for (lines, expect) in [
        (&[("ETag", "\"a\""), ("Content-Length", "10")][..], "hit"),
        (&[("ETag", "\"b\"")], "fetch"),
        (&[("Content-Length", "11")], "fetch"),
        (&[], "hit"),
    ] {
        let api = api(ApiCacheSettings::default());
        fetch(&api, &ok(&[("Cache-Control", "max-age=60"), ("ETag", "\"a\"")]), START_MS);
        api.after_head(&request(&get(&[]).by("HEAD")), 200, &lines, START_MS + 500);
        assert_eq!(describe(&api.lookup(&request(&get(&[])), START_MS + 1000)), expect, "{lines:?}");
    }
}

#[test]
fn answers_say_how_old_they_are_section_4() {
    let api = api(ApiCacheSettings::default());
    let lines: Lines = &[
        ("Cache-Control", "max-age=60"),
        ("Age", "5"),
        ("Connection", "close, X-Hop"),
        ("X-Hop", "1"),
        ("Keep-Alive", "timeout=5"),
        ("Transfer-Encoding", "chunked"),
        ("Proxy-Authenticate", "Basic"),
        ("X-Unknown", "kept"),
        ("X-Unknown", "twice"),
        ("Cache-Status", "origin; hit"),
    ];
    fetch(&api, &ok(lines), START_MS);
    let Decision::Serve(answer) = api.lookup(&request(&get(&[])), START_MS + 7_500) else { panic!("a hit") };
    assert_eq!(
        head_of(&answer),
        "Cache-Control: max-age=60\r\nX-Unknown: kept\r\nX-Unknown: twice\r\nCache-Status: origin; hit\r\n\
         Date: Fri, 15 Jan 2027 08:00:00 GMT\r\nContent-Length: 10\r\nAge: 12\r\nCache-Status: Tollgate; hit; ttl=48\r\n"
    );
}
