//! Behaviour of Tyk 5.14, from its source; each test names the function. Hash values are those of Tyk's own tests.

use super::{TykBody, TykKeyParts, TykPayload, TykRules, Unusable, is_safe_method};
use md5::{Digest, Md5};

const NOW_MS: u64 = 1_800_000_000_900;
const PARTS: TykKeyParts<'static> =
    TykKeyParts { api_id: "a1", caller: "k", method: "GET", url: "/x?b=1", headers: &[], body: TykBody::Whole(b"") };

fn md5(text: &str) -> String {
    tollgate_model::hexadecimal(&Md5::digest(text))
}

/// `gateway/mw_redis_cache.go`, `CreateCheckSum` and `getCacheKeyFromHeaders`; the prefix is from `gateway/api_loader.go`, `processSpec`.
#[test]
fn the_key_is_tyks() {
    let cases: &[(TykKeyParts<'_>, String)] = &[
        (PARTS, format!("a1k{}", md5("GET-/x?b=1"))),
        (TykKeyParts { caller: "10.0.0.1", ..PARTS }, format!("a110.0.0.1{}", md5("GET-/x?b=1"))),
        (TykKeyParts { method: "HEAD", ..PARTS }, format!("a1k{}", md5("HEAD-/x?b=1"))),
        // Headers are concatenated without a separator.
        (TykKeyParts { headers: &[("X-A", "1"), ("X-B", "")], ..PARTS }, format!("a1k{}", md5("GET-/x?b=1-X-A-1X-B-"))),
        // Only for three methods the body counts ...
        (TykKeyParts { method: "DELETE", body: TykBody::Whole(b"x"), ..PARTS }, format!("a1k{}", md5("DELETE-/x?b=1"))),
        // ... and for them also an empty one, because a server's request always has a body.
        (TykKeyParts { method: "POST", ..PARTS }, format!("a1k{}", md5(&format!("POST-/x?b=1-{}", "0".repeat(32))))),
        (TykKeyParts { method: "PUT", body: TykBody::Match(None), ..PARTS }, format!("a1k{}", md5("PUT-/x?b=1"))),
    ];
    for (parts, expect) in cases {
        assert_eq!(parts.key(), *expect, "{parts:?}");
        assert_eq!(parts.redis_key(), format!("cache-a1{expect}"));
    }
}

/// `Test_addBodyHash` of `gateway/mw_redis_cache_test.go`: the digest after only the body's part.
#[test]
fn the_bodys_part_is_tyks() {
    for (body, expect) in [
        (TykBody::Whole(b"some-body"), "2838333d94b3b7114a3cabdf4e4fadf4"),
        (TykBody::Match(Some(b"some-body")), "2838333d94b3b7114a3cabdf4e4fadf4"),
        (TykBody::Match(Some(b"\"id\":\"1\"")), "abe7ef0275f752342a4bf370afb0be2b"),
    ] {
        assert_eq!(md5(&format!("-{}", body.hash().unwrap())), expect);
    }
    assert_eq!(TykBody::Match(None).hash(), None);
}

/// `Test_isSafeMethod` of `gateway/mw_redis_cache_test.go`: TRACE is not a safe method.
#[test]
fn safe_methods_are_tyks() {
    for (method, expect) in [("GET", true), ("HEAD", true), ("OPTIONS", true), ("POST", false), ("TRACE", false), ("get", false)] {
        assert_eq!(is_safe_method(method), expect, "{method}");
    }
}

type HeaderPairs = &'static [(&'static str, &'static str)];

/// `gateway/res_cache.go`, `HandleResponse`.
#[test]
fn what_is_stored_and_for_how_long_is_tyks() {
    let plain = TykRules { timeout_s: 60, ..TykRules::default() };
    let codes = TykRules { response_codes: vec![200, 404], ..plain.clone() };
    let upstream = TykRules { has_upstream_control: true, ..codes.clone() };
    let named = TykRules { ttl_header: "X-My-TTL".into(), ..upstream.clone() };
    let cases: &[(&str, &TykRules, u16, HeaderPairs, Option<i64>)] = &[
        ("every status, errors too", &plain, 500, &[], Some(60)),
        ("whatever the response says", &plain, 200, &[("Cache-Control", "no-store"), ("Set-Cookie", "a=b")], Some(60)),
        ("a status of the list", &codes, 404, &[], Some(60)),
        ("another status", &codes, 500, &[], None),
        ("the header counts with upstream control alone", &codes, 500, &[("x-tyk-cache-action-set", "1")], None),
        ("the header beats the list", &upstream, 500, &[("X-Tyk-Cache-Action-Set", "1")], Some(60)),
        ("any value will do", &upstream, 500, &[("x-tyk-cache-action-set", "0")], Some(60)),
        ("an empty one will not", &upstream, 500, &[("x-tyk-cache-action-set", "")], None),
        ("without it the list decides", &upstream, 200, &[], Some(60)),
        ("the upstream's time", &upstream, 200, &[("x-tyk-cache-action-set-ttl", "5")], Some(5)),
        ("a time that is no number", &upstream, 200, &[("x-tyk-cache-action-set-ttl", "5s")], Some(60)),
        ("a negative time", &upstream, 200, &[("x-tyk-cache-action-set-ttl", "-5")], Some(-5)),
        ("the time without upstream control", &plain, 200, &[("x-tyk-cache-action-set-ttl", "5")], Some(60)),
        ("a header of one's own", &named, 200, &[("x-my-ttl", "7"), ("x-tyk-cache-action-set-ttl", "5")], Some(7)),
    ];
    for (what, rules, status, lines, expect) in cases {
        assert_eq!(rules.ttl_s(*status, lines), *expect, "{what}");
    }
}

/// `gateway/mw_redis_cache.go`, `ProcessRequest`: an endpoint can't set 0, nor an empty list.
#[test]
fn an_endpoint_beats_its_api() {
    let api = TykRules { timeout_s: 60, response_codes: vec![200], ..TykRules::default() };
    assert_eq!(api.for_endpoint(0, &[]), api);
    assert_eq!(api.for_endpoint(5, &[404]), TykRules { timeout_s: 5, response_codes: vec![404], ..TykRules::default() });
}

fn encoded(wire: &str, expires_s: u64) -> String {
    use base64::Engine;
    format!("{}|{expires_s}", base64::engine::general_purpose::STANDARD.encode(wire))
}

/// `decodePayload` of `gateway/mw_redis_cache.go`; Tyk deletes such an entry and asks the upstream.
#[test]
fn what_is_broken_is_a_miss() {
    let good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let cases = [
        (encoded(good, 1_800_000_000), Unusable::Expired),
        (encoded(good, 1), Unusable::Expired),
        (encoded(good, 1_800_000_060).replace('|', ""), Unusable::Expired),
        (encoded(good, 1_800_000_060) + "x", Unusable::Expired),
        (encoded(good, 1_800_000_060) + "|", Unusable::Encoding),
        ("!|1800000060".into(), Unusable::Encoding),
        ("|1800000060".into(), Unusable::Response),
        (encoded("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhi", 1_800_000_060), Unusable::Response),
        (encoded("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n", 1_800_000_060), Unusable::Response),
        (encoded("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi", 1_800_000_060), Unusable::Response),
        (encoded("HTTP/1.1 200 OK\r\n", 1_800_000_060), Unusable::Response),
        (encoded("nonsense", 1_800_000_060), Unusable::Response),
    ];
    for (text, expect) in cases {
        assert_eq!(TykPayload::decode(text.as_bytes(), false, NOW_MS), Err(expect), "{text}");
    }
}

#[test]
fn callers_do_not_share_entries() {
    let keys = [PARTS.key(), TykKeyParts { caller: "l", ..PARTS }.key(), TykKeyParts { caller: "", ..PARTS }.key()];
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
}
