//! A counter that one thread writes and any thread reads. An increment is a load and a store, without a locked instruction.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number with a single writer.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `more`. Only the owning thread may call this: with two writers, updates are lost.
    #[inline]
    pub fn add(&self, more: u64) {
        self.set(self.get().wrapping_add(more));
    }

    /// Sets the value.
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
