//! Bodies between HTTP/2 and HTTP/1.1, in both directions and for both sides. Flow control goes through: a window opens again when
//! the other side has taken the bytes, and nothing is read that can't be sent on.

use super::head::{read_trailers, write_trailers};
use crate::pace::Speed;
use crate::pipe::{PipeReader, PipeWriter};
use bytes::Bytes;
use h2::{RecvStream, SendStream};
use std::io::Write;
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tollgate_http::{Body, BodyReader};

/// Why a body did not get through.
pub enum Cut {
    /// The HTTP/2 side reset the stream or is gone.
    Http2,
    /// The pipe's other end is gone, or what came out of it was no body.
    Pipe,
}

/// What is had with a receiver that takes a body slowly.
pub struct Allowance {
    stall: Duration,
    speed: Speed,
    waited: Duration,
    taken: u64,
}

impl Allowance {
    /// Of so long without any progress, and of no less than this speed.
    pub fn new(stall: Duration, speed: Speed) -> Self {
        Allowance { stall, speed, waited: Duration::ZERO, taken: 0 }
    }

    /// The longest that it may be waited for now.
    fn left(&self) -> Duration {
        let in_all = self.speed.allowed_ms(self.taken).map(Duration::from_millis);
        in_all.map_or(self.stall, |in_all| self.stall.min(in_all.saturating_sub(self.waited)))
    }
}

/// What was read, with `more` behind it.
pub fn join(read: Bytes, more: Vec<u8>) -> Bytes {
    if read.is_empty() { more.into() } else { [read.as_ref(), &more].concat().into() }
}

/// From a stream into a pipe, as `framing` says. Trailers go where there are chunks; elsewhere HTTP/1.1 has no place for them.
pub async fn receive(body: &mut RecvStream, chunked: bool, pipe: &mut PipeWriter) -> Result<(), Cut> {
    let mut out = Vec::new();
    while let Some(data) = body.data().await {
        let data = data.map_err(|_| Cut::Http2)?;
        if chunked && !data.is_empty() {
            out.clear();
            let _ = write!(out, "{:x}\r\n", data.len());
            pipe.write_all(&out).await.map_err(|_| Cut::Pipe)?;
        }
        pipe.write_all(&data).await.map_err(|_| Cut::Pipe)?;
        if chunked && !data.is_empty() {
            pipe.write_all(b"\r\n").await.map_err(|_| Cut::Pipe)?;
        }
        body.flow_control().release_capacity(data.len()).map_err(|_| Cut::Http2)?;
    }
    let trailers = body.trailers().await.map_err(|_| Cut::Http2)?;
    if chunked {
        out.clear();
        out.extend_from_slice(b"0\r\n");
        trailers.iter().for_each(|trailers| write_trailers(trailers, &mut out));
        out.extend_from_slice(b"\r\n");
        pipe.write_all(&out).await.map_err(|_| Cut::Pipe)?;
    }
    Ok(())
}

/// From a pipe into a stream. `ahead` is what was read with the head. A receiver beyond its allowance is given up.
pub async fn send(
    stream: &mut SendStream<Bytes>,
    body: Body,
    ahead: Bytes,
    pipe: &mut PipeReader,
    mut allowance: Allowance,
) -> Result<(), Cut> {
    let mut reader = BodyReader::new(body);
    let mut trailers = Vec::new();
    let mut input = ahead;
    loop {
        let content = content_of(&mut reader, input, &mut trailers)?;
        let done = reader.is_done();
        let ends = done && trailers.is_empty();
        send_data(stream, content, ends, pipe, &mut allowance).await?;
        if done {
            if !trailers.is_empty() {
                stream.send_trailers(read_trailers(&trailers)).map_err(|_| Cut::Http2)?;
            }
            return Ok(());
        }
        input = take_or_reset(stream, pipe).await?;
        if input.is_empty() {
            // A body that ends with its connection ends well only if it was ended, not dropped.
            if matches!(reader, BodyReader::UntilClose) && pipe.has_ended() {
                return stream.send_data(Bytes::new(), true).map_err(|_| Cut::Http2);
            }
            return Err(Cut::Pipe);
        }
    }
}

/// What of `input` is the body's content; copied only where chunks are around it.
fn content_of(reader: &mut BodyReader, mut input: Bytes, trailers: &mut Vec<u8>) -> Result<Bytes, Cut> {
    if let BodyReader::Chunked(_) = reader {
        let mut content = Vec::new();
        reader.decode_with_trailers(&input, &mut content, trailers).map_err(|_| Cut::Pipe)?;
        return Ok(content.into());
    }
    let used = reader.feed(&input).map_err(|_| Cut::Pipe)?;
    input.truncate(used);
    Ok(input)
}

/// Sends as the receiver's window allows, for as long as there is a writer. An empty piece is sent only to end the stream.
async fn send_data(
    stream: &mut SendStream<Bytes>,
    mut data: Bytes,
    ends: bool,
    pipe: &mut PipeReader,
    allowance: &mut Allowance,
) -> Result<(), Cut> {
    while !data.is_empty() {
        stream.reserve_capacity(data.len());
        let room = stream.capacity();
        if room == 0 {
            let room = std::future::poll_fn(|cx| {
                if pipe.poll_gone(cx).is_ready() {
                    return Poll::Ready(Err(Cut::Pipe));
                }
                stream.poll_capacity(cx).map(|room| room.and_then(Result::ok).ok_or(Cut::Http2))
            });
            let began = Instant::now();
            timeout(allowance.left(), room).await.map_err(|_| Cut::Http2)??;
            allowance.waited += began.elapsed();
            continue;
        }
        let piece = data.split_to(room.min(data.len()));
        allowance.taken += piece.len() as u64;
        let last = ends && data.is_empty();
        stream.send_data(piece, last).map_err(|_| Cut::Http2)?;
        if last {
            return Ok(());
        }
    }
    if ends { stream.send_data(Bytes::new(), true).map_err(|_| Cut::Http2) } else { Ok(()) }
}

/// Takes from the pipe, unless the stream is reset first.
async fn take_or_reset(stream: &mut SendStream<Bytes>, pipe: &mut PipeReader) -> Result<Bytes, Cut> {
    std::future::poll_fn(|cx| {
        if let Poll::Ready(taken) = pipe.poll_take(cx) {
            return Poll::Ready(Ok(taken.into()));
        }
        stream.poll_reset(cx).map(|_| Err(Cut::Http2))
    })
    .await
}
