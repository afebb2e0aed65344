//! The fields of one header section, consecutive in one buffer, and the rules that make them a valid request, response or trailer
//! section (RFC 9113 §8.2, §8.3). A section that violates a rule is malformed: none of it may be forwarded.

use std::ops::Range;
use tollgate_http::is_token;

/// Overhead of a field in the size of a list (RFC 9113 §6.5.2), and of an entry in that of a table (RFC 7541 §4.1).
pub(crate) const FIELD_OVERHEAD: usize = 32;

/// Pseudo-header fields (RFC 9113 §8.3, RFC 8441 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the documentation
pub enum Pseudo {
    Method,
    Scheme,
    Authority,
    Path,
    Protocol,
    Status,
}

const PSEUDO_FIELDS: usize = 6;

/// The rule that a malformed section violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedFields(pub &'static str);

/// The fields of one section.
#[derive(Default)]
pub struct FieldList {
    /// For each field, the lengths of name and value in four bytes each, then both.
    bytes: Vec<u8>,
    /// Uncompressed size of the fields (RFC 9113 §6.5.2), and its limit.
    size: usize,
    size_max: usize,
    count: usize,
    is_too_large: bool,
    /// Positions of the values of pseudo-header fields, after a check.
    pseudo: [Option<(u32, u32)>; PSEUDO_FIELDS],
    content_length: Option<u64>,
}

/// Bytes of the two lengths before each field.
const LENGTHS: usize = 8;

impl FieldList {
    /// A list with this size limit.
    pub fn new(size_max: usize) -> Self {
        FieldList { size_max, ..FieldList::default() }
    }

    /// Removes all fields.
    pub fn clear(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        *self = FieldList { bytes, ..FieldList::new(self.size_max) };
    }

    /// Bytes of allocated memory.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Frees the memory.
    pub(crate) fn release(&mut self) {
        *self = FieldList::new(self.size_max);
    }

    /// Adds a field.
    pub(crate) fn push(&mut self, name: &[u8], value: &[u8]) {
        let field = self.begin();
        self.bytes.extend_from_slice(name);
        self.end_name(field);
        self.bytes.extend_from_slice(value);
        self.end(field);
    }

    /// Starts a field, whose name and value must then be appended to `bytes`. Returns its position.
    pub(crate) fn begin(&mut self) -> usize {
        let field = self.bytes.len();
        self.bytes.extend_from_slice(&[0; LENGTHS]);
        field
    }

    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    pub(crate) fn end_name(&mut self, field: usize) {
        let length = self.bytes.len() - field - LENGTHS;
        self.set_length(field, length);
    }

    fn set_length(&mut self, at: usize, length: usize) {
        if let Some(place) = self.bytes.get_mut(at..at + 4) {
            place.copy_from_slice(&(length as u32).to_ne_bytes());
        }
    }

    /// Name and value of the field that is about to end.
    pub(crate) fn last(&self, field: usize) -> (&[u8], &[u8]) {
        let name_len = length(&self.bytes, field);
        self.bytes.get(field + LENGTHS..).and_then(|bytes| bytes.split_at_checked(name_len)).unwrap_or_default()
    }

    /// Ends the field. It is dropped if it exceeds the limit.
    pub(crate) fn end(&mut self, field: usize) {
        let (name, value) = self.last(field);
        let (size, value_len) = (name.len() + value.len() + FIELD_OVERHEAD, value.len());
        self.is_too_large |= self.size + size > self.size_max;
        if self.is_too_large {
            return self.undo(field);
        }
        self.set_length(field + 4, value_len);
        self.size += size;
        self.count += 1;
    }

    /// Drops the unfinished field.
    pub(crate) fn undo(&mut self, field: usize) {
        self.bytes.truncate(field);
    }

    /// Whether fields beyond the limit were dropped.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Uncompressed size of the fields, including the overhead of each (RFC 9113 §6.5.2).
    pub fn size(&self) -> usize {
        self.size
    }

