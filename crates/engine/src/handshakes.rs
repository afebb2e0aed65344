//! The TLS handshakes and PROXY headers under way on one core: how many there may be, and whose turn it is to compute.

use std::rc::Rc;

/// Handshakes under way on one core. Each holds a descriptor and some 20 KiB; beyond this a new connection is closed at once.
const HANDSHAKES_MAX: usize = 8_192;
/// Handshakes that may compute in one round of a core's tasks. A signature costs up to a millisecond, and a burst of connections
/// must not hold up the requests of the others for longer than a few of them.
const HANDSHAKES_PER_ROUND: usize = 4;

/// The handshakes under way on one core.
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
    /// Counts one more for as long as what is returned lives, if there is room.
    pub(crate) fn begin(&self) -> Option<Rc<()>> {
        (Rc::strong_count(&self.under_way) <= HANDSHAKES_MAX).then(|| self.under_way.clone())
    }

    /// A turn to compute, after everybody else who is ready had theirs.
    pub(crate) async fn turn(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        let turn = self.turns.acquire().await.ok();
        tokio::task::yield_now().await;
        turn
    }
}
