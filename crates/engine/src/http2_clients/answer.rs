//! Translates the head of a response between a pipe and a client.

use crate::http2::body::{Cut, Taken};
use crate::http2::head;
use crate::http2::link::LinkStream;
use crate::pipe::PipeReader;
use std::future::Future;
use std::pin::pin;
use std::task::Poll;
use tollgate_http::{Body, Response};
use tollgate_http2::HeaderBlock;

/// One response head.
pub(super) struct AnswerHead {
    pub status: u16,
    pub block: HeaderBlock,
    pub body: Body,
    /// The protocol switches.
    pub switches: bool,
}

/// The kind of request that is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerTo {
    Head,
    Request,
    /// A tunnel request: a success without a protocol switch would tell the client that the tunnel is open.
    Tunnel,
}

/// Reads the final head of the response and the bytes after it. Forwards interim heads.
pub(super) async fn read_answer(stream: &LinkStream, to: AnswerTo, pipe: &mut PipeReader) -> Result<(AnswerHead, Taken), Cut> {
    let mut taken = Taken::default();
    loop {
        let more = std::future::poll_fn(|cx| {
            if let Poll::Ready(more) = pipe.poll_take(cx) {
                return Poll::Ready(Ok(more));
            }
            stream.poll_reset(cx).map(|()| Err(Cut::Http2))
        })
        .await?;
        if more.is_empty() {
            return Err(Cut::Pipe);
        }
        taken.add(more);
        while let Some((answer, used)) = answer_head(taken.rest(), to, stream)? {
            taken.use_up(used);
            if answer.switches || answer.status >= 200 {
                return Ok((answer, taken));
            }
            stream.send_head(&answer.block, false)?;
            stream.core().give_back(answer.block.into_buffer());
        }
    }
}

/// The head at the start of `input` and its length, if complete. The gateway wrote it, so its size is bounded.
fn answer_head(input: &[u8], to: AnswerTo, stream: &LinkStream) -> Result<Option<(AnswerHead, usize)>, Cut> {
    let mut buffers = stream.core().buffers.borrow_mut();
    let parsed = Response::parse(input, to == AnswerTo::Head, &mut buffers.lines).map_err(|_| Cut::Pipe)?;
    let Some(parsed) = parsed else { return Ok(None) };
    let switches = parsed.upgrade.is_some();
    let is_success = (200..300).contains(&parsed.status);
    let status = if to == AnswerTo::Tunnel && is_success { 502 } else { parsed.status };
    let mut block = HeaderBlock::new(stream.core().spare());
    if switches {
        head::read_switch(&parsed, &mut block);
    } else {
        head::read_response(&parsed, status, &mut block);
    }
    let answer = AnswerHead { status, block, body: parsed.body, switches };
    Ok(Some((answer, parsed.head_len)))
}

/// Runs both directions until the response is complete. Does not wait for the rest of the request.
pub(super) async fn both(
    up: impl Future<Output = Result<(), Cut>>,
    down: impl Future<Output = Result<(), Cut>>,
) -> Result<(), Cut> {
    let (mut up, mut down) = (pin!(up), pin!(down));
    let mut sent = false;
    std::future::poll_fn(|cx| {
        if !sent && let Poll::Ready(up) = up.as_mut().poll(cx) {
            sent = true;
            if let Err(Cut::Http2) = up {
                return Poll::Ready(Err(Cut::Http2));
            }
        }
        down.as_mut().poll(cx)
    })
    .await
}
