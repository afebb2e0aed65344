use super::TykRequest;
use crate::api::{ApiCache, ApiCacheSettings, Cache, CacheSettings};
use crate::fill::Filled;
use crate::generations::Purge;
use crate::lookup::Decision;
use crate::tyk::{TykPayload, TykRules};
use std::sync::Arc;

const NOW_MS: u64 = 1_800_000_000_900;

fn api() -> Arc<ApiCache> {
    let settings = CacheSettings { memory_bytes: 8 << 20, object_bytes_max: 1 << 20, secret: [0; 32] };
    Cache::new(settings).api("a1", ApiCacheSettings::default()).unwrap()
}

fn request<'a>(rules: &'a TykRules, method: &'a str, if_none_match: Option<&'a [u8]>) -> TykRequest<'a> {
    TykRequest { key: "a1k0", method, target: b"/x", if_none_match, rules }
}

fn store(api: &Arc<ApiCache>, request: &TykRequest<'_>, lines: &[(&str, &str)]) -> bool {
    let Decision::Fetch(fill) = api.lookup_tyk(request, NOW_MS) else { panic!("stored already") };
    let Filled::Store(mut writer, _) = fill.head(200, &lines, Some(2), NOW_MS) else { return false };
    writer.push(b"hi");
    writer.finish()
}

/// `ProcessRequest` and `isTimeStampExpired` of `gateway/mw_redis_cache.go`.
#[test]
fn a_hit_is_tyks() {
    let rules = TykRules { timeout_s: 60, ..TykRules::default() };
    let plain = request(&rules, "GET", None);
    let api = api();
    let lines = [("Content-Type", "text/plain"), ("Etag", "\"e\""), ("Connection", "x"), ("Set-Cookie", "a=b")];
    assert!(store(&api, &plain, &lines));
    let serve = |if_none_match, now_ms| match api.lookup_tyk(&request(&rules, "GET", if_none_match), now_ms) {
        Decision::Serve(answer) => {
            let mut head = Vec::new();
            answer.write_lines(&mut head);
            Some((answer.status(), answer.body_len(), String::from_utf8(head).unwrap()))
        }
        _ => None,
    };
    let head = "Content-Type: text/plain\r\nEtag: \"e\"\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\nX-Tyk-Cached-Response: 1\r\n";
    assert_eq!(serve(None, NOW_MS), Some((200, Some(2), head.to_owned())));
    let not_modified = head.replace("Content-Length: 2\r\n", "");
    assert_eq!(serve(Some(b"\"e\""), NOW_MS), Some((304, Some(0), not_modified.clone())));
    // Tyk searches for the tag anywhere in the field.
    assert_eq!(serve(Some(b"W/\"e\", \"f\""), NOW_MS), Some((304, Some(0), not_modified)));
    assert_eq!(serve(Some(b"\"f\""), NOW_MS).map(|answer| answer.0), Some(200));
    assert_eq!(serve(Some(b"*"), NOW_MS).map(|answer| answer.0), Some(200), "* is nothing special");
    // Stored at .9 of a second for 60 seconds: expires after 59.1.
    assert!(serve(None, NOW_MS / 1000 * 1000 + 59_999).is_some());
    assert!(serve(None, NOW_MS / 1000 * 1000 + 60_000).is_none());
}

#[test]
fn a_time_of_0_stores_nothing() {
    for timeout_s in [0, -1] {
        let rules = TykRules { timeout_s, ..TykRules::default() };
        assert!(!store(&api(), &request(&rules, "GET", None), &[]));
    }
}

#[test]
fn what_tyk_wrote_is_read() {
    // Output of Go's `Response.Write` for three kinds of bodies; the last with unknown `ContentLength`.
    let wires = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nEtag: \"e\"\r\n\r\nhi", "hi"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nEtag: \"e\"\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi"),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nEtag: \"e\"\r\n\r\nhi", "hi"),
        ("HTTP/1.1 204 No Content\r\nEtag: \"e\"\r\n\r\n", ""),
    ];
    for (wire, body) in wires {
        let text = encoded(wire, 1_800_000_060);
        let payload = TykPayload::decode(text.as_bytes(), false, NOW_MS).unwrap();
        assert_eq!((payload.body.as_slice(), payload.expires_s), (body.as_bytes(), 1_800_000_060), "{wire}");
        assert_eq!(payload.lines.get("etag"), Some(&b"\"e\""[..]));
        let rules = TykRules::default();
        let api = api();
        let request = request(&rules, "GET", None);
        let answer = api.adopt_tyk(&request, &payload, api.purge_mark(), NOW_MS).unwrap();
        assert_eq!(answer.body_len(), Some(body.len() as u64));
        assert!(matches!(api.lookup_tyk(&request, 1_800_000_059_999), Decision::Serve(_)));
        assert!(matches!(api.lookup_tyk(&request, 1_800_000_060_000), Decision::Fetch(_)));
    }
    let to_head = encoded("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", 1_800_000_060);
    assert_eq!(TykPayload::decode(to_head.as_bytes(), true, NOW_MS).map(|payload| payload.body), Ok(Vec::new()));
}

