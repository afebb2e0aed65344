//! A WebSocket on a stream (RFC 8441): an extended CONNECT becomes an HTTP/1.1 upgrade request to the upstream, and once that
//! succeeds, bytes pass unchanged. No byte from the client is forwarded earlier: it could be mistaken for another request.

use super::answer::{AnswerTo, both, read_answer};
use crate::http2::body::{self, Cut, Sending};
use crate::http2::head;
use crate::http2::link::LinkStream;
use crate::pipe::{PipeReader, PipeWriter};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::hash::{BuildHasher, RandomState};
use tollgate_http::Body;
use tollgate_http2::{FieldList, Pseudo};

/// Appends the upgrade request if `fields` ask for a tunnel. The error is a status code.
pub(super) fn asked(fields: &FieldList, out: &mut Vec<u8>) -> Option<Result<(), u16>> {
    Some(match fields.pseudo(Pseudo::Protocol)? {
        b"websocket" => head::write_websocket(fields, key().as_bytes(), out),
        _ => Err(501),
    })
}

/// Serves the tunnel until one side ends. Calls `open` when the upstream has agreed.
pub(super) async fn serve(
    head: &[u8],
    stream: &LinkStream,
    reader: &mut PipeReader,
    writer: &mut PipeWriter,
    sending: Sending<'_>,
    open: impl FnOnce(),
) -> Result<(), Cut> {
    writer.write_all(head).await.map_err(|_| Cut::Pipe)?;
    let (answer, ahead) = read_answer(stream, AnswerTo::Tunnel, reader).await?;
    let ends = !answer.switches && answer.body == Body::None;
    stream.send_head(&answer.block, ends)?;
    if !answer.switches {
        return if ends { Ok(()) } else { body::send(stream, answer.body, ahead, reader, sending).await };
    }
    open();
    let up = async {
        body::receive(stream, false, writer).await?;
        writer.end();
        Ok(())
    };
    both(up, body::send(stream, Body::UntilClose, ahead, reader, sending)).await
}

/// Sixteen random bytes in base64 (RFC 6455 §4.1): unique rather than secret.
fn key() -> String {
    let random = [0, 1].map(|half| RandomState::new().hash_one(half).to_be_bytes());
    STANDARD.encode(random.as_flattened())
}

#[cfg(test)]
mod tests;
