//! The time of day, for what is counted since 1970.

use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds since 1970; before that the clock stands still.
pub fn unix_s() -> u64 {
    since_1970().as_secs()
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The time of day of a core. It is reckoned from the time since the gateway's start, which a request knows anyway: reading the clock for
/// each would cost more than most of what it is needed for.
pub struct TimeOfDay {
    start: Instant,
    /// One moment since the start, and since 1970.
    moment: Cell<(Duration, Duration)>,
}

impl TimeOfDay {
    /// As the clock has it now.
    pub fn new(start: Instant) -> Self {
        let own = TimeOfDay { start, moment: Cell::default() };
        own.read();
        own
    }

    /// Reads the clock again; done several times a second, so that a clock that is set is followed.
    pub fn read(&self) {
        self.moment.set((self.start.elapsed(), since_1970()));
    }

    /// Since 1970, at a time since the start.
    #[inline]
    pub fn at(&self, since_start: Duration) -> Duration {
        let (then, since_1970) = self.moment.get();
        (since_1970 + since_start).saturating_sub(then)
    }
}

#[cfg(test)]
mod tests;
