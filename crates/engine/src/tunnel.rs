//! Copies bytes in both directions after a protocol switch (WebSocket), without inspecting them. When one side ends, the other side
//! is shut down for writing, so half-closed conversations end properly.

use crate::outbox::Outbox;
use crate::pool::{PoolSlot, PooledConnection};
use crate::stream::Stream;
use crate::turn::Turn;
use std::io;
use std::task::{Context, Poll, ready};

pub(crate) struct Tunnel {
    upstream: PooledConnection,
    /// Held while the tunnel is open.
    #[allow(dead_code)]
    slot: PoolSlot,
    up: TunnelDirection,
    down: TunnelDirection,
    progress: bool,
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
        let lane = |outbox| TunnelDirection { outbox, state: LaneState::Open, moved: 0 };
        Tunnel { upstream, slot, up: lane(to_upstream), down: lane(to_client), progress: false }
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
            let up = self.up.advance(cx, client, &mut self.upstream.stream, scratch);
            let down = self.down.advance(cx, &mut self.upstream.stream, client, scratch);
            match (up, down) {
                (Err(_), _) | (_, Err(_)) => return Poll::Ready(()),
                _ if self.up.state == LaneState::Ended && self.down.state == LaneState::Ended => return Poll::Ready(()),
                (Ok(false), Ok(false)) => return Poll::Pending,
                _ => self.progress = true,
            }
        }
    }
}

impl TunnelDirection {
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
