//! Which providers are left alone for a while: those that said so, and those that fail again and again. The clock is the caller's.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// After so many failures in a row, a provider is left alone.
const FAILURES_MAX: u32 = 3;
/// For so long.
const BREAK_MS: u64 = 5_000;
/// The longest time for which a provider's own word is taken: a wrong one must not shut it out for a day.
const WAIT_MS_MAX: u64 = 600_000;

/// How a provider, or a key there, does.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    failures: AtomicU32,
    until_ms: AtomicU64,
}

impl Standing {
    /// It has answered.
    pub(crate) fn succeed(&self) {
        self.failures.store(0, Ordering::Relaxed);
    }

    /// It has failed.
    pub(crate) fn fail(&self, now_ms: u64) {
        if self.failures.fetch_add(1, Ordering::Relaxed) + 1 >= FAILURES_MAX {
            self.wait(now_ms, BREAK_MS);
        }
    }

    /// It wants no requests for this time.
    pub(crate) fn wait(&self, now_ms: u64, wait_ms: u64) {
        self.until_ms.fetch_max(now_ms + wait_ms.min(WAIT_MS_MAX), Ordering::Relaxed);
    }

    /// It wants requests again.
    pub(crate) fn end(&self) {
        if self.until_ms.load(Ordering::Relaxed) > 0 {
            self.until_ms.store(0, Ordering::Relaxed);
        }
    }

    /// Milliseconds for which it is left alone.
    pub(crate) fn left_ms(&self, now_ms: u64) -> u64 {
        self.until_ms.load(Ordering::Relaxed).saturating_sub(now_ms)
    }
}

#[cfg(test)]
mod tests;
