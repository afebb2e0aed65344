//! What is known about second sendings of a pool's requests; it survives reloads.

use std::sync::atomic::AtomicU64;
use tollgate_balance::{Latencies, RetryBudget};

/// Second sendings of a pool's requests.
#[derive(Default)]
pub struct PoolHedging {
    pub latencies: Latencies,
    pub budget: RetryBudget,
    /// How many there were, and how many of them were answered first.
    pub sent: AtomicU64,
    pub won: AtomicU64,
}
