//! Byte ranges (RFC 9110 §14): evaluates a Range field for a representation of known length, and makes the segments of the answer.

use crate::syntax::{list, push_number, trim};
use bytes::Bytes;
use std::ops::Range;

/// Most ranges in one request. Each costs a part's head, and nobody needs more (RFC 9110 §17.15).
const RANGES_MAX: usize = 16;

/// Result of evaluating a Range field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RangeRequest {
    /// The complete representation: there is no Range, or it is ignored.
    Whole,
    /// These parts, in the order of the request; at least one, and all within the representation.
    Parts(Vec<Range<u64>>),
    /// No requested range exists: 416.
    Unsatisfiable,
}

impl RangeRequest {
    /// Evaluates a Range field for a representation of `len` bytes. Units other than bytes, invalid syntax, too many ranges and overlapping
    /// ranges give the complete representation, which is always allowed (RFC 9110 §14.2).
    pub fn parse(value: &[u8], len: u64) -> Self {
        Self::read(value, len).unwrap_or(RangeRequest::Whole)
    }

    fn read(value: &[u8], len: u64) -> Option<Self> {
        let equals = value.iter().position(|&byte| byte == b'=')?;
        let (unit, ranges) = value.split_at_checked(equals)?;
        if !trim(unit).eq_ignore_ascii_case(b"bytes") {
            return None;
        }
        let mut parts: Vec<Range<u64>> = Vec::new();
        let mut count = 0;
        for range in list(ranges.get(1..)?) {
            count += 1;
            if count > RANGES_MAX {
                return None;
            }
            let Some(part) = one_range(range, len)? else { continue };
            if parts.iter().any(|other| part.start < other.end && other.start < part.end) {
                return None;
            }
            parts.push(part);
        }
        if count == 0 {
            return None;
        }
        Some(if parts.is_empty() { RangeRequest::Unsatisfiable } else { RangeRequest::Parts(parts) })
    }
}

/// Parses one range: outer `None` for invalid syntax, inner `None` when it is outside the representation.
fn one_range(range: &[u8], len: u64) -> Option<Option<Range<u64>>> {
    let dash = range.iter().position(|&byte| byte == b'-')?;
    let (first, last) = (range.get(..dash)?, range.get(dash + 1..)?);
    Some(match (first, last) {
        (b"", last) => {
            let suffix = position(last)?;
            (suffix > 0 && len > 0).then(|| len.saturating_sub(suffix)..len)
        }
        (first, b"") => {
            let first = position(first)?;
            (first < len).then_some(first..len)
        }
        (first, last) => {
            let (first, last) = (position(first)?, position(last)?);
            if last < first {
                return None;
            }
            (first < len).then(|| first..last.saturating_add(1).min(len))
        }
    })
}

/// Parses a number of any length; saturates.
fn position(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0_u64, |number, digit| number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))))
}

/// A segment of an answer's body: bytes of the stored body, or a text between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// These bytes of the stored body.
    Span(Range<u64>),
    /// A part's head, or the end of the last part.
    Text(Bytes),
}

impl Segment {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Segment::Span(range) => range.end.saturating_sub(range.start),
            Segment::Text(text) => text.len() as u64,
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Appends `bytes 0-9/100`.
pub(crate) fn push_content_range(range: &Range<u64>, len: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"bytes ");
    push_number(range.start, out);
    out.push(b'-');
    push_number(range.end.saturating_sub(1), out);
    out.push(b'/');
    push_number(len, out);
}

/// The body of a `multipart/byteranges` (RFC 9110 §14.6).
pub(crate) fn multipart(parts: &[Range<u64>], len: u64, content_type: Option<&[u8]>, boundary: &str) -> Vec<Segment> {
    let mut segments = Vec::with_capacity(parts.len() * 2 + 1);
    for part in parts {
        let mut head = format!("\r\n--{boundary}\r\n").into_bytes();
        if let Some(content_type) = content_type {
            head.extend_from_slice(b"Content-Type: ");
            head.extend_from_slice(content_type);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"Content-Range: ");
        push_content_range(part, len, &mut head);
        head.extend_from_slice(b"\r\n\r\n");
        segments.push(Segment::Text(head.into()));
        segments.push(Segment::Span(part.clone()));
    }
    segments.push(Segment::Text(format!("\r\n--{boundary}--\r\n").into()));
    segments
}

#[cfg(test)]
mod tests;
