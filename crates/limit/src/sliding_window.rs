//! Sliding windows, like Tyk's `enable_redis_rolling_limiter`: never more than the rate in any window, wherever it begins. Unlike Tyk's,
//! rejected requests do not count, so a client that keeps trying is served again. Takes a lock for some nanoseconds.

use super::rate::Rate;
use super::smoothing::Allowance;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most times that one limit stores, 16 KiB of them. Up to this many requests per window, each has its own time. With more, the requests of
/// a 1024th of the window share one, so that a place becomes free at most that much later than necessary.
const MOMENTS_MAX: u64 = 1024;

/// State of one limit.
#[derive(Debug, Default)]
pub struct SlidingWindow {
    log: Mutex<AdmissionLog>,
    /// The present rate, if it rises and falls in steps.
    pub(super) allowance: Allowance,
}

/// Times at which requests were admitted, oldest first.
#[derive(Debug, Default)]
struct AdmissionLog {
    moments: VecDeque<AdmittedAt>,
    requests: u64,
}

#[derive(Debug)]
struct AdmittedAt {
    at_ns: u64,
    requests: u64,
}

impl SlidingWindow {
    pub fn admit(&self, rate: Rate, now: Duration) -> Result<(), Duration> {
        let now_ns = now.as_nanos() as u64;
        let mut log = self.lock();
        log.forget(rate, now_ns);
        if log.requests >= rate.requests {
            return Err(log.oldest_left(rate, now_ns));
        }
        log.add(stamp(rate, now_ns));
        Ok(())
    }

    pub fn refund(&self, rate: Rate, now: Duration) {
        self.lock().take_back(stamp(rate, now.as_nanos() as u64));
    }

    pub fn room(&self, rate: Rate, now: Duration) -> (u64, Duration) {
        let now_ns = now.as_nanos() as u64;
        let mut log = self.lock();
        log.forget(rate, now_ns);
        (rate.requests.saturating_sub(log.requests), log.left(rate, now_ns, log.moments.back()))
    }

    fn lock(&self) -> MutexGuard<'_, AdmissionLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time that a request at `now_ns` is stored under, never an earlier one.
fn stamp(rate: Rate, now_ns: u64) -> u64 {
    if rate.requests <= MOMENTS_MAX {
        return now_ns;
    }
    let grain_ns = rate.window_ns.div_ceil(MOMENTS_MAX);
    now_ns.div_ceil(grain_ns).saturating_mul(grain_ns)
}

impl AdmissionLog {
    /// Drops entries that have left the window.
    fn forget(&mut self, rate: Rate, now_ns: u64) {
        while let Some(oldest) = self.moments.front().filter(|oldest| oldest.at_ns.saturating_add(rate.window_ns) <= now_ns) {
            self.requests = self.requests.saturating_sub(oldest.requests);
            self.moments.pop_front();
        }
    }

    /// Adds a request. A clock that goes back does not make the newest entry older.
    fn add(&mut self, at_ns: u64) {
        self.requests += 1;
        match self.moments.back_mut() {
            Some(newest) if newest.at_ns >= at_ns => newest.requests += 1,
            _ => self.moments.push_back(AdmittedAt { at_ns, requests: 1 }),
        }
    }

    /// Removes one request at this time, or at an earlier one; then the later one stays longer than necessary.
    fn take_back(&mut self, at_ns: u64) {
        let place = self.moments.partition_point(|moment| moment.at_ns <= at_ns).saturating_sub(1);
        let Some(moment) = self.moments.get_mut(place) else { return };
        moment.requests -= 1;
        self.requests = self.requests.saturating_sub(1);
        if moment.requests == 0 {
            self.moments.remove(place);
        }
    }

    fn oldest_left(&self, rate: Rate, now_ns: u64) -> Duration {
        self.left(rate, now_ns, self.moments.front())
    }

    /// How long an entry stays in the window.
    fn left(&self, rate: Rate, now_ns: u64, moment: Option<&AdmittedAt>) -> Duration {
        let end_ns = moment.map_or(0, |moment| moment.at_ns.saturating_add(rate.window_ns));
        Duration::from_nanos(end_ns.saturating_sub(now_ns))
    }
}

#[cfg(test)]
mod tests;
