//! A request head, parsed strictly. What is ambiguous between two HTTP implementations is refused, never repaired.

use crate::headers::{Framing, HeaderStorage, Headers, Known};
use crate::{Body, Malformed};

/// The versions of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: closes by default and knows no chunks.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// One request head; borrows the bytes it was parsed from.
pub struct Request<'a> {
    /// The method as sent; a token.
    pub method: &'a str,
    /// Path and query exactly as sent; begins with `/`, or is `*`. Of an absolute URL, the part after the authority.
    pub target: &'a str,
    /// Bytes of the target that are the path.
    path_len: usize,
    /// Host and port that the client asked for: of an absolute URL, else of the Host line; empty in HTTP/1.0 without one.
    pub authority: &'a [u8],
    /// The client's version.
    pub version: Version,
    /// The header lines.
    pub headers: Headers<'a>,
    /// How the body is framed.
    pub body: Body,
    /// The client wants to send another request on this connection.
    pub keep_alive: bool,
    /// The protocol that the client asks to switch to, if it does so properly.
    pub upgrade: Option<&'a [u8]>,
    /// The client waits for 100 (Continue) before it sends its body.
    pub expects_continue: bool,
    /// Bytes of the head, with the empty line.
    pub head_len: usize,
}

impl<'a> Request<'a> {
    /// Parses the head at the start of `bytes`; `None` when it is not complete yet.
    #[inline]
    pub fn parse(bytes: &'a [u8], storage: &'a mut HeaderStorage<'a>) -> Result<Option<Self>, Malformed> {
        let mut parsed = httparse::Request::new(&mut []);
        let head_len = match parsed.parse_with_uninit_headers(bytes, &mut storage.lines) {
            Ok(httparse::Status::Complete(head_len)) => head_len,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(malformed(error)),
        };
        let (Some(method), Some(target), Some(minor)) = (parsed.method, parsed.path, parsed.version) else {
            return Err(Malformed::Syntax);
        };
        let head = bytes.get(..head_len).unwrap_or_default();
        let (headers, framing) = Headers::scan(head, parsed.headers, &mut storage.kinds)?;
        let version = if minor == 0 { Version::Http10 } else { Version::Http11 };
        let (authority, target) = authority_and_target(method, target, version, &headers, &framing)?;
        let body = request_body(version, &framing)?;
        let upgrade = if framing.upgrade && version == Version::Http11 { headers.known(Known::Upgrade) } else { None };
        let expects_continue = version == Version::Http11
            && body != Body::None
            && headers.known(Known::Expect).is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
        let keep_alive = match version {
            Version::Http10 => framing.keep_alive && !framing.close,
            Version::Http11 => !framing.close,
        };
        let path_len = target.as_bytes().iter().position(|byte| *byte == b'?').unwrap_or(target.len());
        Ok(Some(Request {
            method,
            target,
            path_len,
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

    /// The query after the first `?`, exactly as sent.
    #[inline]
    pub fn query(&self) -> Option<&'a str> {
        self.target.get(self.path_len + 1..)
    }

    /// A method whose repetition has no further effect (RFC 9110 §9.2.2).
    #[inline]
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method, "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "TRACE")
    }
}

fn malformed(error: httparse::Error) -> Malformed {
    match error {
        httparse::Error::TooManyHeaders => Malformed::TooManyLines,
        httparse::Error::Version => Malformed::Version,
        _ => Malformed::Syntax,
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

#[inline]
fn authority_and_target<'a>(
    method: &str,
    target: &'a str,
    version: Version,
    headers: &Headers<'a>,
    framing: &Framing,
) -> Result<(&'a [u8], &'a str), Malformed> {
    if framing.hosts > 1 || (framing.hosts == 0 && version == Version::Http11) {
        return Err(Malformed::Host);
    }
    let host = headers.known(Known::Host).unwrap_or_default();
    if !is_authority(host) {
        return Err(Malformed::Host);
    }
    // The parser has refused spaces and control bytes already.
    if target.as_bytes().contains(&b'#') {
        return Err(Malformed::Target);
    }
    if target.starts_with('/') || (target == "*" && method == "OPTIONS") {
        return Ok((host, target));
    }
    absolute(target).ok_or(Malformed::Target)
}

/// Splits `http://authority/path` (RFC 9112 §3.2.2: the authority of an absolute target wins over Host).
#[cold]
fn absolute(target: &str) -> Option<(&[u8], &str)> {
    let scheme_len = [7, 8].into_iter().find(|len| {
        target.get(..*len).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http://") || scheme.eq_ignore_ascii_case("https://"))
    })?;
    let rest = target.get(scheme_len..)?;
    let (authority, target) = match rest.find(['/', '?']) {
        Some(end) => rest.split_at_checked(end)?,
        None => (rest, "/"),
    };
    let sane = !authority.is_empty() && is_authority(authority.as_bytes()) && target.starts_with('/');
    sane.then_some((authority.as_bytes(), target))
}

/// Bytes that a host name can have; a table, because every request asks.
#[allow(clippy::indexing_slicing)] // evaluated by the compiler, which checks it
const IS_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric()
            || matches!(
                c,
                b'.' | b'-' | b'_' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=' | b'%'
            );
        byte += 1;
    }
    table
};

/// Host and port as RFC 3986 §3.2 has them, without user information; empty is fine.
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
            let end = authority.iter().position(|byte| *byte == b':').unwrap_or(authority.len());
            let (name, tail) = authority.split_at_checked(end).unwrap_or_default();
            (name.iter().all(is_name), Some(tail))
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