#[test]
fn what_the_second_tier_had_is_purged_like_what_was_stored_here() {
    let rules = TykRules::default();
    let api = api();
    let request = request(&rules, "GET", None);
    let text = encoded("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nxkey: shoes red\r\n\r\nhi", 1_800_000_060);
    let payload = TykPayload::decode(text.as_bytes(), false, NOW_MS).unwrap();
    let is_served = || matches!(api.lookup_tyk(&request, NOW_MS), Decision::Serve(_));
    assert!(!is_served());
    let asked = api.purge_mark();
    assert!(api.adopt_tyk(&request, &payload, asked, NOW_MS).is_some() && is_served());
    // It counts once, as a hit.
    assert_eq!((api.figures().hits, api.figures().misses), (2, 0));
    api.purge_tag(b"red", Purge::Hard);
    assert!(!is_served());
    // Asked before the purge: perhaps what was purged.
    assert!(api.adopt_tyk(&request, &payload, asked, NOW_MS).is_none() && !is_served());
    assert!(api.adopt_tyk(&request, &payload, api.purge_mark(), NOW_MS).is_some() && is_served());
}

fn encoded(wire: &str, expires_s: u64) -> String {
    use base64::Engine;
    format!("{}|{expires_s}", base64::engine::general_purpose::STANDARD.encode(wire))
}

#[test]
fn what_is_written_is_read_again() {
    let rules = TykRules { timeout_s: 60, ..TykRules::default() };
    let api = api();
    let request = request(&rules, "GET", None);
    let Decision::Fetch(fill) = api.lookup_tyk(&request, NOW_MS) else { panic!("a miss") };
    let lines = [("Content-Type", "text/plain"), ("Content-Length", "2"), ("Connection", "close")];
    let Filled::Store(mut writer, _) = fill.head(404, &lines, None, NOW_MS) else { panic!("stored") };
    writer.push(b"hi");
    let stored = Arc::clone(writer.stored());
    assert_eq!(TykPayload::encode(&stored, 1_800_000_060), None, "it is not complete");
    assert!(writer.finish());
    let text = TykPayload::encode(&stored, 1_800_000_060).unwrap();
    assert_eq!(text, encoded("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nhi", 1_800_000_060));
    let payload = TykPayload::decode(text.as_bytes(), false, NOW_MS).unwrap();
    assert_eq!((payload.status, payload.body.as_slice()), (404, &b"hi"[..]));
}

/// Tyk stores them under the key of the complete response when its list of statuses is empty. A client that asks for the complete response
/// then gets a part, or nothing.
#[test]
fn parts_and_confirmations_are_not_stored() {
    let rules = TykRules { timeout_s: 60, has_upstream_control: true, ..TykRules::default() };
    for status in [206, 304] {
        let api = api();
        let Decision::Fetch(fill) = api.lookup_tyk(&request(&rules, "GET", None), NOW_MS) else { panic!("a miss") };
        assert!(matches!(fill.head(status, &[("x-tyk-cache-action-set", "1")], None, NOW_MS), Filled::Pass(_)), "{status}");
    }
}

#[test]
fn an_entry_for_head_promises_no_length() {
    let rules = TykRules { timeout_s: 60, ..TykRules::default() };
    let api = api();
    let head = request(&rules, "HEAD", None);
    let Decision::Fetch(fill) = api.lookup_tyk(&head, NOW_MS) else { panic!("a miss") };
    let Filled::Store(writer, _) = fill.head(200, &[("Content-Length", "5"), ("X", "1")], Some(0), NOW_MS) else {
        panic!("stored")
    };
    assert!(writer.finish());
    let Decision::Serve(answer) = api.lookup_tyk(&head, NOW_MS) else { panic!("a hit") };
    let mut lines = Vec::new();
    answer.write_lines(&mut lines);
    assert_eq!(String::from_utf8(lines).unwrap(), "X: 1\r\nX-Tyk-Cached-Response: 1\r\n");
}
