//! A response head, parsed as strictly as a request: an upstream that answers ambiguously is a fault, not a puzzle.

use crate::headers::{HeaderStorage, Headers, Known};
use crate::{Body, Malformed};

/// One response head; borrows the bytes it was parsed from.
pub struct Response<'a> {
    /// The status code, 100 to 599 and beyond up to 999 as upstreams send.
    pub status: u16,
    /// The reason phrase, possibly empty.
    pub reason: &'a str,
    /// The header lines.
    pub headers: Headers<'a>,
    /// How the body is framed.
    pub body: Body,
    /// The connection can carry another exchange when this one is complete.
    pub keep_alive: bool,
    /// The protocol switched to, with status 101.
    pub upgrade: Option<&'a [u8]>,
    /// Bytes of the head, with the empty line.
    pub head_len: usize,
}

impl<'a> Response<'a> {
    /// Parses the head at the start of `bytes`, the answer to HEAD if `to_head`; `None` when it is not complete yet.
    #[inline]
    pub fn parse(bytes: &'a [u8], to_head: bool, storage: &'a mut HeaderStorage<'a>) -> Result<Option<Self>, Malformed> {
        let mut parsed = httparse::Response::new(&mut []);
        let head_len =
            match httparse::ParserConfig::default().parse_response_with_uninit_headers(&mut parsed, bytes, &mut storage.lines) {
                Ok(httparse::Status::Complete(head_len)) => head_len,
                Ok(httparse::Status::Partial) => return Ok(None),
                Err(httparse::Error::TooManyHeaders) => return Err(Malformed::TooManyLines),
                Err(_) => return Err(Malformed::Syntax),
            };
        let (Some(status), Some(minor)) = (parsed.code, parsed.version) else { return Err(Malformed::Syntax) };
        if status < 100 {
            return Err(Malformed::Status);
        }
        let head = bytes.get(..head_len).unwrap_or_default();
        let (headers, framing) = Headers::scan(head, parsed.headers, &mut storage.kinds)?;
        let bodiless = to_head || status < 200 || status == 204 || status == 304;
        let body = match framing.content_length {
            _ if bodiless => Body::None,
            _ if framing.chunked => Body::Chunked,
            Some(0) => Body::None,
            Some(bytes) => Body::Length(bytes),
            None => Body::UntilClose,
        };
        let persistent = if minor == 0 { framing.keep_alive && !framing.close } else { !framing.close };
        let keep_alive = persistent && body != Body::UntilClose;
        let upgrade = if status == 101 { headers.known(Known::Upgrade) } else { None };
        let reason = parsed.reason.unwrap_or_default();
        Ok(Some(Response { status, reason, headers, body, keep_alive, upgrade, head_len }))
    }
}

#[cfg(test)]
mod tests;
