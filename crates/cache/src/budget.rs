//! The memory limit. Everything that holds bytes of responses holds a charge, and a charge beyond the limit is refused. The limit therefore
//! includes bodies that are still arriving, and evicted ones that are still sent to slow clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The memory limit and the memory in use, in bytes.
#[derive(Debug)]
pub(crate) struct CacheBudget {
    limit: AtomicU64,
    used: AtomicU64,
}

impl CacheBudget {
    pub(crate) fn new(limit: u64) -> Arc<Self> {
        Arc::new(CacheBudget { limit: AtomicU64::new(limit), used: AtomicU64::new(0) })
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

/// Reserved memory; dropping it frees the memory.
#[derive(Debug)]
pub(crate) struct MemoryCharge {
    budget: Arc<CacheBudget>,
    bytes: u64,
}

impl MemoryCharge {
    /// Reserves `bytes`; `None` when there is no room for them.
    pub(crate) fn take(budget: &Arc<CacheBudget>, bytes: u64) -> Option<Self> {
        budget.take(bytes).then(|| MemoryCharge { budget: Arc::clone(budget), bytes })
    }

    /// Grows the charge to at least `bytes`. Returns `false` when there is no room; the charge is unchanged then.
    #[must_use]
    pub(crate) fn grow_to(&mut self, bytes: u64) -> bool {
        let more = bytes.saturating_sub(self.bytes);
        let fits = more == 0 || self.budget.take(more);
        if fits {
            self.bytes = self.bytes.max(bytes);
        }
        fits
    }

    /// Frees the memory beyond `bytes`.
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
