//! Writes heads: an edited request for the upstream, an edited response for the client, and responses that the gateway generates.

use crate::append::append;
use crate::copy::append_long;
use crate::headers::KnownHeader;
use crate::{Body, HeaderEdits, Headers, Request, Response};

/// The parts of a request head that are not copied from the client's.
pub struct RequestHead<'a> {
    /// The method to send.
    pub method: &'a [u8],
    /// Path and query to send.
    pub target: &'a [u8],
    /// The Host to send.
    pub host: &'a [u8],
    /// The client's address, appended to X-Forwarded-For; `None` leaves the header unchanged.
    pub forwarded_for: Option<&'a [u8]>,
    /// Keep the request to switch protocols.
    pub upgrade: bool,
    /// Whether the edits define the length of the body.
    pub replaces_body: bool,
}

/// Appends the head of the request to the upstream, always as HTTP/1.1.
#[inline]
pub fn write_request(request: &Request<'_>, head: &RequestHead<'_>, edits: &HeaderEdits, out: &mut Vec<u8>) {
    let headers = &request.headers;
    out.reserve(request.head_len + head.target.len() + head.host.len() + edits.added.len() + 96);
    out.extend_from_slice(head.method);
    out.push(b' ');
    out.extend_from_slice(head.target);
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(head.host);
    out.extend_from_slice(b"\r\n");
    let dropped = dropped_lines(request, head.forwarded_for, edits) | headers.unusual;
    if let Some(client) = head.forwarded_for {
        out.extend_from_slice(b"X-Forwarded-For: ");
        forwarded_for(headers, client, out);
        out.extend_from_slice(b"\r\n");
    }
    headers.copy_without(dropped, headers.start(), out);
    if headers.unusual != 0 {
        headers.write_unusual(headers.unusual & !edits.dropped, out);
    }
    append(&edits.added, out);
    if let (true, Some(protocol)) = (head.upgrade, request.upgrade) {
        write_upgrade(protocol, out);
    }
    // RFC 9110 §8.6: upstreams may expect a length if the method usually has a body.
    if matches!(head.method, b"POST" | b"PUT" | b"PATCH") {
        let has_length = headers.has(KnownHeader::ContentLength) && !head.replaces_body;
        if !has_length && (request.body == Body::None || head.replaces_body) && !edits.adds("content-length") {
            out.extend_from_slice(b"Content-Length: 0\r\n");
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// The client's lines that are not sent to the upstream as they are.
#[inline]
fn dropped_lines(request: &Request<'_>, forwarded_for: Option<&[u8]>, edits: &HeaderEdits) -> u128 {
    let headers = &request.headers;
    let mut dropped = headers.hop | headers.host_line() | edits.dropped;
    if request.body == Body::None {
        // Some upstreams wait for content that never comes (RFC 9110 §10.1.1).
        dropped |= headers.lines_of(KnownHeader::Expect);
    }
    if forwarded_for.is_some() {
        dropped |= headers.lines_of(KnownHeader::ForwardedFor);
    }
    dropped
}

/// Appends the value of X-Forwarded-For: the client's lines, then its address.
#[inline]
fn forwarded_for(headers: &Headers<'_>, client: &[u8], out: &mut Vec<u8>) {
    for value in headers.all_known(KnownHeader::ForwardedFor).filter(|value| !value.is_empty()) {
        out.extend_from_slice(value);
        out.extend_from_slice(b", ");
    }
    out.extend_from_slice(client);
}

/// Calls `visit` with name and value of the lines that [`write_request`] writes, except for Host and the lines that frame the body. Whatever
/// decides about a request as the upstream sees it must read these lines, not the client's: those that the client's Connection names stay here.
pub fn each_forwarded_line(request: &Request<'_>, client: Option<&[u8]>, edits: &HeaderEdits, visit: &mut dyn FnMut(&str, &[u8])) {
    let headers = &request.headers;
    match client {
        Some(client) if headers.has(KnownHeader::ForwardedFor) => {
            let mut value = Vec::new();
            forwarded_for(headers, client, &mut value);
            visit("X-Forwarded-For", &value);
        }
        Some(client) => visit("X-Forwarded-For", client),
        None => {}
    }
    let framing = headers.lines_of(KnownHeader::ContentLength) | headers.lines_of(KnownHeader::TransferEncoding);
    edits.each_line_without(headers, dropped_lines(request, client, edits) | framing, visit);
}

/// How the body of a response reaches the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientBody {
    /// With the upstream's framing.
    AsIs,
    /// Without the chunked coding, for a client that does not support it; ends with the connection.
    Unchunked,
    /// In the chunked coding, because the upstream's body ends with its connection and the client's connection continues, or because the body is
    /// another one.
    Chunked,
    /// An empty body: the upstream sent none because none was requested, but the client expects one.
    Empty,
}

/// Appends the next piece of a body as one chunk (RFC 9112 §7.1). An empty piece is not written, because an empty chunk would end
/// the body.
pub fn write_chunk(piece: &[u8], out: &mut Vec<u8>) {
    if piece.is_empty() {
        return;
    }
    let digits = (usize::BITS - piece.len().leading_zeros()).div_ceil(4);
    for place in (0..digits).rev() {
        let digit = (piece.len() >> (place * 4)) & 0xf;
        out.push(b"0123456789abcdef".get(digit).copied().unwrap_or_default());
    }
    out.extend_from_slice(b"\r\n");
    append_long(piece, out);
    out.extend_from_slice(b"\r\n");
}

/// The last chunk of a chunked body, without trailers.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Appends the head of the response to the client. `date` and `connection` are whole lines, or empty.
#[inline]
pub fn write_response(
    response: &Response<'_>,
    edits: &HeaderEdits,
    date: &[u8],
    connection: &[u8],
    body: ClientBody,
    out: &mut Vec<u8>,
) {
    let headers: &Headers<'_> = &response.headers;
    out.reserve(response.head_len + edits.added.len() + 64);
    let mut dropped = headers.hop | edits.dropped;
    if response.status < 200 || response.status == 204 {
        // These have no content, and nothing that frames it (RFC 9110 §8.6, RFC 9112 §6.1).
        dropped |= headers.lines_of(KnownHeader::TransferEncoding) | headers.lines_of(KnownHeader::ContentLength);
    }
    match body {
        ClientBody::AsIs => {}
        ClientBody::Unchunked => dropped |= headers.lines_of(KnownHeader::TransferEncoding),
        ClientBody::Chunked | ClientBody::Empty => {
            dropped |= headers.lines_of(KnownHeader::TransferEncoding) | headers.lines_of(KnownHeader::ContentLength)
        }
    }
    let unusual = headers.unusual & !dropped;
    dropped |= unusual;
    match response.behind_version {
        Some(start) => {
            out.extend_from_slice(b"HTTP/1.1");
            headers.copy_without(dropped, start, out);
        }
        None => {
            out.extend_from_slice(b"HTTP/1.1 ");
            decimal(usize::from(response.status), b" \r\n", out);
            headers.copy_without(dropped, headers.start(), out);
        }
    }
    if unusual != 0 {
        headers.write_unusual(unusual, out);
    }
    match body {
        ClientBody::AsIs | ClientBody::Unchunked => {}
        ClientBody::Chunked => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
        ClientBody::Empty if matches!(response.status, 204 | 304) => {}
        ClientBody::Empty => out.extend_from_slice(b"Content-Length: 0\r\n"),
    }
    out.extend_from_slice(date);
    append(&edits.added, out);
    match response.upgrade {
        Some(protocol) => write_upgrade(protocol, out),
        None => append(connection, out),
    }
    out.extend_from_slice(b"\r\n");
}

/// Appends the head of a response whose body is replaced by one of this length; `None` if its status allows no body. `date` and `connection`
/// are whole lines, or empty.
pub fn write_rewritten(
    response: &Response<'_>,
    status: u16,
    edits: &HeaderEdits,
    date: &[u8],
    connection: &[u8],
    body_bytes: Option<usize>,
    out: &mut Vec<u8>,
) {
    let headers: &Headers<'_> = &response.headers;
    let framing = headers.lines_of(KnownHeader::TransferEncoding) | headers.lines_of(KnownHeader::ContentLength);
    status_line(status, out);
    headers.copy_without(headers.hop | edits.dropped | framing, headers.start(), out);
    out.extend_from_slice(date);
    append(&edits.added, out);
    append(connection, out);
    match body_bytes {
        Some(bytes) => {
            out.extend_from_slice(b"Content-Length: ");
            decimal(bytes, b"\r\n\r\n", out);
        }
        None => out.extend_from_slice(b"\r\n"),
    }
}

/// How much of its body a reply sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyBody {
    /// The whole body.
    Whole,
    /// Only its length: a reply to HEAD.
    Length,
    /// Nothing: a reply to HEAD with an unknown length.
    Nothing,
}

/// Appends a complete response that the gateway generates. `date` and `connection` are whole lines, or empty; the body is omitted
/// if the request was HEAD.
pub fn write_reply(
    status: u16,
    edits: &HeaderEdits,
    body: &[u8],
    date: &[u8],
    connection: &[u8],
    shown: ReplyBody,
    out: &mut Vec<u8>,
) {
    out.reserve(edits.added.len() + body.len() + 160);
    status_line(status, out);
    append(&edits.added, out);
    out.extend_from_slice(date);
    append(connection, out);
    if status >= 200 && status != 204 && status != 304 && shown != ReplyBody::Nothing {
        out.extend_from_slice(b"Content-Length: ");
        decimal(body.len(), b"\r\n\r\n", out);
        if shown == ReplyBody::Whole {
            append(body, out);
        }
    } else {
        out.extend_from_slice(b"\r\n");
    }
}

/// Appends the head of a response that the gateway generates and whose body follows. The edits contain its length, unless the status allows no
/// body. `date` and `connection` are whole lines, or empty.
pub fn write_reply_head(status: u16, edits: &HeaderEdits, date: &[u8], connection: &[u8], out: &mut Vec<u8>) {
    status_line(status, out);
    append(&edits.added, out);
    out.extend_from_slice(date);
    append(connection, out);
    out.extend_from_slice(b"\r\n");
}

fn write_upgrade(protocol: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: ");
    out.extend_from_slice(protocol);
    out.extend_from_slice(b"\r\n");
}

#[inline]
fn status_line(status: u16, out: &mut Vec<u8>) {
    match known_line(status) {
        Some(line) => out.extend_from_slice(line),
        None => {
            out.extend_from_slice(b"HTTP/1.1 ");
            decimal(usize::from(status), b" \r\n", out);
        }
    }
}

/// Appends a number and `behind` in one write.
#[inline]
fn decimal<const N: usize>(mut number: usize, behind: &[u8; N], out: &mut Vec<u8>) {
    let mut text = [0u8; 24];
    let Some((digits, end)) = text.split_last_chunk_mut() else { return };
    *end = *behind;
    let mut start = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
        start -= 1;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(text.get(start..).unwrap_or_default());
}

macro_rules! statuses {
    ($($code:literal $reason:literal,)*) => {
        /// The standard reason phrase (RFC 9110 §15, RFC 6585); empty if the code has none.
        pub fn reason(status: u16) -> &'static str {
            match status {
                $($code => $reason,)*
                _ => "",
            }
        }

        /// The whole status line of a code with a standard reason phrase.
        fn known_line(status: u16) -> Option<&'static [u8]> {
            let line = match status {
                $($code => concat!("HTTP/1.1 ", $code, " ", $reason, "\r\n"),)*
                _ => return None,
            };
            Some(line.as_bytes())
        }
    };
}

