//! The header lines of one head: names classified in one pass, the facts that framing needs, and the set of lines that
//! end at this hop (RFC 9110 §7.6.1).

use crate::Malformed;
use std::mem::MaybeUninit;

/// Header lines that one head can have at most; line sets are 128-bit masks.
pub const HEADER_LINES_MAX: usize = 128;
/// Connection lines that one head can have at most.
const CONNECTION_LINES_MAX: usize = 4;

/// Header names that the gateway looks for, as a bit position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)] // the names are the documentation
pub enum Known {
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
}

/// `name` is a token (the parser checked that) and `lower` is lower case: setting bit 5 cannot turn any other token byte
/// into a letter of `lower`.
#[inline(always)]
fn is<const N: usize>(name: &[u8], lower: &[u8; N]) -> bool {
    let Ok(name): Result<&[u8; N], _> = name.try_into() else { return false };
    let mut difference = 0u8;
    for (a, b) in name.iter().zip(lower) {
        difference |= (a | 0x20) ^ b;
    }
    difference == 0
}

#[inline(always)]
fn classify(name: &[u8]) -> Known {
    match name.len() {
        2 if is(name, b"te") => Known::Te,
        4 if is(name, b"host") => Known::Host,
        6 if is(name, b"cookie") => Known::Cookie,
        6 if is(name, b"origin") => Known::Origin,
        6 if is(name, b"expect") => Known::Expect,
        7 if is(name, b"upgrade") => Known::Upgrade,
        9 if is(name, b"x-real-ip") => Known::RealIp,
        10 if is(name, b"connection") => Known::Connection,
        10 if is(name, b"keep-alive") => Known::HopByHop,
        11 if is(name, b"traceparent") => Known::TraceParent,
        12 if is(name, b"content-type") => Known::ContentType,
        13 if is(name, b"authorization") => Known::Authorization,
        14 if is(name, b"content-length") => Known::ContentLength,
        15 if is(name, b"x-forwarded-for") => Known::ForwardedFor,
        16 if is(name, b"proxy-connection") => Known::HopByHop,
        17 if is(name, b"transfer-encoding") => Known::TransferEncoding,
        17 if is(name, b"x-ratelimit-limit") || is(name, b"x-ratelimit-reset") => Known::RateLimit,
        18 if is(name, b"proxy-authenticate") => Known::HopByHop,
        19 if is(name, b"proxy-authorization") => Known::HopByHop,
        21 if is(name, b"x-ratelimit-remaining") => Known::RateLimit,
        _ => Known::Other,
    }
}

/// Room for the lines of one head, on the caller's stack.
pub struct HeaderStorage<'b> {
    pub(crate) lines: [MaybeUninit<httparse::Header<'b>>; HEADER_LINES_MAX],
    pub(crate) kinds: [Known; HEADER_LINES_MAX],
}

impl HeaderStorage<'_> {
    /// Empty room.
    #[inline]
    pub fn new() -> Self {
        HeaderStorage { lines: [const { MaybeUninit::uninit() }; HEADER_LINES_MAX], kinds: [Known::Other; HEADER_LINES_MAX] }
    }
}

impl Default for HeaderStorage<'_> {
    fn default() -> Self {
        Self::new()
    }
}

/// The header lines of one head.
pub struct Headers<'a> {
    /// The bytes that the lines lie in; the head ends at its end.
    head: &'a [u8],
    lines: &'a [httparse::Header<'a>],
    /// What each line is; as many as lines.
    kinds: &'a [Known],
    present: u32,
    /// Lines that end at this hop, one bit each.
    pub(crate) hop: u128,
}

/// What the framing headers of a head say.
#[derive(Clone, Copy, Default)]
pub(crate) struct Framing {
    pub content_length: Option<u64>,
    pub chunked: bool,
    pub close: bool,
    pub keep_alive: bool,
    pub upgrade: bool,
    pub hosts: u32,
}

