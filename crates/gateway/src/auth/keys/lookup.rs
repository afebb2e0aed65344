//! Reading sessions that are not in memory. Requests with the same key wait for one answer; a change that is heard of while the answer is
//! on its way makes it be asked again.

use super::shared::SharedKeys;
use super::{Digest, Entry, HeldKey, Keys};
use crate::base::answers::{Answers, Coming, GRACE, Promise, coming};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tollgate_engine::Work;
use tollgate_model::config::OnStoreFailure;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{Kind, StoreFault};

/// Keys that are asked for at one time. Whoever comes with another one is told that the store does not answer.
const PENDING_MAX: usize = 10_000;
/// How often an answer is asked for again because the session changed meanwhile.
const ROUNDS_MAX: usize = 16;

/// What a request that presents a key gets.
pub enum Presented {
    Known(HeldKey),
    Unknown,
    /// The store does not say, and what was last known must not be used or is nothing.
    Unanswered,
    /// Not known yet: the request is held for this, at most so long.
    Asked(Work, Duration),
}

/// What the store says of a key.
#[derive(Clone)]
pub enum Looked {
    Found(Arc<Entry>),
    Unknown,
    Failed,
}

/// Look-ups on their way, by what was presented.
pub struct Lookups {
    pending: Mutex<HashMap<Digest, Coming<Looked>>>,
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
struct OwnReading<'l> {
    lookups: &'l Lookups,
    number: u64,
    reading: Arc<Reading>,
}

impl Drop for OwnReading<'_> {
    fn drop(&mut self) {
        self.lookups.readings().remove(&self.number);
    }
}

/// A session that a key may stand for.
#[derive(Clone)]
pub struct Candidate {
    pub name: String,
    pub digest: Digest,
}

impl Lookups {
    pub fn new(time_max: Duration) -> Self {
        Lookups { pending: Mutex::default(), readings: Mutex::default(), next: AtomicU64::new(0), time_max }
    }

