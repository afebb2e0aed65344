//! Metrics of the cache per API. All cores share the counters; each request increments one of them, two at most.

use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of one API.
#[derive(Debug, Default)]
pub(crate) struct ApiCounters {
    pub hits: AtomicU64,
    pub misses: AtomicU64,
    pub stale: AtomicU64,
    pub validated: AtomicU64,
    pub bypassed: AtomicU64,
    pub coalesced: AtomicU64,
    pub refused: AtomicU64,
    pub stored: AtomicU64,
    pub not_stored: AtomicU64,
    pub evicted: AtomicU64,
    pub entries: AtomicU64,
    pub bytes: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Snapshot of the metrics of one API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheFigures {
    /// Requests answered from the cache with a fresh response.
    pub hits: u64,
    /// Requests that went to the upstream because no matching response was stored.
    pub misses: u64,
    /// Requests answered with a stale response.
    pub stale: u64,
    /// Stored responses that the upstream confirmed.
    pub validated: u64,
    /// Requests that bypass the cache.
    pub bypassed: u64,
    /// Requests answered with the response to another request that was in flight.
    pub coalesced: u64,
    /// Requests with `only-if-cached` that had no stored response.
    pub refused: u64,
    /// Stored responses.
    pub stored: u64,
    /// Responses that were examined and not stored.
    pub not_stored: u64,
    /// Responses evicted to make room.
    pub evicted: u64,
    /// Responses in memory. A purged or evicted one counts until nobody reads it and its memory is free.
    pub entries: u64,
    /// Memory of these responses in bytes, including overhead.
    pub bytes: u64,
}

impl ApiCounters {
    pub(crate) fn read(&self) -> CacheFigures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CacheFigures {
            hits: read(&self.hits),
            misses: read(&self.misses),
            stale: read(&self.stale),
            validated: read(&self.validated),
            bypassed: read(&self.bypassed),
            coalesced: read(&self.coalesced),
            refused: read(&self.refused),
            stored: read(&self.stored),
            not_stored: read(&self.not_stored),
            evicted: read(&self.evicted),
            entries: read(&self.entries),
            bytes: read(&self.bytes),
        }
    }
}
