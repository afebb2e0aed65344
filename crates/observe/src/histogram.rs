//! Histogram of durations, written by one core.

use tollgate_engine::Counter;
use tollgate_model::distribution::{BOUNDS, Distribution};

/// Bucket counts of one core.
#[derive(Default)]
pub(super) struct Histogram {
    buckets: [Counter; BOUNDS + 1],
    sum_ns: Counter,
}

impl Histogram {
    /// Counts a duration. Only the core that owns the histogram may call this.
    #[inline]
    pub(super) fn add(&self, bounds: &[u64; BOUNDS], ns: u64) {
        // Most durations are short, so the search ends soon.
        let place = bounds.iter().position(|bound| ns <= *bound).unwrap_or(BOUNDS);
        if let Some(bucket) = self.buckets.get(place) {
            bucket.add(1);
        }
        self.sum_ns.add(ns);
    }

    /// Adds these counts to those of other cores.
    pub(super) fn add_buckets(&self, buckets: &mut [u64; BOUNDS + 1]) {
        buckets.iter_mut().zip(&self.buckets).for_each(|(total, bucket)| *total += bucket.get());
    }

    /// Adds these counts to the totals of all cores.
    pub(super) fn add_to(&self, distribution: &mut Distribution) {
        for (total, bucket) in distribution.buckets.iter_mut().zip(&self.buckets) {
            *total += bucket.get();
        }
        distribution.sum_ns = distribution.sum_ns.wrapping_add(self.sum_ns.get());
    }
}

#[cfg(test)]
mod tests;