statuses! {
    100 "Continue",
    101 "Switching Protocols",
    200 "OK",
    201 "Created",
    202 "Accepted",
    203 "Non-Authoritative Information",
    204 "No Content",
    205 "Reset Content",
    206 "Partial Content",
    300 "Multiple Choices",
    301 "Moved Permanently",
    302 "Found",
    303 "See Other",
    304 "Not Modified",
    307 "Temporary Redirect",
    308 "Permanent Redirect",
    400 "Bad Request",
    401 "Unauthorized",
    402 "Payment Required",
    403 "Forbidden",
    404 "Not Found",
    405 "Method Not Allowed",
    406 "Not Acceptable",
    407 "Proxy Authentication Required",
    408 "Request Timeout",
    409 "Conflict",
    410 "Gone",
    411 "Length Required",
    412 "Precondition Failed",
    413 "Request Entity Too Large",
    414 "Request URI Too Long",
    415 "Unsupported Media Type",
    416 "Requested Range Not Satisfiable",
    417 "Expectation Failed",
    418 "I'm a teapot",
    421 "Misdirected Request",
    422 "Unprocessable Entity",
    423 "Locked",
    424 "Failed Dependency",
    425 "Too Early",
    426 "Upgrade Required",
    428 "Precondition Required",
    429 "Too Many Requests",
    431 "Request Header Fields Too Large",
    451 "Unavailable For Legal Reasons",
    500 "Internal Server Error",
    501 "Not Implemented",
    502 "Bad Gateway",
    503 "Service Unavailable",
    504 "Gateway Timeout",
    505 "HTTP Version Not Supported",
    507 "Insufficient Storage",
    508 "Loop Detected",
    511 "Network Authentication Required",
}

#[cfg(test)]
mod tests;
