//! A stored response as Tyk keeps it in Redis: the response as HTTP/1.1 in base64, a bar, and the second in which it expires. What Tyk writes is read
//! here, and the reverse.

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
    /// The header lines as they were stored, framing included; it is dropped when they are stored here.
    pub lines: LineBlock,
    /// The body without its framing.
    pub body: Vec<u8>,
    /// The second since 1970 after which it is not used.
    pub expires_s: u64,
}

/// Why a text from the store is no usable response. Tyk deletes such an entry and asks the upstream, and so does the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Its time is over, or it has none.
    Expired,
    /// It has not exactly one bar, or its first part is no base64.
    Encoding,
    /// What is encoded is no complete response.
    Response,
}

impl TykPayload {
    /// The text for a complete response that lives until the second `expires_s`. `None` while the body grows.
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

    /// Reads the text at `now_ms`. The answer to HEAD has the framing of a body and none behind it.
    ///
    /// # Errors
    /// It can't be used; it is to be deleted and the upstream asked.
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
        // A body until the end of the connection ends with the text.
        if !reader.is_done() && response.body != Body::UntilClose {
            return Err(Unusable::Response);
        }
        Ok(TykPayload { status: response.status, lines: LineBlock::copy(&response.headers), body, expires_s })
    }
}
