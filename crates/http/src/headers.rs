//! Parses the header lines of one head in one pass: their positions, the names we know, the facts that framing needs, and the set
//! of hop-by-hop lines (RFC 9110 §7.6.1).

use crate::Malformed;
use crate::scan::{find, find_control, is};
use std::ops::Range;

/// Maximum header lines of one head; line sets are 128-bit masks.
pub const HEADER_LINES_MAX: usize = 128;
/// Maximum Connection lines of one head.
const CONNECTION_LINES_MAX: usize = 4;

/// The header names that the gateway looks up, as bit positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the documentation
pub enum KnownHeader {
    Other,
    Host,
    Connection,
    ContentLength,
    TransferEncoding,
    ForwardedFor,
    Te,
    Upgrade,
    HopByHop,
    Expect,
    RateLimit,
    Origin,
    ContentType,
    RealIp,
    Authorization,
    Cookie,
    TraceParent,
    TraceState,
    UserAgent,
    Date,
}

/// The kind of a name; `None` if it is not a token. Frequent names are listed even if no one looks them up.
#[inline(always)]
pub(crate) fn classify(name: &[u8]) -> Option<KnownHeader> {
    Some(match name.len() {
        2 if is(name, b"te") => KnownHeader::Te,
        4 if is(name, b"host") => KnownHeader::Host,
        4 if is(name, b"date") => KnownHeader::Date,
        6 if is(name, b"accept") || is(name, b"server") => KnownHeader::Other,
        6 if is(name, b"cookie") => KnownHeader::Cookie,
        6 if is(name, b"origin") => KnownHeader::Origin,
        6 if is(name, b"expect") => KnownHeader::Expect,
        7 if is(name, b"upgrade") => KnownHeader::Upgrade,
        9 if is(name, b"x-real-ip") => KnownHeader::RealIp,
        9 if is(name, b"x_real_ip") => KnownHeader::HopByHop,
        10 if is(name, b"connection") => KnownHeader::Connection,
        10 if is(name, b"user-agent") => KnownHeader::UserAgent,
        10 if is(name, b"keep-alive") => KnownHeader::HopByHop,
        10 if is(name, b"tracestate") => KnownHeader::TraceState,
        11 if is(name, b"traceparent") => KnownHeader::TraceParent,
        12 if is(name, b"content-type") => KnownHeader::ContentType,
        13 if is(name, b"authorization") => KnownHeader::Authorization,
        14 if is(name, b"content-length") => KnownHeader::ContentLength,
        // Servers that turn headers into variables could mistake names with underscores for headers that the gateway controls. No
        // legitimate client sends them.
        14 if is(name, b"content_length") => KnownHeader::HopByHop,
        15 if is(name, b"x-forwarded-for") => KnownHeader::ForwardedFor,
        15 if is(name, b"x_forwarded_for") => KnownHeader::HopByHop,
        16 if is(name, b"proxy-connection") => KnownHeader::HopByHop,
        17 if is(name, b"transfer-encoding") => KnownHeader::TransferEncoding,
        17 if is(name, b"transfer_encoding") => KnownHeader::HopByHop,
        17 if is(name, b"x-ratelimit-limit") || is(name, b"x-ratelimit-reset") => KnownHeader::RateLimit,
        18 if is(name, b"proxy-authenticate") => KnownHeader::HopByHop,
        19 if is(name, b"proxy-authorization") => KnownHeader::HopByHop,
        21 if is(name, b"x-ratelimit-remaining") => KnownHeader::RateLimit,
        _ => return None,
    })
}

/// Whether a written name is this one, in any letter case and with underscores for dashes.
#[inline]
pub(crate) fn is_called(written: &[u8], name: &[u8]) -> bool {
    let is_same = |(written, own): (&u8, &u8)| written.eq_ignore_ascii_case(own) || (*written == b'_' && *own == b'-');
    let is_written_otherwise = || written.contains(&b'_') && written.iter().zip(name).all(is_same);
    written.len() == name.len() && (written.eq_ignore_ascii_case(name) || is_written_otherwise())
}

/// The position of one header line in its head. It ends where the next one starts.
#[derive(Clone, Copy)]
struct HeaderLine {
    start: u32,
    name_end: u32,
    value: u32,
    value_end: u32,
    known: KnownHeader,
}

impl HeaderLine {
    const NONE: HeaderLine = HeaderLine { start: 0, name_end: 0, value: 0, value_end: 0, known: KnownHeader::Other };

    #[inline]
    fn name(&self) -> Range<usize> {
        self.start as usize..self.name_end as usize
    }

    #[inline]
    fn value(&self) -> Range<usize> {
        self.value as usize..self.value_end as usize
    }
}

