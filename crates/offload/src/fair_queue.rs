//! A fair queue: each asker has its own line, and the lines are served round-robin. When the queue is full, the longest line loses its last entry.
//! Who asks too much therefore neither shuts others out nor makes them wait behind its earlier requests.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The queue: one line per asker.
pub(crate) struct FairQueue<A, T> {
    lines: Mutex<WaitingLines<A, T>>,
    is_filled: Condvar,
    waiting_max: usize,
}

struct WaitingLines<A, T> {
    by_asker: HashMap<A, VecDeque<T>>,
    /// Askers with a non-empty line, in the order in which they are served.
    turn: VecDeque<A>,
    waiting: usize,
    has_ended: bool,
}

impl<A: Hash + Eq + Clone, T> FairQueue<A, T> {
    /// A queue with so many places in all lines together.
    pub(crate) fn new(waiting_max: usize) -> Self {
        let lines = WaitingLines { by_asker: HashMap::new(), turn: VecDeque::new(), waiting: 0, has_ended: false };
        FairQueue { lines: Mutex::new(lines), is_filled: Condvar::new(), waiting_max }
    }

    /// Appends an item to an asker's line. Returns false when there is no room for it.
    pub(crate) fn put(&self, asker: A, item: T) -> bool {
        let mut lines = self.lock();
        // Dropped after the lock is released.
        let displaced = match lines.waiting < self.waiting_max {
            true => None,
            false => match lines.displace(&asker) {
                None => return false,
                displaced => displaced,
            },
        };
        lines.put(asker, item);
        drop(lines);
        drop(displaced);
        self.is_filled.notify_one();
        true
    }

    /// Waits for the next item to serve. `None` after [`FairQueue::end`] when the lines are empty.
    pub(crate) fn take(&self) -> Option<T> {
        let lines = self.is_filled.wait_while(self.lock(), WaitingLines::is_to_be_awaited);
        lines.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether nothing comes for some time.
    pub(crate) fn is_empty_for(&self, time: Duration) -> bool {
        let waited = self.is_filled.wait_timeout_while(self.lock(), time, WaitingLines::is_to_be_awaited);
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Makes [`FairQueue::take`] return `None` once the lines are empty.
    pub(crate) fn end(&self) {
        self.lock().has_ended = true;
        self.is_filled.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, WaitingLines<A, T>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Hash + Eq + Clone, T> WaitingLines<A, T> {
    fn is_to_be_awaited(&mut self) -> bool {
        self.waiting == 0 && !self.has_ended
    }

    fn put(&mut self, asker: A, item: T) {
        let line = self.by_asker.entry(asker.clone()).or_default();
        if line.is_empty() {
            self.turn.push_back(asker);
        }
        line.push_back(item);
        self.waiting += 1;
    }

    fn take(&mut self) -> Option<T> {
        let asker = self.turn.pop_front()?;
        let line = self.by_asker.get_mut(&asker)?;
        let item = line.pop_front()?;
        self.waiting -= 1;
        if line.is_empty() {
            self.by_asker.remove(&asker);
        } else {
            self.turn.push_back(asker);
        }
        Some(item)
    }

    /// Removes the last entry of the longest line, unless the asker's own line would then be as long.
    fn displace(&mut self, asker: &A) -> Option<T> {
        let own = self.by_asker.get(asker).map_or(0, VecDeque::len);
        // Visits at most as many lines as there are places, and only when the queue is full.
        let longest = self.by_asker.values_mut().max_by_key(|line| line.len())?;
        if longest.len() <= own + 1 {
            return None;
        }
        self.waiting -= 1;
        longest.pop_back()
    }
}

#[cfg(test)]
mod tests;
