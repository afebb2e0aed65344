//! What must hold for any bytes in the place of header fields that the cache reads. The functions panic when it does not. The fuzzer calls them, and
//! the tests do with the same corpus.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::Waker;
use tollgate_cache::{
    ApiCache, ApiCacheSettings, BodyRead, Cache, CacheRequest, CacheSettings, ClientHas, Decision, EntityTag, Filled, HeaderLines,
    IfRange, KeyParts, LineBlock, RangeRequest, RequestDirectives, ResponseDirectives, TykPayload, Vary,
};
use tollgate_http::{HeaderStorage, Response};

const NOW_MS: u64 = 1_800_000_000_000;
const BODY: &[u8] = b"0123456789";

/// The first line's bytes are the request's lines, each between bars; the rest is the head of the response.
pub(crate) fn cache_fields(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (request, response) = (&bytes[..end], bytes.get(end + 1..).unwrap_or_default());
    for value in request.split(|&byte| byte == b'|').chain(response.split(|&byte| byte == b'\n')) {
        values(value);
        if let Some(colon) = value.iter().position(|&byte| byte == b':') {
            values(&value[colon + 1..]);
        }
    }
    through_the_cache(request, response);
}

/// One value in the place of each field.
pub(crate) fn values(value: &[u8]) {
    directives(value);
    vary(value);
    ranges(value);
    validators(value);
    for to_head in [false, true] {
        let _ = TykPayload::decode(value, to_head, NOW_MS);
    }
}

fn directives(value: &[u8]) {
    let read = |value: &[u8]| {
        let mut directives = ResponseDirectives::default();
        directives.add_line(value);
        directives
    };
    let alone = read(value);
    // What forbids can't be hidden behind something else, unless that is a quoted string without an end.
    if !value.contains(&b'"') {
        let all = read(&[value, b", no-store, private"].concat());
        assert!(all.no_store && all.private);
        assert_eq!((all.no_cache, all.max_age), (alone.no_cache, alone.max_age));
    }
    if !value.is_empty()
        && let Some(targeted) = ResponseDirectives::targeted(value)
    {
        let more = ResponseDirectives::targeted(&[value, b", no-store"].concat());
        // One member more than the bound makes it none at all.
        assert!(more.is_none_or(|more| more.no_store && more.max_age == targeted.max_age));
    }
    let mut request = RequestDirectives::default();
    request.add_line(value);
    let strict = request;
    request.add_line(b"max-age=0, no-cache");
    assert!(request.no_cache && request.max_age == Some(0) && request.min_fresh == strict.min_fresh);
}

fn vary(value: &[u8]) {
    let read = Vary::read([value].into_iter());
    assert_eq!(read, Vary::read([value, value].into_iter()), "a name twice is once");
    assert_eq!(read, Vary::read([value.to_ascii_uppercase().as_slice()].into_iter()));
    assert_eq!(Vary::read([value, b"*"].into_iter()), Vary::Everything);
}

fn ranges(value: &[u8]) {
    for len in [0, 1, 10, u64::MAX] {
        if let RangeRequest::Parts(parts) = RangeRequest::parse(value, len) {
            assert!(!parts.is_empty() && parts.len() <= 16);
            assert!(parts.iter().all(|part| part.start < part.end && part.end <= len));
            let mut sorted = parts.clone();
            sorted.sort_by_key(|part| part.start);
            assert!(sorted.windows(2).all(|pair| pair[0].end <= pair[1].start), "parts overlap");
        }
    }
}

fn validators(value: &[u8]) {
    let tag = EntityTag::parse(value);
    if let Some(tag) = &tag {
        assert_eq!(tag.to_bytes(), value);
        assert!(tag.matches_weakly(tag) && tag.matches_strongly(tag) == tag.is_strong());
        let mut has = ClientHas::default();
        has.add_none_match(value);
        assert!(has.has(Some(tag), None, 0));
        assert_eq!(IfRange::parse(value).holds(Some(tag), None, 0), tag.is_strong());
    }
    let mut has = ClientHas::default();
    has.add_modified_since(value);
    has.add_none_match(value);
    assert!(!matches!(has, ClientHas::Nothing | ClientHas::Since(_)), "If-None-Match counts");
    let _ = IfRange::parse(value).holds(tag.as_ref(), Some(0), u64::MAX);
}

/// One cache for all inputs: making one costs more than using it.
static API: LazyLock<Arc<ApiCache>> = LazyLock::new(|| {
    let cache = Cache::new(CacheSettings { memory_bytes: 4 << 20, object_bytes_max: 1 << 16, secret: [1; 32] });
    cache.api("a", ApiCacheSettings::default()).unwrap()
});
static INPUTS: AtomicU64 = AtomicU64::new(0);

/// A whole exchange, and the same request again. Whatever is served is a well-formed head with nothing in it that must not be shared.
fn through_the_cache(request: &[u8], response: &[u8]) {
    let mut request_lines = LineBlock::default();
    for line in request.split(|&byte| byte == b'|') {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
        if tollgate_http::is_token(&line[..colon]) {
            request_lines.push(std::str::from_utf8(&line[..colon]).unwrap(), line[colon + 1..].trim_ascii());
        }
    }
    let mut storage = HeaderStorage::new();
    let head = [response, b"\r\n\r\n"].concat();
    let Ok(Some(response)) = Response::parse(&head, false, &mut storage) else { return };
    let api = &*API;
    let target = INPUTS.fetch_add(1, Ordering::Relaxed).to_string();
    let asked = CacheRequest {
        method: "GET",
        parts: KeyParts { origin: b"", host: None, target: target.as_bytes(), caller: None, headers: &[] },
        lines: &request_lines,
        is_authorised: false,
        has_body: false,
    };
    let Decision::Fetch(fill) = api.lookup(&asked, NOW_MS) else { return };
    assert!(fill.conditions().is_empty());
    let Filled::Store(mut writer, _) = fill.head(response.status, &response.headers, Some(10), NOW_MS) else { return };
    writer.push(BODY);
    assert!(writer.finish());
    assert!(response.headers.get("set-cookie").is_none());
    for now_ms in [NOW_MS, NOW_MS + 30_000, NOW_MS + 1_000_000] {
        let answer = match api.lookup(&asked, now_ms) {
            Decision::Serve(answer) | Decision::Revalidate(answer, _) => answer,
            _ => continue,
        };
        let mut out = format!("HTTP/1.1 {} \r\n", answer.status()).into_bytes();
        answer.write_lines(&mut out);
        out.extend_from_slice(b"\r\n");
        let mut storage = HeaderStorage::new();
        // Two lines more than the upstream sent may be too many.
        match Response::parse(&out, false, &mut storage) {
            Ok(Some(served)) => {
                assert_eq!(served.head_len, out.len(), "a line ends the head early");
                served.headers.each(&mut |name, _| {
                    assert!(!["connection", "transfer-encoding", "set-cookie"].contains(&name.to_ascii_lowercase().as_str()));
                });
            }
            Ok(None) => panic!("no whole head: {}", String::from_utf8_lossy(&out)),
            Err(tollgate_http::Malformed::TooManyLines) => {}
            Err(fault) => panic!("{fault:?}: {}", String::from_utf8_lossy(&out)),
        }
        let mut body = answer.body();
        let mut read = 0;
        loop {
            match body.next(Waker::noop()) {
                BodyRead::Data(bytes) => read += bytes.len() as u64,
                BodyRead::End => break,
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(Some(read), answer.body_len());
    }
}
