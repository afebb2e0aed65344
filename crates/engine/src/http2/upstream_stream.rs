//! One exchange with an HTTP/2 upstream: the request comes as HTTP/1.1 out of a pipe, the answer goes back into it the same way.

use super::body::{self, Allowance, Cut, Incoming, Piece, Sending, join};
use super::head;
use super::upstream::Counted;
use crate::pace::Speed;
use crate::pipe::{Pipe, PipeReader, PipeWriter};
use bytes::Bytes;
use h2::SendStream;
use h2::client::{ResponseFuture, SendRequest};
use std::task::Poll;
use tollgate_http::{Body, HeaderStorage, Request};

/// Serves one request. Whatever goes wrong, the pipe is dropped before the answer is whole, which is how the other end knows.
pub async fn serve(pipe: Pipe, send: SendRequest<Piece>, scheme: &'static str, counted: Counted) {
    let Pipe { mut reader, mut writer } = pipe;
    match exchange(&mut reader, &mut writer, send, scheme, &counted).await {
        Ok(()) => writer.end(),
        Err(Cut::Pipe) => counted.give_up(),
        Err(Cut::Http2) => {}
    }
    drop(counted);
}

async fn exchange(
    reader: &mut PipeReader,
    writer: &mut PipeWriter,
    send: SendRequest<Piece>,
    scheme: &str,
    counted: &Counted,
) -> Result<(), Cut> {
    let (request, framing, ahead) = read_head(reader, scheme).await?;
    let to_head = request.method() == http::Method::HEAD;
    let mut ready = std::pin::pin!(send.ready());
    let mut send = std::future::poll_fn(|cx| {
        // A request that nobody waits for any longer is not made.
        if reader.poll_gone(cx).is_ready() {
            return Poll::Ready(Err(Cut::Pipe));
        }
        ready.as_mut().poll(cx).map_err(|_| Cut::Http2)
    })
    .await?;
    let (answer, mut stream) = send.send_request(request, framing == Body::None).map_err(|_| Cut::Http2)?;
    // The connection may close for new streams now without this one holding it.
    drop(send);
    let allowance = Allowance::new(counted.patience(), Speed::default());
    let sending = Sending { allowance, account: counted.account(), frames: None };
    let mut up = std::pin::pin!(send_body(&mut stream, framing, ahead, reader, sending));
    let mut down = std::pin::pin!(receive_answer(answer, to_head, writer, counted));
    let mut sent = false;
    std::future::poll_fn(|cx| {
        if !sent && let Poll::Ready(end) = up.as_mut().poll(cx) {
            sent = true;
            // An upstream that wants no more of the request may still answer; a client that is gone wants no answer.
            if let Cut::Pipe = end {
                return Poll::Ready(Err(Cut::Pipe));
            }
        }
        down.as_mut().poll(cx)
    })
    .await
}

async fn read_head(reader: &mut PipeReader, scheme: &str) -> Result<(http::Request<()>, Body, Bytes), Cut> {
    let mut input = Bytes::new();
    loop {
        let more = std::future::poll_fn(|cx| reader.poll_take(cx)).await;
        if more.is_empty() {
            return Err(Cut::Pipe);
        }
        input = join(input, more);
        let mut storage = HeaderStorage::new();
        if let Some(parsed) = Request::parse(&input, &mut storage).map_err(|_| Cut::Pipe)? {
            let request = head::read_request(&parsed, scheme).ok_or(Cut::Pipe)?;
            let (body, head_len) = (parsed.body, parsed.head_len);
            return Ok((request, body, input.split_off(head_len.min(input.len()))));
        }
    }
}

/// Sends the body, then watches for a client that goes away. Ends with what it was that ended it.
async fn send_body(
    stream: &mut SendStream<Piece>,
    framing: Body,
    ahead: Bytes,
    reader: &mut PipeReader,
    sending: Sending<'_>,
) -> Cut {
    if framing != Body::None
        && let Err(cut) = body::send(stream, framing, ahead, reader, sending).await
    {
        return cut;
    }
    while std::future::poll_fn(|cx| reader.poll_read(cx, &mut [0; 64])).await > 0 {}
    Cut::Pipe
}

async fn receive_answer(mut answer: ResponseFuture, to_head: bool, writer: &mut PipeWriter, counted: &Counted) -> Result<(), Cut> {
    let mut written = Vec::with_capacity(512);
    let response = loop {
        let next = std::future::poll_fn(|cx| {
            if let Poll::Ready(Some(interim)) = answer.poll_informational(cx) {
                return Poll::Ready(interim.map(Err));
            }
            std::pin::Pin::new(&mut answer).poll(cx).map(|response| response.map(Ok))
        })
        .await;
        match next.map_err(|_| Cut::Http2)? {
            Ok(response) => break response,
            Err(interim) => {
                written.clear();
                let (interim, ()) = interim.into_parts();
                head::write_response(&interim, to_head, false, &mut written);
                writer.write_all(&written).await.map_err(|_| Cut::Pipe)?;
            }
        }
    };
    counted.heard();
    let (response, content) = response.into_parts();
    let mut content = Incoming::new(content, counted.account());
    written.clear();
    let body = head::write_response(&response, to_head, !content.is_end_stream(), &mut written);
    writer.write_all(&written).await.map_err(|_| Cut::Pipe)?;
    match body {
        Body::None => Ok(()),
        framing => body::receive(&mut content, framing == Body::Chunked, writer).await,
    }
}
