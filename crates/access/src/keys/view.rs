//! Keys as the control plane names them: by the key, by its hash, or by the name that an operator gave it. With a shared store, a view
//! holds the sessions it has just read, so that a notification meanwhile makes none of them disappear.

use super::lookup::{KeyCandidate, Looked};
use super::{Digest, KeyName, Keys, StoredKey, identity_digest};
use std::sync::Arc;
use tollgate_model::key as key_format;
use tollgate_model::session::Session;
use tollgate_store::{StoreFault, StoreFaultKind};

/// The keys in memory, and the sessions of a shared store that a text may mean.
pub struct KeyView<'k> {
    keys: &'k Keys,
    read: Vec<(Digest, Arc<StoredKey>)>,
}

impl Keys {
    /// Makes the view of the keys that a text may mean.
    pub async fn view(&self, token: &str, org: &str) -> Result<KeyView<'_>, StoreFault> {
        let mut view = KeyView { keys: self, read: Vec::new() };
        let Some(shared) = &self.shared else { return Ok(view) };
        let mut candidates = self.candidates(token, org);
        candidates.extend(self.former_candidates(token, org));
        // The text may be a hash, or a key of another organisation.
        for name in [self.name(token), token.to_owned()].into_iter().chain(self.former_name(token)) {
            if candidates.iter().all(|candidate| candidate.name != name) {
                candidates.push(KeyCandidate { digest: key_format::digest(&name), name });
            }
        }
        for candidate in candidates {
            match shared.read(std::slice::from_ref(&candidate)).await? {
                Looked::Found(entry) => view.read.push((candidate.digest, entry)),
                Looked::Unknown => {}
                Looked::Failed => {
                    let detail = "the session changes faster than it can be read";
                    return Err(StoreFault::new(StoreFaultKind::Unavailable, detail));
                }
            }
        }
        Ok(view)
    }
}

impl KeyView<'_> {
    /// The digest of a key, or of an identity's session, by its name.
    pub fn digest_of(&self, token: &str) -> Option<Digest> {
        let digest = self.keys.digest(token);
        let named = || Some(key_format::digest(&self.keys.name(token))).filter(|digest| self.has(digest));
        let former = || Some(key_format::digest(&self.keys.former_name(token)?)).filter(|digest| self.has(digest));
        [digest, identity_digest(token)].into_iter().find(|digest| self.has(digest)).or_else(named).or_else(former)
    }

    /// The digests of the keys with this hash.
    pub fn digests_of_hash(&self, hash: &str) -> Vec<Digest> {
        let digest = key_format::digest(hash);
        if self.read(&digest).is_some() { vec![digest] } else { self.keys.table.shown_as(hash) }
    }

    /// The existing key that an operator's text means.
    pub fn known(&self, token: &str, org: &str) -> Option<String> {
        self.keys.rules.texts(token, org).into_iter().find(|text| self.digest_of(text).is_some())
    }

    /// The existing key that an operator's text means, or the key that would be made from it.
    pub fn named(&self, token: &str, org: &str) -> String {
        let new = key_format::custom(org, token, self.keys.rules.function());
        // A key that another organisation has named so stays as it is.
        let is_own = |known: &String| {
            let session = self.digest_of(known).and_then(|digest| self.session(&digest));
            *known == new || session.is_none_or(|session| session.org_id == org)
        };
        self.known(token, org).filter(is_own).unwrap_or(new)
    }

    /// The digest and listed form of a key that exists, or of a new one. A shared store keeps a key under the name that it has there.
    pub fn name_of(&self, token: &str) -> KeyName {
        let new = self.keys.new_name(token);
        let Some(digest) = self.digest_of(token) else { return new };
        let known = self.keys.shared.as_ref().and_then(|_| self.shown_of(&digest));
        KeyName { digest, shown: known.unwrap_or(new.shown) }
    }

    /// The listed form of a key: the key or its hash.
    pub fn shown_of(&self, digest: &Digest) -> Option<String> {
        self.see(digest, StoredKey::shown)
    }

    /// The session of a key without policies applied.
    pub fn session(&self, digest: &Digest) -> Option<Session> {
        self.see(digest, StoredKey::session).flatten()
    }

    /// The session of a key with its policies and remaining quotas.
    pub fn live_session(&self, digest: &Digest, now_unix_s: u64) -> Option<Session> {
        let (key, session) = self.see(digest, |entry| (self.keys.compiled_entry(digest, entry), entry.session()))?;
        let applied = session.and_then(|session| self.keys.with_policies(&session).ok());
        Some(key.live_session(applied.unwrap_or_else(|| key.session.clone()), now_unix_s))
    }

    fn has(&self, digest: &Digest) -> bool {
        self.read(digest).is_some() || self.keys.table.contains(digest)
    }

    fn read(&self, digest: &Digest) -> Option<&Arc<StoredKey>> {
        self.read.iter().find_map(|(read, entry)| (read == digest).then_some(entry))
    }

    /// Passes a stored key to `see`.
    fn see<T>(&self, digest: &Digest, see: impl FnOnce(&StoredKey) -> T) -> Option<T> {
        match self.read(digest) {
            Some(entry) => Some(see(entry)),
            None => self.keys.table.with(digest, see),
        }
    }
}
