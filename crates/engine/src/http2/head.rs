//! Translates heads between HTTP/2 and HTTP/1.1. The protocol layer has already rejected what HTTP/2 forbids; hop-by-hop fields are
//! dropped. The receiver parses the written head again, as strictly as any other.

use std::io::Write;
use tollgate_http::{Body, Request as ParsedRequest, Response as ParsedResponse, may_be_trailer, reason};
use tollgate_http2::{FieldList, HeaderBlock, Pseudo};

/// Whether a field belongs to one HTTP/1.1 connection (RFC 9113 §8.2.2) or is Host, which has a pseudo-header. Called for every
/// field in both directions: its length alone rules out most.
fn is_of_connection(name: &str) -> bool {
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match name.len() {
        4 => is("host"),
        7 => is("upgrade"),
        10 => is("connection") || is("keep-alive"),
        16 => is("proxy-connection"),
        17 => is("transfer-encoding"),
        _ => false,
    }
}

/// Number of header lines in HTTP/1.1, where all cookies are one line.
pub(crate) fn lines(fields: &FieldList) -> usize {
    let (lines, cookies) = fields.iter().fold((0, 0), |(lines, cookies), (name, _)| match name {
        "cookie" => (lines, 1),
        _ => (lines + 1, cookies),
    });
    lines + cookies
}

/// How the request's body is framed on the pipe.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestFraming {
    None,
    Length,
    Chunked,
}

