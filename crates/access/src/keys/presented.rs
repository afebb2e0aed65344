//! Look-up of a presented key that is not in memory, in a shared store.

use super::lookup::{KeyCandidate, Looked};
use super::shared::SharedKeys;
use super::{Digest, HeldKey, Keys};
use std::sync::Arc;
use std::time::Duration;
use tollgate_clock::Pending;
use tollgate_engine::Work;
use tollgate_model::config::OnStoreFailure;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, StoreFault};

/// How often a read is repeated because the session changed meanwhile.
const ROUNDS_MAX: usize = 16;

/// Result of looking up the presented key.
pub enum Presented {
    Known(HeldKey),
    Unknown,
    /// The store does not answer, and there is no last known session that may be used.
    Unanswered,
    /// The look-up is in flight: the request is held for it, at most this long.
    Asked(Work, Duration),
}

/// The keys that one request has asked the shared store for.
#[derive(Default)]
pub struct AskedKeys(Vec<(Digest, Pending<Looked>)>);

impl SharedKeys {
    /// Reads the first of these sessions that exists, as the store has it now.
    pub(super) async fn read(&self, candidates: &[KeyCandidate]) -> Result<Looked, StoreFault> {
        for _ in 0..ROUNDS_MAX {
            let own = self.lookups.begin(candidates);
            let epoch = self.epoch();
            let ask = |candidate: &KeyCandidate| {
                let (redis, name) = (self.cluster.redis.clone(), candidate.name.clone());
                self.cluster.redis.runtime().spawn(async move { redis.document(DocumentSpace::Session, &name).await })
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
            // A change that is noted after this point finds the kept session.
            if !own.is_outdated() {
                return Ok(found.map_or(Looked::Unknown, |kept| Looked::Found(kept.trust(epoch))));
            }
            candidates.iter().for_each(|candidate| self.gone(&candidate.digest));
        }
        Ok(Looked::Failed)
    }

    /// Reads the first of these sessions that exists. Only if there is none, it reads those under the names of earlier versions.
    async fn read_any(&self, candidates: &[KeyCandidate], former: &[KeyCandidate]) -> Result<Looked, StoreFault> {
        let looked = self.read(candidates).await?;
        if former.is_empty() || !matches!(looked, Looked::Unknown) {
            return Ok(looked);
        }
        let looked = self.read(former).await?;
        if matches!(looked, Looked::Found(_)) {
            self.note_former();
        }
        Ok(looked)
    }

    /// Starts a look-up, or joins the one in flight.
    fn ask(self: &Arc<Self>, asked: Digest, candidates: Vec<KeyCandidate>, former: Vec<KeyCandidate>) -> Option<Pending<Looked>> {
        self.lookups.join(asked, |completer| {
            let shared = self.clone();
            self.cluster.redis.runtime().spawn(async move {
                let read = tokio::time::timeout(shared.lookups.time_max, shared.read_any(&candidates, &former)).await;
                let looked = match read {
                    Ok(Ok(looked)) => looked,
                    Ok(Err(fault)) => {
                        tracing::debug!(%fault, "a key can't be looked up");
                        Looked::Failed
                    }
                    Err(_) => {
                        shared.cluster.redis.suspect();
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
    /// Looks up a presented key that is not in memory, in the shared store if there is one.
    pub fn look_up(&self, token: &str, org: &str, asked_keys: &mut AskedKeys) -> Presented {
        let Some(shared) = self.shared.as_ref().filter(|_| token.len() >= self.rules.token_bytes_min) else {
            return Presented::Unknown;
        };
        let asked = asked(token, org);
        if let Some(answered) = self.answered(shared, &asked, token, org, asked_keys) {
            return answered;
        }
        if shared.is_unknown(&asked) {
            return Presented::Unknown;
        }
        match shared.ask(asked, self.candidates(token, org), self.former_candidates(token, org)) {
            Some(answer) => {
                let work = answer.work();
                asked_keys.0.push((asked, answer));
                Presented::Asked(work, shared.lookups.time_max)
            }
            None => self.last_known(shared, token, org),
        }
    }

    /// The key from a look-up that the request waited for, if it was found.
    pub fn answered_key(&self, token: &str, org: &str, asked_keys: &AskedKeys) -> Option<HeldKey> {
        match self.answered(self.shared.as_ref()?, &asked(token, org), token, org, asked_keys)? {
            Presented::Known(key) => Some(key),
            _ => None,
        }
    }

    fn answered(&self, shared: &SharedKeys, asked: &Digest, token: &str, org: &str, asked_keys: &AskedKeys) -> Option<Presented> {
        let (_, answer) = asked_keys.0.iter().find(|(of, _)| of == asked)?;
        Some(match answer.get() {
            Some(Looked::Found(entry)) => {
                let digest = key_format::digest(&entry.shown());
                Presented::Known(self.compiled_entry(&digest, &entry))
            }
            Some(Looked::Unknown) => Presented::Unknown,
            Some(Looked::Failed) | None => self.last_known(shared, token, org),
        })
    }

    /// The result while the store does not answer.
    fn last_known(&self, shared: &SharedKeys, token: &str, org: &str) -> Presented {
        if shared.rules.on_failure == OnStoreFailure::Deny {
            return Presented::Unanswered;
        }
        let candidates = self.candidates(token, org).into_iter().chain(self.former_candidates(token, org));
        let known = candidates.into_iter().find_map(|candidate| {
            let entry = shared.last_known(&candidate.digest)?;
            Some(self.compiled_entry(&candidate.digest, &entry))
        });
        known.map_or(Presented::Unanswered, Presented::Known)
    }

    /// The sessions that a text may mean, in Tyk's order.
    pub(super) fn candidates(&self, token: &str, org: &str) -> Vec<KeyCandidate> {
        self.named(token, org, |text| Some(self.name(text)))
    }

    /// The same under the names that earlier versions gave them.
    pub(super) fn former_candidates(&self, token: &str, org: &str) -> Vec<KeyCandidate> {
        self.named(token, org, |text| self.former_name(text))
    }

    fn named(&self, token: &str, org: &str, name: impl Fn(&str) -> Option<String>) -> Vec<KeyCandidate> {
        let texts = self.rules.texts(token, org).into_iter().filter(|text| !self.refuses(text));
        texts.filter_map(|text| name(&text)).map(|name| KeyCandidate { digest: key_format::digest(&name), name }).collect()
    }
}

/// Identifies a look-up of a presented text.
fn asked(token: &str, org: &str) -> Digest {
    key_format::digest(&format!("{org}\0{token}"))
}
