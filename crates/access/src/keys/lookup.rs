//! Look-ups of sessions that are not in memory. Requests with the same key wait for one look-up. If a session changes while its look-up is
//! in flight, the look-up is repeated.

use super::{Digest, StoredKey};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tollgate_clock::{Completer, Pending};

/// Most keys that are looked up at one time. Beyond this, a request is told that the store does not answer.
const PENDING_MAX: usize = 10_000;

/// Result of a look-up.
#[derive(Clone)]
pub(super) enum Looked {
    Found(Arc<StoredKey>),
    Unknown,
    Failed,
}

/// Look-ups in flight, by presented text.
pub struct Lookups {
    pending: Mutex<HashMap<Digest, Pending<Looked>>>,
    /// All reads in flight, by number.
    readings: Mutex<BTreeMap<u64, Arc<Reading>>>,
    next: AtomicU64,
    pub time_max: Duration,
}

/// Sessions that one read covers.
struct Reading {
    sessions: Vec<Digest>,
    /// Whether one of them has changed since the read began.
    is_outdated: AtomicBool,
}

/// Handle of a read; dropping it ends the read.
pub(super) struct OwnReading<'l> {
    lookups: &'l Lookups,
    number: u64,
    reading: Arc<Reading>,
}

impl OwnReading<'_> {
    /// Whether one of the sessions has changed since the read began.
    pub(super) fn is_outdated(&self) -> bool {
        self.reading.is_outdated.load(Ordering::Acquire)
    }
}

impl Drop for OwnReading<'_> {
    fn drop(&mut self) {
        self.lookups.readings().remove(&self.number);
    }
}

/// A session that a presented text may mean.
#[derive(Clone)]
pub(super) struct KeyCandidate {
    pub name: String,
    pub digest: Digest,
}

impl Lookups {
    pub fn new(time_max: Duration) -> Self {
        Lookups { pending: Mutex::default(), readings: Mutex::default(), next: AtomicU64::new(0), time_max }
    }

    /// Joins the look-up that is in flight, or starts one with `start`; `None` when there are too many.
    pub(super) fn join(&self, asked: Digest, start: impl FnOnce(Completer<Looked>)) -> Option<Pending<Looked>> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = pending.get(&asked) {
            return Some(known.clone());
        }
        if pending.len() >= PENDING_MAX {
            return None;
        }
        let (completer, answer) = Pending::pair();
        pending.insert(asked, answer.clone());
        drop(pending);
        start(completer);
        Some(answer)
    }

    pub(super) fn end(&self, asked: &Digest) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(asked);
    }

    /// Registers a read of these sessions.
    pub(super) fn begin(&self, candidates: &[KeyCandidate]) -> OwnReading<'_> {
        let sessions = candidates.iter().map(|candidate| candidate.digest).collect();
        let reading = Arc::new(Reading { sessions, is_outdated: AtomicBool::new(false) });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.readings().insert(number, reading.clone());
        OwnReading { lookups: self, number, reading }
    }

    /// Marks reads of this session as outdated.
    pub fn changed(&self, session: &Digest) {
        let readings = self.readings();
        let of_it = readings.values().filter(|reading| reading.sessions.contains(session));
        of_it.for_each(|reading| reading.is_outdated.store(true, Ordering::Release));
    }

    /// Marks all reads as outdated.
    pub fn all_changed(&self) {
        self.readings().values().for_each(|reading| reading.is_outdated.store(true, Ordering::Release));
    }

    fn readings(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Reading>>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
