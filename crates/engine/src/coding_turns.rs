//! Bounds the work of coding bodies on one core. However many responses are compressed, the core codes few slices before it looks at its sockets
//! again, and those that wait go on in the order in which they came.

use std::cell::Cell;

/// Slices that are coded between two looks at the sockets, at most twice as many. One takes a fraction of a millisecond, so all of them hold up
/// others by about one.
const SLICES: u64 = 4;

/// The numbers of the slices that a core codes.
#[derive(Default)]
pub(crate) struct CodingTurns {
    /// The number of the next slice.
    next: Cell<u64>,
    /// Slices with smaller numbers may be coded.
    allowed: Cell<u64>,
    /// How often waiting slices were let go on.
    round: Cell<u64>,
}

/// A slice that waits.
#[derive(Clone, Copy)]
pub(crate) struct WaitingSlice {
    number: u64,
    /// The round in which it began to wait, or looked last.
    round: u64,
}

impl CodingTurns {
    /// Whether a slice may be coded at once.
    pub(crate) fn take(&self) -> bool {
        let number = self.next.get();
        let may = number < self.allowed.get();
        if may {
            self.next.set(number + 1);
        }
        may
    }

    /// Takes the place of a slice among those that wait.
    pub(crate) fn wait(&self) -> WaitingSlice {
        let number = self.next.get();
        self.next.set(number + 1);
        WaitingSlice { number, round: self.round.get() }
    }

    /// Called when a slice has waited until the core has looked at its sockets: whether it may be coded now. The first one that asks lets the
    /// next few go on.
    pub(crate) fn go_on(&self, slice: &mut WaitingSlice) -> bool {
        if slice.number >= self.allowed.get() && slice.round == self.round.get() {
            self.round.set(slice.round + 1);
            self.allowed.set(self.allowed.get() + SLICES);
        }
        slice.round = self.round.get();
        slice.number < self.allowed.get()
    }
}

#[cfg(test)]
mod tests;
