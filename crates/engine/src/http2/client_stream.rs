//! One stream of a client: its request becomes HTTP/1.1 on a pipe, a `Connection` serves it, and the answer becomes HTTP/2 again.

use super::Serving;
use super::body::{self, Allowance, Cut, Incoming, Piece, Sending};
use super::head::{self, Framing};
use super::tunnel;
use crate::buffer_account::BufferAccount;
use crate::connection::Connection;
use crate::core::Core;
use crate::pace::Speed;
use crate::pipe::{Moved, Pipe, PipeReader, PipeWriter};
use crate::service::Client;
use crate::stream::Stream;
use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tollgate_http::{HeaderStorage, Response};

/// A connection and the pipe to it. It serves one stream after the other, as a connection of HTTP/1.1 serves requests.
pub struct Lane {
    near: Pipe,
    connection: Pin<Box<Connection>>,
    /// One end of the pipe moved, and the other has to be polled.
    moved: Moved,
    /// The bytes of answers that the client has not taken.
    account: Rc<BufferAccount>,
}

impl Lane {
    pub fn new(core: &Rc<Core>, client: &Client, whole: &Rc<BufferAccount>) -> Self {
        let account = BufferAccount::of_stream(whole);
        let (near, far, moved) = Pipe::within_task(&BufferAccount::of_stream(whole), &account);
        let connection = Connection::of_stream(core.clone(), Stream::Pipe(far), client.clone());
        Lane { near, connection: Box::pin(connection), moved, account }
    }

    pub fn suspended(mut self) -> Self {
        self.connection.suspend();
        self
    }

    pub fn resumed(mut self) -> Self {
        self.connection.resume();
        self
    }
}

pub async fn serve(request: http::Request<RecvStream>, mut respond: SendResponse<Piece>, mut serving: Serving) {
    let (head, content) = request.into_parts();
    let mut content = Incoming::new(content, &serving.standing.account);
    let mut written = serving.standing.core.spare();
    let asked = if head::lines(&head.headers) > serving.standing.core.limits.header_lines_max {
        // As over HTTP/1.1, and before anything is done with them.
        Err(431)
    } else if let Some(asked) = tunnel::asked(&head, &mut written) {
        asked.map(|()| Asked::Tunnel)
    } else {
        head::write_request(&head, !content.is_end_stream(), &mut written).map(Asked::Answer)
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
    drop(head);
    let limits = &serving.standing.core.limits;
    // What a tunnel carries is a conversation, whose pace nobody can demand.
    let speed = if let Asked::Tunnel = asked { Speed::default() } else { limits.download_min };
    let allowance = Allowance::new(Duration::from_millis(limits.client_write_ms), speed);
    let Lane { mut near, connection, moved, account } = serving.lane();
    let mut connection = Some(connection);
    let ended = {
        let Pipe { reader, writer } = &mut near;
        let frames = serving.standing.allowance.clone();
        let sending = Sending { allowance, account: &account, frames: Some(&frames) };
        let mut translate = pin!(async {
            match asked {
                Asked::Answer(framing) => {
                    let up = send_request(&written, framing, &mut content, writer);
                    both(up, send_answer(&mut respond, to_head, reader, sending)).await
                }
                Asked::Tunnel => {
                    let open = || serving.finish();
                    tunnel::serve(&written, &mut content, &mut respond, reader, writer, sending, open).await
                }
            }
        });
        std::future::poll_fn(|cx| {
            loop {
                // What either does may be what the other waits for.
                if let Poll::Ready(ended) = translate.as_mut().poll(cx) {
                    return Poll::Ready(ended);
                }
                // A connection that is done takes its end of the pipe with it, which the translation must see.
                let done = connection.as_mut().is_some_and(|connection| connection.as_mut().poll(cx).is_ready());
                if done {
                    connection = None;
                } else if !moved.take() {
                    return Poll::Pending;
                }
            }
        })
        .await
    };
    match ended {
        Ok(()) => serving.finish(),
        // The answer that has begun can't be taken back: the reset tells that it is not whole.
        Err(Cut::Pipe) => {
            respond.send_reset(Reason::INTERNAL_ERROR);
            serving.finish();
        }
        // Nobody waits for the answer any longer.
        Err(Cut::Http2) => return,
    }
    serving.standing.core.give_back(written);
    let Some(connection) = connection else { return };
    if ended.is_ok() && connection.is_at_rest() && near.is_quiet() {
        serving.give_back(Lane { near, connection, moved, account });
    } else {
        // What is still to come of the request is not wanted; the connection takes leave of its upstream.
        drop((near, content, respond));
        connection.await;
    }
}

/// What a request asks for.
enum Asked {
    /// An answer to a request that is framed like this.
    Answer(Framing),
    Tunnel,
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

async fn send_request(head: &[u8], framing: Framing, content: &mut Incoming, pipe: &mut PipeWriter) -> Result<(), Cut> {
    pipe.write_all(head).await.map_err(|_| Cut::Pipe)?;
    match framing {
        Framing::None => Ok(()),
        framing => body::receive(content, framing == Framing::Chunked, pipe).await,
    }
}

async fn send_answer(
    respond: &mut SendResponse<Piece>,
    to_head: bool,
    pipe: &mut PipeReader,
    sending: Sending<'_>,
) -> Result<(), Cut> {
    let (answer, ahead) = read_answer(respond, to_head, pipe).await?;
    let ends = answer.body == tollgate_http::Body::None;
    let mut stream = respond.send_response(answer.response, ends).map_err(|_| Cut::Http2)?;
    if ends { Ok(()) } else { body::send(&mut stream, answer.body, ahead, pipe, sending).await }
}

/// The final head of the answer, with what came behind it. Interim ones are sent on.
pub async fn read_answer(
    respond: &mut SendResponse<Piece>,
    to_head: bool,
    pipe: &mut PipeReader,
) -> Result<(AnswerHead, Bytes), Cut> {
    let mut input = Bytes::new();
    loop {
        let more = std::future::poll_fn(|cx| {
            if let Poll::Ready(more) = pipe.poll_take(cx) {
                return Poll::Ready(Ok(more));
            }
            respond.poll_reset(cx).map(|_| Err(Cut::Http2))
        })
        .await?;
        if more.is_empty() {
            return Err(Cut::Pipe);
        }
        input = body::join(input, more);
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
