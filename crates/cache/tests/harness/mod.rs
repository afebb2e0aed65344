//! Requests and responses for the tests: an exchange is built in one line, sent through the cache, and what the cache does is told in a word.
#![allow(dead_code)]

use std::sync::Arc;
use std::task::Waker;
use tollgate_cache::{
    ApiCache, ApiCacheSettings, BodyRead, Cache, CacheRequest, CacheSettings, CachedResponse, Decision, Filled, KeyParts,
};

pub(crate) type Lines = &'static [(&'static str, &'static str)];

/// Fri, 15 Jan 2027 08:00:00 GMT.
pub(crate) const START_MS: u64 = 1_800_000_000_000;
pub(crate) const DATE: &str = "Fri, 15 Jan 2027 08:00:00 GMT";
/// A thousand seconds before.
pub(crate) const MODIFIED: &str = "Fri, 15 Jan 2027 07:43:20 GMT";
pub(crate) const BODY: &[u8] = b"0123456789";

#[derive(Clone, Copy)]
pub(crate) struct Exchange {
    pub method: &'static str,
    pub target: &'static str,
    pub lines: Lines,
    pub is_authorised: bool,
    pub has_body: bool,
    pub status: u16,
    pub response: Lines,
    pub end: End,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Whole,
    Cut,
    Short,
    Long,
}

pub(crate) fn get(lines: Lines) -> Exchange {
    Exchange {
        method: "GET",
        target: "/x",
        lines,
        is_authorised: false,
        has_body: false,
        status: 200,
        response: &[],
        end: End::Whole,
    }
}

impl Exchange {
    pub(crate) fn by(self, method: &'static str) -> Self {
        Exchange { method, ..self }
    }

    pub(crate) fn of(self, target: &'static str) -> Self {
        Exchange { target, ..self }
    }

    pub(crate) fn with_body(self) -> Self {
        Exchange { has_body: true, ..self }
    }

    pub(crate) fn authorised(self) -> Self {
        Exchange { is_authorised: true, ..self }
    }

    pub(crate) fn answered(self, status: u16, response: Lines) -> Self {
        Exchange { status, response, ..self }
    }

    pub(crate) fn cut(self) -> Self {
        Exchange { end: End::Cut, ..self }
    }

    pub(crate) fn short(self) -> Self {
        Exchange { end: End::Short, ..self }
    }

    pub(crate) fn long(self) -> Self {
        Exchange { end: End::Long, ..self }
    }
}

pub(crate) fn cache(memory_bytes: u64, object_bytes_max: u64) -> Arc<Cache> {
    Cache::new(CacheSettings { memory_bytes, object_bytes_max, secret: [3; 32] })
}

pub(crate) fn api(settings: ApiCacheSettings) -> Arc<ApiCache> {
    cache(16 << 20, 1 << 20).api("api", settings).unwrap()
}

pub(crate) fn request(exchange: &Exchange) -> CacheRequest<'_> {
    CacheRequest {
        method: exchange.method,
        parts: KeyParts { origin: b"", host: None, target: exchange.target.as_bytes(), caller: None, headers: &[] },
        lines: &exchange.lines,
        is_authorised: exchange.is_authorised,
        has_body: exchange.has_body,
    }
}

/// Sends an exchange through the cache as a gateway does. `true` when its response was stored.
pub(crate) fn fetch(api: &Arc<ApiCache>, exchange: &Exchange, now_ms: u64) -> bool {
    let Decision::Fetch(fill) = api.lookup(&request(exchange), now_ms) else { return false };
    let Filled::Store(mut writer, _) = fill.head(exchange.status, &exchange.response, Some(BODY.len() as u64), now_ms) else {
        return false;
    };
    let (first, second) = BODY.split_at(4);
    writer.push(first);
    let is_taken = match exchange.end {
        End::Whole => writer.push(second),
        End::Cut => return false,
        End::Short => writer.push(&second[1..]),
        End::Long => writer.push(second) && writer.push(b"more"),
    };
    assert_eq!(is_taken, !matches!(exchange.end, End::Long), "more than announced is not taken");
    writer.finish()
}

/// What becomes of a request, in a word.
pub(crate) fn describe(decision: &Decision) -> String {
    match decision {
        Decision::Serve(answer) if answer.cache_status.ttl_s.is_some_and(|ttl| ttl <= 0) => "stale".into(),
        Decision::Serve(answer) if answer.status() == 200 => "hit".into(),
        Decision::Serve(answer) => format!("hit {}", answer.status()),
        Decision::Revalidate(..) => "stale+revalidate".into(),
        Decision::Fetch(fill) if fill.conditions().is_empty() => "fetch".into(),
        Decision::Fetch(_) => "validate".into(),
        Decision::Wait(_) => "wait".into(),
        Decision::Bypass(_) => "bypass".into(),
        Decision::Fail(status) => format!("fail {status}"),
        Decision::Refuse => "504".into(),
    }
}

pub(crate) fn head_of(answer: &CachedResponse) -> String {
    let mut out = Vec::new();
    answer.write_lines(&mut out);
    String::from_utf8(out).unwrap()
}

/// The body as far as it is there, and how it ends.
pub(crate) fn body_of(answer: &CachedResponse) -> (Vec<u8>, BodyRead) {
    let mut body = answer.body();
    let mut all = Vec::new();
    loop {
        match body.next(Waker::noop()) {
            BodyRead::Data(bytes) => all.extend_from_slice(&bytes),
            end => return (all, end),
        }
    }
}
