//! The table in memory: stored responses and markers by key, with a memory limit. It evicts by S3-FIFO, which resists scans: responses that
//! are requested once do not displace the others.

use crate::body::StoredBody;
use crate::budget::{CacheBudget, MemoryCharge};
use crate::figures::{ApiCounters, count};
use crate::generations::{Generations, Label, Purged};
use crate::head::Head;
use crate::key::{CacheKey, KeyBuildHasher};
use crate::vary::VaryNames;
use quick_cache::sync::Cache as Table;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Memory overhead of one entry, in bytes: its key, its places in the list and in the index, the ghost that it may leave, and the counters
/// and rounding of six allocations. Measured with the system's allocator: a response of 10 bytes takes 909 bytes and is charged 939.
const ENTRY_BYTES: u64 = 288;
/// Share of the memory limit that the table gets, in eighths. The rest is for bodies that are still arriving, and for evicted ones that are
/// still being sent.
const TABLE_EIGHTHS: u64 = 7;
/// Average size of a response, used only for the number of ghosts.
const AVERAGE_BYTES: u64 = 16 * 1024;
/// Most shards of a table: enough that cores seldom contend, and each shard large enough for several of the largest responses.
const SHARDS_MAX: u64 = 64;
const OBJECTS_PER_SHARD: u64 = 4;

/// A response with all data that is needed to reuse it.
#[derive(Debug)]
pub struct Stored {
    /// Key that it is stored under.
    pub(crate) key: CacheKey,
    /// Head of the response.
    pub(crate) head: Head,
    pub(crate) body: Arc<StoredBody>,
    labels: Arc<[Label]>,
    /// Number of the last purge before its request was sent.
    born: u64,
    /// Number of the last purge that is known not to affect it.
    checked: AtomicU64,
    counters: Arc<ApiCounters>,
    is_counted: AtomicBool,
    _charge: MemoryCharge,
}

impl Stored {
    /// Memory of a response without its body, in bytes.
    pub(crate) fn fixed_bytes(head: &Head, labels: usize) -> u64 {
        let lines = head.lines.as_bytes().len()
            + head.last_lines.as_bytes().len()
            + head.tag.as_ref().map_or(0, crate::validators::EntityTag::len);
        let own = size_of::<Stored>() + size_of::<StoredBody>() + labels * size_of::<Label>() + lines;
        ENTRY_BYTES + own as u64
    }

    pub(crate) fn new(
        key: CacheKey,
        head: Head,
        body: Arc<StoredBody>,
        (labels, born): (Arc<[Label]>, u64),
        counters: &Arc<ApiCounters>,
        charge: MemoryCharge,
    ) -> Self {
        let (checked, is_counted, counters) = (AtomicU64::new(born), AtomicBool::new(false), Arc::clone(counters));
        Stored { key, head, body, labels, born, checked, counters, is_counted, _charge: charge }
    }

    /// The second since 1970 in which it expires.
    pub fn expires_s(&self, now_ms: u64) -> u64 {
        (now_ms / 1000).saturating_add(u64::try_from(self.head.freshness(now_ms).ttl_s()).unwrap_or(0))
    }

    /// Memory of the complete response, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        Self::fixed_bytes(&self.head, self.labels.len()) + self.body.weight()
    }

    /// The effect of purges on it. Costs one comparison if there was no purge since the last check.
    pub(crate) fn purged(&self, generations: &Generations) -> Purged {
        let now = generations.now();
        if self.checked.load(Ordering::Relaxed) == now {
            return Purged::No;
        }
        let purged = generations.check(&self.labels, self.born);
        if purged == Purged::No {
            self.checked.store(now, Ordering::Relaxed);
        }
        purged
    }

    /// Counts it among the API's entries until it is dropped.
    fn count_in(&self) {
        if !self.is_counted.swap(true, Ordering::Relaxed) {
            count(&self.counters.stored);
            count(&self.counters.entries);
            self.counters.bytes.fetch_add(self.weight(), Ordering::Relaxed);
        }
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        if self.is_counted.load(Ordering::Relaxed) {
            self.counters.entries.fetch_sub(1, Ordering::Relaxed);
            self.counters.bytes.fetch_sub(self.weight(), Ordering::Relaxed);
        }
    }
}

/// An entry that stands in place of a response.
#[derive(Debug)]
pub(crate) enum Marker {
    /// The responses vary by these request headers; each variant has its own key.
    Variants(VaryNames),
    /// Until this time requests don't wait for each other, because the last response that they waited for could not be stored.
    HitForMiss { until_ms: u64 },
}

#[derive(Clone, Debug)]
pub(crate) enum TableEntry {
    Response(Arc<Stored>),
    Marker(Arc<(Marker, MemoryCharge)>),
}

impl TableEntry {
    fn weight(&self) -> u64 {
        match self {
            TableEntry::Response(stored) => stored.weight(),
            TableEntry::Marker(marker) => marker_bytes(&marker.0),
        }
    }
}

fn marker_bytes(marker: &Marker) -> u64 {
    ENTRY_BYTES
        + size_of::<(Marker, MemoryCharge)>() as u64
        + match marker {
            Marker::Variants(names) => names.len_bytes(),
            Marker::HitForMiss { .. } => 0,
        }
}