    /// The answer that is on its way already, or one that `start` begins to fetch; `None` when there are too many.
    fn join(&self, asked: Digest, start: impl FnOnce(Promise<Looked>)) -> Option<Coming<Looked>> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = pending.get(&asked) {
            return Some(known.clone());
        }
        if pending.len() >= PENDING_MAX {
            return None;
        }
        let (promise, answer) = coming();
        pending.insert(asked, answer.clone());
        drop(pending);
        start(promise);
        Some(answer)
    }

    fn end(&self, asked: &Digest) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(asked);
    }

    /// Some sessions are being read from now on.
    fn begin(&self, candidates: &[Candidate]) -> OwnReading<'_> {
        let sessions = candidates.iter().map(|candidate| candidate.digest).collect();
        let reading = Arc::new(Reading { sessions, is_outdated: AtomicBool::new(false) });
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.readings().insert(number, reading.clone());
        OwnReading { lookups: self, number, reading }
    }

    /// What is being read of this session may be out of date.
    pub fn changed(&self, session: &Digest) {
        let readings = self.readings();
        let of_it = readings.values().filter(|reading| reading.sessions.contains(session));
        of_it.for_each(|reading| reading.is_outdated.store(true, Ordering::Release));
    }

    /// Everything that is being read may be out of date.
    pub fn all_changed(&self) {
        self.readings().values().for_each(|reading| reading.is_outdated.store(true, Ordering::Release));
    }

    fn readings(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Reading>>> {
        self.readings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedKeys {
    /// The first of some sessions that there is, as the store has it now.
    pub(super) async fn read(&self, candidates: &[Candidate]) -> Result<Looked, StoreFault> {
        for _ in 0..ROUNDS_MAX {
            let own = self.lookups.begin(candidates);
            let epoch = self.epoch();
            let ask = |candidate: &Candidate| {
                let (redis, name) = (self.redis.clone(), candidate.name.clone());
                self.redis.runtime().spawn(async move { redis.document(Kind::Session, &name).await })
            };
            let asked: Vec<_> = candidates.iter().map(ask).collect();
            let mut found = None;
            for (candidate, answer) in candidates.iter().zip(asked) {
                let Ok(answer) = answer.await else { return Ok(Looked::Failed) };
                let Some((document, ends_after)) = answer? else {
                    self.gone(&candidate.digest);
                    continue;
                };
                if found.is_some() {
                    continue;
                }
                match Session::parse(&document) {
                    Ok((session, _)) => {
                        let stored = StoredSession { shown: candidate.name.clone(), session };
                        found = Some(self.keep(candidate.digest, &stored, ends_after));
                    }
                    Err(_) => tracing::error!(key = candidate.name, "a stored key can't be read and is refused"),
                }
            }
            // A change that is noted later than this finds what was kept.
            if !own.reading.is_outdated.load(Ordering::Acquire) {
                return Ok(found.map_or(Looked::Unknown, |kept| Looked::Found(kept.trust(epoch))));
            }
            candidates.iter().for_each(|candidate| self.gone(&candidate.digest));
        }
        Ok(Looked::Failed)
    }

    /// Begins to ask, or joins those who have asked already.
    fn ask(self: &Arc<Self>, asked: Digest, candidates: Vec<Candidate>) -> Option<Coming<Looked>> {
        self.lookups.join(asked, |promise| {
            let shared = self.clone();
            self.redis.runtime().spawn(async move {
                let read = tokio::time::timeout(shared.lookups.time_max, shared.read(&candidates)).await;
                let looked = match read {
                    Ok(Ok(looked)) => looked,
                    Ok(Err(fault)) => {
                        tracing::debug!(%fault, "a key can't be looked up");
                        Looked::Failed
                    }
                    Err(_) => {
                        shared.redis.suspect();
                        Looked::Failed
                    }
                };
                if matches!(looked, Looked::Unknown) {
                    shared.remember_unknown(asked);
                }
                shared.lookups.end(&asked);
                promise.keep(looked);
            });
        })
    }
}

impl Keys {
    /// The key that a request presents when it is not in memory: asks the shared store, if there is one.
    pub fn look_up(&self, token: &str, org: &str, answers: &mut Answers) -> Presented {
        let Some(shared) = self.shared.as_ref().filter(|_| token.len() >= self.rules.token_bytes_min) else {
            return Presented::Unknown;
        };
        let asked = asked(token, org);
        if let Some(answered) = self.answered(shared, &asked, token, org, answers) {
            return answered;
        }
        if shared.is_unknown(&asked) {
            return Presented::Unknown;
        }
        match shared.ask(asked, self.candidates(token, org)) {
            Some(answer) => {
                let work = answer.work();
                answers.put(serial(&asked), (asked, answer));
                Presented::Asked(work, shared.lookups.time_max + GRACE)
            }
            None => self.last_known(shared, token, org),
        }
    }

    /// The key that the shared store has answered with to a request that asked before, if it has.
    pub fn answered_key(&self, token: &str, org: &str, answers: &Answers) -> Option<HeldKey> {
        match self.answered(self.shared.as_ref()?, &asked(token, org), token, org, answers)? {
            Presented::Known(key) => Some(key),
            _ => None,
        }
    }

    fn answered(&self, shared: &SharedKeys, asked: &Digest, token: &str, org: &str, answers: &Answers) -> Option<Presented> {
        let (_, answer) = answers.get::<(Digest, Coming<Looked>)>(serial(asked)).filter(|(of, _)| of == asked)?;
        Some(match answer.get() {
            Some(Looked::Found(entry)) => {
                let digest = key_format::digest(&entry.shown());
                Presented::Known(self.compiled_entry(&digest, &entry))
            }
            Some(Looked::Unknown) => Presented::Unknown,
            Some(Looked::Failed) | None => self.last_known(shared, token, org),
        })
    }

    /// What holds while the store does not answer.
    fn last_known(&self, shared: &SharedKeys, token: &str, org: &str) -> Presented {
        if shared.rules.on_failure == OnStoreFailure::Deny {
            return Presented::Unanswered;
        }
        let known = self.candidates(token, org).into_iter().find_map(|candidate| {
            let entry = shared.last_known(&candidate.digest)?;
            Some(self.compiled_entry(&candidate.digest, &entry))
        });
        known.map_or(Presented::Unanswered, Presented::Known)
    }

    /// The sessions that a text may stand for, in Tyk's order.
    pub(super) fn candidates(&self, token: &str, org: &str) -> Vec<Candidate> {
        let texts = self.rules.texts(token, org);
        texts.iter().map(|text| self.name(text)).map(|name| Candidate { digest: key_format::digest(&name), name }).collect()
    }
}

/// What a question about a presented text is known by.
fn asked(token: &str, org: &str) -> Digest {
    key_format::digest(&format!("{org}\0{token}"))
}

/// Under what a request keeps the answer to a question; the serial numbers of middlewares are small.
fn serial(asked: &Digest) -> u64 {
    asked.first_chunk::<8>().map_or(u64::MAX, |first| u64::from_le_bytes(*first) | 1 << 63)
}
