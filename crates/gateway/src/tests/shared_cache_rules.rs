//! The rules of RFC 9111 for what a shared cache stores, reuses and validates, each with its section, by pairs of requests. The rules have their
//! own tables in the crate; these show that it is asked about the requests and responses as they are.

use serde_json::json;
use std::time::Duration;

use super::harness::pass;
use super::harness::shared_cache::{Answered, scripted};
use super::shared_cache::{Asked, FRESH, GET, TAG, ok, outcome, start};

const MODIFIED: &str = "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT";
const AUTHORISED: Asked = ("GET", &["Authorization: Basic YTpi"]);
const STALE_IS_FINE: Asked = ("GET", &["Cache-Control: max-stale=1000"]);

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
    let gateway = start(&upstream, json!({}));
    let path = |index: usize| format!("/a/{index}");
    (0..rows.len()).for_each(|index| drop(gateway.get(&path(index))));
    pass(Duration::from_secs(100));
    let outcomes = rows.iter().enumerate().map(|(index, row)| (row, outcome(&gateway, &upstream, row.3, &path(index))));
    let wrong: Vec<String> = outcomes
        .filter(|(row, (found, _))| found != row.4)
        .map(|((section, rule, .., expect), (found, answer))| format!("{section}: {rule}: {found}, not {expect}\n{answer}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
    let age: u64 = gateway.get("/a/0").header("age").expect("Age").parse().unwrap();
    assert_eq!(age, 100);
}
