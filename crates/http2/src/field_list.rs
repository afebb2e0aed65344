//! The fields of one header section, one behind the other in one buffer, and what makes a section of them a request, a response or trailers
//! (RFC 9113 §8.2, §8.3). What breaks a rule is malformed: nothing of it may be passed on.

use std::ops::Range;
use tollgate_http::is_token;

/// What a field counts beyond its bytes in a list (RFC 9113 §6.5.2), and as an entry of a table (RFC 7541 §4.1).
pub(crate) const FIELD_OVERHEAD: usize = 32;

/// The fields that are none of the message's own (RFC 9113 §8.3, RFC 8441 §4).
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

/// A section breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedFields(pub &'static str);

/// The fields of one section.
#[derive(Default)]
pub struct FieldList {
    /// For each field the length of its name and of its value in four bytes each, and both.
    bytes: Vec<u8>,
    /// What they count without compression (RFC 9113 §6.5.2), and may count.
    size: usize,
    size_max: usize,
    count: usize,
    is_too_large: bool,
    /// Where the values of pseudo-header fields are, once the section was checked.
    pseudo: [Option<(u32, u32)>; PSEUDO_FIELDS],
    content_length: Option<u64>,
}

/// Bytes of the two lengths before each field.
const LENGTHS: usize = 8;

impl FieldList {
    /// Room for fields that count at most so much.
    pub fn new(size_max: usize) -> Self {
        FieldList { size_max, ..FieldList::default() }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        *self = FieldList { bytes, ..FieldList::new(self.size_max) };
    }

    /// Bytes of memory that it has.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Lets go of its memory.
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

    /// Begins a field, whose name and value are to be appended to `bytes`. Where it is.
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

    /// The field that is all but ended.
    pub(crate) fn last(&self, field: usize) -> (&[u8], &[u8]) {
        let name_len = length(&self.bytes, field);
        self.bytes.get(field + LENGTHS..).and_then(|bytes| bytes.split_at_checked(name_len)).unwrap_or_default()
    }

    /// Ends the field. One that is too much is not kept.
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

    /// Drops the field that has begun.
    pub(crate) fn undo(&mut self, field: usize) {
        self.bytes.truncate(field);
    }

    /// There are fields beyond the bound, which are not kept.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// What the fields count without compression, with what each counts beyond its bytes (RFC 9113 §6.5.2).
    pub fn size(&self) -> usize {
        self.size
    }

    /// All fields in order, pseudo-header fields too.
    pub fn all(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let (name, value) = spans(&self.bytes, at)?;
            at = value.end;
            Some((self.bytes.get(name)?, self.bytes.get(value)?))
        })
    }

    /// The fields of the message itself, in order. Names are tokens in lower case.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.all().filter(|(name, _)| name.first() != Some(&b':')).map(|(name, value)| (as_text(name), value))
    }

    /// How many fields there are, pseudo-header fields too.
    pub fn len(&self) -> usize {
        self.count
    }

    /// There is no field.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The value of a pseudo-header field, once the section was checked.
    pub fn pseudo(&self, field: Pseudo) -> Option<&[u8]> {
        let (start, end) = self.pseudo.get(field as usize).copied().flatten()?;
        self.bytes.get(start as usize..end as usize)
    }

    /// The status of a response that was checked.
    pub fn status(&self) -> u16 {
        self.pseudo(Pseudo::Status).map_or(0, |digits| digits.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0')))
    }

    /// What the section says of its content's length, once it was checked.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// Checks that it is a request's head (RFC 9113 §8.3.1, RFC 8441 §4).
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
        // What HTTP/1.1 would take for an absolute target would have another host than `:authority`.
        match self.pseudo(Pseudo::Path) {
            Some(path) if path.first() == Some(&b'/') || (path == b"*" && is_options) => Ok(()),
            _ => Err(MalformedFields("a request without a path")),
        }
    }

    /// Checks that it is a response's head (RFC 9113 §8.3.2).
    pub fn check_response(&mut self) -> Result<(), MalformedFields> {
        self.check(Section::Response)?;
        let status = self.pseudo(Pseudo::Status).unwrap_or_default();
        let is_status = status.len() == 3 && status.iter().all(u8::is_ascii_digit) && status.first() != Some(&b'0');
        // There is no switch of protocols in HTTP/2 (§8.6).
        if is_status && status != b"101" { Ok(()) } else { Err(MalformedFields("a response without a status")) }
    }

    /// Checks that it is a trailer section (RFC 9113 §8.1), which has no pseudo-header fields.
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

/// What a section is to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Request,
    Response,
    Trailers,
}

impl Section {
    /// The pseudo-header field of this name, if the section may have it.
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

/// Where name and value are of the field at `at`.
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

/// Bytes that a name may have (RFC 9113 §8.2.1): those of a token, without capital letters.
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

/// No control byte but the tab, as in HTTP/1.1, and no space around it (RFC 9113 §8.2.1). All bytes are looked at, without a branch for each.
#[inline]
fn is_value(value: &[u8]) -> bool {
    let is_space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    let has_control = value.iter().fold(false, |found, byte| found | (*byte < b' ' && *byte != b'\t') | (*byte == 0x7f));
    !has_control && !is_space(value.first()) && !is_space(value.last())
}

/// A part of a request line: neither control bytes nor spaces, which would end it.
#[inline]
fn is_target(value: &[u8]) -> bool {
    !value.iter().fold(false, |found, byte| found | (*byte <= b' ') | (*byte == 0x7f))
}

/// Fields that mean something to one connection of HTTP/1.1 only (RFC 9113 §8.2.2).
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
