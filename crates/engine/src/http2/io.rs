//! An HTTP/2 connection's bytes as h2 wants them. Bounds what the connection moves before others have their turn, watches what a client
//! sends, and stays for a moment after the end so that the client can read why.

use super::frame_allowance::FrameAllowance;
use super::frame_deadline::FrameDeadline;
use super::frames::Frames;
use crate::core::Core;
use crate::stream::Stream;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes that a connection reads before other tasks have their turn. Streams take what was read in between, so h2 never holds more than
/// this of what streams can take.
const READ_TURN_BYTES: usize = 64 * 1024;
/// The same in frames: h2 keeps some 300 bytes for each, and never lets go of that memory.
const READ_TURN_FRAMES: u32 = 512;
/// Bytes that a connection writes before other tasks have their turn: nobody waits for the whole of what hundreds of streams have to send.
/// Four streams at full speed; a smaller turn takes a fifth more CPU time for each byte.
const WRITE_TURN_BYTES: usize = 256 * 1024;
/// After the end, what the client has still sent is read for this long and this much: what stays unread would make the system reset the
/// connection, and the client lose the reason.
const LINGER_MS: u64 = 1_000;
const LINGER_BYTES_MAX: usize = 4 * 1024 * 1024;

pub struct Io {
    stream: Stream,
    /// What was read before.
    ahead: Vec<u8>,
    ahead_read: usize,
    /// Bytes and frames of this turn.
    read: usize,
    read_frames: u32,
    written: usize,
    /// Bytes that were read after the end.
    lingered: Option<usize>,
    /// None towards upstreams: their answers have time limits, and they are trusted with frames.
    watch: Option<Watch>,
}

/// What is watched of a client.
struct Watch {
    frames: Frames,
    deadline: FrameDeadline,
    allowance: Rc<FrameAllowance>,
    core: Rc<Core>,
}

impl Io {
    pub fn of_upstream(stream: Stream) -> Self {
        Io { stream, ahead: Vec::new(), ahead_read: 0, read: 0, read_frames: 0, written: 0, lingered: None, watch: None }
    }

    /// A client's, whose first bytes, if they were read already, are `ahead`.
    pub fn of_client(stream: Stream, ahead: Vec<u8>, core: &Rc<Core>, allowance: Rc<FrameAllowance>) -> Self {
        let deadline = FrameDeadline::new(core.clone());
        let watch = Watch { frames: Frames::default(), deadline, allowance, core: core.clone() };
        Io { ahead, watch: Some(watch), ..Io::of_upstream(stream) }
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(rest) = self.ahead.get(self.ahead_read..).filter(|rest| !rest.is_empty()) {
            let taken = rest.len().min(buffer.remaining());
            buffer.put_slice(rest.get(..taken).unwrap_or_default());
            self.ahead_read += taken;
            return Poll::Ready(Ok(()));
        }
        self.ahead = Vec::new();
        self.stream.poll_fill(cx, buffer)
    }

    /// Whether this turn's writes are over; the next turn is asked for.
    fn has_written_enough(&mut self, cx: &Context<'_>) -> bool {
        let enough = self.written >= WRITE_TURN_BYTES;
        if enough {
            self.written = 0;
            cx.waker().wake_by_ref();
        }
        enough
    }

    fn count_written(&mut self, poll: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &poll {
            Poll::Ready(Ok(written)) => self.written += written,
            _ => self.written = 0,
        }
        poll
    }
}

impl Watch {
    /// The client sent these bytes. How many frames began.
    fn see(&mut self, cx: &Context<'_>, bytes: &[u8]) -> u32 {
        let begun = self.frames.read(bytes);
        self.deadline.wait_for(cx, self.frames.unfinished());
        self.allowance.count(begun, self.core.deadlines.now_ms());
        if self.allowance.is_over() {
            // Who looks after the connection ends it.
            cx.waker().wake_by_ref();
        }
        begun.all
    }
}

impl AsyncRead for Io {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let Some(watch) = &this.watch {
            if watch.deadline.is_over() {
                return Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "a frame or a header block was not finished in time",
                )));
            }
            if watch.allowance.is_over() {
                return Poll::Pending;
            }
        }
        if this.read >= READ_TURN_BYTES || this.read_frames >= READ_TURN_FRAMES {
            (this.read, this.read_frames) = (0, 0);
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let poll = this.poll_fill(cx, buffer);
        let bytes = buffer.filled().get(before..).unwrap_or_default();
        if poll.is_pending() {
            (this.read, this.read_frames) = (0, 0);
        } else if !bytes.is_empty() {
            this.read += bytes.len();
            this.read_frames += this.watch.as_mut().map_or(0, |watch| watch.see(cx, bytes));
        }
        poll
    }
}

impl AsyncWrite for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.has_written_enough(cx) {
            return Poll::Pending;
        }
        let poll = self.stream.poll_write(cx, bytes, &[]);
        self.count_written(poll)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        if self.has_written_enough(cx) {
            return Poll::Pending;
        }
        let poll = self.stream.poll_write_vectored(cx, parts);
        self.count_written(poll)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let Some(watch) = &this.watch else { return this.stream.poll_shutdown(cx) };
        let lingered = match &mut this.lingered {
            Some(lingered) => lingered,
            None => {
                ready!(this.stream.poll_shutdown(cx))?;
                // Whatever limit was set belongs to a frame that does not matter any longer.
                let _ = watch.deadline.is_over();
                watch.deadline.set(cx, LINGER_MS);
                this.lingered.insert(0)
            }
        };
        let mut buffers = watch.core.buffers.borrow_mut();
        while *lingered < LINGER_BYTES_MAX && !watch.deadline.is_over() {
            match ready!(this.stream.poll_read(cx, &mut buffers.scratch)) {
                Ok(read) if read > 0 => *lingered += read,
                _ => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}
