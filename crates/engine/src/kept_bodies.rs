//! Limits the bytes of bodies that one core buffers because something must see them whole: a schema, a template. If there is no
//! room for a body, it is not read: it waits, for a bounded time, until other bodies are released.
//!
//! If its length is known, room for the whole body is reserved before reading, so that half-read bodies do not wait for each other.

use std::cell::Cell;
use std::rc::Rc;

/// How long a body waits for room. Longer waits only pile up clients.
pub(crate) const ROOM_WAIT_MS: u64 = 5_000;
/// How often a waiting body checks for room.
pub(crate) const ROOM_LOOK_MS: u64 = 50;

/// The bytes that one core buffers.
pub(crate) struct KeptBodies {
    bytes: Cell<usize>,
    bytes_max: usize,
}

/// Bytes reserved by one exchange until this is dropped.
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

    /// Grows the reservation to `bytes`, if there is room. A single body always fits: its own limit bounds it.
    pub(crate) fn reserve(&mut self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let all = self.all.bytes.get();
        let is_there = more == 0 || all == self.bytes || all.saturating_add(more) <= self.all.bytes_max;
        if is_there {
            self.set(self.bytes + more);
        }
        is_there
    }

    /// Sets the reservation for bytes that are already in memory.
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