/// Memory for the lines of one head, reused for the next one.
pub struct HeaderStorage {
    lines: [HeaderLine; HEADER_LINES_MAX],
}

impl HeaderStorage {
    /// Empty memory.
    pub fn new() -> Self {
        HeaderStorage { lines: [HeaderLine::NONE; HEADER_LINES_MAX] }
    }
}

impl Default for HeaderStorage {
    fn default() -> Self {
        Self::new()
    }
}

/// The header lines of one head.
pub struct Headers<'a> {
    /// From the first byte of the message to the end of the empty line.
    head: &'a [u8],
    lines: &'a [HeaderLine],
    present: u32,
    /// The number of Host lines, and the last one.
    hosts: u8,
    host: u8,
    /// Hop-by-hop lines, one bit each.
    pub(crate) hop: u128,
    /// Framing lines that are well-formed but unusual, such as `Content-Length: 007`, one bit each. They are rewritten.
    pub(crate) unusual: u128,
    pub(crate) content_length: Option<u64>,
}

/// Facts from the framing headers of a head.
#[derive(Clone, Copy, Default)]
pub(crate) struct Framing {
    pub content_length: Option<u64>,
    pub chunked: bool,
    pub close: bool,
    pub keep_alive: bool,
    pub upgrade: bool,
}

impl<'a> Headers<'a> {
    /// Parses the lines of a head, the first of which starts at `from`, up to and including the empty line after them; `None` if
    /// the empty line has not arrived yet.
    #[inline]
    pub(crate) fn read(bytes: &'a [u8], from: usize, storage: &'a mut HeaderStorage) -> Result<Option<(Self, Framing)>, Malformed> {
        let mut headers =
            Headers { head: &[], lines: &[], present: 0, hosts: 0, host: 0, hop: 0, unusual: 0, content_length: None };
        let mut framing = Framing::default();
        let mut connection_lines = 0;
        let mut named_lines = false;
        let mut count = 0;
        let mut at = from;
        let end = loop {
            let rest = bytes.get(at..).unwrap_or_default();
            if let None | Some(b'\r' | b'\n') = rest.first() {
                match line_end(bytes, at)? {
                    Some(end) => break end,
                    None => return Ok(None),
                }
            }
            let Some(name) = find(rest, 0, b':').and_then(|colon| rest.get(..colon)) else {
                return if is_token(rest) { Ok(None) } else { Err(Malformed::Syntax) };
            };
            let colon = at + name.len();
            let known = match classify(name) {
                Some(known) => known,
                None if is_token(name) => KnownHeader::Other,
                None => return Err(Malformed::Syntax),
            };
            let Some((value, next)) = value(bytes, colon + 1)? else { return Ok(None) };
            let line = storage.lines.get_mut(count).ok_or(Malformed::TooManyLines)?;
            *line = HeaderLine {
                start: at as u32,
                name_end: colon as u32,
                value: value.start as u32,
                value_end: value.end as u32,
                known,
            };
            headers.present |= 1 << known as u8;
            let text = || bytes.get(value.clone()).unwrap_or_default();
            match known {
                KnownHeader::Host => (headers.hosts, headers.host) = (headers.hosts.saturating_add(1), count as u8),
                KnownHeader::ContentLength if framing.content_length.is_some() => return Err(Malformed::ContentLength),
                KnownHeader::ContentLength => {
                    framing.content_length = Some(content_length(text())?);
                    if matches!(text(), [b'0', _, ..]) || !has_usual_space(bytes, line, next) {
                        headers.unusual |= 1 << count;
                    }
                }
                KnownHeader::TransferEncoding => {
                    if framing.chunked || !text().eq_ignore_ascii_case(b"chunked") {
                        return Err(Malformed::TransferEncoding);
                    }
                    framing.chunked = true;
                    if text() != b"chunked" || !has_usual_space(bytes, line, next) {
                        headers.unusual |= 1 << count;
                    }
                }
                KnownHeader::Connection => {
                    headers.hop |= 1 << count;
                    connection_lines += 1;
                    if connection_lines > CONNECTION_LINES_MAX {
                        return Err(Malformed::Connection);
                    }
                    named_lines |= connection_tokens(text(), &mut framing);
                }
                KnownHeader::HopByHop | KnownHeader::Upgrade => headers.hop |= 1 << count,
                KnownHeader::Te if !text().eq_ignore_ascii_case(b"trailers") => headers.hop |= 1 << count,
                _ => {}
            }
            count += 1;
            at = next;
        };
        headers.content_length = framing.content_length;
        headers.head = bytes.get(..end).unwrap_or_default();
        headers.lines = storage.lines.get(..count).unwrap_or_default();
        // Line offsets have 32 bits.
        if u32::try_from(end).is_err() {
            return Err(Malformed::TooManyLines);
        }
        if framing.chunked && framing.content_length.is_some() {
            return Err(Malformed::ContentLength);
        }
        if named_lines {
            headers.drop_named();
        }
        Ok(Some((headers, framing)))
    }

