//! Which events a handler has had lately. The request path asks a small table without a lock, so that a flood of the same event costs a few
//! instructions each; the handler's own thread asks an exact one.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Slots of the small table: events of different keys in one flood find room, and it takes 16 KiB.
const SLOTS: usize = 2_048;
/// Bits of a slot for the time; the others are for the event.
const TIME_BITS: u32 = 28;
/// Most entries of the exact table: a flood of different events must not fill the memory.
const ENTRIES_MAX: usize = 50_000;

/// The small table. An event that is not found may have been had: two events share a slot, and the later one stays. An event that is found
/// was had, but for a chance of one in 2^36.
pub(super) struct RecentSlots {
    slots: Box<[AtomicU64]>,
    start: Instant,
    time_max: Duration,
}

impl RecentSlots {
    /// A table for events that count as the same within `time_max`; zero for never.
    pub(super) fn new(time_max: Duration) -> Self {
        let slots = if time_max.is_zero() { 0 } else { SLOTS };
        RecentSlots { slots: (0..slots).map(|_| AtomicU64::new(0)).collect(), start: Instant::now(), time_max }
    }

    /// Whether the event was had lately; otherwise it is from now on.
    pub(super) fn had(&self, identity: u64) -> bool {
        self.had_at(identity, self.start.elapsed())
    }

    fn had_at(&self, identity: u64, now: Duration) -> bool {
        let Some(slot) = self.slots.get(identity as usize % SLOTS) else { return false };
        // Counted from 1, so that an empty slot is no time.
        let now_s = now.as_secs() + 1;
        let known = slot.load(Ordering::Relaxed);
        let (mark, time_s) = (known >> TIME_BITS, known & ((1 << TIME_BITS) - 1));
        if time_s > 0 && mark == identity >> TIME_BITS && now_s.saturating_sub(time_s) < self.time_max.as_secs() {
            return true;
        }
        slot.store(identity >> TIME_BITS << TIME_BITS | now_s & ((1 << TIME_BITS) - 1), Ordering::Relaxed);
        false
    }
}

/// The exact table.
pub(super) struct RecentEntries<K> {
    ends: HashMap<K, Instant>,
    time_max: Duration,
}

impl<K: Eq + Hash> RecentEntries<K> {
    pub(super) fn new(time_max: Duration) -> Self {
        RecentEntries { ends: HashMap::new(), time_max }
    }

    /// Whether the entry was had lately; otherwise it is from now on.
    pub(super) fn had(&mut self, entry: K, now: Instant) -> bool {
        if self.ends.get(&entry).is_some_and(|end| *end > now) {
            return true;
        }
        if self.ends.len() >= ENTRIES_MAX {
            self.ends.retain(|_, end| *end > now);
            if self.ends.len() >= ENTRIES_MAX {
                // Sent more often than once rather than not at all.
                self.ends.clear();
            }
        }
        if let Some(end) = now.checked_add(self.time_max) {
            self.ends.insert(entry, end);
        }
        false
    }
}

#[cfg(test)]
mod tests;
