//! Bytes both ways after a switch of protocols (WebSocket), without looking at them. A side that is done is shut down on the other
//! side too, so half-closed conversations end properly.

use crate::outbox::Outbox;
use crate::pool::{PoolSlot, PooledConnection};
use crate::stream::Stream;
use crate::turn::Turn;
use std::io;
use std::task::{Context, Poll, ready};

pub(crate) struct Tunnel {
    upstream: PooledConnection,
    /// Held for as long as the tunnel is open.
    #[allow(dead_code)]
    slot: PoolSlot,
    up: TunnelDirection,
    down: TunnelDirection,
    progress: bool,
}

/// One direction.
struct TunnelDirection {
    outbox: Outbox,
    state: LaneState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LaneState {
    Open,
    /// The sender is done; what is left goes out, then the receiver is told.
    Ending,
    Ended,
}

impl Tunnel {
    /// A tunnel whose outboxes may hold the first bytes of either direction.
    pub(crate) fn new(upstream: PooledConnection, slot: PoolSlot, to_upstream: Outbox, to_client: Outbox) -> Self {
        let lane = |outbox| TunnelDirection { outbox, state: LaneState::Open };
        Tunnel { upstream, slot, up: lane(to_upstream), down: lane(to_client), progress: false }
    }

    /// Whether a byte moved since this was asked last.
    pub(crate) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progress)
    }

    /// Moves what can be moved; ready when both directions have ended or one broke.
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
    /// Moves bytes once; true when something changed.
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
                    self.outbox.send(cx, to, scratch.get(..read).unwrap_or_default(), &[])?;
                    Ok(true)
                }
            },
        }
    }
}
