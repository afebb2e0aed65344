//! Translates bodies between HTTP/2 and HTTP/1.1, in both directions and for both sides. Backpressure passes through: a window
//! reopens when the receiver has taken the bytes, and nothing is read that cannot be sent on.

use super::frame_allowance::FrameAllowance;
use super::head::read_trailers;
use super::link::LinkStream;
use crate::buffer_account::{BufferAccount, BufferCharge};
use crate::pace::Speed;
use crate::pipe::{PipeReader, PipeWriter};
use std::io::Write;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tollgate_http::{Body, BodyReader};
use tollgate_http2::{Http2ErrorCode, StreamGone};

/// Why the transfer of a body failed.
pub(crate) enum Cut {
    /// The HTTP/2 side reset the stream or disconnected.
    Http2,
    /// The other end of the pipe is gone, or its output was not a valid body.
    Pipe,
}

impl From<StreamGone> for Cut {
    fn from(_: StreamGone) -> Self {
        Cut::Http2
    }
}

/// Time limits for a receiver that takes a body slowly.
pub(crate) struct WindowAllowance {
    stall: Duration,
    speed: Speed,
    waited: Duration,
    taken: u64,
}

impl WindowAllowance {
    /// `stall`: longest time without progress. `speed`: minimum speed overall.
    pub(crate) fn new(stall: Duration, speed: Speed) -> Self {
        WindowAllowance { stall, speed, waited: Duration::ZERO, taken: 0 }
    }

    /// How long the receiver may be waited for now.
    fn left(&self) -> Duration {
        let in_all = self.speed.allowed_ms(self.taken).map(Duration::from_millis);
        in_all.map_or(self.stall, |in_all| self.stall.min(in_all.saturating_sub(self.waited)))
    }
}

/// How a body is sent.
pub(crate) struct Sending<'a> {
    pub allowance: WindowAllowance,
    /// Account charged until the bytes are written.
    pub account: &'a Rc<BufferAccount>,
    /// Frame allowance that the sent bytes increase.
    pub frames: Option<&'a FrameAllowance>,
}

/// Bytes read from a pipe, and how many of them are used.
#[derive(Default)]
pub(crate) struct Taken {
    bytes: Vec<u8>,
    used: usize,
}

impl Taken {
    /// The unused bytes.
    pub(crate) fn rest(&self) -> &[u8] {
        self.bytes.get(self.used..).unwrap_or_default()
    }

