//! Monotonic time within a process.

use rustix::time::{ClockId, clock_gettime};
use std::ops::Add;
use std::time::Duration;

const NS_PER_S: u64 = 1_000_000_000;

/// A time of the system's monotonic clock, in nanoseconds as a single number. Subtracting two `Instant`s of the standard library
/// takes eight times as long, and each request does it several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MonoTime(u64);

impl MonoTime {
    /// Reads the clock.
    #[inline]
    pub fn now() -> Self {
        #[cfg(any(test, feature = "virtual-time"))]
        if let Some(now) = virtual_time::NOW.get() {
            return now;
        }
        let time = clock_gettime(ClockId::Monotonic);
        // The clock starts at 0, so the conversion is safe for centuries.
        MonoTime(time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64)
    }

    /// Nanoseconds since an earlier moment; 0 if it is later.
    #[inline]
    pub fn ns_since(self, earlier: MonoTime) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Time since an earlier moment; zero if it is later.
    #[inline]
    pub fn since(self, earlier: MonoTime) -> Duration {
        Duration::from_nanos(self.ns_since(earlier))
    }

    /// Time elapsed since this moment.
    #[inline]
    pub fn elapsed(self) -> Duration {
        MonoTime::now().since(self)
    }
}

impl Add<Duration> for MonoTime {
    type Output = MonoTime;

    fn add(self, time: Duration) -> MonoTime {
        MonoTime(self.0.saturating_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)))
    }
}

/// A clock that a test moves.
#[cfg(any(test, feature = "virtual-time"))]
pub(crate) mod virtual_time {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// The time on this thread; the system's until a test has stopped it.
        pub(super) static NOW: Cell<Option<MonoTime>> = const { Cell::new(None) };
    }

    /// Stops the clock of this thread.
    pub fn stop() {
        NOW.set(Some(MonoTime::now()));
    }

    /// Moves the clock of this thread, which stands still otherwise.
    pub fn advance(time: Duration) {
        NOW.set(Some(MonoTime::now() + time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_one_way() {
        let early = MonoTime::now();
        let late = early + Duration::from_millis(1_500);
        assert_eq!(late.since(early), Duration::from_millis(1_500));
        assert_eq!((late.ns_since(early), early.ns_since(late)), (1_500_000_000, 0));
        assert_eq!(early.since(late), Duration::ZERO);
        assert!(early < late && MonoTime::now() >= early);
        std::thread::sleep(Duration::from_millis(2));
        assert!(early.elapsed() >= Duration::from_millis(2));
    }
}
