//! Turns: a busy connection yields after a bounded amount of work, and the core checks the other connections for events before it
//! continues. Without turns, sixteen downloads delay everything else by tens of milliseconds. Work is counted in steps and in bytes. The
//! streams of one HTTP/2 client share a turn, or a client with 200 streams would have 200 times the share of others.

use crate::coding_turns::{CodingTurns, WaitingSlice};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Steps of one turn. A step moves at most 64 KiB in each direction or starts a request; tokio's own budget would allow 128.
const STEPS: u32 = 8;
/// Bytes that a connection moves in one turn: two full reads. What a turn of all costs is the delay of others, and the kernel copies some
/// gigabytes in a second.
const TURN_BYTES: u32 = 128 * 1024;
/// The work of a turn that the streams of one client share: hundreds of usual requests, or sixteen full reads.
const SHARED_TURN_BYTES: u32 = 1024 * 1024;
/// What a step costs of a shared turn, beyond the bytes that it moves.
const STEP_BYTES: u32 = 1024;
/// What a new connection to an upstream costs of a turn: about as much time as moving so many bytes.
pub(crate) const DIAL_BYTES: usize = 64 * 1024;

/// The turn of a connection: what it may still do before it gives way.
pub(crate) struct Turn {
    steps: u32,
    bytes: u32,
    shared: Option<Rc<SharedTurn>>,
    /// The number of the shared turn for whose end this connection waits.
    waits_for: Option<u64>,
    /// The slice of a body that waits to be coded.
    slice: Option<WaitingSlice>,
    is_over: bool,
}

/// The turn of all streams of one client.
pub(crate) struct SharedTurn {
    bytes: Cell<u32>,
    number: Cell<u64>,
}

impl Default for SharedTurn {
    fn default() -> Self {
        SharedTurn { bytes: Cell::new(SHARED_TURN_BYTES), number: Cell::new(0) }
    }
}

impl Turn {
    /// The turn of a connection with a client of its own, or of one that shares its client's turn with others.
    pub(crate) fn new(shared: Option<Rc<SharedTurn>>) -> Self {
        Turn { steps: STEPS, bytes: TURN_BYTES, shared, waits_for: None, slice: None, is_over: false }
    }

    /// Begins the connection's next turn. The first stream of a client that runs again after it gave way begins the turn of all.
    #[inline]
    pub(crate) fn begin(&mut self) {
        (self.steps, self.bytes, self.is_over) = (STEPS, TURN_BYTES, false);
        if let (Some(waits_for), Some(shared)) = (self.waits_for.take(), &self.shared)
            && shared.number.get() == waits_for
        {
            shared.number.set(waits_for + 1);
            shared.bytes.set(SHARED_TURN_BYTES);
        }
    }

    /// Takes a step. Pending when the turn is over: the task is woken again after the others had their turn.
    #[inline]
    pub(crate) fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.steps == 0 || self.bytes == 0 {
            return self.end(cx);
        }
        if let Some(shared) = &self.shared {
            if shared.bytes.get() == 0 {
                self.waits_for = Some(shared.number.get());
                return self.end(cx);
            }
            shared.take(STEP_BYTES);
        }
        self.steps -= 1;
        Poll::Ready(())
    }

    #[cold]
    fn end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.is_over = true;
        give_way(cx)
    }

    /// Counts bytes that a step has moved.
    #[inline]
    pub(crate) fn moved(&mut self, bytes: usize) {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        self.bytes = self.bytes.saturating_sub(bytes);
        if let Some(shared) = &self.shared {
            shared.take(bytes);
        }
    }

    /// Waits until the core may code another slice of a body. Pending when the turn is over, as [`Turn::poll_step`].
    pub(crate) fn poll_slice(&mut self, cx: &mut Context<'_>, slices: &CodingTurns) -> Poll<()> {
        match self.slice.take() {
            None if slices.take() => return Poll::Ready(()),
            None => self.slice = Some(slices.wait()),
            // Others have not had their turn yet.
            Some(slice) if self.is_over => self.slice = Some(slice),
            Some(mut slice) => match slices.go_on(&mut slice) {
                true => return Poll::Ready(()),
                false => self.slice = Some(slice),
            },
        }
        if self.is_over { Poll::Pending } else { self.end(cx) }
    }

    /// Whether the turn is over, and the next one has not begun.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }
}

impl SharedTurn {
    fn take(&self, bytes: u32) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
    }
}

/// Lets the others have their turn. Polled once, it wakes the task after the runtime has polled its sockets. A task that woke itself would run
/// again before that.
#[cold]
pub(crate) fn give_way(cx: &mut Context<'_>) -> Poll<()> {
    pin!(tokio::task::yield_now()).poll(cx)
}

#[cfg(test)]
mod tests;
