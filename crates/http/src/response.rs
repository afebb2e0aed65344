//! Parses a response head as strictly as a request head: an ambiguous response is an upstream's fault.

use crate::headers::{HeaderStorage, Headers, KnownHeader, line_end, text_end};
use crate::request::{VERSION_BYTES, skip_empty_lines, version};
use crate::{Body, HeaderEdits, Malformed, Version};

/// One response head. It borrows the bytes that it was parsed from.
pub struct Response<'a> {
    /// The status code: upstreams may send 100 to 999.
    pub status: u16,
    /// Where the status line continues after the version, if it can be forwarded: it has a space before the reason, and the reason
    /// is ASCII.
    pub(crate) behind_version: Option<usize>,
    /// The header lines.
    pub headers: Headers<'a>,
    /// How the body is framed.
    pub body: Body,
    /// Whether the connection can carry another exchange after this one.
    pub keep_alive: bool,
    /// The protocol that status 101 switches to.
    pub upgrade: Option<&'a [u8]>,
    /// Bytes of the head, including the empty line.
    pub head_len: usize,
}

impl<'a> Response<'a> {
    /// Parses the head at the start of `bytes`; `None` if it is not complete yet. `to_head`: it answers a HEAD request.
    #[inline]
    pub fn parse(bytes: &'a [u8], to_head: bool, storage: &'a mut HeaderStorage) -> Result<Option<Self>, Malformed> {
        let Some((line, lines_start)) = StatusLine::parse(bytes)? else { return Ok(None) };
        let Some((headers, framing)) = Headers::read(bytes, lines_start, storage)? else { return Ok(None) };
        let StatusLine { version, status, behind_version } = line;
        if status < 100 {
            return Err(Malformed::Status);
        }
        let bodiless = to_head || status < 200 || status == 204 || status == 304;
        let body = match framing.content_length {
            _ if bodiless => Body::None,
            _ if framing.chunked => Body::Chunked,
            Some(0) => Body::None,
            Some(bytes) => Body::Length(bytes),
            None => Body::UntilClose,
        };
        let persistent = match version {
            Version::Http10 => framing.keep_alive && !framing.close,
            Version::Http11 => !framing.close,
        };
        let keep_alive = persistent && body != Body::UntilClose;
        let upgrade = if status == 101 { headers.known(KnownHeader::Upgrade) } else { None };
        let head_len = headers.head_len();
        Ok(Some(Response { status, behind_version, headers, body, keep_alive, upgrade, head_len }))
    }

    /// Whether it must get a Date when it is passed on (RFC 9110 §6.6.1): it is final, and neither the upstream nor an edit has written one.
    #[inline]
    pub fn lacks_date(&self, edits: &HeaderEdits) -> bool {
        self.status >= 200 && !self.headers.has(KnownHeader::Date) && !edits.adds("date")
    }

    /// The same response with another status, without the reason of its own.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Response { status, behind_version: None, ..self }
    }
}

/// The first line of a response.
struct StatusLine {
    version: Version,
    status: u16,
    /// See [`Response::behind_version`].
    behind_version: Option<usize>,
}

impl StatusLine {
    /// The line, and where the next one starts. Empty lines before it are skipped.
    #[inline(always)]
    fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let Some(start) = skip_empty_lines(bytes)? else { return Ok(None) };
        let Some(version) = version(bytes, start).map_err(|_| Malformed::Syntax)? else { return Ok(None) };
        let code_start = start + VERSION_BYTES;
        let rest = bytes.get(code_start..).unwrap_or_default();
        let mut status = 0;
        for (place, byte) in rest.iter().take(b" 200".len()).enumerate() {
            match (place, byte) {
                (0, b' ') => {}
                (1.., b'0'..=b'9') => status = status * 10 + u16::from(byte - b'0'),
                _ => return Err(Malformed::Syntax),
            }
        }
        let reason_start = code_start + b" 200".len();
        let has_space = match bytes.get(reason_start) {
            Some(b' ') => true,
            Some(b'\r' | b'\n') => false,
            Some(_) => return Err(Malformed::Syntax),
            None => return Ok(None),
        };
        let Some(reason_end) = text_end(bytes, reason_start) else { return Ok(None) };
        let Some(end) = line_end(bytes, reason_end)? else { return Ok(None) };
        let is_ascii = bytes.get(reason_start..reason_end).is_some_and(<[u8]>::is_ascii);
        let behind_version = (has_space && is_ascii).then_some(code_start);
        Ok(Some((StatusLine { version, status, behind_version }, end)))
    }
}

#[cfg(test)]
mod tests;
