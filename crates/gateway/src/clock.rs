//! The time of day, for what is counted in whole seconds since 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970; before that the clock stands still.
pub fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
