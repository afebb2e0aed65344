//! The live tail of one filter: a sample of the requests that fit, in batches.

use super::filter::TailFilter;
use super::{RequestWatch, TailEntry};
use crate::facts::ApiMetadata;
use crate::record::RequestRecord;
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// Requests of one batch: more than a person can read in half a second.
const BATCH_MAX: usize = 100;
/// Batches that a stream may be behind.
const BEHIND_MAX: usize = 16;

/// Streams with one filter.
pub struct TailWatcher {
    pub filter: TailFilter,
    seen: AtomicU64,
    /// One of so many is shown.
    one_in: AtomicU64,
    waiting: Mutex<Vec<Arc<TailEntry>>>,
    /// Batches as they are sent to streams.
    pub batches: broadcast::Sender<Bytes>,
}

/// What happened since the last batch.
#[derive(Default, Serialize, Deserialize)]
pub struct TailBatch {
    #[serde(serialize_with = "each", deserialize_with = "read_each")]
    pub entries: Vec<Arc<TailEntry>>,
    pub shown: usize,
    pub seen: u64,
    /// One of so many was shown.
    pub sampled: u64,
}

fn each<S: Serializer>(entries: &[Arc<TailEntry>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.iter().map(Arc::as_ref))
}

fn read_each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<TailEntry>>, D::Error> {
    Ok(Vec::<TailEntry>::deserialize(deserializer)?.into_iter().map(Arc::new).collect())
}

impl TailBatch {
    /// Adds another batch.
    pub fn merge(&mut self, other: TailBatch) {
        self.entries.extend(other.entries);
        self.shown += other.shown;
        self.seen += other.seen;
        self.sampled = self.sampled.max(other.sampled);
    }
}

impl TailWatcher {
    pub(super) fn new(filter: TailFilter) -> Self {
        TailWatcher {
            filter,
            seen: AtomicU64::new(0),
            one_in: AtomicU64::new(1),
            waiting: Mutex::default(),
            batches: broadcast::channel(BEHIND_MAX).0,
        }
    }

    pub(super) fn is_watched(&self) -> bool {
        self.batches.receiver_count() > 0
    }

    /// Shows a request if it fits and it is its turn.
    pub(super) fn see(
        &self,
        record: &RequestRecord,
        facts: &ApiMetadata,
        watch: &RequestWatch,
        entry: impl FnOnce() -> Arc<TailEntry>,
    ) {
        if !self.filter.fits_record(record, facts, watch) {
            return;
        }
        let number = self.seen.fetch_add(1, Ordering::Relaxed);
        if !number.is_multiple_of(self.one_in.load(Ordering::Relaxed).max(1)) {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < BATCH_MAX {
            waiting.push(entry());
        }
    }

    /// What was seen since the last call; `None` if nothing was. Adapts the sampling to the rate.
    pub fn take(&self) -> Option<TailBatch> {
        let entries = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let seen = self.seen.swap(0, Ordering::Relaxed);
        let sampled = self.one_in.swap(seen.div_ceil(BATCH_MAX as u64).max(1), Ordering::Relaxed);
        (seen > 0).then(|| TailBatch { shown: entries.len(), entries, seen, sampled: sampled.max(1) })
    }
}
