//! TLS handshakes and PROXY headers in progress on one core: limits their number and schedules their computation.

use std::rc::Rc;

/// Maximum handshakes in progress on one core. Each holds a descriptor and some 20 KiB; beyond this, a new connection is closed at
/// once.
const HANDSHAKES_MAX: usize = 8_192;
/// Handshakes that may compute in one round of a core's tasks. A signature costs up to a millisecond, and a burst of new
/// connections must not delay other requests by more than a few signatures.
const HANDSHAKES_PER_ROUND: usize = 4;

/// Handshakes in progress on one core.
pub(crate) struct Handshakes {
    under_way: Rc<()>,
    turns: tokio::sync::Semaphore,
}

impl Default for Handshakes {
    fn default() -> Self {
        Handshakes { under_way: Rc::default(), turns: tokio::sync::Semaphore::new(HANDSHAKES_PER_ROUND) }
    }
}

impl Handshakes {
    /// Counts one more handshake while the returned value lives. `None` at the maximum.
    pub(crate) fn begin(&self) -> Option<Rc<()>> {
        (Rc::strong_count(&self.under_way) <= HANDSHAKES_MAX).then(|| self.under_way.clone())
    }

    /// A permit to compute, granted after all other ready tasks have run.
    pub(crate) async fn turn(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let turn = self.turns.acquire().await.ok();
        tokio::task::yield_now().await;
        turn
    }
}
