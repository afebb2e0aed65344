//! The time limits of one core's connections: one stamp each in a dense list, swept every `SWEEP_MS`. Nothing is inserted into a
//! timer when a request passes.

use crate::moment::Moment;
use std::cell::{Cell, RefCell};
use std::task::Waker;
use std::time::Duration;

/// How often the stamps are looked at, and so how late a limit can be noticed.
pub(crate) const SWEEP_MS: u64 = 100;
const NS_PER_MS: u64 = 1_000_000;
/// No limit.
pub(crate) const NEVER: u64 = u64::MAX;

/// A core's stamps and its coarse clock.
pub(crate) struct Deadlines {
    start: Moment,
    now_ms: Cell<u64>,
    /// When `now_ms` is over.
    next: Cell<Moment>,
    entries: RefCell<Vec<DeadlineEntry>>,
    free: RefCell<Vec<usize>>,
}

struct DeadlineEntry {
    at_ms: u64,
    expired: bool,
    /// Who waits does nothing but wait for a request, and would not be missed.
    idle: bool,
    /// It is to go although its limit has not passed.
    unwanted: bool,
    waker: Option<Waker>,
}

impl DeadlineEntry {
    const EMPTY: DeadlineEntry = DeadlineEntry { at_ms: NEVER, expired: false, idle: false, unwanted: false, waker: None };
}

impl Deadlines {
    pub(crate) fn new(now: Moment) -> Self {
        Deadlines { start: now, now_ms: Cell::new(0), next: Cell::new(now), entries: RefCell::default(), free: RefCell::default() }
    }

    /// Milliseconds since the core's start, at most one sweep old.
    #[inline]
    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Moves the coarse clock. Most requests of a busy core come in the millisecond of the one before: for them, nothing is reckoned.
    #[inline]
    pub(crate) fn set_now(&self, now: Moment) {
        if now >= self.next.get() {
            self.move_to(now);
        }
    }

    #[cold]
    fn move_to(&self, now: Moment) {
        let now_ms = now.ns_since(self.start) / NS_PER_MS;
        self.now_ms.set(now_ms);
        self.next.set(self.start + Duration::from_millis(now_ms + 1));
    }

    /// A place for one connection.
    pub(crate) fn register(&self) -> usize {
        let mut entries = self.entries.borrow_mut();
        self.free.borrow_mut().pop().unwrap_or_else(|| {
            entries.push(DeadlineEntry::EMPTY);
            entries.len() - 1
        })
    }

    pub(crate) fn release(&self, id: usize) {
        if let Some(entry) = self.entries.borrow_mut().get_mut(id) {
            *entry = DeadlineEntry::EMPTY;
            self.free.borrow_mut().push(id);
        }
    }

    /// Sets the limit of a connection, and whom to wake when it passes.
    #[inline]
    pub(crate) fn set(&self, id: usize, at_ms: u64, waker: &Waker) {
        self.set_wait(id, at_ms, false, waker);
    }

    /// The same of one that is `idle`, or is not.
    #[inline]
    pub(crate) fn set_wait(&self, id: usize, at_ms: u64, idle: bool, waker: &Waker) {
        if let Some(entry) = self.entries.borrow_mut().get_mut(id) {
            entry.at_ms = at_ms;
            entry.idle = idle;
            if !entry.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
                entry.waker = Some(waker.clone());
            }
        }
    }

    /// Whether the limit has passed; asking resets it.
    #[inline]
    pub(crate) fn take_expired(&self, id: usize) -> bool {
        self.entries.borrow_mut().get_mut(id).is_some_and(|entry| std::mem::take(&mut entry.expired))
    }

    /// Wakes all whose limit has passed.
    pub(crate) fn sweep(&self, now: Moment) {
        self.set_now(now);
        let now_ms = self.now_ms();
        for entry in self.entries.borrow_mut().iter_mut().filter(|entry| entry.at_ms <= now_ms) {
            entry.at_ms = NEVER;
            entry.expired = true;
            entry.waker.iter().for_each(Waker::wake_by_ref);
        }
    }

    /// Ends the waits of so many idle connections, of those whose limit would pass first: they have waited the longest. Says how many.
    pub(crate) fn end_idle(&self, connections: usize) -> usize {
        let mut entries = self.entries.borrow_mut();
        let mut idle: Vec<&mut DeadlineEntry> = entries.iter_mut().filter(|entry| entry.idle && entry.waker.is_some()).collect();
        idle.sort_unstable_by_key(|entry| entry.at_ms);
        idle.truncate(connections);
        for entry in &mut idle {
            (entry.idle, entry.unwanted, entry.expired) = (false, true, true);
            entry.waker.iter().for_each(Waker::wake_by_ref);
        }
        idle.len()
    }

    /// Whether an expired connection is to go because others need its place; asking resets it.
    pub(crate) fn take_unwanted(&self, id: usize) -> bool {
        self.entries.borrow_mut().get_mut(id).is_some_and(|entry| std::mem::take(&mut entry.unwanted))
    }

    /// Wakes everyone, as a drain does.
    pub(crate) fn wake_all(&self) {
        self.entries.borrow().iter().filter_map(|entry| entry.waker.as_ref()).for_each(Waker::wake_by_ref);
    }
}
