//! One stream of a client: the request becomes HTTP/1.1 on a pipe, a `Connection` serves it, and the response becomes HTTP/2 again.

use super::answer::{AnswerTo, both, read_answer};
use super::tunnel;
use super::{ClientState, Serving};
use crate::buffer_account::BufferAccount;
use crate::connection::Connection;
use crate::http2::body::{self, Cut, Sending, WindowAllowance};
use crate::http2::head::{self, RequestFraming};
use crate::http2::link::LinkStream;
use crate::limits::Limits;
use crate::pace::Speed;
use crate::pipe::{Pipe, PipeMark, PipeReader, PipeWriter};
use crate::stream::Stream;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;
use tollgate_http2::{FieldList, HeaderBlock, Http2ErrorCode, Pseudo};

/// A connection and its pipe. It serves one stream after another, as an HTTP/1.1 connection serves requests.
pub(super) struct StreamSlot {
    near: Pipe,
    connection: Pin<Box<Connection>>,
    /// Set when one end of the pipe has moved bytes, so that the other must be polled.
    moved: PipeMark,
    /// Account charged for response bytes that the client has not taken.
    account: Rc<BufferAccount>,
}

impl StreamSlot {
    pub(super) fn new(state: &ClientState) -> Self {
        let ClientState { core, client, account: whole, turn, .. } = state;
        let account = BufferAccount::of_stream(whole);
        let (near, far, moved) = Pipe::within_task(&BufferAccount::of_stream(whole), &account);
        let connection = Connection::of_stream(core.clone(), Stream::Pipe(far), client.clone(), Some(turn.clone()));
        StreamSlot { near, connection: Box::pin(connection), moved, account }
    }

    pub(super) fn suspended(mut self) -> Self {
        self.connection.suspend();
        self
    }

    pub(super) fn resumed(mut self) -> Self {
        self.connection.resume();
        self
    }
}

/// The request of a stream, in terms of HTTP/1.1.
pub(super) struct StreamRequest {
    head: Vec<u8>,
    to: AnswerTo,
    wish: Wish,
}

enum Wish {
    /// A regular request, with this framing.
    Answer(RequestFraming),
    Tunnel,
    /// A request that cannot be served: the status of the response.
    Refusal(u16),
}

impl StreamRequest {
    /// Reads the head of a request.
    pub(super) fn read(fields: &FieldList, has_body: bool, limits: &Limits, buffer: Vec<u8>) -> Self {
        let mut head = buffer;
        // The same checks as for HTTP/1.1, before anything else.
        let wish = if fields.is_too_large() || head::lines(fields) > limits.header_lines_max {
            Err(431)
        } else if let Some(asked) = tunnel::asked(fields, &mut head) {
            asked.map(|()| Wish::Tunnel)
        } else {
            head::write_request(fields, has_body, &mut head).map(Wish::Answer)
        };
        let to = match (&wish, fields.pseudo(Pseudo::Method)) {
            (Ok(Wish::Tunnel), _) => AnswerTo::Tunnel,
            (_, Some(b"HEAD")) => AnswerTo::Head,
            _ => AnswerTo::Request,
        };
        StreamRequest { head, to, wish: wish.unwrap_or_else(Wish::Refusal) }
    }
}

pub(super) async fn serve(asked: StreamRequest, stream: LinkStream, mut serving: Serving) {
    let StreamRequest { head, to, wish } = asked;
    if let Wish::Refusal(status) = wish {
        let mut refusal = HeaderBlock::default();
        refusal.status(status);
        if stream.send_head(&refusal, true).is_ok() {
            serving.finish();
        }
        return;
    }
    let limits = &serving.state.core.limits;
    // A tunnel carries a conversation, for which no minimum speed can be required.
    let speed = if let Wish::Tunnel = wish { Speed::default() } else { limits.download_min };
    let allowance = WindowAllowance::new(Duration::from_millis(limits.client_write_ms), speed);
    let StreamSlot { mut near, connection, moved, account } = serving.slot();
    let mut connection = Some(connection);
    let ended = {
        let Pipe { reader, writer } = &mut near;
        let state = serving.state.clone();
        let sending = Sending { allowance, account: &account, frames: Some(&state.allowance) };
        let mut translate = pin!(async {
            match wish {
                Wish::Answer(framing) => {
                    let up = send_request(&head, framing, &stream, writer);
                    both(up, send_answer(&stream, to, reader, sending)).await
                }
                _ => {
                    let open = || serving.finish();
                    tunnel::serve(&head, &stream, reader, writer, sending, open).await
                }
            }
        });
        std::future::poll_fn(|cx| {
            loop {
                // Progress of one side may be what the other waits for.
                if let Poll::Ready(ended) = translate.as_mut().poll(cx) {
                    return Poll::Ready(ended);
                }
                // A finished connection drops its end of the pipe, which the translation must notice.
                let done = connection.as_mut().is_some_and(|connection| connection.as_mut().poll(cx).is_ready());
                if done {
                    connection = None;
                } else if connection.as_ref().is_some_and(|connection| connection.has_given_way()) {
                    // It is polled again when the others had their turn, and then both sides are.
                    return Poll::Pending;
                } else if !moved.take() {
                    return Poll::Pending;
                }
            }
        })
        .await
    };
    match ended {
        Ok(()) => serving.finish(),
        // The response has already begun: the reset tells the client that it is incomplete.
        Err(Cut::Pipe) => {
            stream.reset(Http2ErrorCode::INTERNAL_ERROR);
            serving.finish();
        }
        // The client no longer waits for the response.
        Err(Cut::Http2) => return,
    }
    serving.state.core.give_back(head);
    // The rest of the request is discarded.
    drop(stream);
    let Some(connection) = connection else { return };
    if ended.is_ok() && connection.is_at_rest() && near.is_quiet() {
        serving.give_back(StreamSlot { near, connection, moved, account });
    } else {
        // Lets the connection release its upstream.
        drop(near);
        connection.await;
    }
}

async fn send_request(head: &[u8], framing: RequestFraming, stream: &LinkStream, pipe: &mut PipeWriter) -> Result<(), Cut> {
    pipe.write_all(head).await.map_err(|_| Cut::Pipe)?;
    match framing {
        RequestFraming::None => Ok(()),
        framing => body::receive(stream, framing == RequestFraming::Chunked, pipe).await,
    }
}

async fn send_answer(stream: &LinkStream, to: AnswerTo, pipe: &mut PipeReader, sending: Sending<'_>) -> Result<(), Cut> {
    let (answer, ahead) = read_answer(stream, to, pipe).await?;
    let ends = answer.body == tollgate_http::Body::None;
    stream.send_head(&answer.block, ends)?;
    stream.core().give_back(answer.block.into_buffer());
    if ends { Ok(()) } else { body::send(stream, answer.body, ahead, pipe, sending).await }
}
