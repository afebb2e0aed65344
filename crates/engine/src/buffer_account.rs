//! Counts the bytes that HTTP/2 streams hold for readers that have not taken them yet: of one stream, of its connection, and of the
//! whole core. Where the connection holds too much, each of its streams keeps no more than its share; where the core does, no more than a
//! small piece. So readers that do not read cannot fill the memory, and readers that do read go on.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

/// Bytes that a stream may hold where others hold too much: enough for a response's head, and for what one wakeup is worth.
const STREAM_BYTES_MIN: usize = 4 * 1024;

/// The bytes of one stream, one connection or one core. Bytes count for all that an account is part of.
pub(crate) struct BufferAccount {
    bytes: Cell<usize>,
    bytes_max: usize,
    whole: Option<Rc<BufferAccount>>,
    /// Streams that share it.
    streams: Cell<usize>,
    /// The task that waits until fewer bytes are held.
    waiting: RefCell<Option<Waker>>,
}

/// Bytes in an account, until they are dropped.
pub(crate) struct BufferCharge {
    account: Rc<BufferAccount>,
    bytes: usize,
}

impl BufferAccount {
    /// One that is no part of another.
    pub(crate) fn new(bytes_max: usize) -> Rc<Self> {
        Rc::new(Self::part_of(None, bytes_max))
    }

    /// One that is a part of `whole`.
    pub(crate) fn of_connection(whole: &Rc<Self>, bytes_max: usize) -> Rc<Self> {
        Rc::new(Self::part_of(Some(whole.clone()), bytes_max))
    }

    /// One direction of a stream, which is bounded by what it is part of.
    pub(crate) fn of_stream(whole: &Rc<Self>) -> Rc<Self> {
        Self::of_connection(whole, usize::MAX)
    }

    fn part_of(whole: Option<Rc<Self>>, bytes_max: usize) -> Self {
        BufferAccount { bytes: Cell::new(0), bytes_max, whole, streams: Cell::new(0), waiting: RefCell::default() }
    }

    /// Tells a connection's account how many streams share it.
    pub(crate) fn set_streams(&self, streams: usize) {
        self.streams.set(streams);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// It, or what it is part of, holds as much as it may.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.get() >= self.bytes_max || self.whole.as_ref().is_some_and(|whole| whole.is_full())
    }

    /// How many more bytes a stream's pipe may hold that would take `room` without an account.
    pub(crate) fn room(&self, room: usize) -> usize {
        match &self.whole {
            Some(whole) if whole.is_full() => room.min(whole.share().saturating_sub(self.bytes.get())),
            _ => room,
        }
    }

    /// Bytes that one of its streams may hold when it is full, or what it is part of.
    fn share(&self) -> usize {
        let is_alone = self.whole.as_ref().is_none_or(|whole| !whole.is_full());
        let share = if is_alone { self.bytes_max.checked_div(self.streams.get()) } else { None };
        share.unwrap_or_default().max(STREAM_BYTES_MIN)
    }

    /// Wakes the task of `cx` when fewer bytes are held.
    pub(crate) fn wait(&self, cx: &Context<'_>) {
        let mut waiting = self.waiting.borrow_mut();
        if !waiting.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *waiting = Some(cx.waker().clone());
        }
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        if let Some(whole) = &self.whole {
            whole.add(bytes);
        }
    }

    pub(crate) fn subtract(&self, bytes: usize) {
        self.bytes.set(self.bytes.get().saturating_sub(bytes));
        if let Some(whole) = &self.whole {
            whole.subtract(bytes);
        }
        if let Some(waker) = self.waiting.take() {
            waker.wake();
        }
    }

    pub(crate) fn charge(self: &Rc<Self>, bytes: usize) -> BufferCharge {
        self.add(bytes);
        BufferCharge { account: self.clone(), bytes }
    }
}

impl BufferCharge {
    /// A part of it.
    pub(crate) fn split(&mut self, bytes: usize) -> BufferCharge {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        BufferCharge { account: self.account.clone(), bytes }
    }

    pub(crate) fn grow(&mut self, bytes: usize) {
        self.account.add(bytes);
        self.bytes += bytes;
    }
}

impl Drop for BufferCharge {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.account.subtract(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests;
