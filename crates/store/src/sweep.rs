//! When to look for what has expired. Reading never shows it anyway: the sweep only gives back the room.

/// Once a minute is often enough: nothing waits for it.
const EVERY_S: u64 = 60;
/// Rows removed in one go, in some milliseconds, for which questions wait.
pub(crate) const ROWS_MAX: usize = 1_000;

/// Remembers the last sweep. Asked after questions were answered: a store that nobody asks does not grow.
#[derive(Default)]
pub(crate) struct Sweep {
    done_unix_s: Option<u64>,
}

impl Sweep {
    /// Whether it is time. A clock that was set back makes it so.
    pub(crate) fn is_due(&self, now_unix_s: u64) -> bool {
        self.done_unix_s.is_none_or(|done| now_unix_s < done || now_unix_s - done >= EVERY_S)
    }

    /// Notes how many rows went. After a full go, more are likely left, and it stays due.
    pub(crate) fn removed(&mut self, rows: usize, now_unix_s: u64) {
        self.done_unix_s = (rows < ROWS_MAX).then_some(now_unix_s);
    }
}
