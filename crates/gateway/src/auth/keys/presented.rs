//! Finding the key that a request presents, when it is not in memory, in the store that gateways share.

use super::lookup::{Candidate, Looked};
use super::shared::SharedKeys;
use super::{Digest, HeldKey, Keys};
use crate::base::answers::{Answers, GRACE};
use std::sync::Arc;
use std::time::Duration;
use tollgate_engine::Pending;
use tollgate_engine::Work;
use tollgate_model::config::OnStoreFailure;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, StoreFault};

/// How often an answer is asked for again because the session changed meanwhile.
const ROUNDS_MAX: usize = 16;

/// What a request that presents a key gets.
pub(crate) enum Presented {
    Known(HeldKey),
    Unknown,
    /// The store does not say, and what was last known must not be used or is nothing.
    Unanswered,
    /// Not known yet: the request is held for this, at most so long.
    Asked(Work, Duration),
}

impl SharedKeys {
    /// The first of some sessions that there is, as the store has it now.
    pub(super) async fn read(&self, candidates: &[Candidate]) -> Result<Looked, StoreFault> {
        for _ in 0..ROUNDS_MAX {
            let own = self.lookups.begin(candidates);
            let epoch = self.epoch();
            let ask = |candidate: &Candidate| {
                let (redis, name) = (self.redis.clone(), candidate.name.clone());
                self.redis.runtime().spawn(async move { redis.document(DocumentSpace::Session, &name).await })
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
            if !own.is_outdated() {
                return Ok(found.map_or(Looked::Unknown, |kept| Looked::Found(kept.trust(epoch))));
            }
            candidates.iter().for_each(|candidate| self.gone(&candidate.digest));
        }
        Ok(Looked::Failed)
    }

    /// Begins to ask, or joins those who have asked already.
    fn ask(self: &Arc<Self>, asked: Digest, candidates: Vec<Candidate>) -> Option<Pending<Looked>> {
        self.lookups.join(asked, |completer| {
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
                completer.complete(looked);
            });
        })
    }
}

impl Keys {
    /// The key that a request presents when it is not in memory: asks the shared store, if there is one.
    pub(crate) fn look_up(&self, token: &str, org: &str, answers: &mut Answers) -> Presented {
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
    pub(crate) fn answered_key(&self, token: &str, org: &str, answers: &Answers) -> Option<HeldKey> {
        match self.answered(self.shared.as_ref()?, &asked(token, org), token, org, answers)? {
            Presented::Known(key) => Some(key),
            _ => None,
        }
    }

    fn answered(&self, shared: &SharedKeys, asked: &Digest, token: &str, org: &str, answers: &Answers) -> Option<Presented> {
        let (_, answer) = answers.get::<(Digest, Pending<Looked>)>(serial(asked)).filter(|(of, _)| of == asked)?;
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
