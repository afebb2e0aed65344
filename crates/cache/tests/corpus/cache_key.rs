//! What a cache knows a request by, beside what is forwarded of it: of two requests, one behind the other, the second gets the response to the
//! first exactly if their forwarded heads agree in what is keyed. The functions panic when it is otherwise. The fuzzer calls them, and the tests
//! do with the same corpus.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use tollgate_cache::{
    ApiCache, ApiCacheSettings, Cache, CacheRequest, CacheSettings, Decision, Filled, HeaderLines, KeyParts, header_values,
};
use tollgate_http::{Body, HeaderEdits, HeaderStorage, Request, RequestHead, each_forwarded_line, write_request};

/// Headers in the key: one that nobody touches, one that the gateway sets, and one that it removes.
const KEYED: [&str; 3] = ["X-Tenant", "X-Set", "X-Gone"];
/// Headers that the response varies by.
const VARIED: [&str; 4] = ["Accept-Language", "Cookie", "X-Forwarded-For", "X-List"];
const CLIENT: &[u8] = b"192.0.2.1";
const NOW_MS: u64 = 1_800_000_000_000;

type Lines = Vec<(String, Vec<u8>)>;

/// The lines of a request as it leaves.
struct Leaving<'a> {
    request: &'a Request<'a>,
    edits: HeaderEdits,
}

impl HeaderLines for Leaving<'_> {
    fn each(&self, visit: &mut dyn FnMut(&str, &[u8])) {
        each_forwarded_line(self.request, Some(CLIENT), &self.edits, visit);
    }
}

impl<'a> Leaving<'a> {
    fn new(request: &'a Request<'a>) -> Self {
        let mut edits = HeaderEdits::default();
        edits.set(&request.headers, "X-Set", b"gateway");
        edits.remove(&request.headers, "X-Gone");
        Leaving { request, edits }
    }

    /// The header lines that the upstream reads, names in lower case.
    fn read(&self) -> Lines {
        let head = RequestHead {
            method: b"GET",
            target: b"/",
            host: b"up",
            forwarded_for: Some(CLIENT),
            upgrade: false,
            replaces_body: false,
        };
        let mut bytes = Vec::new();
        write_request(self.request, &head, &self.edits, &mut bytes);
        let lines = bytes.split(|byte| *byte == b'\n').skip(1).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let lines = lines.filter(|line| !line.is_empty()).map(|line| {
            let colon = line.iter().position(|byte| *byte == b':').expect("a name");
            (String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase(), line[colon + 1..].trim_ascii().to_vec())
        });
        lines.collect()
    }
}

/// One cache for all inputs: making one costs more than using it.
static API: LazyLock<Arc<ApiCache>> = LazyLock::new(|| {
    let cache = Cache::new(CacheSettings { memory_bytes: 4 << 20, object_bytes_max: 1 << 16, secret: [1; 32] });
    cache.api("a", ApiCacheSettings::default()).unwrap()
});
static INPUTS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn cache_key(bytes: &[u8]) {
    let (mut first, mut second) = (HeaderStorage::new(), HeaderStorage::new());
    let Ok(Some(one)) = Request::parse(bytes, &mut first) else { return };
    let Ok(Some(other)) = Request::parse(&bytes[one.head_len..], &mut second) else { return };
    let (one, other) = (Leaving::new(&one), Leaving::new(&other));
    let (read, other_read) = (one.read(), other.read());
    let names = KEYED.map(str::to_owned);
    let is_keyed_alike = keyed(&read) == keyed(&other_read);
    assert_eq!(header_values(&names, &one) == header_values(&names, &other), is_keyed_alike, "{read:?} {other_read:?}");

    if !is_usual(&one, &read) || !is_usual(&other, &other_read) {
        return;
    }
    let target = INPUTS.fetch_add(1, Ordering::Relaxed).to_string();
    let decide = |leaving: &Leaving<'_>| {
        let values = header_values(&names, leaving);
        let headers: Vec<Option<&[u8]>> = values.iter().map(Option::as_deref).collect();
        let parts = KeyParts { origin: b"", host: None, target: target.as_bytes(), caller: None, headers: &headers };
        API.lookup(&CacheRequest { method: "GET", parts, lines: leaving, is_authorised: false, has_body: false }, NOW_MS)
    };
    let Decision::Fetch(fill) = decide(&one) else { panic!("nothing is stored yet") };
    let vary = VARIED.join(", ");
    let response = [("Cache-Control", "max-age=60"), ("Vary", vary.as_str())];
    let Filled::Store(writer, _) = fill.head(200, &response, Some(0), NOW_MS) else { panic!("it may be stored") };
    assert!(writer.finish());
    let is_hit = matches!(decide(&other), Decision::Serve(_));
    let is_alike = is_keyed_alike && VARIED.iter().all(|name| meaning(&read, name) == meaning(&other_read, name));
    assert_eq!(is_hit, is_alike, "{read:?} {other_read:?}");
}

/// The keyed lines. Servers may read `X_Tenant` as `X-Tenant`, or not.
fn keyed(lines: &Lines) -> Vec<Lines> {
    let of = |name: &str| lines.iter().filter(|(own, _)| own.replace('_', "-").eq_ignore_ascii_case(name)).cloned().collect();
    KEYED.iter().map(|name| of(name)).collect()
}

/// What a header says, by a simple reading; `None` if it is not there.
fn meaning(lines: &Lines, name: &str) -> Option<Vec<Vec<u8>>> {
    let values: Vec<&[u8]> =
        lines.iter().filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice()).collect();
    if values.is_empty() {
        return None;
    }
    if name == "Cookie" {
        return Some(values.iter().map(|value| value.to_vec()).collect());
    }
    let mut said: Vec<Vec<u8>> = values.iter().flat_map(|value| members(value)).collect();
    if name == "Accept-Language" {
        said.iter_mut().for_each(|member| member.retain(|byte| !byte.is_ascii_whitespace()));
        said.iter_mut().for_each(|member| member.make_ascii_lowercase());
        said.retain(|member| !member.is_empty());
    }
    // An unfinished quote of one line may end in the next.
    Some(vec![said.join(&b',')])
}

/// The members of a list, which commas outside of quotes separate.
fn members(value: &[u8]) -> Vec<Vec<u8>> {
    let (mut members, mut is_quoted, mut is_escaped) = (vec![Vec::new()], false, false);
    for byte in value {
        match byte {
            b',' if !is_quoted => {
                members.push(Vec::new());
                continue;
            }
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ => {}
        }
        members.last_mut().unwrap().push(*byte);
    }
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let trimmed = |member: Vec<u8>| {
        let start = member.iter().position(|byte| !is_space(byte)).unwrap_or(member.len());
        let end = member.iter().rposition(|byte| !is_space(byte)).map_or(start, |last| last + 1);
        member[start..end].to_vec()
    };
    members.into_iter().map(trimmed).collect()
}

/// Whether nothing but the key decides about the request: no condition, directive, credential or body.
fn is_usual(leaving: &Leaving<'_>, lines: &Lines) -> bool {
    let decides = |name: &str| name.starts_with("if-") || ["cache-control", "pragma", "authorization", "range"].contains(&name);
    leaving.request.body == Body::None && !lines.iter().any(|(name, _)| decides(name))
}
