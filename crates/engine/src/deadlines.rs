//! Time limits of one core's connections: one timestamp per connection in a dense list, swept every `SWEEP_MS`. Requests insert
//! nothing into a timer.

use std::cell::{Cell, RefCell};
use std::task::Waker;
use std::time::Duration;
use tollgate_clock::MonoTime;

/// Interval between sweeps, and so the maximum delay until an expired limit is noticed.
pub(crate) const SWEEP_MS: u64 = 100;
const NS_PER_MS: u64 = 1_000_000;
/// No limit.
pub(crate) const NEVER: u64 = u64::MAX;

/// Timestamps and coarse clock of a core.
pub(crate) struct Deadlines {
    start: MonoTime,
    now_ms: Cell<u64>,
    /// When `now_ms` must advance.
    next: Cell<MonoTime>,
    entries: RefCell<Vec<DeadlineEntry>>,
    free: RefCell<Vec<usize>>,
}

struct DeadlineEntry {
    at_ms: u64,
    expired: bool,
    /// The connection only waits for a request, so it can be closed to free resources.
    idle: bool,
    /// The connection must close although its limit has not passed.
    unwanted: bool,
    waker: Option<Waker>,
}

impl DeadlineEntry {
    const EMPTY: DeadlineEntry = DeadlineEntry { at_ms: NEVER, expired: false, idle: false, unwanted: false, waker: None };
}

impl Deadlines {
    pub(crate) fn new(now: MonoTime) -> Self {
        Deadlines { start: now, now_ms: Cell::new(0), next: Cell::new(now), entries: RefCell::default(), free: RefCell::default() }
    }

    /// Milliseconds since the core started, at most one sweep old.
    #[inline]
    pub(crate) fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Advances the coarse clock. On a busy core, most requests arrive in the same millisecond as the one before and compute
    /// nothing here.
    #[inline]
    pub(crate) fn set_now(&self, now: MonoTime) {
        if now >= self.next.get() {
            self.move_to(now);
        }
    }

    #[cold]
    fn move_to(&self, now: MonoTime) {
        let now_ms = now.ns_since(self.start) / NS_PER_MS;
        self.now_ms.set(now_ms);
        self.next.set(self.start + Duration::from_millis(now_ms + 1));
    }

    /// Allocates an entry for one connection.
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

    /// Sets the time limit of a connection and the task to wake when it passes.
    #[inline]
    pub(crate) fn set(&self, id: usize, at_ms: u64, waker: &Waker) {
        self.set_wait(id, at_ms, false, waker);
    }

    /// Same as `set`, and marks the connection as `idle` or busy.
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

    /// Whether the limit has passed; resets the flag.
    #[inline]
    pub(crate) fn take_expired(&self, id: usize) -> bool {
        self.entries.borrow_mut().get_mut(id).is_some_and(|entry| std::mem::take(&mut entry.expired))
    }

    /// Wakes all tasks whose limit has passed.
    pub(crate) fn sweep(&self, now: MonoTime) {
        self.set_now(now);
        let now_ms = self.now_ms();
        for entry in self.entries.borrow_mut().iter_mut().filter(|entry| entry.at_ms <= now_ms) {
            entry.at_ms = NEVER;
            entry.expired = true;
            entry.waker.iter().for_each(Waker::wake_by_ref);
        }
    }

    /// Expires up to this many idle connections, those with the earliest limit first: they have waited longest. Returns how many.
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

    /// Whether an expired connection must close to free resources; resets the flag.
    pub(crate) fn take_unwanted(&self, id: usize) -> bool {
        self.entries.borrow_mut().get_mut(id).is_some_and(|entry| std::mem::take(&mut entry.unwanted))
    }

    /// Wakes all tasks, for a drain.
    pub(crate) fn wake_all(&self) {
        self.entries.borrow().iter().filter_map(|entry| entry.waker.as_ref()).for_each(Waker::wake_by_ref);
    }
}
