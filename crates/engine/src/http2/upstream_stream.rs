//! One exchange with an HTTP/2 upstream: the request arrives as HTTP/1.1 through a pipe, and the response returns through it in the
//! same form.

use super::body::{self, Cut, Sending, Taken, WindowAllowance};
use super::head;
use super::link::{Http2Link, LinkStream};
use super::stream_count::StreamCount;
use crate::pace::Speed;
use crate::pipe::{Pipe, PipeReader, PipeWriter};
use std::rc::Rc;
use std::task::Poll;
use tollgate_http::{Body, Request};
use tollgate_http2::HeaderBlock;

/// Serves one request. On any error the pipe is dropped before the response is complete, which tells the other end.
pub(super) async fn serve(pipe: Pipe, link: Rc<Http2Link>, scheme: &'static str, counted: StreamCount) {
    let Pipe { mut reader, mut writer } = pipe;
    match exchange(&mut reader, &mut writer, link, scheme, &counted).await {
        Ok(()) => writer.end(),
        Err(Cut::Pipe) => counted.give_up(),
        Err(Cut::Http2) => {}
    }
    drop(counted);
}

async fn exchange(
    reader: &mut PipeReader,
    writer: &mut PipeWriter,
    link: Rc<Http2Link>,
    scheme: &str,
    counted: &StreamCount,
) -> Result<(), Cut> {
    let UpstreamRequest { block, to_head, framing, ahead } = read_head(reader, scheme, &link).await?;
    let stream = std::future::poll_fn(|cx| {
        // A request whose client is gone is not sent.
        if reader.poll_gone(cx).is_ready() {
            return Poll::Ready(Err(Cut::Pipe));
        }
        link.poll_open(cx, &block, framing == Body::None, to_head, counted.account()).map_err(Cut::from)
    })
    .await?;
    link.core.give_back(block.into_buffer());
    let allowance = WindowAllowance::new(counted.patience(), Speed::default());
    let sending = Sending { allowance, account: counted.account(), frames: None };
    let mut up = std::pin::pin!(send_body(&stream, framing, ahead, reader, sending));
    let mut down = std::pin::pin!(receive_answer(&stream, writer, counted));
    let mut sent = false;
    std::future::poll_fn(|cx| {
        if !sent && let Poll::Ready(end) = up.as_mut().poll(cx) {
            sent = true;
            // An upstream that accepts no more of the request may still respond; a client that is gone needs no response.
            if let Cut::Pipe = end {
                return Poll::Ready(Err(Cut::Pipe));
            }
        }
        down.as_mut().poll(cx)
    })
    .await
}

/// A request's head, with the bytes read after it.
struct UpstreamRequest {
    block: HeaderBlock,
    to_head: bool,
    framing: Body,
    ahead: Taken,
}

async fn read_head(reader: &mut PipeReader, scheme: &str, link: &Http2Link) -> Result<UpstreamRequest, Cut> {
    let mut ahead = Taken::default();
    loop {
        let more = std::future::poll_fn(|cx| reader.poll_take(cx)).await;
        if more.is_empty() {
            return Err(Cut::Pipe);
        }
        ahead.add(more);
        let mut buffers = link.core.buffers.borrow_mut();
        if let Some(parsed) = Request::parse(ahead.rest(), &mut buffers.lines).map_err(|_| Cut::Pipe)? {
            let mut block = HeaderBlock::new(link.core.spare());
            head::read_request(&parsed, scheme, &mut block);
            let (to_head, framing, used) = (parsed.method == "HEAD", parsed.body, parsed.head_len);
            ahead.use_up(used);
            return Ok(UpstreamRequest { block, to_head, framing, ahead });
        }
    }
}

/// Sends the body, then watches for a client disconnect. Returns what ended it.
async fn send_body(stream: &LinkStream, framing: Body, ahead: Taken, reader: &mut PipeReader, sending: Sending<'_>) -> Cut {
    if framing != Body::None
        && let Err(cut) = body::send(stream, framing, ahead, reader, sending).await
    {
        return cut;
    }
    while std::future::poll_fn(|cx| reader.poll_read(cx, &mut [0; 64])).await > 0 {}
    Cut::Pipe
}

async fn receive_answer(stream: &LinkStream, writer: &mut PipeWriter, counted: &StreamCount) -> Result<(), Cut> {
    let body = loop {
        let received = std::future::poll_fn(|cx| stream.poll_head(cx)).await?;
        if !received.is_interim {
            counted.heard();
        }
        writer.write_all(&received.text).await.map_err(|_| Cut::Pipe)?;
        stream.core().give_back(received.text);
        if !received.is_interim {
            break received.body;
        }
    };
    match body {
        Body::None => Ok(()),
        framing => body::receive(stream, framing == Body::Chunked, writer).await,
    }
}
