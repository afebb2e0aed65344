//! Parses a request head strictly. Anything that two HTTP implementations could read differently is rejected, never repaired.

use crate::headers::{Framing, HeaderStorage, Headers, KnownHeader, line_end};
use crate::request_target::RequestTarget;
use crate::scan::{find, word};
use crate::{Body, Malformed, is_token};
use std::ops::Range;

/// The versions of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: closes by default and has no chunks.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// One request head. It borrows the bytes that it was parsed from.
pub struct Request<'a> {
    /// The method as sent; a token.
    pub method: &'a str,
    /// Path and query exactly as sent. Starts with `/`, or is `*`. For an absolute URL, the part after the authority.
    pub target: &'a str,
    /// Length of the path in the target.
    path_len: usize,
    /// The path has no escape, and no slash is followed by a slash or a dot.
    path_is_plain: bool,
    /// The requested host and port: from an absolute URL, otherwise from the Host line. Empty in HTTP/1.0 without one.
    pub authority: &'a [u8],
    /// The client's version.
    pub version: Version,
    /// The header lines.
    pub headers: Headers<'a>,
    /// How the body is framed.
    pub body: Body,
    /// Whether the client wants to send another request on this connection.
    pub keep_alive: bool,
    /// The protocol that the client asks to switch to, if the request is valid.
    pub upgrade: Option<&'a [u8]>,
    /// Whether the client waits for 100 (Continue) before it sends its body.
    pub expects_continue: bool,
    /// Bytes of the head, including the empty line.
    pub head_len: usize,
}

impl<'a> Request<'a> {
    /// Appends the request line, with its CRLF.
    pub fn write_first_line(&self, out: &mut Vec<u8>) {
        let version: &[u8] = if self.version == Version::Http10 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" };
        [self.method.as_bytes(), b" ", self.target.as_bytes(), version].iter().for_each(|part| out.extend_from_slice(part));
    }

    /// Parses the head at the start of `bytes`; `None` if it is not complete yet.
    #[inline]
    pub fn parse(bytes: &'a [u8], storage: &'a mut HeaderStorage) -> Result<Option<Self>, Malformed> {
        let Some((line, lines_start)) = RequestLine::parse(bytes)? else { return Ok(None) };
        let Some((headers, framing)) = Headers::read(bytes, lines_start, storage)? else { return Ok(None) };
        let RequestLine { method, target, path_len, path_is_plain, has_fragment, version } = line;
        // `007` is an octal number to some, and not all cut the same spaces: strict servers reject both (RFC 9110 §8.6, §5.5).
        if headers.unusual != 0 && headers.unusual & headers.lines_of(KnownHeader::ContentLength) != 0 {
            return Err(Malformed::ContentLength);
        }
        let host = host(version, &headers)?;
        if method == "CONNECT" {
            return Err(Malformed::Connect);
        }
        if has_fragment {
            return Err(Malformed::Target);
        }
        let (authority, target, path_len, path_is_plain) = match target.starts_with('/') || (target == "*" && method == "OPTIONS") {
            true => (host, target, path_len, path_is_plain),
            false => absolute(method, target).ok_or(Malformed::Target)?,
        };
        let body = request_body(version, &framing)?;
        let upgrade = if framing.upgrade && version == Version::Http11 { headers.known(KnownHeader::Upgrade) } else { None };
        let expects_continue = version == Version::Http11
            && body != Body::None
            && headers.known(KnownHeader::Expect).is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
        let keep_alive = match version {
            Version::Http10 => framing.keep_alive && !framing.close,
            Version::Http11 => !framing.close,
        };
        let head_len = headers.head_len();
        Ok(Some(Request {
            method,
            target,
            path_len,
            path_is_plain,
            authority,
            version,
            headers,
            body,
            keep_alive,
            upgrade,
            expects_continue,
            head_len,
        }))
    }

    /// The path without the query, exactly as sent.
    #[inline]
    pub fn path(&self) -> &'a str {
        self.target.get(..self.path_len).unwrap_or_default()
    }

    /// Whether the path is in normal form: it has no escape, and no slash is followed by a slash or a dot.
    #[inline]
    pub fn path_is_plain(&self) -> bool {
        self.path_is_plain
    }

    /// The query after the first `?`, exactly as sent.
    #[inline]
    pub fn query(&self) -> Option<&'a str> {
        self.target.get(self.path_len + 1..)
    }

    /// Whether the method is idempotent (RFC 9110 §9.2.2).
    #[inline]
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method, "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "TRACE")
    }
}

