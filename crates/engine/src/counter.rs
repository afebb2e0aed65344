//! A counter that one thread writes and any thread reads. Counting is a load and a store, without a locked instruction.

use std::sync::atomic::{AtomicU64, Ordering};

/// A figure with one writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts `more`. Only the counter's own thread may: with two writers, some of what they count is lost.
    #[inline]
    pub fn add(&self, more: u64) {
        self.set(self.get().wrapping_add(more));
    }

    /// Puts another value in place.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// The value.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
