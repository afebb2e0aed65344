//! A rate in the form that the algorithms use. It has no clock and counts nothing.

/// A number of requests per time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Time that one request uses up.
    pub(super) interval_ns: u64,
    /// How far the theoretical arrival time may run ahead: room for a burst.
    pub(super) tolerance_ns: u64,
    /// Requests per window, for algorithms that count whole requests.
    pub(super) requests: u64,
    /// Length of the window.
    pub(super) window_ns: u64,
}

impl Rate {
    /// `requests` per `per_seconds`, all of which may come at once. `None` when either is not positive.
    pub fn new(requests: f64, per_seconds: f64) -> Option<Self> {
        Rate::with_burst(requests, per_seconds, requests)
    }

    /// Like [`Rate::new`], with at most `burst` requests at once, at least one.
    pub fn with_burst(requests: f64, per_seconds: f64, burst: f64) -> Option<Self> {
        let valid = requests > 0.0 && per_seconds > 0.0 && requests.is_finite() && per_seconds.is_finite();
        if !valid {
            return None;
        }
        let interval_ns = (per_seconds * 1e9 / requests).clamp(1.0, 1e18);
        let burst = burst.max(1.0);
        // Half a request per second is one in two seconds; two and a half are two.
        let window_ns = if requests < 1.0 { interval_ns } else { per_seconds * 1e9 };
        Some(Rate {
            interval_ns: interval_ns as u64,
            tolerance_ns: ((burst - 1.0) * interval_ns).min(1e18) as u64,
            requests: requests.max(1.0) as u64,
            window_ns: window_ns.clamp(1.0, 1e18) as u64,
        })
    }

    /// How far the theoretical arrival time is ahead when the whole burst is used.
    #[inline]
    pub(super) fn full_ns(&self) -> u64 {
        self.tolerance_ns + self.interval_ns
    }
}

#[cfg(test)]
mod tests;
