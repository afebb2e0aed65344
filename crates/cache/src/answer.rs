//! The answer to a client from a stored response: the complete response, a part of it, only its head, or 304 for a client that has it
//! already (RFC 9110 §13, §14; RFC 9111 §4.3.2).

use crate::body::{BodyRead, SpanReader};
use crate::cache_status::CacheStatus;
use crate::lines::LineBlock;
use crate::range::{RangeRequest, Segment, multipart, push_content_range};
use crate::request::{MethodClass, RequestFacts};
use crate::store::Stored;
use crate::syntax::push_number;
use std::ops::Range;
use std::sync::Arc;
use std::task::Waker;

/// The part of the stored response that the client gets.
#[derive(Clone, Debug, PartialEq, Eq)]
enum AnswerPart {
    Whole,
    /// The head of the complete response, for HEAD.
    HeadOnly,
    /// 304.
    NotModified,
    /// 206 with one range.
    One(Range<u64>),
    /// 206 with several ranges.
    Several(Vec<Segment>),
    /// 416.
    Unsatisfiable,
}

/// The lines that an answer gets in addition to the stored ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerDialect {
    /// `Age` and `Cache-Status`.
    Rfc,
    /// `x-tyk-cached-response`.
    Tyk,
}

/// An answer from a stored response. It keeps the response's memory until it is dropped.
#[derive(Clone, Debug)]
pub struct CachedResponse {
    stored: Arc<Stored>,
    part: AnswerPart,
    age_s: u64,
    dialect: AnswerDialect,
    /// Whether the request went to the upstream, so that nothing was reused.
    is_own_fetch: bool,
    /// Content of the `Cache-Status` line.
    pub cache_status: CacheStatus,
}

impl CachedResponse {
    /// Makes the answer to a request with these conditions.
    pub(crate) fn new(
        stored: Arc<Stored>,
        method: MethodClass,
        facts: &RequestFacts,
        now_ms: u64,
        cache_status: CacheStatus,
    ) -> Self {
        let part = part(&stored, method, facts);
        let freshness = stored.head.freshness(now_ms);
        let cache_status = CacheStatus { ttl_s: Some(freshness.ttl_s()), ..cache_status };
        CachedResponse { age_s: freshness.age_s, stored, part, dialect: AnswerDialect::Rfc, is_own_fetch: false, cache_status }
    }

    /// Makes the answer like Tyk: 304 when If-None-Match contains the tag anywhere, no Age, no ranges.
    pub(crate) fn tyk(stored: Arc<Stored>, method: MethodClass, if_none_match: Option<&[u8]>, is_hit: bool) -> Self {
        let tag = stored.head.lines.get("etag").filter(|tag| !tag.is_empty());
        let contains = |all: &[u8], tag: &[u8]| all.windows(tag.len()).any(|part| part == tag);
        let has_it = matches!((if_none_match, tag), (Some(all), Some(tag)) if contains(all, tag));
        let part = match method {
            _ if has_it && is_hit => AnswerPart::NotModified,
            MethodClass::Head => AnswerPart::HeadOnly,
            _ => AnswerPart::Whole,
        };
        let cache_status = CacheStatus::default();
        CachedResponse { stored, part, age_s: 0, dialect: AnswerDialect::Tyk, is_own_fetch: !is_hit, cache_status }
    }

    /// Marks the answer as fetched from the upstream for this request.
    pub(crate) fn own_fetch(self) -> Self {
        CachedResponse { is_own_fetch: true, ..self }
    }

    /// Status for the client.
    pub fn status(&self) -> u16 {
        match self.part {
            AnswerPart::Whole | AnswerPart::HeadOnly => self.stored.head.status,
            AnswerPart::NotModified => 304,
            AnswerPart::One(_) | AnswerPart::Several(_) => 206,
            AnswerPart::Unsatisfiable => 416,
        }
    }

    /// Whether the client gets the response as the upstream sent it, so that it can be relayed as it arrives.
    pub fn is_whole(&self) -> bool {
        self.part == AnswerPart::Whole
    }

    /// Length of the body in bytes; `None` while the upstream has not announced it. 0 when there is no body, and for HEAD.
    pub fn body_len(&self) -> Option<u64> {
        match &self.part {
            AnswerPart::Whole => self.stored.body.len(),
            AnswerPart::HeadOnly | AnswerPart::NotModified | AnswerPart::Unsatisfiable => Some(0),
            AnswerPart::One(range) => Some(range.end - range.start),
            AnswerPart::Several(segments) => Some(segments.iter().map(Segment::len).sum()),
        }
    }

    /// Those of the lines that no change may replace.
    pub fn last_lines(&self) -> &LineBlock {
        &self.stored.head.last_lines
    }

    /// The stored response, for a second cache tier.
    pub fn stored(&self) -> &Arc<Stored> {
        &self.stored
    }

