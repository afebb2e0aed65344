//! The generic cell rate algorithm on atomics: exact and smooth, and rejected requests count nothing.

use super::rate::Rate;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The state of one limit.
#[derive(Debug, Default)]
pub struct Gcra {
    /// Theoretical arrival time of the next request if all came evenly, in nanoseconds of the caller's clock.
    arrival_ns: AtomicU64,
    /// How far that time can be ahead under the rate that last counted; 0 before the first request.
    full_ns: AtomicU64,
}

impl Gcra {
    /// Admits a request at `now`, or returns how long to wait.
    #[inline]
    pub fn admit(&self, rate: Rate, now: Duration) -> Result<(), Duration> {
        let now_ns = now.as_nanos() as u64;
        if self.full_ns.load(Ordering::Relaxed) != rate.full_ns() {
            self.adopt(rate, now_ns);
        }
        let mut arrival_ns = self.arrival_ns.load(Ordering::Relaxed);
        loop {
            let base_ns = arrival_ns.max(now_ns);
            let ahead_ns = base_ns - now_ns;
            if ahead_ns > rate.tolerance_ns {
                return Err(Duration::from_nanos(ahead_ns - rate.tolerance_ns));
            }
            let next_ns = base_ns.saturating_add(rate.interval_ns);
            match self.arrival_ns.compare_exchange_weak(arrival_ns, next_ns, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(newer) => arrival_ns = newer,
            }
        }
    }

    /// Theoretical arrival time of the next request; a higher value means more activity.
    pub fn arrival_ns(&self) -> u64 {
        self.arrival_ns.load(Ordering::Relaxed)
    }

    /// Resets the count.
    pub fn clear(&self) {
        self.arrival_ns.store(0, Ordering::Relaxed);
    }

    /// Adopts a changed rate: the count is cut to the new rate's maximum. Otherwise a slow rate would block a faster one for as long as it
    /// would have blocked itself.
    #[cold]
    fn adopt(&self, rate: Rate, now_ns: u64) {
        let full_ns = rate.full_ns();
        let before_ns = self.full_ns.swap(full_ns, Ordering::Relaxed);
        if before_ns != full_ns && before_ns != 0 {
            self.arrival_ns.fetch_min(now_ns.saturating_add(full_ns), Ordering::Relaxed);
        }
    }

    /// Takes back the admission of a request that is refused for another reason. Takes back nothing if the rate has changed since: its
    /// count was cut to the new rate's maximum.
    pub fn refund(&self, rate: Rate) {
        if self.full_ns.load(Ordering::Relaxed) == rate.full_ns() {
            let less = |arrival_ns: u64| Some(arrival_ns.saturating_sub(rate.interval_ns));
            let _ = self.arrival_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }

    /// How many requests would be admitted at `now`, and how long until the whole burst is free again.
    pub fn room(&self, rate: Rate, now: Duration) -> (u64, Duration) {
        let full_ns = rate.full_ns();
        let mut ahead_ns = self.arrival_ns.load(Ordering::Relaxed).saturating_sub(now.as_nanos() as u64);
        if self.full_ns.load(Ordering::Relaxed) != full_ns {
            ahead_ns = ahead_ns.min(full_ns);
        }
        let room_ns = full_ns.saturating_sub(ahead_ns);
        (room_ns / rate.interval_ns, Duration::from_nanos(ahead_ns))
    }
}

#[cfg(test)]
mod tests;
