//! Counts the bytes of bodies that one core keeps because something must see them whole: a schema, a template. All of them together are
//! bounded. A body that there is no room for is not read: it waits, for a bounded time, until others are gone.
//!
//! Room is taken for a whole body before it is read wherever its length is known, so that bodies do not wait for each other half read.

use std::cell::Cell;
use std::rc::Rc;

/// How long a body waits for room. Longer waits only pile up clients.
pub(crate) const ROOM_WAIT_MS: u64 = 5_000;
/// How often a body that waits looks for room.
pub(crate) const ROOM_LOOK_MS: u64 = 50;

/// The bytes that one core keeps.
pub(crate) struct KeptBodies {
    bytes: Cell<usize>,
    bytes_max: usize,
}

/// Bytes that one exchange keeps, until it is dropped.
pub(crate) struct Room {
    all: Rc<KeptBodies>,
    bytes: usize,
}

impl KeptBodies {
    pub(crate) fn new(bytes_max: usize) -> Rc<Self> {
        Rc::new(KeptBodies { bytes: Cell::new(0), bytes_max })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes.get()
    }
}

impl Room {
    pub(crate) fn none(all: &Rc<KeptBodies>) -> Self {
        Room { all: all.clone(), bytes: 0 }
    }

    /// Makes it at least this large, if there is as much. The only body always has room: whoever asks for it has bounded it.
    pub(crate) fn reserve(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let all = self.all.bytes.get();
        let is_there = more == 0 || all == self.bytes || all.saturating_add(more) <= self.all.bytes_max;
        if is_there {
            self.set(self.bytes + more);
        }
        is_there
    }

    /// Makes it this large, for bytes that are there already.
    pub(crate) fn set(&mut self, bytes: usize) {
        self.all.bytes.set(self.all.bytes.get().saturating_sub(self.bytes).saturating_add(bytes));
        self.bytes = bytes;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests;