    /// Marks the lines that a Connection line names. A sender must not remove names that frame or route the message, so only other
    /// lines are marked.
    #[cold]
    fn drop_named(&mut self) {
        for (index, line) in self.lines.iter().enumerate() {
            let plain = !matches!(
                line.known,
                KnownHeader::Host
                    | KnownHeader::ContentLength
                    | KnownHeader::TransferEncoding
                    | KnownHeader::ForwardedFor
                    | KnownHeader::RealIp
            );
            let name = self.slice(line.name());
            if plain && self.all_known(KnownHeader::Connection).flat_map(tokens).any(|token| token.eq_ignore_ascii_case(name)) {
                self.hop |= 1 << index;
            }
        }
    }

    /// The number of lines.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Bytes of the head, including the empty line.
    #[inline]
    pub(crate) fn head_len(&self) -> usize {
        self.head.len()
    }

    #[inline]
    fn slice(&self, range: Range<usize>) -> &'a [u8] {
        self.head.get(range).unwrap_or_default()
    }

    /// The name and value of each line, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + '_ {
        // Tokens are ASCII.
        let name = |line: &HeaderLine| std::str::from_utf8(self.slice(line.name())).unwrap_or_default();
        self.lines.iter().map(move |line| (name(line), self.slice(line.value())))
    }

    /// Whether there is a line with a known name.
    #[inline]
    pub fn has(&self, known: KnownHeader) -> bool {
        self.present & 1 << known as u8 != 0
    }

    /// The value of the first line with a known name.
    #[inline]
    pub fn known(&self, known: KnownHeader) -> Option<&'a [u8]> {
        if !self.has(known) {
            return None;
        }
        self.all_known(known).next()
    }

    /// All values of lines with a known name, in order.
    #[inline]
    pub fn all_known(&self, known: KnownHeader) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.lines.iter().filter(move |line| line.known == known).map(|line| self.slice(line.value()))
    }

    /// The value of the first line with this name, in any letter case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let is_named = |line: &&HeaderLine| self.slice(line.name()).eq_ignore_ascii_case(name.as_bytes());
        self.lines.iter().find(is_named).map(|line| self.slice(line.value()))
    }

    /// The value of the only line that [`is_called`] so.
    pub(crate) fn sole(&self, name: &str) -> Option<&'a [u8]> {
        let mut lines = self.lines.iter().filter(|line| is_called(self.slice(line.name()), name.as_bytes()));
        let line = lines.next()?;
        lines.next().is_none().then(|| self.slice(line.value()))
    }

    /// The set of the single Host line; empty if there is none, or more than one.
    #[inline]
    pub(crate) fn host_line(&self) -> u128 {
        u128::from(self.hosts == 1) << self.host
    }

    /// The value of the single Host line; empty if there is none.
    #[inline]
    pub(crate) fn host(&self) -> Result<&'a [u8], Malformed> {
        match self.hosts {
            0 => Ok(b""),
            1 => Ok(self.lines.get(usize::from(self.host)).map_or(b"", |line| self.slice(line.value()))),
            _ => Err(Malformed::Host),
        }
    }

    /// The set of lines with a known name.
    #[inline]
    pub(crate) fn lines_of(&self, known: KnownHeader) -> u128 {
        if self.has(known) { self.set_of(|line| line.known == known) } else { 0 }
    }

    /// The set of lines with this name, in any letter case, and with underscores for dashes: servers that turn headers into variables
    /// take both for one.
    pub(crate) fn lines_called(&self, name: &str) -> u128 {
        self.set_of(|line| is_called(self.slice(line.name()), name.as_bytes()))
    }

    fn set_of(&self, is_meant: impl Fn(&HeaderLine) -> bool) -> u128 {
        let lines = self.lines.iter().enumerate();
        lines.fold(0, |set, (index, line)| if is_meant(line) { set | 1 << index } else { set })
    }

    /// Appends the framing lines that were left out because they are rewritten.
    #[cold]
    pub(crate) fn write_unusual(&self, lines: u128, out: &mut Vec<u8>) {
        for (index, line) in self.lines.iter().enumerate().filter(|(index, _)| lines >> index & 1 == 1) {
            debug_assert!(self.unusual >> index & 1 == 1);
            if line.known == KnownHeader::TransferEncoding {
                out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            } else if let Some(length) = self.content_length {
                out.extend_from_slice(format!("Content-Length: {length}\r\n").as_bytes());
            }
        }
    }

    /// Copies everything from `from` to the empty line except the lines in `dropped`, in as few spans as possible.
    #[inline]
    pub(crate) fn copy_without(&self, mut dropped: u128, from: usize, out: &mut Vec<u8>) {
        let end = self.head.len().saturating_sub(2);
        let start_of = |index: usize| self.lines.get(index).map_or(end, |line| line.start as usize);
        let mut span = from;
        while dropped != 0 {
            let index = dropped.trailing_zeros() as usize;
            dropped &= dropped - 1;
            out.extend_from_slice(self.slice(span..start_of(index)));
            span = start_of(index + 1);
        }
        out.extend_from_slice(self.slice(span..end));
    }

    /// Where the first line starts.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        self.lines.first().map_or(self.head.len().saturating_sub(2), |line| line.start as usize)
    }
}

