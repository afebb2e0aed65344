//! One stream of a client: its request becomes HTTP/1.1 on a pipe, a `Connection` serves it, and the answer becomes HTTP/2 again.

use super::Serving;
use super::body::{self, Cut};
use super::head::{self, Framing};
use super::tunnel;
use crate::connection::Connection;
use crate::core::Core;
use crate::pipe::{Pipe, PipeReader, PipeWriter};
use crate::service::Client;
use crate::stream::Stream;
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tollgate_http::{HeaderStorage, Response};

/// One read of the answer's head.
const READ_BYTES: usize = 16 * 1024;

pub async fn serve(
    core: Rc<Core>,
    client: Client,
    request: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    mut serving: Serving,
) {
    let (head, mut content) = request.into_parts();
    let (near, far) = Pipe::new();
    let patience = Duration::from_millis(core.limits.client_write_ms);
    let connection = Connection::of_stream(core, Stream::Pipe(far), client);
    let mut written = Vec::with_capacity(512);
    let asked = match tunnel::asked(&head, &mut written) {
        Some(asked) => asked.map(|()| Asked::Tunnel),
        None => head::write_request(&head, !content.is_end_stream(), &mut written).map(Asked::Answer),
    };
    let asked = match asked {
        Ok(asked) => asked,
        Err(status) => {
            let mut refusal = http::Response::new(());
            *refusal.status_mut() = http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::BAD_REQUEST);
            if respond.send_response(refusal, true).is_ok() {
                serving.finish();
            }
            return;
        }
    };
    let to_head = head.method == http::Method::HEAD;
    let mut translate = pin!(async move {
        let Pipe { mut reader, mut writer } = near;
        let ended = match asked {
            Asked::Answer(framing) => {
                let up = send_request(&written, framing, &mut content, &mut writer);
                both(up, send_answer(&mut respond, to_head, &mut reader, patience)).await
            }
            Asked::Tunnel => {
                let open = || serving.finish();
                tunnel::serve(&written, &mut content, &mut respond, &mut reader, &mut writer, patience, open).await
            }
        };
        match ended {
            Ok(()) => serving.finish(),
            // The answer that has begun can't be taken back: the reset tells that it is not whole.
            Err(Cut::Pipe) => {
                respond.send_reset(Reason::INTERNAL_ERROR);
                serving.finish();
            }
            // Nobody waits for the answer any longer.
            Err(Cut::Http2) => return Left::Nothing,
        }
        Left::Connection
    });
    let mut connection = Some(Box::pin(connection));
    let mut translated = false;
    std::future::poll_fn(|cx| {
        if let Some(serving) = &mut connection
            && serving.as_mut().poll(cx).is_ready()
        {
            // Its end of the pipe goes with it, which the translation must see.
            connection = None;
        }
        if !translated && let Poll::Ready(left) = translate.as_mut().poll(cx) {
            translated = true;
            if let Left::Nothing = left {
                connection = None;
            }
        }
        if translated && connection.is_none() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// What a request asks for.
enum Asked {
    /// An answer to a request that is framed like this.
    Answer(Framing),
    Tunnel,
}

/// What is still to be done when a stream's translation has ended.
enum Left {
    Nothing,
    /// Its connection takes leave of its upstream.
    Connection,
}

/// Runs both directions until the answer is complete. The request's end is not waited for: what is still to come of it is not wanted.
pub async fn both(up: impl Future<Output = Result<(), Cut>>, down: impl Future<Output = Result<(), Cut>>) -> Result<(), Cut> {
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

async fn send_request(head: &[u8], framing: Framing, content: &mut RecvStream, pipe: &mut PipeWriter) -> Result<(), Cut> {
    pipe.write_all(head).await.map_err(|_| Cut::Pipe)?;
    match framing {
        Framing::None => Ok(()),
        framing => body::receive(content, framing == Framing::Chunked, pipe).await,
    }
}

async fn send_answer(
    respond: &mut SendResponse<Bytes>,
    to_head: bool,
    pipe: &mut PipeReader,
    patience: Duration,
) -> Result<(), Cut> {
    let (answer, ahead) = read_answer(respond, to_head, pipe).await?;
    let ends = answer.body == tollgate_http::Body::None;
    let mut stream = respond.send_response(answer.response, ends).map_err(|_| Cut::Http2)?;
    if ends { Ok(()) } else { body::send(&mut stream, answer.body, &ahead, pipe, patience).await }
}

/// The final head of the answer, with what came behind it. Interim ones are sent on.
pub async fn read_answer(
    respond: &mut SendResponse<Bytes>,
    to_head: bool,
    pipe: &mut PipeReader,
) -> Result<(AnswerHead, Vec<u8>), Cut> {
    let mut input = Vec::new();
    loop {
        let have = input.len();
        input.resize(have + READ_BYTES, 0);
        let read = std::future::poll_fn(|cx| {
            if let Poll::Ready(read) = pipe.poll_read(cx, input.get_mut(have..).unwrap_or_default()) {
                return Poll::Ready(Ok(read));
            }
            respond.poll_reset(cx).map(|_| Err(Cut::Http2))
        })
        .await?;
        input.truncate(have + read);
        if read == 0 {
            return Err(Cut::Pipe);
        }
        while let Some(step) = answer_head(&input, to_head)? {
            let ahead = input.split_off(step.used.min(input.len()));
            if step.switches || !step.response.status().is_informational() {
                return Ok((step, ahead));
            }
            respond.send_informational(step.response).map_err(|_| Cut::Http2)?;
            input = ahead;
        }
    }
}

/// A head of the answer.
pub struct AnswerHead {
    pub response: http::Response<()>,
    pub body: tollgate_http::Body,
    /// The protocol is switched.
    pub switches: bool,
    used: usize,
}

/// The head at the start of `input`, if it is complete. The gateway wrote it: its size is bounded.
fn answer_head(input: &[u8], to_head: bool) -> Result<Option<AnswerHead>, Cut> {
    let mut storage = HeaderStorage::new();
    let Some(parsed) = Response::parse(input, to_head, &mut storage).map_err(|_| Cut::Pipe)? else { return Ok(None) };
    let switches = parsed.upgrade.is_some();
    let response = if switches { head::read_switch(&parsed) } else { head::read_response(&parsed) };
    Ok(Some(AnswerHead { response: response.ok_or(Cut::Pipe)?, body: parsed.body, switches, used: parsed.head_len }))
}
