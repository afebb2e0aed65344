//! Wall-clock time in whole seconds, a parameter so that tests can set it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the Unix time in seconds.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The machine's clock; 0 for times before 1970.
pub fn system() -> Clock {
    Arc::new(|| SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
}
