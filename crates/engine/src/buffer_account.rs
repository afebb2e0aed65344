//! Counts the bytes that HTTP/2 streams buffer for slow readers: per stream, per connection and per core. If a connection buffers
//! too much, each of its streams is limited to an equal share; if the core does, to a small fixed size. Slow readers therefore
//! cannot exhaust memory, and other readers are not blocked.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

/// Bytes that a stream may buffer when the core is over its limit: enough for a response head and for the work of one wakeup.
const STREAM_BYTES_MIN: usize = 4 * 1024;

/// Bytes buffered by one stream, connection or core. Bytes charged to an account are also charged to its parents.
pub(crate) struct BufferAccount {
    bytes: Cell<usize>,
    bytes_max: usize,
    whole: Option<Rc<BufferAccount>>,
    /// Streams that share this account.
    streams: Cell<usize>,
    /// The task that waits until fewer bytes are buffered.
    waiting: RefCell<Option<Waker>>,
}

/// Bytes charged to an account until this is dropped.
pub(crate) struct BufferCharge {
    account: Rc<BufferAccount>,
    bytes: usize,
}

impl BufferAccount {
    /// An account without a parent.
    pub(crate) fn new(bytes_max: usize) -> Rc<Self> {
        Rc::new(Self::part_of(None, bytes_max))
    }

    /// An account with the parent `whole`.
    pub(crate) fn of_connection(whole: &Rc<Self>, bytes_max: usize) -> Rc<Self> {
        Rc::new(Self::part_of(Some(whole.clone()), bytes_max))
    }

    /// An account for one direction of a stream. Only its parents limit it.
    pub(crate) fn of_stream(whole: &Rc<Self>) -> Rc<Self> {
        Self::of_connection(whole, usize::MAX)
    }

    fn part_of(whole: Option<Rc<Self>>, bytes_max: usize) -> Self {
        BufferAccount { bytes: Cell::new(0), bytes_max, whole, streams: Cell::new(0), waiting: RefCell::default() }
    }

    /// Sets the number of streams that share a connection's account.
    pub(crate) fn set_streams(&self, streams: usize) {
        self.streams.set(streams);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Whether this account or one of its parents has reached its limit.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.get() >= self.bytes_max || self.whole.as_ref().is_some_and(|whole| whole.is_full())
    }

    /// How many more bytes the pipe of a stream may buffer. `room` is its limit without an account.
    pub(crate) fn room(&self, room: usize) -> usize {
        match &self.whole {
            Some(whole) if whole.is_full() => room.min(whole.share().saturating_sub(self.bytes.get())),
            _ => room,
        }
    }

    /// Bytes that one stream may buffer when this account or a parent is full.
    fn share(&self) -> usize {
        let is_alone = self.whole.as_ref().is_none_or(|whole| !whole.is_full());
        let share = if is_alone { self.bytes_max.checked_div(self.streams.get()) } else { None };
        share.unwrap_or_default().max(STREAM_BYTES_MIN)
    }

    /// Wakes the task of `cx` when fewer bytes are buffered.
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
    /// Splits off a charge of up to `bytes`.
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
