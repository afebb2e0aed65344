//! A WebSocket on a stream (RFC 8441): an extended CONNECT is asked of the upstream as HTTP/1.1's upgrade, and when that is granted the
//! bytes pass as they are. Nothing of what the client sends is passed on before: it must not be taken for another request.

use super::body::{self, Cut, Incoming, Piece, Sending};
use super::client_stream::{both, read_answer};
use super::head;
use crate::pipe::{PipeReader, PipeWriter};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use h2::ext::Protocol;
use h2::server::SendResponse;
use http::{Method, Response, StatusCode, request};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use tollgate_http::Body;

/// Appends the request for a tunnel, if `head` asks for one. The error is a status.
pub fn asked(head: &request::Parts, out: &mut Vec<u8>) -> Option<Result<(), u16>> {
    let protocol = head.extensions.get::<Protocol>().filter(|_| head.method == Method::CONNECT)?;
    Some(match protocol.as_str() {
        "websocket" => head::write_websocket(head, key().as_bytes(), out),
        _ => Err(501),
    })
}

/// Serves it until one side has ended. `open` is called when the upstream has agreed.
pub async fn serve(
    written: &[u8],
    content: &mut Incoming,
    respond: &mut SendResponse<Piece>,
    reader: &mut PipeReader,
    writer: &mut PipeWriter,
    sending: Sending<'_>,
    open: impl FnOnce(),
) -> Result<(), Cut> {
    writer.write_all(written).await.map_err(|_| Cut::Pipe)?;
    let (answer, ahead) = {
        let mut answer = pin!(read_answer(respond, false, reader));
        std::future::poll_fn(|cx| {
            // What comes of the tunnel's bytes waits outside of h2. A stream that fails fails the answer too.
            let _ = content.poll_wait(cx);
            answer.as_mut().poll(cx)
        })
        .await?
    };
    if !answer.switches {
        return refuse(answer.response, answer.body, ahead, respond, reader, sending).await;
    }
    let mut stream = respond.send_response(answer.response, false).map_err(|_| Cut::Http2)?;
    open();
    let up = async {
        body::receive(content, false, writer).await?;
        writer.end();
        Ok(())
    };
    both(up, body::send(&mut stream, Body::UntilClose, ahead, reader, sending)).await
}

/// Passes on an answer that is no switch. A success would tell the client that its WebSocket is open.
async fn refuse(
    mut answer: Response<()>,
    body: Body,
    ahead: Bytes,
    respond: &mut SendResponse<Piece>,
    reader: &mut PipeReader,
    sending: Sending<'_>,
) -> Result<(), Cut> {
    if answer.status().is_success() {
        *answer.status_mut() = StatusCode::BAD_GATEWAY;
    }
    let ends = body == Body::None;
    let mut stream = respond.send_response(answer, ends).map_err(|_| Cut::Http2)?;
    if ends { Ok(()) } else { body::send(&mut stream, body, ahead, reader, sending).await }
}

/// Sixteen random bytes in base64 (RFC 6455 §4.1): no secret, only never the same.
fn key() -> String {
    let random = [0, 1].map(|half| RandomState::new().hash_one(half).to_be_bytes());
    STANDARD.encode(random.as_flattened())
}

#[cfg(test)]
mod tests;
