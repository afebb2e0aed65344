//! Fixed windows, like Tyk's `enable_fixed_window_rate_limiter`: a window begins with its first request, and all places are free again when
//! it ends. Exact within a window; twice the rate can pass around its end. Takes a lock for some nanoseconds.

use super::rate::Rate;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The state of one limit.
#[derive(Debug, Default)]
pub struct FixedWindow(Mutex<CountedWindow>);

#[derive(Debug, Default)]
struct CountedWindow {
    began_ns: u64,
    /// 0 when no window has begun.
    requests: u64,
}

impl FixedWindow {
    pub fn admit(&self, rate: Rate, now: Duration) -> Result<(), Duration> {
        let now_ns = now.as_nanos() as u64;
        let mut window = self.lock();
        if window.is_over(rate, now_ns) {
            *window = CountedWindow { began_ns: now_ns, requests: 1 };
            return Ok(());
        }
        if window.requests >= rate.requests {
            return Err(window.left(rate, now_ns));
        }
        window.requests += 1;
        Ok(())
    }

    pub fn refund(&self, now: Duration) {
        let mut window = self.lock();
        // A window that began later has not counted the request.
        if window.began_ns <= now.as_nanos() as u64 {
            window.requests = window.requests.saturating_sub(1);
        }
    }

    pub fn room(&self, rate: Rate, now: Duration) -> (u64, Duration) {
        let now_ns = now.as_nanos() as u64;
        let window = self.lock();
        if window.is_over(rate, now_ns) {
            return (rate.requests, Duration::ZERO);
        }
        (rate.requests.saturating_sub(window.requests), window.left(rate, now_ns))
    }

    fn lock(&self) -> MutexGuard<'_, CountedWindow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CountedWindow {
    fn is_over(&self, rate: Rate, now_ns: u64) -> bool {
        self.requests == 0 || now_ns >= self.began_ns.saturating_add(rate.window_ns)
    }

    fn left(&self, rate: Rate, now_ns: u64) -> Duration {
        Duration::from_nanos(self.began_ns.saturating_add(rate.window_ns).saturating_sub(now_ns))
    }
}