#[derive(Clone)]
struct ByteWeights;

impl Weighter<CacheKey, TableEntry> for ByteWeights {
    fn weight(&self, _: &CacheKey, entry: &TableEntry) -> u64 {
        entry.weight()
    }
}

/// Collects evicted entries, which are dropped after the lock is released.
#[derive(Clone)]
struct Evictions;

impl Lifecycle<CacheKey, TableEntry> for Evictions {
    type RequestState = Vec<(CacheKey, TableEntry)>;

    fn on_evict(&self, evicted: &mut Self::RequestState, key: CacheKey, entry: TableEntry) {
        evicted.push((key, entry));
    }
}

/// A table with its own memory limit.
pub(crate) struct Partition {
    table: Table<CacheKey, TableEntry, ByteWeights, KeyBuildHasher, Evictions>,
    budget: Arc<CacheBudget>,
    bytes: AtomicU64,
    object_bytes_max: u64,
    /// The partition that gets the memory back.
    parent: Option<Arc<Partition>>,
}

impl Partition {
    /// Makes a partition of `bytes`. Responses larger than `object_bytes_max`, or too large for the table, are not stored.
    pub(crate) fn new(bytes: u64, object_bytes_max: u64) -> Self {
        Self::with_parent(bytes, object_bytes_max, None)
    }

    /// Makes a partition whose memory is taken from this one; `None` when it would take more than half.
    pub(crate) fn split_off(self: &Arc<Self>, bytes: u64, object_bytes_max: u64) -> Option<Self> {
        let take = |all: u64| (bytes <= all / 2).then(|| all - bytes);
        self.bytes.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).ok()?;
        self.resize();
        Some(Self::with_parent(bytes, object_bytes_max, Some(Arc::clone(self))))
    }

    fn with_parent(bytes: u64, object_bytes_max: u64, parent: Option<Arc<Partition>>) -> Self {
        let table_bytes = bytes / 8 * TABLE_EIGHTHS;
        let shards = (table_bytes / object_bytes_max.max(1) / OBJECTS_PER_SHARD).clamp(1, SHARDS_MAX);
        // The library rounds up to a power of two.
        let shards = if shards.is_power_of_two() { shards } else { shards.next_power_of_two() / 2 };
        let options = OptionsBuilder::new()
            .shards(usize::try_from(shards).unwrap_or(1))
            .weight_capacity(table_bytes)
            .estimated_items_capacity(usize::try_from(table_bytes / AVERAGE_BYTES).unwrap_or(usize::MAX).max(1))
            .build();
        let table = match options {
            Ok(options) => Table::with_options(options, ByteWeights, KeyBuildHasher, Evictions),
            // Both values that the library requires are set.
            Err(_) => Table::with(1, table_bytes, ByteWeights, KeyBuildHasher, Evictions),
        };
        let object_bytes_max = object_bytes_max.min(table.shard_capacity() / 4 * 3);
        Partition { table, budget: CacheBudget::new(bytes), bytes: AtomicU64::new(bytes), object_bytes_max, parent }
    }

    fn resize(&self) {
        let bytes = self.bytes.load(Ordering::SeqCst);
        self.table.set_capacity(bytes / 8 * TABLE_EIGHTHS);
        self.budget.set_limit(bytes);
    }

    pub(crate) fn object_bytes_max(&self) -> u64 {
        self.object_bytes_max
    }

    pub(crate) fn bytes_used(&self) -> u64 {
        self.budget.used()
    }

    /// Reserves `bytes`; `None` when there is no room, for example because evicted responses are still being read.
    pub(crate) fn charge(&self, bytes: u64) -> Option<MemoryCharge> {
        MemoryCharge::take(&self.budget, bytes)
    }

    pub(crate) fn get(&self, key: &CacheKey) -> Option<TableEntry> {
        self.table.get(key)
    }

    /// Stores a complete response.
    pub(crate) fn insert(&self, stored: Arc<Stored>) {
        stored.count_in();
        self.put(stored.key, TableEntry::Response(stored));
    }

    /// Sets a marker, unless there is no memory for it.
    pub(crate) fn mark(&self, key: CacheKey, marker: Marker) {
        if let Some(charge) = self.charge(marker_bytes(&marker)) {
            self.put(key, TableEntry::Marker(Arc::new((marker, charge))));
        }
    }

    fn put(&self, key: CacheKey, entry: TableEntry) {
        let mut evicted = Vec::new();
        self.table.insert_with_lifecycle(key, entry, &mut evicted);
        for (evicted_key, entry) in evicted {
            if let TableEntry::Response(stored) = entry
                && evicted_key != key
            {
                count(&stored.counters.evicted);
            }
        }
    }

    /// Removes a response, unless another one has replaced it.
    pub(crate) fn remove(&self, stored: &Arc<Stored>) {
        let is_same = |entry: &TableEntry| matches!(entry, TableEntry::Response(other) if Arc::ptr_eq(other, stored));
        drop(self.table.remove_if(&stored.key, is_same));
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        if let Some(parent) = &self.parent {
            parent.bytes.fetch_add(self.bytes.load(Ordering::SeqCst), Ordering::SeqCst);
            parent.resize();
        }
    }
}

#[cfg(test)]
mod tests;