/// The first line of a request.
struct RequestLine<'a> {
    method: &'a str,
    target: &'a str,
    path_len: usize,
    path_is_plain: bool,
    has_fragment: bool,
    version: Version,
}

impl<'a> RequestLine<'a> {
    /// The line, and where the next one starts. Empty lines before it are skipped (RFC 9112 §2.2).
    #[inline(always)]
    fn parse(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let Some(start) = skip_empty_lines(bytes)? else { return Ok(None) };
        let Some((method, target_start)) = method(bytes, start)? else { return Ok(None) };
        let Some(target) = RequestTarget::read(bytes, target_start) else { return Ok(None) };
        if bytes.get(target.end) != Some(&b' ') || target.end == target_start {
            return Err(Malformed::Syntax);
        }
        let Some(version) = version(bytes, target.end + 1)? else { return Ok(None) };
        let Some(end) = line_end(bytes, target.end + 1 + VERSION_BYTES)? else { return Ok(None) };
        let RequestTarget { end: target_end, path_end, path_is_plain, has_fragment, is_ascii } = target;
        // A URI is ASCII (RFC 3986 §2). Servers interpret other bytes differently.
        if !is_ascii {
            return Err(Malformed::Target);
        }
        let target = text(bytes, target_start..target_end)?;
        let path_len = path_end - target_start;
        Ok(Some((RequestLine { method, target, path_len, path_is_plain, has_fragment, version }, end)))
    }
}

/// The text at `range`. UTF-8 is validated sixteen bytes at a time, and the last few bytes one by one, so the check covers a few
/// bytes beyond the range, which are nearly always text too.
#[inline(always)]
fn text(bytes: &[u8], range: Range<usize>) -> Result<&str, Malformed> {
    let wide = bytes.get(..range.end.next_multiple_of(16)).and_then(|wide| std::str::from_utf8(wide).ok());
    match wide.and_then(|wide| wide.get(range.clone())) {
        Some(text) => Ok(text),
        None => std::str::from_utf8(bytes.get(range).unwrap_or_default()).map_err(|_| Malformed::Target),
    }
}

/// Bytes of `HTTP/1.1`.
pub(crate) const VERSION_BYTES: usize = 8;

/// Where the first non-empty line starts.
#[inline(always)]
pub(crate) fn skip_empty_lines(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let mut at = 0;
    loop {
        match bytes.get(at) {
            Some(b'\r' | b'\n') => match line_end(bytes, at)? {
                Some(end) => at = end,
                None => return Ok(None),
            },
            Some(_) => return Ok(Some(at)),
            None => return Ok(None),
        }
    }
}

/// The method at `start`, and the position after the space that follows it.
#[inline(always)]
fn method(bytes: &[u8], start: usize) -> Result<Option<(&str, usize)>, Malformed> {
    if bytes.get(start..).is_some_and(|rest| rest.starts_with(b"GET ")) {
        return Ok(Some(("GET", start + 4)));
    }
    let rest = bytes.get(start..).unwrap_or_default();
    let end = find(rest, 0, b' ');
    let method = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    if !is_token(method) {
        return Err(Malformed::Syntax);
    }
    // Tokens are ASCII.
    Ok(end.map(|end| (std::str::from_utf8(method).unwrap_or_default(), start + end + 1)))
}

/// The version at `at`. A later minor version is read as 1.1 (RFC 9110 §2.5). Another major version is rejected as a version;
/// anything else (RFC 9112 §2.3: letters in upper case, a digit, a dot, a digit) is rejected as a request line.
#[inline(always)]
pub(crate) fn version(bytes: &[u8], at: usize) -> Result<Option<Version>, Malformed> {
    const HTTP10: u64 = u64::from_le_bytes(*b"HTTP/1.0");
    const HTTP11: u64 = u64::from_le_bytes(*b"HTTP/1.1");
    match word(bytes, at) {
        Some(HTTP11) => Ok(Some(Version::Http11)),
        Some(HTTP10) => Ok(Some(Version::Http10)),
        _ => unusual_version(bytes.get(at..).unwrap_or_default()),
    }
}

