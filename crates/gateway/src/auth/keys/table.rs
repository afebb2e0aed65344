//! All keys in memory: by what they are filed under, which every request asks, and by how they are shown, which the control API asks.
//! A key that is not in use is its document and little more, so that a million of them fit.

use super::{Counters, Key};
use crate::base::digest::{Digest, DigestHasher};
use arc_swap::ArcSwap;
use papaya::HashMap;
use std::collections::BTreeSet;
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};

/// The keys.
#[derive(Default)]
pub(super) struct KeyTable {
    entries: HashMap<Digest, StoredKey, BuildHasherDefault<DigestHasher>>,
    /// Keys by 64 bits of a hash of how they are shown; short hashes collide, and so may these.
    by_shown: Mutex<BTreeSet<(u64, Digest)>>,
}

/// One key as it is stored.
pub(super) struct StoredKey {
    /// As in the store.
    document: Box<[u8]>,
    /// Made when the key is first used, and again when policies change.
    pub compiled: OnceLock<ArcSwap<Key>>,
    /// Made when the key is first used.
    counters: OnceLock<Arc<Counters>>,
    /// In memory only; see `identities`.
    pub transient: bool,
}

impl StoredKey {
    /// A key with the counters that it goes on with, if it had any.
    pub(super) fn new(document: Box<[u8]>, counters: Option<Arc<Counters>>, transient: bool) -> Self {
        let counters = counters.map_or_else(OnceLock::new, OnceLock::from);
        StoredKey { document, compiled: OnceLock::new(), counters, transient }
    }

    /// As in the store.
    pub(super) fn document(&self) -> &[u8] {
        &self.document
    }

    /// The session as written; `None` when it is none.
    pub(super) fn session(&self) -> Option<Session> {
        StoredSession::parse(&self.document).map(|stored| stored.session)
    }

    /// How the key is shown.
    pub(super) fn shown(&self) -> String {
        StoredSession::shown(&self.document).unwrap_or_default().into_owned()
    }

    /// What the key counts. Also who resets a key asks for it: a request may be about to begin with the same counters.
    pub(super) fn counters(&self) -> &Arc<Counters> {
        self.counters.get_or_init(Arc::default)
    }
}

impl KeyTable {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn contains(&self, digest: &Digest) -> bool {
        self.entries.pin().contains_key(digest)
    }

    /// Lets `see` look at a key, if it is there.
    #[inline]
    pub(super) fn with<T>(&self, digest: &Digest, see: impl FnOnce(&StoredKey) -> T) -> Option<T> {
        self.entries.pin().get(digest).map(see)
    }

    /// Adds a key that is shown so, or replaces it.
    pub(super) fn insert(&self, digest: Digest, shown: &str, entry: StoredKey) {
        let mut by_shown = self.by_shown();
        let entries = self.entries.pin();
        if let Some(old) = entries.insert(digest, entry) {
            by_shown.remove(&(fingerprint(&old.shown()), digest));
        }
        by_shown.insert((fingerprint(shown), digest));
    }

    /// Puts in place of a key what `make` makes of it, in one step: nobody else writes meanwhile. `None` leaves it as it is.
    pub(super) fn change(&self, digest: Digest, make: impl FnOnce(Option<&StoredKey>) -> Option<StoredKey>) {
        let mut by_shown = self.by_shown();
        let entries = self.entries.pin();
        let Some(entry) = make(entries.get(&digest)) else { return };
        let shown = fingerprint(&entry.shown());
        if let Some(old) = entries.insert(digest, entry) {
            by_shown.remove(&(fingerprint(&old.shown()), digest));
        }
        by_shown.insert((shown, digest));
    }

    /// Removes a key, and says what it counts. `None` when there was none.
    pub(super) fn remove(&self, digest: &Digest) -> Option<Arc<Counters>> {
        self.remove_if(digest, |_| true)
    }

    /// The same if the key is as it is meant to be, in one step.
    pub(super) fn remove_if(&self, digest: &Digest, is_meant: impl FnOnce(&StoredKey) -> bool) -> Option<Arc<Counters>> {
        let mut by_shown = self.by_shown();
        let entries = self.entries.pin();
        let entry = entries.get(digest).filter(|entry| is_meant(entry))?;
        entries.remove(digest);
        by_shown.remove(&(fingerprint(&entry.shown()), *digest));
        Some(entry.counters().clone())
    }

    /// The keys that are shown so.
    pub(super) fn shown_as(&self, shown: &str) -> Vec<Digest> {
        let fingerprint = fingerprint(shown);
        let range = (fingerprint, [0; 32])..=(fingerprint, [255; 32]);
        let mut alike: Vec<Digest> = self.by_shown().range(range).map(|(_, digest)| *digest).collect();
        alike.retain(|digest| self.with(digest, |entry| entry.shown() == shown) == Some(true));
        alike
    }

    /// What all keys are filed under.
    pub(super) fn digests(&self) -> Vec<Digest> {
        self.entries.pin().keys().copied().collect()
    }

    fn by_shown(&self) -> MutexGuard<'_, BTreeSet<(u64, Digest)>> {
        self.by_shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fingerprint(shown: &str) -> u64 {
    let digest = key_format::digest(shown);
    digest.first_chunk().copied().map_or(0, u64::from_le_bytes)
}

#[cfg(test)]
mod tests;