    /// Appends the header lines: the stored ones, and those that this answer adds. The caller writes the status line before and the empty
    /// line after them, and frames a body of unknown length.
    pub fn write_lines(&self, out: &mut Vec<u8>) {
        let head = &self.stored.head;
        match &self.part {
            AnswerPart::Whole | AnswerPart::HeadOnly => {
                out.extend_from_slice(head.lines.as_bytes());
                // Tyk's entry for HEAD is a response to HEAD, whose length is not that of its body.
                let has_length = head.status != 204 && !(self.part == AnswerPart::HeadOnly && self.dialect == AnswerDialect::Tyk);
                if let Some(len) = self.stored.body.len().filter(|_| has_length) {
                    push_length(len, out);
                }
            }
            AnswerPart::NotModified => {
                // RFC 9110 §15.4.5 names the required lines; others describe what the client has already. Tyk sends them all.
                self.write_lines_where(|name| self.dialect == AnswerDialect::Tyk || is_in_not_modified(name), out);
            }
            AnswerPart::One(range) => {
                // On a complete response the field has no meaning (RFC 9110 §14.4).
                self.write_lines_where(|name| !name.eq_ignore_ascii_case("content-range"), out);
                out.extend_from_slice(b"Content-Range: ");
                push_content_range(range, self.stored.body.len().unwrap_or(range.end), out);
                out.extend_from_slice(b"\r\n");
                push_length(range.end - range.start, out);
            }
            AnswerPart::Several(_) => {
                let is_other = |name: &str| !["content-type", "content-range"].iter().any(|own| own.eq_ignore_ascii_case(name));
                self.write_lines_where(is_other, out);
                let boundary = boundary(&self.stored);
                out.extend_from_slice(format!("Content-Type: multipart/byteranges; boundary={boundary}\r\n").as_bytes());
                push_length(self.body_len().unwrap_or(0), out);
            }
            AnswerPart::Unsatisfiable => {
                self.write_lines_where(|name| name.eq_ignore_ascii_case("date"), out);
                out.extend_from_slice(b"Content-Range: bytes */");
                push_number(self.stored.body.len().unwrap_or(0), out);
                out.extend_from_slice(b"\r\nContent-Length: 0\r\n");
            }
        }
        match self.dialect {
            AnswerDialect::Rfc => {
                if !self.is_own_fetch || self.age_s > 0 {
                    out.extend_from_slice(b"Age: ");
                    push_number(self.age_s, out);
                    out.extend_from_slice(b"\r\n");
                }
                self.cache_status.write(out);
            }
            AnswerDialect::Tyk if !self.is_own_fetch => out.extend_from_slice(b"X-Tyk-Cached-Response: 1\r\n"),
            AnswerDialect::Tyk => {}
        }
    }

    fn write_lines_where(&self, keep: impl Fn(&str) -> bool, out: &mut Vec<u8>) {
        for (name, value) in self.stored.head.lines.iter().filter(|(name, _)| keep(name)) {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value);
            out.extend_from_slice(b"\r\n");
        }
    }

    /// Returns a reader of the body for this client. The body may still grow while it is read.
    pub fn body(&self) -> CachedBody {
        let span = |range: Range<u64>, end: Option<u64>| SpanReader::new(Arc::clone(&self.stored.body), range.start, end);
        let (current, rest) = match &self.part {
            AnswerPart::Whole => (Some(span(0..0, None)), Vec::new()),
            AnswerPart::One(range) => (Some(span(range.clone(), Some(range.end))), Vec::new()),
            AnswerPart::Several(segments) => (None, segments.clone()),
            AnswerPart::HeadOnly | AnswerPart::NotModified | AnswerPart::Unsatisfiable => (None, Vec::new()),
        };
        CachedBody { stored: Arc::clone(&self.stored), current, rest: rest.into_iter() }
    }
}

/// Selects the part that a request gets of a stored response. Conditions are evaluated before ranges (RFC 9110 §13.2.2), and both only for
/// a 200.
fn part(stored: &Stored, method: MethodClass, facts: &RequestFacts) -> AnswerPart {
    let head = &stored.head;
    if head.status == 200 && facts.client_has.has(head.tag.as_ref(), head.last_modified, head.date) {
        return AnswerPart::NotModified;
    }
    if method == MethodClass::Head {
        return AnswerPart::HeadOnly;
    }
    let (Some(range), Some(len), 200) = (&facts.range, stored.body.len(), head.status) else { return AnswerPart::Whole };
    let holds = facts.if_range.as_ref().is_none_or(|condition| condition.holds(head.tag.as_ref(), head.last_modified, head.date));
    if !holds {
        return AnswerPart::Whole;
    }
    match RangeRequest::parse(range, len) {
        RangeRequest::Whole => AnswerPart::Whole,
        RangeRequest::Unsatisfiable => AnswerPart::Unsatisfiable,
        RangeRequest::Parts(mut parts) if parts.len() == 1 => parts.pop().map_or(AnswerPart::Whole, AnswerPart::One),
        RangeRequest::Parts(parts) => {
            AnswerPart::Several(multipart(&parts, len, head.lines.get("content-type"), &boundary(stored)))
        }
    }
}

/// A boundary that the body does not contain, because the author of the body does not know the key.
fn boundary(stored: &Stored) -> String {
    stored.key.as_bytes().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn is_in_not_modified(name: &str) -> bool {
    const NAMES: [&str; 8] =
        ["cache-control", "cdn-cache-control", "content-location", "date", "etag", "expires", "vary", "last-modified"];
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name)) || name.to_ascii_lowercase().starts_with("access-control-")
}

fn push_length(len: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Length: ");
    push_number(len, out);
    out.extend_from_slice(b"\r\n");
}

/// Reader of an answer's body.
#[derive(Debug)]
pub struct CachedBody {
    stored: Arc<Stored>,
    current: Option<SpanReader>,
    rest: std::vec::IntoIter<Segment>,
}

impl CachedBody {
    /// Returns the next bytes. After [`BodyRead::Pending`], `waker` is called when there are more.
    pub fn next(&mut self, waker: &Waker) -> BodyRead {
        loop {
            if let Some(reader) = &mut self.current {
                match reader.next(waker) {
                    BodyRead::End => self.current = None,
                    other => return other,
                }
            }
            match self.rest.next() {
                None => return BodyRead::End,
                Some(Segment::Text(text)) => return BodyRead::Data(text),
                Some(Segment::Span(range)) => {
                    self.current = Some(SpanReader::new(Arc::clone(&self.stored.body), range.start, Some(range.end)));
                }
            }
        }
    }
}
