//! Heads between HTTP/2 and HTTP/1.1. What HTTP/2 forbids is refused; what ends at each hop stays behind. The written head is parsed
//! again by whoever serves it, as strictly as any other.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, Version, request, response};
use std::io::Write;
use tollgate_http::{Body, Request as ParsedRequest, Response as ParsedResponse, may_be_trailer, reason};

/// Lines that mean something to one HTTP/1.1 connection only (RFC 9113 §8.2.2), and Host, which has a field of its own. Asked of every
/// line in both directions: most are told apart by their length.
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

/// Lines that the head will have over HTTP/1.1, where cookies are one.
pub fn lines(headers: &HeaderMap) -> usize {
    match headers.get_all(header::COOKIE).iter().count() {
        0 => headers.len(),
        cookies => headers.len() - cookies + 1,
    }
}

/// Bytes of the fields as HPACK counts them without compression (RFC 7541 §6.2).
pub fn decoded_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}

/// How a request's body is framed on the pipe.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    None,
    Length,
    Chunked,
}

/// Appends a client's head as HTTP/1.1. The error is a status.
pub fn write_request(head: &request::Parts, has_body: bool, out: &mut Vec<u8>) -> Result<Framing, u16> {
    if head.method == Method::CONNECT {
        return Err(501);
    }
    write_beginning(head, head.method.as_str(), out)?;
    let framing = match (has_body, head.headers.contains_key(header::CONTENT_LENGTH)) {
        (false, _) => Framing::None,
        (true, true) => Framing::Length,
        (true, false) => Framing::Chunked,
    };
    if framing == Framing::Chunked {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
    out.extend_from_slice(b"\r\n");
    Ok(framing)
}

/// Request line and header lines.
fn write_beginning(head: &request::Parts, method: &str, out: &mut Vec<u8>) -> Result<(), u16> {
    let target = head.uri.path_and_query().map_or("/", |target| target.as_str());
    let host = authority(head)?;
    out.extend_from_slice(method.as_bytes());
    out.push(b' ');
    out.extend_from_slice(target.as_bytes());
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    out.extend_from_slice(host);
    out.extend_from_slice(b"\r\n");
    write_headers(&head.headers, out);
    Ok(())
}

/// Appends the head of a request for a WebSocket as HTTP/1.1 asks for one (RFC 8441 §5): the method is GET, and a key is made, which HTTP/2
/// has none of. The error is a status.
pub fn write_websocket(head: &request::Parts, key: &[u8], out: &mut Vec<u8>) -> Result<(), u16> {
    // What follows is the WebSocket's, and no content of the request.
    if head.headers.contains_key(header::CONTENT_LENGTH) {
        return Err(400);
    }
    write_beginning(head, "GET", out)?;
    out.extend_from_slice(b"Connection: Upgrade\r\nUpgrade: websocket\r\n");
    write_line("Sec-WebSocket-Key", key, out);
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// The host that is meant: `:authority`, which a Host line must not contradict (RFC 9113 §8.3.1).
fn authority(head: &request::Parts) -> Result<&[u8], u16> {
    let host = head.headers.get(header::HOST).map(HeaderValue::as_bytes);
    match (head.uri.authority(), host) {
        (Some(authority), Some(host)) if !host.eq_ignore_ascii_case(authority.as_str().as_bytes()) => Err(400),
        (Some(authority), _) => Ok(authority.as_str().as_bytes()),
        (None, Some(host)) => Ok(host),
        (None, None) => Err(400),
    }
}

fn write_headers(headers: &HeaderMap, out: &mut Vec<u8>) {
    let passes = |name: &HeaderName| {
        // A key of HTTP/1.1 means nothing here: the gateway makes its own.
        !is_of_connection(name.as_str()) && *name != header::COOKIE && *name != header::SEC_WEBSOCKET_KEY
    };
    for (name, value) in headers.iter().filter(|(name, _)| passes(name)) {
        write_line(name.as_str(), value.as_bytes(), out);
    }
    // Cookies may come in pieces, and are one line in HTTP/1.1 (RFC 9113 §8.2.3).
    let cookies: Vec<&[u8]> = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if !cookies.is_empty() {
        write_line("cookie", &cookies.join(b"; ".as_slice()), out);
    }
}

fn write_line(name: &str, value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Appends a trailer section's lines, without the empty line at the end.
pub fn write_trailers(trailers: &HeaderMap, out: &mut Vec<u8>) {
    for (name, value) in trailers.iter().filter(|(name, _)| may_be_trailer(name.as_str())) {
        write_line(name.as_str(), value.as_bytes(), out);
    }
}

/// The lines of a trailer section as HTTP/2 has them.
pub fn read_trailers(lines: &[u8]) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    for line in lines.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty()) {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) = line.split_at_checked(colon).unwrap_or_default();
        let value = value.strip_prefix(b":").unwrap_or_default().trim_ascii();
        let is_usable = std::str::from_utf8(name).is_ok_and(may_be_trailer);
        if let (true, Ok(name), Ok(value)) = (is_usable, HeaderName::from_bytes(name), HeaderValue::from_bytes(value)) {
            trailers.append(name, value);
        }
    }
    trailers
}

