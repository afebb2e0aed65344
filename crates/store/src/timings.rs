//! The latency of a store, counted by the threads that answer and readable by all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Upper bounds of the buckets in nanoseconds, from the latency of a table in memory to one that nobody waits for. One more bucket holds
/// everything above.
pub const BOUNDS_NS: [u64; BOUNDS] = [
    50 * US,
    100 * US,
    200 * US,
    500 * US,
    MS,
    2 * MS,
    5 * MS,
    10 * MS,
    20 * MS,
    50 * MS,
    100 * MS,
    200 * MS,
    500 * MS,
    1_000 * MS,
    2_000 * MS,
    5_000 * MS,
];
/// The number of buckets.
pub const BOUNDS: usize = 16;
const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// Durations from questions to their answers.
#[derive(Debug, Default)]
pub struct Timings {
    buckets: [AtomicU64; BOUNDS + 1],
    sum_ns: AtomicU64,
    faults: AtomicU64,
}

impl Timings {
    /// Counts an answer to a question of the time `asked`, and whether it was a fault.
    pub(crate) fn add(&self, asked: Instant, is_fault: bool) {
        self.add_time(asked.elapsed(), is_fault);
    }

    fn add_time(&self, time: Duration, is_fault: bool) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let place = BOUNDS_NS.iter().position(|bound| ns <= *bound).unwrap_or(BOUNDS);
        if let Some(bucket) = self.buckets.get(place) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
        self.faults.fetch_add(u64::from(is_fault), Ordering::Relaxed);
    }

    /// Answers by bucket.
    pub fn buckets(&self) -> [u64; BOUNDS + 1] {
        std::array::from_fn(|index| self.buckets.get(index).map_or(0, |bucket| bucket.load(Ordering::Relaxed)))
    }

    /// Sum of all durations in nanoseconds.
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns.load(Ordering::Relaxed)
    }

    /// Answers that were faults.
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests;
