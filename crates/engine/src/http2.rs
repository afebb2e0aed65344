//! HTTP/2 with clients. Each stream is translated into HTTP/1.1 on a pipe, and a `Connection` like any other serves the other end: what
//! holds for a connection with one request holds for a stream. The h2 crate does the framing, the flow control and the header
//! compression; here are the bounds, the drain, and an end for clients that open streams to throw them away.

mod body;
mod client_stream;
mod head;
mod patience;
mod tunnel;
mod upstream;
mod upstream_stream;

pub(crate) use upstream::Http2Upstreams;

use crate::core::Core;
use crate::peers::Counted;
use crate::service::Client;
use crate::stream::Stream;
use bytes::Bytes;
use client_stream::Lane;
use h2::Reason;
use patience::Patience;
use std::cell::{Cell, RefCell};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{sleep, timeout};

/// What every HTTP/2 connection begins with (RFC 9113 §3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes that a client may send on one stream before any of them are taken. The pipe holds as much again.
const STREAM_WINDOW: u32 = 256 * 1024;
/// The same for all streams of a connection together: what one connection can make a core hold.
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Bytes of one stream's response that h2 holds; more waits in the upstream.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Streams that a client may throw away, beyond one for each that it lets finish: enough for a browser that stops loading a page, not
/// for one that opens streams for nothing but the work they make (CVE-2023-44487).
const THROWN_AWAY_MAX: u32 = 200;
/// Shortest wait between two looks at whether a connection is idle.
const IDLE_LOOK_MS: u64 = 100;
/// Streams that h2 remembers after a reset, and those it was to hand over when they were reset.
const RESETS_REMEMBERED_MAX: usize = 64;

/// Lanes that a connection keeps for its next streams: some 3 KiB each.
const LANES_SPARE_MAX: usize = 16;

/// What streams have in common, and have done to the connection they belong to.
struct Standing {
    core: Rc<Core>,
    client: Client,
    lanes: RefCell<Vec<Lane>>,
    open: Cell<usize>,
    /// Streams thrown away, less those finished.
    thrown_away: Cell<u32>,
    /// Coarse time of the last stream's end.
    busy_ms: Cell<u64>,
}

/// Serves a connection whose first bytes, if they were read already, are `ahead`.
pub(crate) async fn serve(core: Rc<Core>, stream: Stream, ahead: Vec<u8>, client: Client, counted: Counted) {
    let client = Client { http2: true, ..client };
    let limits = &core.limits;
    let mut builder = h2::server::Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_concurrent_streams(limits.http2_streams_max)
        .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
        .max_send_buffer_size(SEND_BUFFER_BYTES)
        .max_concurrent_reset_streams(RESETS_REMEMBERED_MAX)
        .max_pending_accept_reset_streams(RESETS_REMEMBERED_MAX);
    if limits.tunnels {
        builder.enable_connect_protocol();
    }
    let io = Io { ahead, read: 0, stream, patience: Some(Patience::new(core.clone())) };
    let shaken = timeout(Duration::from_millis(limits.handshake_ms), builder.handshake::<_, Bytes>(io)).await;
    let mut connection = match shaken {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => return tracing::debug!(client = %client.address, %error, "HTTP/2 did not begin"),
        Err(_) => return tracing::debug!(client = %client.address, "HTTP/2 did not begin in time"),
    };
    let standing = Rc::new(Standing {
        core: core.clone(),
        client: client.clone(),
        lanes: RefCell::default(),
        open: Cell::new(0),
        thrown_away: Cell::new(0),
        busy_ms: Cell::new(core.deadlines.now_ms()),
    });
    let mut drained = pin!(core.peers.drained());
    let mut idle = pin!(sleep(Duration::from_millis(limits.client_idle_ms)));
    let mut leaving = false;
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut drained, if !leaving => {
                leaving = true;
                connection.graceful_shutdown();
                continue;
            }
            () = &mut idle => {
                let quiet_ms = standing.idle_for_ms();
                if leaving && quiet_ms >= limits.client_idle_ms {
                    // It was told to leave, and has nothing open.
                    break;
                }
                if quiet_ms >= limits.client_idle_ms {
                    leaving = true;
                    connection.graceful_shutdown();
                }
                idle.set(sleep(Duration::from_millis(limits.client_idle_ms.saturating_sub(quiet_ms).max(IDLE_LOOK_MS))));
                continue;
            }
            accepted = connection.accept() => accepted,
        };
        match accepted {
            Some(Ok((request, respond))) => {
                if standing.thrown_away.get() > THROWN_AWAY_MAX {
                    tracing::warn!(client = %client.address, "HTTP/2 client throws its requests away: connection closed");
                    connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                    continue;
                }
                // In a box it is not copied on its way into the task.
                tokio::task::spawn_local(Box::pin(client_stream::serve(request, respond, Serving::new(&standing))));
            }
            Some(Err(error)) => {
                tracing::debug!(client = %client.address, %error, "HTTP/2 connection failed");
                break;
            }
            None => break,
        }
    }
    drop(counted);
}

