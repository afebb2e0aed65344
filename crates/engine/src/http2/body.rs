//! Bodies between HTTP/2 and HTTP/1.1, in both directions and for both sides. Flow control goes through: a window opens again when
//! the other side has taken the bytes, and nothing is read that can't be sent on.

use super::frame_allowance::FrameAllowance;
use super::head::{read_trailers, write_trailers};
use crate::buffer_account::{BufferAccount, Charge};
use crate::pace::Speed;
use crate::pipe::{PipeReader, PipeWriter};
use bytes::{Buf, Bytes, BytesMut};
use h2::{RecvStream, SendStream};
use std::io::Write;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
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

/// The terms on which a body is sent.
pub struct Sending<'a> {
    pub allowance: Allowance,
    /// Where its bytes count until they are written.
    pub account: &'a Rc<BufferAccount>,
    /// What the receiver earns by it.
    pub frames: Option<&'a FrameAllowance>,
}

/// What was read, with `more` behind it.
pub fn join(read: Bytes, more: Vec<u8>) -> Bytes {
    if read.is_empty() { more.into() } else { [read.as_ref(), &more].concat().into() }
}

/// A body's bytes on their way to the HTTP/2 side, in an account for as long as that holds them.
pub struct Piece {
    bytes: Bytes,
    _charge: Option<Charge>,
}

impl Piece {
    fn empty() -> Self {
        Piece { bytes: Bytes::new(), _charge: None }
    }
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }
}

/// A body that comes from the HTTP/2 side. What has arrived is taken at once and kept in one piece: h2 keeps each frame by itself, which
/// takes hundreds of bytes for a message of ten, and ends the connection of a sender whose small frames are not taken.
pub struct Incoming {
    content: RecvStream,
    /// Bytes that a pipe had no room for. Their part of the window stays closed, which bounds them.
    waiting: BytesMut,
    charge: Charge,
}

impl Incoming {
    pub fn new(content: RecvStream, account: &Rc<BufferAccount>) -> Self {
        Incoming { content, waiting: BytesMut::new(), charge: account.charge(0) }
    }

    pub fn is_end_stream(&self) -> bool {
        self.content.is_end_stream()
    }

    /// Takes what arrives until the stream ends, before anybody wants it.
    pub fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Cut>> {
        while let Some(data) = ready!(self.content.poll_data(cx)) {
            self.keep(&data.map_err(|_| Cut::Http2)?);
        }
        Poll::Ready(Ok(()))
    }

    fn keep(&mut self, data: &[u8]) {
        self.waiting.extend_from_slice(data);
        self.charge.grow(data.len());
    }

    /// Passes on all of the body's bytes.
    fn poll_pass(&mut self, cx: &mut Context<'_>, chunked: bool, pipe: &mut PipeWriter) -> Poll<Result<(), Cut>> {
        loop {
            let ended = match self.content.poll_data(cx) {
                Poll::Ready(Some(data)) => {
                    let data = data.map_err(|_| Cut::Http2)?;
                    if self.waiting.is_empty() && pipe.room() >= data.len() {
                        self.write(&data, chunked, pipe)?;
                    } else {
                        self.keep(&data);
                    }
                    continue;
                }
                Poll::Ready(None) => true,
                Poll::Pending => false,
            };
            if self.waiting.is_empty() {
                return if ended { Poll::Ready(Ok(())) } else { Poll::Pending };
            }
            let room = ready!(pipe.poll_room(cx)).map_err(|_| Cut::Pipe)?;
            let next = self.waiting.split_to(room.min(self.waiting.len()));
            drop(self.charge.split(next.len()));
            self.write(&next, chunked, pipe)?;
        }
    }

    /// Writes bytes that there is room for, and lets as many more come.
    fn write(&mut self, bytes: &[u8], chunked: bool, pipe: &mut PipeWriter) -> Result<(), Cut> {
        if bytes.is_empty() {
            return Ok(());
        }
        let written = if chunked {
            let mut size = [0; 18];
            let mut rest = size.as_mut_slice();
            let _ = write!(rest, "{:x}\r\n", bytes.len());
            let unused = rest.len();
            pipe.put(&[size.get(..size.len() - unused).unwrap_or_default(), bytes, b"\r\n"])
        } else {
            pipe.put(&[bytes])
        };
        written.map_err(|_| Cut::Pipe)?;
        self.content.flow_control().release_capacity(bytes.len()).map_err(|_| Cut::Http2)
    }
}

/// From a stream into a pipe, as `framing` says. Trailers go where there are chunks; elsewhere HTTP/1.1 has no place for them.
pub async fn receive(body: &mut Incoming, chunked: bool, pipe: &mut PipeWriter) -> Result<(), Cut> {
    std::future::poll_fn(|cx| body.poll_pass(cx, chunked, pipe)).await?;
    let trailers = body.content.trailers().await.map_err(|_| Cut::Http2)?;
    if chunked {
        let mut out = b"0\r\n".to_vec();
        trailers.iter().for_each(|trailers| write_trailers(trailers, &mut out));
        out.extend_from_slice(b"\r\n");
        pipe.write_all(&out).await.map_err(|_| Cut::Pipe)?;
    }
    Ok(())
}

/// From a pipe into a stream. `ahead` is what was read with the head. A receiver beyond its allowance is given up.
pub async fn send(
    stream: &mut SendStream<Piece>,
    body: Body,
    ahead: Bytes,
    pipe: &mut PipeReader,
    sending: Sending<'_>,
) -> Result<(), Cut> {
    let Sending { mut allowance, account, frames } = sending;
    let mut reader = BodyReader::new(body);
    let mut trailers = Vec::new();
    let mut input = ahead;
    loop {
        let content = content_of(&mut reader, input, &mut trailers)?;
        let done = reader.is_done();
        let ends = done && trailers.is_empty();
        let charge = account.charge(content.len());
        if let Some(frames) = frames.filter(|_| !content.is_empty()) {
            frames.earn_piece(content.len());
        }
        send_data(stream, content, charge, ends, pipe, &mut allowance).await?;
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
                return stream.send_data(Piece::empty(), true).map_err(|_| Cut::Http2);
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
    stream: &mut SendStream<Piece>,
    mut data: Bytes,
    mut charge: Charge,
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
        let piece = Piece { _charge: Some(charge.split(piece.len())), bytes: piece };
        stream.send_data(piece, last).map_err(|_| Cut::Http2)?;
        if last {
            return Ok(());
        }
    }
    if ends { stream.send_data(Piece::empty(), true).map_err(|_| Cut::Http2) } else { Ok(()) }
}

/// Takes from the pipe, unless the stream is reset first.
async fn take_or_reset(stream: &mut SendStream<Piece>, pipe: &mut PipeReader) -> Result<Bytes, Cut> {
    std::future::poll_fn(|cx| {
        if let Poll::Ready(taken) = pipe.poll_take(cx) {
            return Poll::Ready(Ok(taken.into()));
        }
        stream.poll_reset(cx).map(|_| Err(Cut::Http2))
    })
    .await
}