#[cold]
fn unusual_version(rest: &[u8]) -> Result<Option<Version>, Malformed> {
    let written = rest.get(..VERSION_BYTES).unwrap_or(rest);
    let fits = |(place, byte): (usize, &u8)| match place {
        5 | 7 => byte.is_ascii_digit(),
        _ => b"HTTP/1.1".get(place) == Some(byte),
    };
    match written {
        written if !written.iter().enumerate().all(fits) => Err(Malformed::Syntax),
        [_, _, _, _, _, b'1', _, _] => Ok(Some(Version::Http11)),
        written if written.len() == VERSION_BYTES => Err(Malformed::Version),
        _ => Ok(None),
    }
}

#[inline]
fn request_body(version: Version, framing: &Framing) -> Result<Body, Malformed> {
    if framing.chunked {
        return if version == Version::Http10 { Err(Malformed::TransferEncoding) } else { Ok(Body::Chunked) };
    }
    Ok(match framing.content_length {
        None | Some(0) => Body::None,
        Some(bytes) => Body::Length(bytes),
    })
}

/// The value of the single Host line; empty in HTTP/1.0 without one.
#[inline]
fn host<'a>(version: Version, headers: &Headers<'a>) -> Result<&'a [u8], Malformed> {
    if !headers.has(KnownHeader::Host) {
        return if version == Version::Http11 { Err(Malformed::Host) } else { Ok(b"") };
    }
    let host = headers.host()?;
    if is_authority(host) { Ok(host) } else { Err(Malformed::Host) }
}

/// Splits `http://authority/path` (RFC 9112 §3.2.2: the authority of an absolute target overrides Host). Returns also the length of
/// the path, and whether it is in normal form. OPTIONS without a path concerns the whole server (§3.2.4).
#[cold]
fn absolute<'a>(method: &str, target: &'a str) -> Option<(&'a [u8], &'a str, usize, bool)> {
    let scheme_len = [7, 8].into_iter().find(|len| {
        target.get(..*len).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://") || scheme.eq_ignore_ascii_case("https://"))
    })?;
    let rest = target.get(scheme_len..)?;
    let (authority, target) = match rest.find(['/', '?']) {
        Some(end) => rest.split_at_checked(end)?,
        None if method == "OPTIONS" => (rest, "*"),
        None => (rest, "/"),
    };
    let sane = is_authority(authority.as_bytes()) && target.starts_with(['/', '*']);
    let seen = RequestTarget::read(format!("{target} ").as_bytes(), 0).filter(|_| sane)?;
    Some((authority.as_bytes(), target, seen.path_end, seen.path_is_plain))
}

/// Bytes of a host name. A table, because every request needs it. The comma is missing: RFC 3986 allows it, but no host has one,
/// and some servers read it as a list of two hosts.
#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const IS_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric()
            || matches!(c, b'.' | b'-' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b';' | b'=' | b'%');
        byte += 1;
    }
    table
};

/// Whether this is a host and port (RFC 3986 §3.2) without user information. The host is not empty (RFC 9110 §4.2.1).
#[inline]
fn is_authority(authority: &[u8]) -> bool {
    let is_name = |byte: &u8| IS_NAME.get(usize::from(*byte)).copied().unwrap_or(false);
    let (host_is_valid, tail) = match authority.strip_prefix(b"[") {
        Some(rest) => {
            let end = rest.iter().position(|byte| *byte == b']').unwrap_or(rest.len());
            let (address, tail) = rest.split_at_checked(end).unwrap_or_default();
            let is_address = |byte: &u8| byte.is_ascii_hexdigit() || b":.".contains(byte);
            (!address.is_empty() && address.iter().all(is_address), tail.strip_prefix(b"]"))
        }
        None => {
            let end = authority.iter().position(|byte| !is_name(byte)).unwrap_or(authority.len());
            (end > 0, authority.get(end..))
        }
    };
    let port_is_valid = match tail {
        None => false,
        Some(b"") => true,
        Some(port) => port.strip_prefix(b":").is_some_and(|digits| digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit)),
    };
    host_is_valid && port_is_valid
}

#[cfg(test)]
mod tests;
