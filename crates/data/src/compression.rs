//! Compression of responses (RFC 9110 §8.4): what a client accepts, which responses are compressed, and what their heads say then. The bodies
//! are compressed by the engine, slice by slice.

mod accepted;
mod coders;

use crate::response_chain::{forget_body, weaken_tag};
use accepted::accepted;
pub(crate) use coders::CoderMemory;
use std::sync::Arc;
use tollgate_engine::BodyCoder;
use tollgate_http::{HeaderEdits, HeaderStorage, Headers, Request, Response, Version};
use tollgate_model::api::{CompressionEncoding, CompressionRules};
use tollgate_pattern::Glob;

/// What an API compresses, and how.
pub(crate) struct ResponseCompression {
    /// The encodings in their order, with their levels.
    encodings: Vec<(CompressionEncoding, u8)>,
    types: Vec<Glob>,
    bytes_min: u64,
    /// Statuses that are compressed; empty for all.
    statuses: Vec<u16>,
    event_streams: bool,
}

/// How the response of one request is compressed.
#[derive(Clone)]
pub struct WantedCompression {
    rules: Arc<ResponseCompression>,
    /// What the client gets; `None` if it accepts nothing of it.
    encoding: Option<(CompressionEncoding, u8)>,
    is_head: bool,
    /// The client asks about an entity tag that is weak, as it is behind a compressed response.
    has_weak_tag: bool,
    /// Whether the response is compressed.
    pub(crate) is_applied: bool,
}

/// The head of a response that may be compressed.
pub(crate) struct CompressibleHead<'a> {
    pub status: u16,
    pub headers: &'a Headers<'a>,
    pub edits: &'a mut HeaderEdits,
    /// The length of its body, if it is known.
    pub body_len: Option<u64>,
}

impl ResponseCompression {
    pub(crate) fn new(rules: &CompressionRules) -> Self {
        ResponseCompression {
            encodings: rules.encodings().iter().map(|encoding| (*encoding, rules.level(*encoding))).collect(),
            types: rules.types().iter().map(|pattern| Glob::new(&pattern.to_ascii_lowercase())).collect(),
            bytes_min: rules.bytes_min(),
            statuses: rules.statuses.clone(),
            event_streams: rules.event_streams,
        }
    }

    /// What the client of a request gets.
    pub(crate) fn wanted(self: &Arc<Self>, request: &Request<'_>) -> WantedCompression {
        let values = |wanted: &'static str| {
            request.headers.iter().filter(move |(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
        };
        // A client of HTTP/1.0 knows the end of a body without a length only by the end of its connection.
        let is_old = request.version == Version::Http10;
        let encoding = if is_old { None } else { accepted(&mut values("Accept-Encoding"), &self.encodings) };
        let has_weak_tag = values("If-None-Match").any(|tags| tags.starts_with(b"W/"));
        WantedCompression { rules: self.clone(), encoding, is_head: request.method == "HEAD", has_weak_tag, is_applied: false }
    }

    /// Whether bodies of a type are compressed.
    fn has_type(&self, content_type: &[u8]) -> bool {
        let name = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
        match name.as_slice() {
            b"text/event-stream" => self.event_streams,
            // Its messages say themselves how they are compressed.
            _ if name.starts_with(b"application/grpc") => false,
            name => self.types.iter().any(|pattern| pattern.is_match(&String::from_utf8_lossy(name))),
        }
    }
}

impl WantedCompression {
    /// Compresses a response if it can be compressed: changes its head, and returns what codes its body, if there is one.
    pub(crate) fn apply(&mut self, head: CompressibleHead<'_>, memory: &CoderMemory) -> Option<Box<dyn BodyCoder>> {
        let CompressibleHead { status, headers, edits, body_len } = head;
        if status == 304 {
            // It confirms what the client has, by the tag that it has.
            vary(headers, edits);
            if self.has_weak_tag {
                weaken_tag(headers, edits);
            }
            return None;
        }
        if !self.can_apply(status, headers, edits, body_len) {
            return None;
        }
        vary(headers, edits);
        let (encoding, level) = self.encoding?;
        let coder = match self.is_head {
            false => Some(memory.coder(encoding, level)?),
            true => None,
        };
        self.is_applied = true;
        forget_body(headers, edits);
        edits.set(headers, "Content-Encoding", coders::name(encoding).as_bytes());
        coder
    }

    fn can_apply(&self, status: u16, headers: &Headers<'_>, edits: &HeaderEdits, body_len: Option<u64>) -> bool {
        let has_status = self.rules.statuses.is_empty() || self.rules.statuses.contains(&status);
        let has_body = has_status && !matches!(status, 100..=199 | 204..=206);
        let is_short = body_len.is_some_and(|len| len == 0 || len < self.rules.bytes_min);
        if !has_body || is_short || !edits.current(headers, "Content-Type").is_some_and(|kind| self.rules.has_type(kind)) {
            return false;
        }
        let mut is_fixed = false;
        edits.each_line(headers, &mut |name, value| {
            is_fixed |= match name {
                _ if name.eq_ignore_ascii_case("Content-Encoding") => !value.eq_ignore_ascii_case(b"identity"),
                _ if name.eq_ignore_ascii_case("Content-Range") => true,
                _ if name.eq_ignore_ascii_case("Cache-Control") => names(value, b"no-transform"),
                _ => false,
            };
        });
        !is_fixed
    }
}

/// Says that the response depends on what the client accepts.
fn vary(headers: &Headers<'_>, edits: &mut HeaderEdits) {
    let mut is_said = false;
    edits.each_line(headers, &mut |name, value| {
        is_said |= name.eq_ignore_ascii_case("Vary") && (names(value, b"Accept-Encoding") || names(value, b"*"));
    });
    if !is_said {
        edits.add("Vary", b"Accept-Encoding");
    }
}

/// Whether a list names this, in any letter case.
fn names(list: &[u8], wanted: &[u8]) -> bool {
    list.split(|byte| *byte == b',').any(|member| member.trim_ascii().eq_ignore_ascii_case(wanted))
}

/// Calls `with` with the headers of a response that has none but those that are added.
pub(crate) fn with_no_headers<T>(with: impl FnOnce(&Headers<'_>) -> T) -> Option<T> {
    let mut storage = HeaderStorage::new();
    let empty = Response::parse(b"HTTP/1.1 200 OK\r\n\r\n", false, &mut storage).ok().flatten()?;
    Some(with(&empty.headers))
}

#[cfg(test)]
mod tests;
