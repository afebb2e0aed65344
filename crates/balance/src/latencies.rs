//! The distribution of recent latencies, for percentiles: counters of fixed size that all cores share.

use crate::Nanos;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Buckets per power of two: a percentile is at most a quarter too high.
const PARTS: u32 = 4;
/// The shortest latency that is told apart: 2^14 ns, 16 microseconds. The longest is 2^38 ns, more than four minutes.
const FIRST_BITS: u32 = 14;
const BUCKETS: usize = ((38 - FIRST_BITS) * PARTS) as usize;
/// Number of latencies after which all counts are halved, so that the past is forgotten.
const COUNT_MAX: u32 = 4_096;
/// Number of latencies without which there is no percentile.
const COUNT_MIN: u32 = 100;

/// Recent latencies.
#[derive(Debug)]
pub struct Latencies {
    counts: [AtomicU32; BUCKETS],
    count: AtomicU32,
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies { counts: [const { AtomicU32::new(0) }; BUCKETS], count: AtomicU32::new(0) }
    }
}

impl Latencies {
    /// Adds a latency.
    pub fn add(&self, latency: Nanos) {
        if let Some(bucket) = self.counts.get(bucket(latency)) {
            bucket.fetch_add(1, Relaxed);
        }
        if self.count.fetch_add(1, Relaxed) + 1 >= COUNT_MAX {
            // Cores that do this at the same time forget more, which does no harm.
            self.count.store(COUNT_MAX / 2, Relaxed);
            for bucket in &self.counts {
                bucket.store(bucket.load(Relaxed) / 2, Relaxed);
            }
        }
    }

    /// The latency that this many percent do not exceed; `None` while there are too few.
    pub fn percentile(&self, percent: f64) -> Option<Nanos> {
        let counts = || self.counts.iter().map(|bucket| u64::from(bucket.load(Relaxed)));
        let total: u64 = counts().sum();
        if total < u64::from(COUNT_MIN) {
            return None;
        }
        let wanted = (total as f64 * percent / 100.0).ceil() as u64;
        let mut below = 0;
        let index = counts().position(|count| {
            below += count;
            below >= wanted
        })?;
        Some(upper_bound(index))
    }
}

fn bucket(latency: Nanos) -> usize {
    let bits = latency.max(1 << FIRST_BITS).ilog2();
    let part = (latency.max(1 << FIRST_BITS) >> (bits - PARTS.ilog2())) as u32 & (PARTS - 1);
    (((bits - FIRST_BITS) * PARTS + part) as usize).min(BUCKETS - 1)
}

fn upper_bound(index: usize) -> Nanos {
    let (power, part) = (index as u32 / PARTS + FIRST_BITS, index as u64 % u64::from(PARTS));
    (1 << power) + ((part + 1) << power) / u64::from(PARTS)
}

#[cfg(test)]
mod tests;