fn copy_headers<'h>(lines: impl Iterator<Item = (&'h str, &'h [u8])>, headers: &mut HeaderMap) {
    for (name, value) in lines.filter(|(name, _)| !is_of_connection(name)) {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(value)) {
            headers.append(name, value);
        }
    }
}

/// A response's head for a client.
pub fn read_response(parsed: &ParsedResponse<'_>) -> Option<Response<()>> {
    let mut response = Response::builder().status(parsed.status).version(Version::HTTP_2).body(()).ok()?;
    copy_headers(parsed.headers.iter(), response.headers_mut());
    Some(response)
}

/// The head for a client whose WebSocket is open; what answers the key that was made for it stays here.
pub fn read_switch(parsed: &ParsedResponse<'_>) -> Option<Response<()>> {
    let mut response = Response::builder().status(200).version(Version::HTTP_2).body(()).ok()?;
    let is_answer = |name: &str| name.eq_ignore_ascii_case("sec-websocket-accept") || name.eq_ignore_ascii_case("content-length");
    copy_headers(parsed.headers.iter().filter(|(name, _)| !is_answer(name)), response.headers_mut());
    Some(response)
}

/// A request's head for an upstream.
pub fn read_request(parsed: &ParsedRequest<'_>, scheme: &str) -> Option<Request<()>> {
    let authority = std::str::from_utf8(parsed.authority).ok()?;
    let uri = http::Uri::builder().scheme(scheme).authority(authority).path_and_query(parsed.target).build().ok()?;
    let mut request = Request::builder().method(parsed.method).uri(uri).version(Version::HTTP_2).body(()).ok()?;
    copy_headers(parsed.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("te")), request.headers_mut());
    if parsed.headers.get("te").is_some_and(|value| value.eq_ignore_ascii_case(b"trailers")) {
        request.headers_mut().insert(header::TE, HeaderValue::from_static("trailers"));
    }
    Some(request)
}

/// Appends an upstream's head as HTTP/1.1; the connection ends with it. How its body is framed.
pub fn write_response(head: &response::Parts, to_head: bool, has_body: bool, out: &mut Vec<u8>) -> Body {
    let status = head.status.as_u16();
    let _ = write!(out, "HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in head.headers.iter().filter(|(name, _)| !is_of_connection(name.as_str())) {
        write_line(name.as_str(), value.as_bytes(), out);
    }
    if head.status.is_informational() {
        out.extend_from_slice(b"\r\n");
        return Body::None;
    }
    let length = head.headers.get(header::CONTENT_LENGTH);
    let body = match (has_body, length) {
        _ if to_head || matches!(status, 204 | 304) => Body::None,
        (false, None) => {
            out.extend_from_slice(b"Content-Length: 0\r\n");
            Body::None
        }
        (false, Some(_)) => Body::None,
        (true, Some(length)) => Body::Length(length.to_str().ok().and_then(|text| text.parse().ok()).unwrap_or_default()),
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