impl<'a> Headers<'a> {
    /// Classifies the lines of `head`, which ends with the empty line, and reads what frames the body.
    #[inline]
    pub(crate) fn scan(
        head: &'a [u8],
        lines: &'a [httparse::Header<'a>],
        kinds: &'a mut [Known; HEADER_LINES_MAX],
    ) -> Result<(Self, Framing), Malformed> {
        let mut headers = Headers { head, lines, kinds: &[], present: 0, hop: 0 };
        let mut framing = Framing::default();
        let mut connections: [&[u8]; CONNECTION_LINES_MAX] = [b""; CONNECTION_LINES_MAX];
        let mut connection_lines = 0;
        let mut named_lines = false;
        let mut line_break = 0u8;
        for (index, (line, kind)) in lines.iter().zip(kinds.iter_mut()).enumerate() {
            let name = line.name.as_bytes();
            // The parser takes a bare LF for a line break; here the line before must have ended in CRLF.
            let start = offset(head, name);
            line_break |= head.get(start.wrapping_sub(2)).copied().unwrap_or(0) ^ b'\r';
            let known = classify(name);
            *kind = known;
            headers.present |= 1 << known as u8;
            let bit = 1u128 << index;
            match known {
                Known::Host => framing.hosts += 1,
                Known::ContentLength if framing.content_length.is_some() => return Err(Malformed::ContentLength),
                Known::ContentLength => framing.content_length = Some(content_length(line.value)?),
                Known::TransferEncoding => {
                    if framing.chunked || !line.value.eq_ignore_ascii_case(b"chunked") {
                        return Err(Malformed::TransferEncoding);
                    }
                    framing.chunked = true;
                }
                Known::Connection => {
                    headers.hop |= bit;
                    *connections.get_mut(connection_lines).ok_or(Malformed::Connection)? = line.value;
                    connection_lines += 1;
                    named_lines |= connection_tokens(line.value, &mut framing);
                }
                Known::HopByHop | Known::Upgrade => headers.hop |= bit,
                Known::Te if !line.value.eq_ignore_ascii_case(b"trailers") => headers.hop |= bit,
                _ => {}
            }
        }
        headers.kinds = kinds.get(..lines.len()).unwrap_or_default();
        if line_break != 0 || !head.ends_with(b"\r\n\r\n") {
            return Err(Malformed::BareLf);
        }
        if framing.chunked && framing.content_length.is_some() {
            return Err(Malformed::ContentLength);
        }
        if named_lines {
            headers.drop_named(connections.get(..connection_lines).unwrap_or_default());
        }
        Ok((headers, framing))
    }

    /// Marks the lines whose names stand in a Connection line. Names that frame or route the message are not a sender's to
    /// remove, so only plain lines are taken out.
    #[cold]
    fn drop_named(&mut self, connections: &[&[u8]]) {
        for (index, line) in self.lines.iter().enumerate() {
            let plain = !matches!(
                self.kinds.get(index),
                Some(Known::Host | Known::ContentLength | Known::TransferEncoding | Known::ForwardedFor | Known::RealIp)
            );
            if plain && connections.iter().any(|value| tokens(value).any(|t| t.eq_ignore_ascii_case(line.name.as_bytes()))) {
                self.hop |= 1 << index;
            }
        }
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// There is no line at all.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Name and value of each line, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + '_ {
        self.lines.iter().map(|line| (line.name, line.value))
    }

    /// The value of the first line with a known name.
    #[inline]
    pub fn known(&self, kind: Known) -> Option<&'a [u8]> {
        if self.present & 1 << kind as u8 == 0 {
            return None;
        }
        let index = self.kinds.iter().position(|k| *k == kind)?;
        Some(self.lines.get(index)?.value)
    }

    /// All values of lines with a known name, in order.
    pub fn all_known(&self, kind: Known) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.lines.iter().zip(self.kinds).filter(move |(_, k)| **k == kind).map(|(line, _)| line.value)
    }

    /// The value of the first line called `name`, in any letter case.
    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.lines.iter().find(|line| line.name.eq_ignore_ascii_case(name)).map(|line| line.value)
    }

    /// The set of lines with a known name.
    #[inline]
    pub(crate) fn lines_of(&self, kind: Known) -> u128 {
        if self.present & 1 << kind as u8 == 0 {
            return 0;
        }
        let lines = self.kinds.iter().enumerate();
        lines.fold(0, |set, (index, k)| if *k == kind { set | 1 << index } else { set })
    }

    /// The set of lines called `name`, in any letter case.
    pub(crate) fn lines_called(&self, name: &str) -> u128 {
        let lines = self.lines.iter().enumerate();
        lines.fold(0, |set, (index, line)| if line.name.eq_ignore_ascii_case(name) { set | 1 << index } else { set })
    }

    /// Copies all lines but those in `dropped`, in as few spans as possible.
    #[inline]
    pub(crate) fn copy_without(&self, mut dropped: u128, out: &mut Vec<u8>) {
        let end = self.head.len().saturating_sub(2);
        let start_of = |index: usize| self.lines.get(index).map_or(end, |line| offset(self.head, line.name.as_bytes()));
        let mut span = start_of(0);
        while dropped != 0 {
            let index = dropped.trailing_zeros() as usize;
            dropped &= dropped - 1;
            out.extend_from_slice(self.head.get(span..start_of(index)).unwrap_or_default());
            span = start_of(index + 1);
        }
        out.extend_from_slice(self.head.get(span..end).unwrap_or_default());
    }
}

/// Offset of `part` inside `whole`.
#[inline(always)]
fn offset(whole: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize)
}

/// Decimal digits only: no sign, no list, no space; 18 digits stay below 2^63.
fn content_length(value: &[u8]) -> Result<u64, Malformed> {
    if value.is_empty() || value.len() > 18 {
        return Err(Malformed::ContentLength);
    }
    value.iter().try_fold(0u64, |sum, byte| match byte {
        b'0'..=b'9' => Ok(sum * 10 + u64::from(byte - b'0')),
        _ => Err(Malformed::ContentLength),
    })
}

/// Reads a Connection value; true when it names lines beyond the well-known tokens.
fn connection_tokens(value: &[u8], framing: &mut Framing) -> bool {
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

/// `name` can be a header name or a method (RFC 9110 §5.6.2).
pub fn is_token(name: &[u8]) -> bool {
    let extra = b"!#$%&'*+-.^_`|~";
    !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || extra.contains(byte))
}

/// `value` can stand in a header line: no CR, LF, NUL or other control byte but the tab.
pub fn is_value(value: &[u8]) -> bool {
    value.iter().all(|byte| *byte == b'\t' || (*byte >= 0x20 && *byte != 0x7f))
}