/// Appends a client's head as HTTP/1.1. The error is a status code.
pub(crate) fn write_request(fields: &FieldList, has_body: bool, out: &mut Vec<u8>) -> Result<RequestFraming, u16> {
    let method = fields.pseudo(Pseudo::Method).unwrap_or_default();
    if method == b"CONNECT" {
        return Err(501);
    }
    write_beginning(fields, method, out)?;
    let framing = match (has_body, fields.content_length()) {
        (false, _) => RequestFraming::None,
        (true, Some(_)) => RequestFraming::Length,
        (true, None) => RequestFraming::Chunked,
    };
    if framing == RequestFraming::Chunked {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    out.extend_from_slice(b"\r\n");
    Ok(framing)
}

/// Appends the request line and the header lines.
fn write_beginning(fields: &FieldList, method: &[u8], out: &mut Vec<u8>) -> Result<(), u16> {
    let target = fields.pseudo(Pseudo::Path).unwrap_or(b"/");
    let host = authority(fields)?;
    out.reserve(fields.size());
    out.extend_from_slice(method);
    out.push(b' ');
    out.extend_from_slice(target);
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(host);
    out.extend_from_slice(b"\r\n");
    write_fields(fields, out);
    Ok(())
}

/// Appends the head of a WebSocket request as an HTTP/1.1 upgrade (RFC 8441 §5): the method is GET, and a key is generated, because
/// HTTP/2 has none. The error is a status code.
pub(crate) fn write_websocket(fields: &FieldList, key: &[u8], out: &mut Vec<u8>) -> Result<(), u16> {
    // The bytes that follow belong to the WebSocket; they are not a request body.
    if fields.content_length().is_some() {
        return Err(400);
    }
    write_beginning(fields, b"GET", out)?;
    out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
    write_line("Sec-WebSocket-Key", key, out);
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// The requested host: `:authority`, which a Host line must not contradict (RFC 9113 §8.3.1).
fn authority(fields: &FieldList) -> Result<&[u8], u16> {
    let mut hosts = fields.iter().filter(|(name, _)| *name == "host").map(|(_, value)| value);
    let authority = fields.pseudo(Pseudo::Authority).filter(|authority| !authority.is_empty());
    let first = hosts.next();
    let host = authority.or(first).ok_or(400_u16)?;
    let is_contradicted = first.into_iter().chain(hosts).any(|other| !other.eq_ignore_ascii_case(host));
    if is_contradicted { Err(400) } else { Ok(host) }
}

fn write_fields(fields: &FieldList, out: &mut Vec<u8>) {
    let mut cookies = 0;
    for (name, value) in fields.iter() {
        match name {
            "cookie" => cookies += 1,
            // A client's key has no meaning in HTTP/2: the gateway generates its own.
            "sec-websocket-key" => {}
            _ if is_of_connection(name) => {}
            _ => write_line(name, value, out),
        }
    }
    // Cookies may come in several fields, but are one line in HTTP/1.1 (RFC 9113 §8.2.3).
    if cookies > 0 {
        out.extend_from_slice(b"cookie: ");
        for (_, value) in fields.iter().filter(|(name, _)| *name == "cookie") {
            out.extend_from_slice(value);
            cookies -= 1;
            out.extend_from_slice(if cookies > 0 { b"; " } else { b"\r\n" });
        }
    }
}

fn write_line(name: &str, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends the lines of a trailer section, without the empty line at the end.
pub(crate) fn write_trailers(fields: &FieldList, out: &mut Vec<u8>) {
    for (name, value) in fields.iter().filter(|(name, _)| may_be_trailer(name)) {
        write_line(name, value, out);
    }
}

/// Converts the lines of a trailer section to HTTP/2.
pub(crate) fn read_trailers(lines: &[u8]) -> HeaderBlock {
    let mut block = HeaderBlock::default();
    for line in lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at_checked(colon).unwrap_or_default();
        let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
        let is_usable = std::str::from_utf8(name).is_ok_and(may_be_trailer);
        if is_usable && tollgate_http::is_token(name) && tollgate_http::is_value(value) {
            block.field(name, value);
        }
    }
    block
}

fn copy_fields<'h>(lines: impl Iterator<Item = (&'h str, &'h [u8])>, block: &mut HeaderBlock) {
    for (name, value) in lines.filter(|(name, _)| !is_of_connection(name)) {
        block.field(name.as_bytes(), value);
    }
}

/// Converts a response head for a client, with this status.
pub(crate) fn read_response(parsed: &ParsedResponse<'_>, status: u16, block: &mut HeaderBlock) {
    block.status(status);
    copy_fields(parsed.headers.iter(), block);
}

/// Converts the response head that opens a client's WebSocket. The answer to the generated key is dropped.
pub(crate) fn read_switch(parsed: &ParsedResponse<'_>, block: &mut HeaderBlock) {
    block.status(200);
    let is_answer = |name: &str| name.eq_ignore_ascii_case("sec-websocket-accept") || name.eq_ignore_ascii_case("content-length");
    copy_fields(parsed.headers.iter().filter(|(name, _)| !is_answer(name)), block);
}

/// Converts a request head for an upstream.
pub(crate) fn read_request(parsed: &ParsedRequest<'_>, scheme: &str, block: &mut HeaderBlock) {
    block.request(parsed.method.as_bytes(), scheme.as_bytes(), parsed.authority, parsed.target.as_bytes());
    copy_fields(parsed.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("te")), block);
    if parsed.headers.get("te").is_some_and(|value| value.eq_ignore_ascii_case(b"trailers")) {
        block.field(b"te", b"trailers");
    }
}

/// Appends an upstream's head as HTTP/1.1 and returns the body's framing. The connection ends with the response.
pub(crate) fn write_response(fields: &FieldList, to_head: bool, has_body: bool, out: &mut Vec<u8>) -> Body {
    let status = fields.status();
    let _ = write!(out, "HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in fields.iter().filter(|(name, _)| !is_of_connection(name)) {
        write_line(name, value, out);
    }
    if status < 200 {
        out.extend_from_slice(b"\r\n");
        return Body::None;
    }
    let body = match (has_body, fields.content_length()) {
        _ if to_head || matches!(status, 204 | 304) => Body::None,
        (false, None) => {
            out.extend_from_slice(b"Content-Length: 0\r\n");
            Body::None
        }
        (false, Some(_)) => Body::None,
        (true, Some(length)) => Body::Length(length),
        (true, None) => {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            Body::Chunked
        }
    };
    out.extend_from_slice(b"Connection: close\r\n\r\n");
    body
}

#[cfg(test)]
mod tests;
