//! Tyk's form of a stored response in Redis: the response as HTTP/1.1 in base64, a bar, and its expiry in Unix seconds. Entries of Tyk can
//! be read here, and vice versa.

use crate::lines::LineBlock;
use crate::store::Stored;
use crate::syntax::push_number;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tollgate_http::{Body, BodyReader, HeaderStorage, Response, reason};

/// A response from Tyk's store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TykPayload {
    /// The status.
    pub status: u16,
    /// Header lines as they were stored, including framing, which is dropped when they are stored here.
    pub lines: LineBlock,
    /// The body without its framing.
    pub body: Vec<u8>,
    /// Expiry in Unix seconds.
    pub expires_s: u64,
}

/// Why a text from the store is not a usable response. Tyk deletes such an entry and asks the upstream, and so does the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It has expired, or has no expiry.
    Expired,
    /// It does not have exactly one bar, or its first part is not base64.
    Encoding,
    /// The encoded text is not a complete response.
    Response,
}

impl TykPayload {
    /// Encodes a complete response that expires at `expires_s`, in Unix seconds. `None` while the body grows.
    pub fn encode(stored: &Stored, expires_s: i64) -> Option<String> {
        let body = stored.body.copy()?;
        let head = &stored.head;
        let mut wire = format!("HTTP/1.1 {} {}\r\n", head.status, reason(head.status)).into_bytes();
        wire.extend_from_slice(head.lines.as_bytes());
        if !matches!(head.status, 204 | 304) {
            wire.extend_from_slice(b"Content-Length: ");
            push_number(body.len() as u64, &mut wire);
            wire.extend_from_slice(b"\r\n");
        }
        wire.extend_from_slice(b"\r\n");
        wire.extend_from_slice(&body);
        Some(format!("{}|{expires_s}", STANDARD.encode(wire)))
    }

    /// Decodes a text at `now_ms`. The answer to HEAD has a body's framing, but no body.
    ///
    /// # Errors
    /// The entry is unusable; the caller must delete it and ask the upstream.
    pub fn decode(text: &[u8], to_head: bool, now_ms: u64) -> Result<Self, Unusable> {
        let mut parts = text.split(|&byte| byte == b'|');
        let (encoded, expires, more) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
        if more.is_some() {
            return Err(Unusable::Encoding);
        }
        let expires_s = expires.and_then(|seconds| std::str::from_utf8(seconds).ok()?.parse::<i64>().ok());
        let expires_s = expires_s.and_then(|seconds| u64::try_from(seconds).ok()).ok_or(Unusable::Expired)?;
        if expires_s.saturating_mul(1000) < now_ms {
            return Err(Unusable::Expired);
        }
        let wire = STANDARD.decode(encoded).map_err(|_| Unusable::Encoding)?;
        let mut storage = HeaderStorage::new();
        let response = Response::parse(&wire, to_head, &mut storage).ok().flatten().ok_or(Unusable::Response)?;
        let mut reader = BodyReader::new(response.body);
        let mut body = Vec::new();
        let rest = wire.get(response.head_len..).unwrap_or_default();
        reader.decode(rest, &mut body).map_err(|_| Unusable::Response)?;
        // A body that is delimited by the end of the connection ends with the text.
        if !reader.is_done() && response.body != Body::UntilClose {
            return Err(Unusable::Response);
        }
        Ok(TykPayload { status: response.status, lines: LineBlock::copy(&response.headers), body, expires_s })
    }
}
