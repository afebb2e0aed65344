//! A fair queue for the password threads: each client has its own line, and the lines are served round-robin. When the queue is full, the
//! longest line loses its last entry. A client that sends too much therefore neither shuts others out nor makes them wait behind its
//! earlier requests.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tollgate_engine::client_network;

/// Places in all lines together. At a twentieth of a second each, two threads serve the last one within `CHECK_TIME_MAX`.
pub(super) const WAITING_MAX: usize = 256;

/// The client that a check is queued for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PasswordWaiter {
    /// A client address; for IPv6, its network.
    Network(u128),
    /// An OAuth client that logs its users in: API and client id.
    Program(String, String),
}

impl PasswordWaiter {
    /// The client at an address.
    pub(crate) fn at(address: IpAddr) -> Self {
        PasswordWaiter::Network(client_network(address))
    }
}

/// The queue: one line per client.
pub(super) struct PasswordQueue<T> {
    lines: Mutex<WaitingLines<T>>,
    is_filled: Condvar,
}

struct WaitingLines<T> {
    by_asker: HashMap<PasswordWaiter, VecDeque<T>>,
    /// Clients with a non-empty line, in the order in which they are served.
    turn: VecDeque<PasswordWaiter>,
    waiting: usize,
    has_ended: bool,
}

impl<T> Default for PasswordQueue<T> {
    fn default() -> Self {
        let lines = WaitingLines { by_asker: HashMap::new(), turn: VecDeque::new(), waiting: 0, has_ended: false };
        PasswordQueue { lines: Mutex::new(lines), is_filled: Condvar::new() }
    }
}

impl<T> PasswordQueue<T> {
    /// Appends an item to a client's line. Returns false when there is no room for it.
    pub(super) fn put(&self, asker: PasswordWaiter, item: T) -> bool {
        let mut lines = self.lock();
        // Dropped after the lock is released.
        let displaced = match lines.waiting < WAITING_MAX {
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

    /// Waits for the next item to serve. `None` after [`PasswordQueue::end`] when the lines are empty.
    pub(super) fn take(&self) -> Option<T> {
        let lines = self.lock();
        let is_empty = |lines: &mut WaitingLines<T>| lines.waiting == 0 && !lines.has_ended;
        let mut lines = self.is_filled.wait_while(lines, is_empty).unwrap_or_else(PoisonError::into_inner);
        lines.take()
    }

    /// Makes [`PasswordQueue::take`] return `None` once the lines are empty.
    pub(super) fn end(&self) {
        self.lock().has_ended = true;
        self.is_filled.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, WaitingLines<T>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> WaitingLines<T> {
    fn put(&mut self, asker: PasswordWaiter, item: T) {
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

    /// Removes the last entry of the longest line, unless the client's own line would then be as long.
    fn displace(&mut self, asker: &PasswordWaiter) -> Option<T> {
        let own = self.by_asker.get(asker).map_or(0, VecDeque::len);
        // Visits at most `WAITING_MAX` lines, and only when the queue is full.
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
