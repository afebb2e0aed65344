//! Requests that one gateway has let pass in the last window, and how many of them the store does not know of. Counted in few buckets,
//! because it matters only after the store was unavailable.

use std::collections::VecDeque;

/// Buckets per window.
const BUCKETS: u64 = 20;

/// The count of one gateway.
#[derive(Debug, Default)]
pub(super) struct LocalCount {
    /// Sorted by time; at most [`BUCKETS`] and one that is leaving the window.
    buckets: VecDeque<LeaseBucket>,
    sum: u64,
    untold: u64,
}

#[derive(Debug)]
struct LeaseBucket {
    number: u64,
    all: u64,
    untold: u64,
}

/// A bucket in a report to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreReport {
    number: u64,
    /// How long ago the bucket ended, at least.
    pub age_us: u64,
    pub places: u64,
}

impl LocalCount {
    pub(super) fn sum(&self) -> u64 {
        self.sum
    }

    /// Counts a request that passed; `is_told` says whether the store knows of it.
    pub(super) fn add(&mut self, window_us: u64, now_us: u64, is_told: bool) {
        let number = now_us / width_us(window_us);
        let untold = u64::from(!is_told);
        self.sum += 1;
        self.untold += untold;
        match self.buckets.back_mut() {
            Some(newest) if newest.number >= number => {
                newest.all += 1;
                newest.untold += untold;
            }
            _ => {
                self.forget(window_us, now_us);
                self.buckets.push_back(LeaseBucket { number, all: 1, untold });
            }
        }
    }

    /// Takes back the request that passed last. False if the store does not know of it: then it need not be told.
    pub(super) fn take_back(&mut self) -> bool {
        let Some(newest) = self.buckets.back_mut().filter(|newest| newest.all > 0) else { return false };
        let was_told = newest.all > newest.untold;
        newest.all -= 1;
        self.sum -= 1;
        if !was_told {
            newest.untold -= 1;
            self.untold -= 1;
        }
        was_told
    }

    /// Drops buckets that have left the window; returns how long the oldest remaining one stays.
    pub(super) fn forget(&mut self, window_us: u64, now_us: u64) -> u64 {
        while let Some(LeaseBucket { number, all, untold }) = self.buckets.front() {
            let leaves_us = number.saturating_add(1).saturating_mul(width_us(window_us)).saturating_add(window_us);
            if leaves_us > now_us {
                return leaves_us - now_us;
            }
            self.sum = self.sum.saturating_sub(*all);
            self.untold = self.untold.saturating_sub(*untold);
            self.buckets.pop_front();
        }
        0
    }

    /// The buckets that the store does not know of.
    pub(super) fn untold(&self, window_us: u64, now_us: u64) -> Vec<StoreReport> {
        if self.untold == 0 {
            return Vec::new();
        }
        let told = |bucket: &LeaseBucket| {
            let ended_us = bucket.number.saturating_add(1).saturating_mul(width_us(window_us));
            StoreReport { number: bucket.number, age_us: now_us.saturating_sub(ended_us), places: bucket.untold }
        };
        self.buckets.iter().filter(|bucket| bucket.untold > 0).map(told).collect()
    }

    /// Notes that the store has received a report.
    pub(super) fn tell(&mut self, told: &[StoreReport]) {
        for told in told {
            let Some(bucket) = self.buckets.iter_mut().find(|bucket| bucket.number == told.number) else { continue };
            let places = told.places.min(bucket.untold);
            bucket.untold -= places;
            self.untold -= places;
        }
    }

    /// Marks everything as unknown to the store, because it has lost its data.
    pub(super) fn untell(&mut self) {
        self.buckets.iter_mut().for_each(|bucket| bucket.untold = bucket.all);
        self.untold = self.sum;
    }

    pub(super) fn has_told(&self) -> bool {
        self.untold == 0
    }
}

fn width_us(window_us: u64) -> u64 {
    (window_us / BUCKETS).max(1)
}
