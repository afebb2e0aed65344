//! Turns: a busy connection yields after a bounded amount of work, and the core checks the other connections for events before it
//! continues. Without turns, sixteen downloads delay everything else by tens of milliseconds.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

/// Steps of one turn. A step moves at most 64 KiB in each direction or starts a request; tokio's own budget would allow 128.
const STEPS: u32 = 8;

/// Remaining steps of a connection's turn.
pub(crate) struct Turn(u32);

impl Turn {
    pub(crate) fn new() -> Self {
        Turn(STEPS)
    }

    /// Takes a step. Pending when the turn is over: the task is woken again after the others had their turn.
    #[inline]
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                Poll::Ready(())
            }
            None => give_way(cx),
        }
    }
}

#[cold]
fn give_way(cx: &mut Context<'_>) -> Poll<()> {
    // Polled once, it wakes the task after the runtime has polled its sockets. A task that woke itself would run again before that.
    pin!(tokio::task::yield_now()).poll(cx)
}

#[cfg(test)]
mod tests;