    pub(crate) fn use_up(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// Appends bytes that were read next.
    pub(crate) fn add(&mut self, more: Vec<u8>) {
        if self.rest().is_empty() {
            *self = Taken { bytes: more, used: 0 };
        } else {
            self.bytes.extend_from_slice(&more);
        }
    }
}

/// Copies a body from a stream into a pipe. Trailers are sent only if the body is chunked: HTTP/1.1 has no other place for them.
pub(crate) async fn receive(stream: &LinkStream, chunked: bool, pipe: &mut PipeWriter) -> Result<(), Cut> {
    std::future::poll_fn(|cx| poll_pass(stream, cx, chunked, pipe)).await?;
    if chunked {
        let mut out = b"0\r\n".to_vec();
        out.append(&mut stream.trailers());
        out.extend_from_slice(b"\r\n");
        pipe.write_all(&out).await.map_err(|_| Cut::Pipe)?;
    }
    Ok(())
}

/// Passes on all bytes of a body.
fn poll_pass(stream: &LinkStream, cx: &mut Context<'_>, chunked: bool, pipe: &mut PipeWriter) -> Poll<Result<(), Cut>> {
    while ready!(stream.poll_received(cx))? > 0 {
        let room = ready!(pipe.poll_room(cx)).map_err(|_| Cut::Pipe)?;
        stream.take(room, |bytes| write(bytes, chunked, pipe))?;
    }
    Poll::Ready(Ok(()))
}

/// Writes bytes for which there is room.
fn write(bytes: &[u8], chunked: bool, pipe: &mut PipeWriter) -> Result<(), Cut> {
    let written = if chunked {
        let mut size = [0; 18];
        let mut rest = size.as_mut_slice();
        let _ = write!(rest, "{:x}\r\n", bytes.len());
        let unused = rest.len();
        pipe.put(&[size.get(..size.len() - unused).unwrap_or_default(), bytes, b"\r\n"])
    } else {
        pipe.put(&[bytes])
    };
    written.map_err(|_| Cut::Pipe)
}

/// Copies a body from a pipe into a stream. `ahead`: bytes read with the head. Gives up on a receiver that exceeds its allowance.
pub(crate) async fn send(
    stream: &LinkStream,
    body: Body,
    mut ahead: Taken,
    pipe: &mut PipeReader,
    sending: Sending<'_>,
) -> Result<(), Cut> {
    let Sending { mut allowance, account, frames } = sending;
    let mut reader = BodyReader::new(body);
    let (mut decoded, mut trailers) = (Vec::new(), Vec::new());
    loop {
        let content = content_of(&mut reader, ahead.rest(), &mut decoded, &mut trailers)?;
        let done = reader.is_done();
        let ends = done && trailers.is_empty();
        let charge = account.charge(content.len());
        if let Some(frames) = frames.filter(|_| !content.is_empty()) {
            frames.earn_piece(content.len());
        }
        if ends || !content.is_empty() {
            send_data(stream, content, charge, ends, pipe, &mut allowance).await?;
        }
        if done {
            if !trailers.is_empty() {
                stream.send_head(&read_trailers(&trailers), true)?;
            }
            return Ok(());
        }
        ahead = Taken::default();
        let more = take_or_reset(stream, pipe).await?;
        if more.is_empty() {
            // A body delimited by the close is complete only if the writer ended it instead of being dropped.
            if matches!(reader, BodyReader::UntilClose) && pipe.has_ended() {
                stream.send_data(&[], true)?;
                return Ok(());
            }
            return Err(Cut::Pipe);
        }
        ahead.add(more);
    }
}

/// The content bytes within `input`; copied only if the body is chunked.
fn content_of<'a>(
    reader: &mut BodyReader,
    input: &'a [u8],
    decoded: &'a mut Vec<u8>,
    trailers: &mut Vec<u8>,
) -> Result<&'a [u8], Cut> {
    if let BodyReader::Chunked(_) = reader {
        decoded.clear();
        reader.decode_with_trailers(input, decoded, trailers).map_err(|_| Cut::Pipe)?;
        return Ok(decoded);
    }
    let used = reader.feed(input).map_err(|_| Cut::Pipe)?;
    Ok(input.get(..used).unwrap_or_default())
}

/// Sends as the receiver's windows allow, while the writer exists.
async fn send_data(
    stream: &LinkStream,
    mut data: &[u8],
    mut charge: BufferCharge,
    ends: bool,
    pipe: &mut PipeReader,
    allowance: &mut WindowAllowance,
) -> Result<(), Cut> {
    loop {
        let sent = stream.send_data(data, ends)?;
        allowance.taken += sent as u64;
        drop(charge.split(sent));
        data = data.get(sent..).unwrap_or_default();
        if data.is_empty() {
            return Ok(());
        }
        let room = std::future::poll_fn(|cx| {
            if pipe.poll_gone(cx).is_ready() {
                return Poll::Ready(Err(Cut::Pipe));
            }
            stream.poll_writable(cx).map_err(Cut::from)
        });
        let began = Instant::now();
        match timeout(allowance.left(), room).await {
            Ok(room) => room?,
            Err(_) => {
                stream.reset(Http2ErrorCode::CANCEL);
                return Err(Cut::Http2);
            }
        }
        allowance.waited += began.elapsed();
    }
}

/// Reads from the pipe, unless the stream is reset first.
async fn take_or_reset(stream: &LinkStream, pipe: &mut PipeReader) -> Result<Vec<u8>, Cut> {
    std::future::poll_fn(|cx| {
        if let Poll::Ready(taken) = pipe.poll_take(cx) {
            return Poll::Ready(Ok(taken));
        }
        stream.poll_reset(cx).map(|()| Err(Cut::Http2))
    })
    .await
}
