//! What one engine knows of the call that it runs: its deadline, what it has used up, and why it must stop. Shared with the functions that
//! the script calls.

use crate::fault::ScriptFault;
use crate::limits::LOG_BYTES_MAX;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Reasons to stop.
const GOES_ON: u8 = 0;
const LATE: u8 = 1;
const FLOODS: u8 = 2;

pub(crate) struct CallState {
    start: Instant,
    deadline_us: AtomicU64,
    stop: AtomicU8,
    logged: AtomicUsize,
    /// Whether top-level code runs again, whose log lines were written when the program was loaded.
    quiet: AtomicBool,
}

impl CallState {
    pub(crate) fn new() -> Self {
        CallState {
            start: Instant::now(),
            deadline_us: AtomicU64::new(u64::MAX),
            stop: AtomicU8::new(GOES_ON),
            logged: AtomicUsize::new(0),
            quiet: AtomicBool::new(false),
        }
    }

    /// Begins a call that ends at the deadline.
    pub(crate) fn begin(&self, deadline: Instant) {
        let deadline = deadline.saturating_duration_since(self.start).as_micros();
        self.deadline_us.store(u64::try_from(deadline).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.stop.store(GOES_ON, Ordering::Relaxed);
        self.logged.store(0, Ordering::Relaxed);
    }

    /// Whether the script must stop; asked by the interpreter every few thousand steps.
    pub(crate) fn must_stop(&self) -> bool {
        if self.time_left().is_zero() {
            self.stop.store(LATE, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed) != GOES_ON
    }

    pub(crate) fn time_left(&self) -> Duration {
        let left = self.deadline_us.load(Ordering::Relaxed).saturating_sub(self.now_us());
        Duration::from_micros(left)
    }

    /// Why the call was stopped, if it was.
    pub(crate) fn stopped(&self, time_max: Duration) -> Option<ScriptFault> {
        self.must_stop();
        match self.stop.load(Ordering::Relaxed) {
            LATE => Some(ScriptFault::Timeout(time_max)),
            FLOODS => Some(ScriptFault::LogFlood),
            _ => None,
        }
    }

    pub(crate) fn set_quiet(&self, quiet: bool) {
        self.quiet.store(quiet, Ordering::Relaxed);
    }

    /// Whether a line of this length is written.
    pub(crate) fn may_log(&self, bytes: usize) -> bool {
        if self.quiet.load(Ordering::Relaxed) {
            return false;
        }
        let logged = self.logged.fetch_add(bytes.saturating_add(1), Ordering::Relaxed).saturating_add(bytes);
        if logged > LOG_BYTES_MAX {
            self.stop.store(FLOODS, Ordering::Relaxed);
        }
        logged <= LOG_BYTES_MAX
    }

    fn now_us(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}
