//! Wall-clock time, for values in Unix seconds.

use crate::MonoTime;
use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const NS_PER_S: u64 = 1_000_000_000;

/// Unix time in seconds; 0 for times before 1970.
pub fn unix_s() -> u64 {
    since_1970().as_secs()
}

/// Wall-clock time in Unix milliseconds; 0 before 1970.
pub fn unix_ms() -> u64 {
    u64::try_from(since_1970().as_millis()).unwrap_or(u64::MAX)
}

/// Wall-clock time in Unix nanoseconds; 0 before 1970.
pub fn unix_ns() -> u64 {
    u64::try_from(since_1970().as_nanos()).unwrap_or(u64::MAX)
}

fn since_1970() -> Duration {
    #[cfg(any(test, feature = "virtual-time"))]
    let passed = virtual_time::PASSED.get();
    #[cfg(not(any(test, feature = "virtual-time")))]
    let passed = Duration::ZERO;
    system_time() + passed
}

fn system_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// A clock that tests move.
#[cfg(any(test, feature = "virtual-time"))]
pub(crate) mod virtual_time {
    use std::cell::Cell;
    use std::time::Duration;

    thread_local! {
        /// How far this thread's wall clock is ahead of the system's.
        pub(super) static PASSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// Lets time pass on this thread.
    pub fn pass(time: Duration) {
        PASSED.set(PASSED.get() + time);
    }
}

/// Wall-clock time of a core. It is computed from a monotonic time that a request has anyway: reading the clock per request would cost more
/// than most of its uses.
pub struct TimeOfDay {
    /// A monotonic time and its Unix time in nanoseconds.
    known: Cell<(MonoTime, u64)>,
}

impl Default for TimeOfDay {
    fn default() -> Self {
        TimeOfDay::new()
    }
}

impl TimeOfDay {
    /// Reads the clock.
    pub fn new() -> Self {
        TimeOfDay { known: Cell::new(read()) }
    }

    /// Reads the clock again. Called several times a second, so that changes of the system clock take effect.
    pub fn read(&self) {
        self.known.set(read());
    }

    /// From now on, this monotonic time is that Unix time, until the clock is read again.
    pub fn set(&self, moment: MonoTime, unix_ns: u64) {
        self.known.set((moment, unix_ns));
    }

    /// Unix time in nanoseconds at a monotonic time.
    #[inline]
    pub fn unix_ns(&self, moment: MonoTime) -> u64 {
        let (then, unix_ns) = self.known.get();
        unix_ns.saturating_add(moment.ns_since(then)).saturating_sub(then.ns_since(moment))
    }

    /// Unix time in seconds at a monotonic time.
    #[inline]
    pub fn unix_s(&self, moment: MonoTime) -> u64 {
        self.unix_ns(moment) / NS_PER_S
    }
}

fn read() -> (MonoTime, u64) {
    (MonoTime::now(), u64::try_from(system_time().as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
