//! Decides when to delete expired rows. Reads never return them anyway: a sweep only frees space.

/// Once a minute is enough: nothing waits for a sweep.
const EVERY_S: u64 = 60;
/// Rows deleted in one transaction, in some milliseconds during which questions wait.
pub(crate) const ROWS_MAX: usize = 1_000;

/// Remembers the last sweep. It is consulted after questions were answered: a store without questions does not grow.
#[derive(Default)]
pub(crate) struct Sweep {
    done_unix_s: Option<u64>,
}

impl Sweep {
    /// Whether a sweep is due. It is also due if the clock was set back.
    pub(crate) fn is_due(&self, now_unix_s: u64) -> bool {
        self.done_unix_s.is_none_or(|done| now_unix_s < done || now_unix_s - done >= EVERY_S)
    }

    /// Records the number of deleted rows. After a full sweep there are probably more, so another one is due.
    pub(crate) fn removed(&mut self, rows: usize, now_unix_s: u64) {
        self.done_unix_s = (rows < ROWS_MAX).then_some(now_unix_s);
    }
}
