//! Copies bytes in both directions after a protocol switch (WebSocket), without inspecting them. When one side ends, the other side
//! is shut down for writing, so half-closed conversations end properly. If something else in this process is to inspect them, they are copied to
//! it and from it.

use crate::outbox::Outbox;
use crate::pool::{PoolSlot, PooledConnection};
use crate::service::TunnelInspector;
use crate::stream::Stream;
use crate::turn::Turn;
use std::io;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::task::{Context, Poll, ready};
use tokio::net::UnixStream;

pub(crate) struct Tunnel {
    upstream: PooledConnection,
    /// Held while the tunnel is open.
    #[allow(dead_code)]
    slot: PoolSlot,
    up: TunnelDirection,
    down: TunnelDirection,
    progress: bool,
    /// What is between the client and the upstream.
    pub inspection: Option<Box<TunnelInspection>>,
}

/// The two connections of an inspector: the tunnel's own directions are between the client and the first, these between the second and the
/// upstream.
pub(crate) struct TunnelInspection {
    client: Stream,
    upstream: Stream,
    up: TunnelDirection,
    down: TunnelDirection,
}

/// One direction of a tunnel.
struct TunnelDirection {
    outbox: Outbox,
    state: LaneState,
    /// Bytes that it has taken from its sender and nobody has asked for.
    moved: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneState {
    Open,
    /// The sender has ended; the remaining bytes are sent, then the receiver is shut down.
    Ending,
    Ended,
}

impl Tunnel {
    /// A tunnel whose outboxes may already hold the first bytes of each direction.
    pub(crate) fn new(upstream: PooledConnection, slot: PoolSlot, to_upstream: Outbox, to_client: Outbox) -> Self {
        let (up, down) = (TunnelDirection::new(to_upstream), TunnelDirection::new(to_client));
        Tunnel { upstream, slot, up, down, progress: false, inspection: None }
    }

    /// Whether a byte moved since the last call.
    pub(crate) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progress)
    }

    /// Bytes that moved since the last call: to the upstream, and to the client.
    pub(crate) fn take_moved(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.up.moved), std::mem::take(&mut self.down.moved))
    }

    /// Moves as many bytes as possible; ready when both directions have ended or one failed.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, client: &mut Stream, scratch: &mut [u8], turn: &mut Turn) -> Poll<()> {
        loop {
            ready!(turn.poll_step(cx));
            if let Some(inspection) = &mut self.inspection {
                match inspection.advance(cx, client, (&mut self.up, &mut self.down), &mut self.upstream.stream, scratch) {
                    Err(_) => return Poll::Ready(()),
                    Ok(_) if inspection.up.state == LaneState::Ended && self.down.state == LaneState::Ended => {
                        return Poll::Ready(());
                    }
                    Ok(false) => return Poll::Pending,
                    Ok(true) => self.progress = true,
                }
                continue;
            }
            let before = self.up.moved + self.down.moved;
            let up = self.up.advance(cx, client, &mut self.upstream.stream, scratch);
            let down = self.down.advance(cx, &mut self.upstream.stream, client, scratch);
            match (up, down) {
                (Err(_), _) | (_, Err(_)) => return Poll::Ready(()),
                _ if self.up.state == LaneState::Ended && self.down.state == LaneState::Ended => return Poll::Ready(()),
                (Ok(false), Ok(false)) => return Poll::Pending,
                _ => self.progress = true,
            }
            turn.moved((self.up.moved + self.down.moved - before) as usize);
        }
    }
}

impl TunnelInspection {
    /// Opens an inspector. `ahead` are the first bytes of the upstream.
    pub(crate) fn open(open: TunnelInspector, ahead: &[u8]) -> io::Result<Self> {
        let (client, upstream) = open()?;
        let mut to_inspector = Outbox::default();
        to_inspector.put(ahead);
        let (up, down) = (TunnelDirection::new(Outbox::default()), TunnelDirection::new(to_inspector));
        Ok(TunnelInspection { client: local(client)?, upstream: local(upstream)?, up, down })
    }

    /// Moves bytes once in all four directions; true if something changed. Fails when the client is gone: what the inspector has for it arrives
    /// even if the upstream is gone, or if the inspector does not read any more.
    fn advance(
        &mut self,
        cx: &mut Context<'_>,
        client: &mut Stream,
        (up, down): (&mut TunnelDirection, &mut TunnelDirection),
        upstream: &mut Stream,
        scratch: &mut [u8],
    ) -> io::Result<bool> {
        let mut is_changed = up.advance_or_end(cx, client, &mut self.client, scratch);
        is_changed |= self.up.advance_or_end(cx, &mut self.upstream, upstream, scratch);
        is_changed |= self.down.advance_or_end(cx, upstream, &mut self.upstream, scratch);
        is_changed |= down.advance(cx, &mut self.client, client, scratch)?;
        Ok(is_changed)
    }
}

fn local(stream: StdUnixStream) -> io::Result<Stream> {
    stream.set_nonblocking(true)?;
    Ok(Stream::Local(UnixStream::from_std(stream)?))
}

impl TunnelDirection {
    /// A direction whose outbox may hold its first bytes.
    fn new(outbox: Outbox) -> Self {
        TunnelDirection { outbox, state: LaneState::Open, moved: 0 }
    }

    /// Like `advance`, but a failure only ends this direction.
    fn advance_or_end(&mut self, cx: &mut Context<'_>, from: &mut Stream, to: &mut Stream, scratch: &mut [u8]) -> bool {
        let before = self.state;
        self.advance(cx, from, to, scratch).unwrap_or_else(|_| {
            self.outbox = Outbox::default();
            self.state = if before == LaneState::Open { LaneState::Ending } else { LaneState::Ended };
            before != LaneState::Ended
        })
    }

    /// Moves bytes once; true if something changed.
    fn advance(&mut self, cx: &mut Context<'_>, from: &mut Stream, to: &mut Stream, scratch: &mut [u8]) -> io::Result<bool> {
        if !self.outbox.is_empty() && self.outbox.poll_flush(cx, to)?.is_pending() {
            return Ok(false);
        }
        match self.state {
            LaneState::Ended => Ok(false),
            LaneState::Ending => match to.poll_shutdown(cx)? {
                Poll::Pending => Ok(false),
                Poll::Ready(()) => {
                    self.state = LaneState::Ended;
                    Ok(true)
                }
            },
            LaneState::Open => match from.poll_read(cx, scratch)? {
                Poll::Pending => Ok(false),
                Poll::Ready(0) => {
                    self.state = LaneState::Ending;
                    Ok(true)
                }
                Poll::Ready(read) => {
                    self.moved += read as u64;
                    self.outbox.send(cx, to, scratch.get(..read).unwrap_or_default(), &[])?;
                    Ok(true)
                }
            },
        }
    }
}
