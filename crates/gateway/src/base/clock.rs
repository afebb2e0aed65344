//! The time of day, for what is counted since 1970.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tollgate_engine::Moment;

const NS_PER_S: u64 = 1_000_000_000;

/// Seconds since 1970; before that the clock stands still.
pub(crate) fn unix_s() -> u64 {
    since_1970().as_secs()
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time of day of a core. It is reckoned from a moment, which a request knows anyway: reading the clock for each would cost more than
/// most of what it is needed for.
pub(crate) struct TimeOfDay {
    /// One moment, and how many nanoseconds after 1970 it was.
    known: Cell<(Moment, u64)>,
}

impl TimeOfDay {
    /// As the clock has it now.
    pub(crate) fn new() -> Self {
        TimeOfDay { known: Cell::new(read()) }
    }

    /// Reads the clock again; done several times a second, so that a clock that is set is followed.
    pub(crate) fn read(&self) {
        self.known.set(read());
    }

    /// Nanoseconds since 1970 at a moment.
    #[inline]
    pub(crate) fn unix_ns(&self, moment: Moment) -> u64 {
        let (then, unix_ns) = self.known.get();
        unix_ns.saturating_add(moment.ns_since(then)).saturating_sub(then.ns_since(moment))
    }

    /// Seconds since 1970 at a moment.
    #[inline]
    pub(crate) fn unix_s(&self, moment: Moment) -> u64 {
        self.unix_ns(moment) / NS_PER_S
    }
}

fn read() -> (Moment, u64) {
    (Moment::now(), u64::try_from(since_1970().as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
