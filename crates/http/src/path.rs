//! Request paths in two forms: decoded for matching, raw for forwarding, so that matching never rewrites a path by accident.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::borrow::Cow;

/// Characters that RFC 3986 does not allow in a path.
const ESCAPED: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A path in both forms.
#[derive(Clone, Debug)]
pub struct Path<'a> {
    /// The path as it was sent.
    pub raw: Cow<'a, str>,
    /// The path with escapes decoded.
    pub decoded: Cow<'a, str>,
}

impl<'a> Path<'a> {
    /// Makes a path without escapes.
    #[inline]
    pub fn plain(path: &'a str) -> Self {
        Path { raw: Cow::Borrowed(path), decoded: Cow::Borrowed(path) }
    }

    /// The same path, which borrows nothing.
    pub fn into_owned(self) -> Path<'static> {
        Path { raw: Cow::Owned(self.raw.into_owned()), decoded: Cow::Owned(self.decoded.into_owned()) }
    }

    /// Decodes a raw path; `None` when it contains an invalid escape.
    #[inline]
    pub fn new(raw: Cow<'a, str>) -> Option<Self> {
        let decoded = match &raw {
            Cow::Borrowed(raw) => decode(raw)?,
            Cow::Owned(raw) => Cow::Owned(decode(raw)?.into_owned()),
        };
        Some(Path { raw, decoded })
    }
}

/// The offset in `raw` at which its first `decoded_bytes` decoded bytes end.
pub fn raw_offset(raw: &str, decoded_bytes: usize) -> usize {
    let bytes = raw.as_bytes();
    let mut offset = 0;
    for _ in 0..decoded_bytes {
        offset += if bytes.get(offset) == Some(&b'%') { 3 } else { 1 };
    }
    offset.min(raw.len())
}

#[inline]
fn decode(raw: &str) -> Option<Cow<'_, str>> {
    if !raw.as_bytes().contains(&b'%') {
        return Some(Cow::Borrowed(raw));
    }
    let mut decoded = Vec::with_capacity(raw.len());
    let mut bytes = raw.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            byte => byte,
        });
    }
    Some(Cow::Owned(match String::from_utf8(decoded) {
        Ok(text) => text,
        // Invalid UTF-8 must still match literally and keep byte positions; mapping each byte to a character of its own would not.
        Err(error) => error.into_bytes().iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '?' }).collect(),
    }))
}

fn hex(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// The path without `//`, `/./` and `/../`; `None` when it has none. A trailing slash stays.
#[inline]
pub fn clean(path: &str) -> Option<String> {
    let mut after_slash = false;
    let mut is_suspicious = false;
    for byte in path.bytes() {
        is_suspicious |= after_slash & (byte == b'/' || byte == b'.');
        after_slash = byte == b'/';
    }
    if !is_suspicious {
        return None;
    }
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    let mut cleaned = format!("/{}", segments.join("/"));
    if path.ends_with('/') && cleaned.len() > 1 {
        cleaned.push('/');
    }
    (cleaned != path).then_some(cleaned)
}

/// Escapes a decoded path for a URL, as a browser does.
pub fn encode(path: &str) -> String {
    utf8_percent_encode(path, &ESCAPED).to_string()
}

#[cfg(test)]
mod tests;
