//! Turns: a connection that always finds something to do goes to the back of the queue after some of it, and the core looks for news of the
//! other connections before it comes again. Without it, sixteen downloads make everybody else wait for tens of milliseconds.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll};

/// Steps of one turn. A step moves at most 64 KiB in each direction or begins a request; tokio alone would allow 128.
const STEPS: u32 = 8;

/// What is left of a connection's turn.
pub(crate) struct Turn(u32);

impl Turn {
    pub(crate) fn new() -> Self {
        Turn(STEPS)
    }

    /// Takes a step. Pending when the turn is over: the task is woken for the next one when the others have had theirs.
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
    // Asked once, it has the task woken after the runtime has looked at its sockets. A task that wakes itself would come again before that.
    pin!(tokio::task::yield_now()).poll(cx)
}

#[cfg(test)]
mod tests;
