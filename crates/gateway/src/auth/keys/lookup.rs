//! Reading sessions that are not in memory. Requests with the same key wait for one answer; a change that is heard of while the answer is
//! on its way makes it be asked again.

use super::{Digest, StoredKey};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tollgate_engine::{Completer, Pending};

/// Keys that are asked for at one time. Whoever comes with another one is told that the store does not answer.
const PENDING_MAX: usize = 10_000;

/// What the store says of a key.
#[derive(Clone)]
pub(super) enum Looked {
    Found(Arc<StoredKey>),
    Unknown,
    Failed,
}

/// Look-ups on their way, by what was presented.
pub(crate) struct Lookups {
    pending: Mutex<HashMap<Digest, Pending<Looked>>>,
    /// All that is being read, by number.
    readings: Mutex<BTreeMap<u64, Arc<Reading>>>,
    next: AtomicU64,
    pub time_max: Duration,
}

/// Sessions that are being read.
struct Reading {
    sessions: Vec<Digest>,
    /// One of them has changed since.
    is_outdated: AtomicBool,
}

/// A reading, for as long as it takes.
pub(super) struct OwnReading<'l> {
    lookups: &'l Lookups,
    number: u64,
    reading: Arc<Reading>,
}

impl OwnReading<'_> {
    /// One of the sessions has changed since the reading began.
    pub(super) fn is_outdated(&self) -> bool {
        self.reading.is_outdated.load(Ordering::Acquire)
    }
}

impl Drop for OwnReading<'_> {
    fn drop(&mut self) {
        self.lookups.readings().remove(&self.number);
    }
}

/// A session that a key may stand for.
#[derive(Clone)]
pub(super) struct Candidate {
    pub name: String,
    pub digest: Digest,
}

impl Lookups {
    pub(crate) fn new(time_max: Duration) -> Self {
        Lookups { pending: Mutex::default(), readings: Mutex::default(), next: AtomicU64::new(0), time_max }
    }

    /// The answer that is on its way already, or one that `start` begins to fetch; `None` when there are too many.
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

    /// Some sessions are being read from now on.
    pub(super) fn begin(&self, candidates: &[Candidate]) -> OwnReading<'_> {
        let sessions = candidates.iter().map(|candidate| candidate.digest).collect();
        let reading = Arc::new(Reading { sessions, is_outdated: AtomicBool::new(false) });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.readings().insert(number, reading.clone());
        OwnReading { lookups: self, number, reading }
    }

    /// What is being read of this session may be out of date.
    pub(crate) fn changed(&self, session: &Digest) {
        let readings = self.readings();
        let of_it = readings.values().filter(|reading| reading.sessions.contains(session));
        of_it.for_each(|reading| reading.is_outdated.store(true, Ordering::Release));
    }

    /// Everything that is being read may be out of date.
    pub(crate) fn all_changed(&self) {
        self.readings().values().for_each(|reading| reading.is_outdated.store(true, Ordering::Release));
    }

    fn readings(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Reading>>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