    /// All fields in order, including pseudo-header fields.
    pub fn all(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (name, value) = spans(&self.bytes, at)?;
            at = value.end;
            Some((self.bytes.get(name)?, self.bytes.get(value)?))
        })
    }

    /// The regular fields of the message, in order. Names are lower-case tokens.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.all().filter(|(name, _)| name.first() != Some(&b':')).map(|(name, value)| (as_text(name), value))
    }

    /// Number of fields, including pseudo-header fields.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The value of a pseudo-header field, after a check.
    pub fn pseudo(&self, field: Pseudo) -> Option<&[u8]> {
        let (start, end) = self.pseudo.get(field as usize).copied().flatten()?;
        self.bytes.get(start as usize..end as usize)
    }

    /// The status of a checked response.
    pub fn status(&self) -> u16 {
        self.pseudo(Pseudo::Status).map_or(0, |digits| digits.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
    }

    /// The announced length of the content, after a check.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// Checks that it is a valid request head (RFC 9113 §8.3.1, RFC 8441 §4).
    pub fn check_request(&mut self) -> Result<(), MalformedFields> {
        self.check(Section::Request)?;
        let method = self.pseudo(Pseudo::Method).ok_or(MalformedFields("a request without a method"))?;
        if !is_token(method) {
            return Err(MalformedFields("a method that is no token"));
        }
        let is_options = method == b"OPTIONS";
        let (has_scheme, has_path) = (self.pseudo(Pseudo::Scheme).is_some(), self.pseudo(Pseudo::Path).is_some());
        if method == b"CONNECT" && self.pseudo(Pseudo::Protocol).is_none() {
            let is_connect = !has_scheme && !has_path && self.pseudo(Pseudo::Authority).is_some();
            return if is_connect { Ok(()) } else { Err(MalformedFields("a CONNECT with a path")) };
        }
        if method != b"CONNECT" && self.pseudo(Pseudo::Protocol).is_some() {
            return Err(MalformedFields("a protocol without CONNECT"));
        }
        if !has_scheme {
            return Err(MalformedFields("a request without a scheme"));
        }
        // HTTP/1.1 would read any other value as an absolute target, whose host could differ from `:authority`.
        match self.pseudo(Pseudo::Path) {
            Some(path) if path.first() == Some(&b'/') || (path == b"*" && is_options) => Ok(()),
            _ => Err(MalformedFields("a request without a path")),
        }
    }

    /// Checks that it is a valid response head (RFC 9113 §8.3.2).
    pub fn check_response(&mut self) -> Result<(), MalformedFields> {
        self.check(Section::Response)?;
        let status = self.pseudo(Pseudo::Status).unwrap_or_default();
        let is_status = status.len() == 3 && status.iter().all(u8::is_ascii_digit) && status.first() != Some(&b'0');
        // HTTP/2 has no protocol switch (§8.6).
        if is_status && status != b"101" { Ok(()) } else { Err(MalformedFields("a response without a status")) }
    }

    /// Checks that it is a valid trailer section (RFC 9113 §8.1), which has no pseudo-header fields.
    pub fn check_trailers(&mut self) -> Result<(), MalformedFields> {
        self.check(Section::Trailers)
    }

    fn check(&mut self, section: Section) -> Result<(), MalformedFields> {
        let (mut at, mut in_message) = (0, false);
        while let Some((name, value)) = spans(&self.bytes, at) {
            at = value.end;
            let span = (value.start as u32, value.end as u32);
            let (name, value) = (self.bytes.get(name).unwrap_or_default(), self.bytes.get(value).unwrap_or_default());
            if name.first() == Some(&b':') {
                if in_message {
                    return Err(MalformedFields("a pseudo-header field behind other fields"));
                }
                let field = section.pseudo(name).ok_or(MalformedFields("an unknown pseudo-header field"))?;
                if !is_target(value) || value.is_empty() && field != Pseudo::Authority {
                    return Err(MalformedFields("a pseudo-header field with an invalid value"));
                }
                match self.pseudo.get_mut(field as usize) {
                    Some(place @ None) => *place = Some(span),
                    _ => return Err(MalformedFields("a pseudo-header field that is there twice")),
                }
                continue;
            }
            in_message = true;
            if !is_lower_token(name) || !is_value(value) {
                return Err(MalformedFields("a field with an invalid name or value"));
            }
            if is_of_connection(name) || name == b"te" && !value.eq_ignore_ascii_case(b"trailers") {
                return Err(MalformedFields("a field that belongs to a connection of HTTP/1.1"));
            }
            if name == b"content-length" && section != Section::Trailers {
                if self.content_length.is_some() {
                    return Err(MalformedFields("two lengths"));
                }
                self.content_length = Some(decimal(value).ok_or(MalformedFields("a length that is no number"))?);
            }
        }
        Ok(())
    }
}

