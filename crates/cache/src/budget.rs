//! The bound on memory. Everything that holds bytes of responses holds a charge, and a charge that would pass the bound is refused: so that bodies
//! count that are still arriving, and those that were evicted and are still sent to slow clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that may be held, and that are.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: AtomicU64,
    used: AtomicU64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(Budget { limit: AtomicU64::new(limit), used: AtomicU64::new(0) })
    }

    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    fn take(&self, bytes: u64) -> bool {
        let limit = self.limit.load(Ordering::Relaxed);
        let add = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }
}

/// Bytes that are held; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryCharge {
    budget: Arc<Budget>,
    bytes: u64,
}

impl MemoryCharge {
    /// A charge for `bytes`; `None` when there is no room for them.
    pub(crate) fn take(budget: &Arc<Budget>, bytes: u64) -> Option<Self> {
        budget.take(bytes).then(|| MemoryCharge { budget: Arc::clone(budget), bytes })
    }

    /// Makes the charge at least `bytes`. `false` when there is no room; then it stays as it was.
    #[must_use]
    pub(crate) fn grow_to(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let fits = more == 0 || self.budget.take(more);
        if fits {
            self.bytes = self.bytes.max(bytes);
        }
        fits
    }

    /// Gives back what is more than `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let less = self.bytes.saturating_sub(bytes);
        self.budget.used.fetch_sub(less, Ordering::Relaxed);
        self.bytes -= less;
    }
}

impl Drop for MemoryCharge {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
