//! What a rewrite leads to: the text with its placeholders, and the URL that it becomes. Only a valid URL leaves the gateway.

use super::trigger::Captured;
use crate::exchange::Exchange;
use crate::header_names::HeaderNames;
use crate::template::{ValueTemplate, VariableScope, append_to_url};
use std::borrow::Cow;
use tollgate_pattern::{GroupExpression, GroupTexts};

/// A result text with placeholders for captures.
pub(super) struct Pieces(Vec<RewritePiece>);

enum RewritePiece {
    Text(ValueTemplate),
    /// `$1`
    Group(usize),
    /// `$tyk_context.trigger-0-name-0`
    Captured(String),
}

/// Where a rewrite's pattern matched a request's path and query, which stay as the client has encoded them.
pub(super) struct UriMatch<'u> {
    uri: &'u str,
    /// The part of the URI of each group.
    groups: Vec<Option<(usize, usize)>>,
}

impl<'u> UriMatch<'u> {
    /// Matches a URI as it was sent or, as in Tyk, decoded. Groups are parts of the URI as it was sent in both cases: a decoded `?`, `#` or `&`
    /// would be one of the new URL.
    pub(super) fn find(pattern: &GroupExpression, uri: &'u str) -> Option<Self> {
        if let Some(found) = pattern.groups(uri) {
            return Some(UriMatch { uri, groups: spans(&found).collect() });
        }
        let (decoded, offsets) = decode(uri)?;
        let found = pattern.groups(&decoded)?;
        let offset = |at: usize| offsets.get(at).copied();
        let sent = |span: Option<(usize, usize)>| span.and_then(|(start, end)| Some((offset(start)?, offset(end)?)));
        Some(UriMatch { uri, groups: spans(&found).map(sent).collect() })
    }

    /// A group's text; empty if it has none.
    fn get(&self, number: usize) -> &'u str {
        let span = self.groups.get(number).copied().flatten();
        span.and_then(|(start, end)| self.uri.get(start..end)).unwrap_or_default()
    }
}

fn spans<'g>(groups: &'g GroupTexts<'_>) -> impl Iterator<Item = Option<(usize, usize)>> + 'g {
    (0..groups.len()).map(|number| groups.span(number))
}

/// A URI with its escapes decoded, and where each byte of it, and its end, are in the URI. `None` if there is nothing to decode. What is no
/// escape stays.
fn decode(uri: &str) -> Option<(String, Vec<usize>)> {
    if !uri.contains('%') {
        return None;
    }
    let (mut decoded, mut offsets) = (Vec::with_capacity(uri.len()), Vec::with_capacity(uri.len() + 1));
    let bytes = uri.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = escape_at(bytes, at);
        decoded.push(escaped.unwrap_or(*byte));
        offsets.push(at);
        at += if escaped.is_some() { 3 } else { 1 };
    }
    offsets.push(at);
    String::from_utf8(decoded).ok().map(|decoded| (decoded, offsets))
}

/// The byte that an escape stands for, if there is one.
fn escape_at(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = bytes.get(at..)?.first_chunk()? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

/// A path, or a query, with everything escaped that it must not contain. Its escapes stay; a `%` that starts none is escaped in a path.
pub(super) fn escaped(text: &str, is_path: bool) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let must_be_escaped = |at: usize, byte: u8| match byte {
        0..=b' ' | 0x7f.. | b'"' | b'<' | b'>' | b'#' => true,
        b'%' => is_path && escape_at(bytes, at).is_none(),
        b'?' | b'[' | b'\\' | b']' | b'^' | b'`' | b'{' | b'|' | b'}' => is_path,
        _ => false,
    };
    if !bytes.iter().enumerate().any(|(at, byte)| must_be_escaped(at, *byte)) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 16);
    for (at, byte) in bytes.iter().enumerate() {
        match must_be_escaped(at, *byte) {
            true => written.push_str(&format!("%{byte:02X}")),
            false => written.push(char::from(*byte)),
        }
    }
    Cow::Owned(written)
}

impl Pieces {
    pub(super) fn new(text: &str, scope: VariableScope<'_>) -> Self {
        const CAPTURED: &str = "$tyk_context.trigger-";
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let digits = rest.strip_prefix('$').map_or(0, |tail| tail.bytes().take_while(u8::is_ascii_digit).count());
            let (piece, length) = if digits > 0 {
                let number = rest.get(1..=digits).and_then(|digits| digits.parse().ok()).unwrap_or(usize::MAX);
                (RewritePiece::Group(number), 1 + digits)
            } else if rest.starts_with(CAPTURED) {
                let name = rest.get("$tyk_context.".len()..).unwrap_or_default();
                let length = name.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(name.len());
                (RewritePiece::Captured(name.get(..length).unwrap_or_default().to_owned()), "$tyk_context.".len() + length)
            } else {
                literal.push(c);
                rest = rest.get(c.len_utf8()..).unwrap_or_default();
                continue;
            };
            pieces.push(RewritePiece::Text(ValueTemplate::new(&std::mem::take(&mut literal), scope)));
            pieces.push(piece);
            rest = rest.get(length..).unwrap_or_default();
        }
        pieces.push(RewritePiece::Text(ValueTemplate::new(&literal, scope)));
        Pieces(pieces)
    }

    pub(super) fn header_names(&self, names: &mut HeaderNames) {
        for piece in &self.0 {
            if let RewritePiece::Text(template) = piece {
                template.header_names(names);
            }
        }
    }

    /// The new URL.
    pub(super) fn render(&self, exchange: &Exchange<'_>, groups: &UriMatch<'_>, captured: &Captured<'_>) -> String {
        let mut url = String::new();
        for piece in &self.0 {
            match piece {
                RewritePiece::Text(template) => template.append_to_url(exchange, &mut url),
                RewritePiece::Group(number) => url.push_str(groups.get(*number)),
                RewritePiece::Captured(name) => append_to_url(captured.get(name), &mut url),
            }
        }
        // A fragment is not sent.
        url.truncate(url.find('#').unwrap_or(url.len()));
        url
    }
}

#[cfg(test)]
mod tests;