/// The first byte at or after `from` that is not text: a line break, or an error.
#[inline(always)]
pub(crate) fn text_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = find_control(bytes, from, b' ')?;
    while bytes.get(at) == Some(&b'\t') {
        at = find_control(bytes, at + 1, b' ')?;
    }
    Some(at)
}

/// The end of the line break that starts with a CR at `at`; `None` if the LF has not arrived yet.
#[inline(always)]
pub(crate) fn line_end(bytes: &[u8], at: usize) -> Result<Option<usize>, Malformed> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.first_chunk() == Some(b"\r\n") { Ok(Some(at + 2)) } else { no_line_end(rest) }
}

#[cold]
fn no_line_end(rest: &[u8]) -> Result<Option<usize>, Malformed> {
    match rest {
        [] | [b'\r'] => Ok(None),
        [b'\n', ..] => Err(Malformed::BareLf),
        _ => Err(Malformed::Syntax),
    }
}

/// The value of the header line whose colon is before `from`, without surrounding white space, and where the next line starts.
#[inline(always)]
fn value(bytes: &[u8], from: usize) -> Result<Option<(Range<usize>, usize)>, Malformed> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let mut start = from;
    while bytes.get(start).is_some_and(is_space) {
        start += 1;
    }
    let Some(mut end) = text_end(bytes, start) else { return Ok(None) };
    let Some(next) = line_end(bytes, end)? else { return Ok(None) };
    while end > start && bytes.get(end - 1).is_some_and(is_space) {
        end -= 1;
    }
    Ok(Some((start..end, next)))
}

/// Whether there is at most one space before the value, and only the line break after it.
#[inline]
fn has_usual_space(bytes: &[u8], line: &HeaderLine, next: usize) -> bool {
    let before = bytes.get(line.name_end as usize + 1..line.value as usize).unwrap_or_default();
    matches!(before, b"" | b" ") && line.value_end as usize + b"\r\n".len() == next
}

/// Decimal digits only: no sign, list or space. 18 digits stay below 2^63.
fn content_length(value: &[u8]) -> Result<u64, Malformed> {
    if value.is_empty() || value.len() > 18 {
        return Err(Malformed::ContentLength);
    }
    value.iter().try_fold(0u64, |sum, byte| match byte {
        b'0'..=b'9' => Ok(sum * 10 + u64::from(byte - b'0')),
        _ => Err(Malformed::ContentLength),
    })
}

/// Parses a Connection value; true if it names lines in addition to the well-known tokens.
fn connection_tokens(value: &[u8], framing: &mut Framing) -> bool {
    // Nearly all senders send this.
    if is(value, b"keep-alive") {
        framing.keep_alive = true;
        return false;
    }
    let mut named = false;
    for token in tokens(value) {
        if token.eq_ignore_ascii_case(b"close") {
            framing.close = true;
        } else if token.eq_ignore_ascii_case(b"keep-alive") {
            framing.keep_alive = true;
        } else if token.eq_ignore_ascii_case(b"upgrade") {
            framing.upgrade = true;
        } else if !token.is_empty() {
            named = true;
        }
    }
    named
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// Bytes of a token (RFC 9110 §5.6.2). A table, because every head needs it.
#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const IS_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        let is_mark =
            matches!(c, b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~');
        table[byte] = c.is_ascii_alphanumeric() || is_mark;
        byte += 1;
    }
    table
};

/// Whether `name` is a valid header name or method.
#[inline]
pub fn is_token(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| IS_TOKEN.get(usize::from(*byte)).copied().unwrap_or(false))
}

/// Whether `value` is a valid header value: no CR, LF, NUL or other control byte except tab.
pub fn is_value(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte == b'\t' || (*byte >= 0x20 && *byte != 0x7f))
}