/// The kind of section to check for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Request,
    Response,
    Trailers,
}

impl Section {
    /// The pseudo-header field with this name, if the section may contain it.
    fn pseudo(self, name: &[u8]) -> Option<Pseudo> {
        Some(match (self, name) {
            (Section::Request, b":method") => Pseudo::Method,
            (Section::Request, b":scheme") => Pseudo::Scheme,
            (Section::Request, b":authority") => Pseudo::Authority,
            (Section::Request, b":path") => Pseudo::Path,
            (Section::Request, b":protocol") => Pseudo::Protocol,
            (Section::Response, b":status") => Pseudo::Status,
            _ => return None,
        })
    }
}

#[inline]
fn length(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |length| u32::from_ne_bytes(*length) as usize)
}

/// Positions of name and value of the field at `at`.
#[inline]
fn spans(bytes: &[u8], at: usize) -> Option<(Range<usize>, Range<usize>)> {
    if at >= bytes.len() {
        return None;
    }
    let name = at + LENGTHS;
    let value = name + length(bytes, at);
    Some((name..value, value..value + length(bytes, at + 4)))
}

/// Tokens are ASCII.
fn as_text(name: &[u8]) -> &str {
    std::str::from_utf8(name).unwrap_or_default()
}

/// Bytes allowed in a name (RFC 9113 §8.2.1): those of a token, without upper-case letters.
#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const IS_LOWER_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        let is_mark =
            matches!(c, b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~');
        table[byte] = c.is_ascii_lowercase() || c.is_ascii_digit() || is_mark;
        byte += 1;
    }
    table
};

#[inline]
fn is_lower_token(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| IS_LOWER_TOKEN.get(usize::from(*byte)).copied().unwrap_or(false))
}

/// Whether a value has no control byte except tab, as in HTTP/1.1, and no surrounding space (RFC 9113 §8.2.1). Checks all bytes
/// without a branch for each.
#[inline]
fn is_value(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let has_control = value.iter().fold(false, |found, byte| found | (*byte < b' ' && *byte != b'\t') | (*byte == 0x7f));
    !has_control && !is_space(value.first()) && !is_space(value.last())
}

/// Whether the value is safe in a request line: no control bytes, and no spaces, which would end it.
#[inline]
fn is_target(value: &[u8]) -> bool {
    !value.iter().fold(false, |found, byte| found | (*byte <= b' ') | (*byte == 0x7f))
}

/// Whether a field is specific to one HTTP/1.1 connection (RFC 9113 §8.2.2).
#[inline]
fn is_of_connection(name: &[u8]) -> bool {
    match name.len() {
        7 => name == b"upgrade",
        10 => name == b"connection" || name == b"keep-alive",
        16 => name == b"proxy-connection",
        17 => name == b"transfer-encoding",
        _ => false,
    }
}

/// Decimal digits only; 18 of them stay below 2^63.
fn decimal(value: &[u8]) -> Option<u64> {
    let digits = (1..=18).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    digits.then(|| value.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests;
