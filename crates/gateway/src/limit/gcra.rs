//! The generic cell rate algorithm on one atomic: exact, smooth, and a rejected request counts nothing.

use super::Rate;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The state of one limit.
#[derive(Debug, Default)]
pub struct Gcra {
    /// When the next request would be due if all came evenly, in nanoseconds of the caller's clock.
    arrival_ns: AtomicU64,
}

impl Gcra {
    /// Admits a request at `now`, or tells how long to wait.
    #[inline]
    pub fn admit(&self, rate: Rate, now: Duration) -> Result<(), Duration> {
        let now_ns = now.as_nanos() as u64;
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

    /// When the next request would be due if all came evenly; the higher, the busier.
    pub fn arrival_ns(&self) -> u64 {
        self.arrival_ns.load(Ordering::Relaxed)
    }

    /// Begins anew.
    pub fn clear(&self) {
        self.arrival_ns.store(0, Ordering::Relaxed);
    }

    /// Takes an admission back: the request was refused for another reason.
    pub fn refund(&self, rate: Rate) {
        self.arrival_ns.fetch_sub(rate.interval_ns, Ordering::Relaxed);
    }

    /// How many requests would be admitted at `now`, and how long until it is the whole burst again.
    pub fn room(&self, rate: Rate, now: Duration) -> (u64, Duration) {
        let ahead_ns = self.arrival_ns.load(Ordering::Relaxed).saturating_sub(now.as_nanos() as u64);
        let room_ns = (rate.tolerance_ns + rate.interval_ns).saturating_sub(ahead_ns);
        (room_ns / rate.interval_ns, Duration::from_nanos(ahead_ns))
    }
}

#[cfg(test)]
mod tests;
