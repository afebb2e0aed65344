//! The time of day in whole seconds, a parameter so that tests can choose it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the seconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The machine's clock. Before 1970 it stands still.
pub fn system() -> Clock {
    Arc::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}