impl Standing {
    fn idle_for_ms(&self) -> u64 {
        if self.open.get() > 0 { 0 } else { self.core.deadlines.now_ms().saturating_sub(self.busy_ms.get()) }
    }
}

/// One stream in its connection's books.
struct Serving {
    standing: Rc<Standing>,
    finished: bool,
}

impl Serving {
    fn new(standing: &Rc<Standing>) -> Self {
        standing.open.set(standing.open.get() + 1);
        Serving { standing: standing.clone(), finished: false }
    }

    /// A lane for it.
    fn lane(&self) -> Lane {
        let spare = self.standing.lanes.borrow_mut().pop();
        spare.map_or_else(|| Lane::new(&self.standing.core, &self.standing.client), Lane::resumed)
    }

    /// Takes a lane back.
    fn give_back(&self, lane: Lane) {
        let mut lanes = self.standing.lanes.borrow_mut();
        if lanes.len() < LANES_SPARE_MAX {
            lanes.push(lane.suspended());
        }
    }

    /// The client got its whole answer.
    fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let standing = &self.standing;
        standing.open.set(standing.open.get().saturating_sub(1));
        standing.busy_ms.set(standing.core.deadlines.now_ms());
        let thrown_away = standing.thrown_away.get();
        standing.thrown_away.set(if self.finished { thrown_away.saturating_sub(1) } else { thrown_away.saturating_add(1) });
    }
}

/// A connection's stream as h2 wants it, with what was read of it before.
pub(crate) struct Io {
    ahead: Vec<u8>,
    read: usize,
    stream: Stream,
    /// The time that the other side has for its frames; without a bound towards upstreams, whose answers have time limits.
    patience: Option<Patience>,
}

impl Io {
    pub fn new(stream: Stream) -> Self {
        Io { ahead: Vec::new(), read: 0, stream, patience: None }
    }
}

impl AsyncRead for Io {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.patience.as_ref().is_some_and(Patience::is_over) {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "a frame or a header block was not finished in time")));
        }
        let before = buffer.filled().len();
        let poll = this.poll_fill(cx, buffer);
        if let (Some(patience), Some(bytes @ [_, ..])) = (&mut this.patience, buffer.filled().get(before..)) {
            patience.saw(cx, bytes);
        }
        poll
    }
}

impl Io {
    fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(rest) = self.ahead.get(self.read..).filter(|rest| !rest.is_empty()) {
            let taken = rest.len().min(buffer.remaining());
            buffer.put_slice(rest.get(..taken).unwrap_or_default());
            self.read += taken;
            return Poll::Ready(Ok(()));
        }
        self.ahead = Vec::new();
        self.stream.poll_fill(cx, buffer)
    }
}

impl AsyncWrite for Io {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.poll_write(cx, bytes, &[])
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, parts: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.stream.poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_shutdown(cx)
    }
}
