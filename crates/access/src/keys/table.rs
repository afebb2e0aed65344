//! All keys in memory: indexed by digest for requests, and by listed form for the control API. An unused key is little more than its
//! document, so that a million of them fit.

use super::{Counters, Key};
use crate::digest::{Digest, DigestHasher};
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
    /// Keys by 64 bits of a hash of their listed form; short hashes collide, and so may these.
    by_shown: Mutex<BTreeSet<(u64, Digest)>>,
}

/// One stored key.
pub(super) struct StoredKey {
    /// The document in the store.
    document: Box<[u8]>,
    /// Compiled on first use, and again when policies change.
    pub compiled: OnceLock<ArcSwap<Key>>,
    /// Made on first use.
    counters: OnceLock<Arc<Counters>>,
    /// Whether the key is only in memory; see `identities`.
    pub transient: bool,
}

impl StoredKey {
    /// Makes a key; it continues with `counters` if there are any.
    pub(super) fn new(document: Box<[u8]>, counters: Option<Arc<Counters>>, transient: bool) -> Self {
        let counters = counters.map_or_else(OnceLock::new, OnceLock::from);
        StoredKey { document, compiled: OnceLock::new(), counters, transient }
    }

    /// The document in the store.
    pub(super) fn document(&self) -> &[u8] {
        &self.document
    }

    /// The session without policies applied; `None` when the document is invalid.
    pub(super) fn session(&self) -> Option<Session> {
        StoredSession::parse(&self.document).map(|stored| stored.session)
    }

    /// The listed form of the key.
    pub(super) fn shown(&self) -> String {
        StoredSession::shown(&self.document).unwrap_or_default().into_owned()
    }

    /// The key's counters. A reset of a key calls this too: a request may be about to start with the same counters.
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

    /// Passes a key to `see`, if it exists.
    #[inline]
    pub(super) fn with<T>(&self, digest: &Digest, see: impl FnOnce(&StoredKey) -> T) -> Option<T> {
        self.entries.pin().get(digest).map(see)
    }

    /// Adds or replaces a key with this listed form.
    pub(super) fn insert(&self, digest: Digest, shown: &str, entry: StoredKey) {
        let mut by_shown = self.by_shown();
        let entries = self.entries.pin();
        if let Some(old) = entries.insert(digest, entry) {
            by_shown.remove(&(fingerprint(&old.shown()), digest));
        }
        by_shown.insert((fingerprint(shown), digest));
    }

    /// Replaces a key by the result of `make` in one step, without writes in between. `None` leaves the key as it is.
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

    /// Removes a key and returns its counters. `None` when there was none.
    pub(super) fn remove(&self, digest: &Digest) -> Option<Arc<Counters>> {
        self.remove_if(digest, |_| true)
    }

    /// Removes a key if `is_meant` holds for it, in one step.
    pub(super) fn remove_if(&self, digest: &Digest, is_meant: impl FnOnce(&StoredKey) -> bool) -> Option<Arc<Counters>> {
        let mut by_shown = self.by_shown();
        let entries = self.entries.pin();
        let entry = entries.get(digest).filter(|entry| is_meant(entry))?;
        entries.remove(digest);
        by_shown.remove(&(fingerprint(&entry.shown()), *digest));
        Some(entry.counters().clone())
    }

    /// The keys with this listed form.
    pub(super) fn shown_as(&self, shown: &str) -> Vec<Digest> {
        let fingerprint = fingerprint(shown);
        let range = (fingerprint, [0; 32])..=(fingerprint, [255; 32]);
        let mut alike: Vec<Digest> = self.by_shown().range(range).map(|(_, digest)| *digest).collect();
        alike.retain(|digest| self.with(digest, |entry| entry.shown() == shown) == Some(true));
        alike
    }

    /// The digests of all keys.
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
