//! Keys that are in no store: another part of the process finds them, names the ring that they belong to, and replaces all of them at once. Only APIs
//! that name a ring find its keys. Of a key, only its digest is kept.

use super::rehearsed::STAND_IN;
use super::table::StoredKey;
use super::{Digest, HeldKey, Keys};
use arc_swap::ArcSwap;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};

/// One key of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingKey {
    /// See [`RingKey::digest_of`].
    pub digest: Digest,
    /// Its listed form, which tells nothing of the key.
    pub shown: String,
    pub alias: String,
    pub tags: Vec<String>,
    /// Requests until the quota renews; 0 for no quota.
    pub quota_max: i64,
    /// Seconds from the first request until then.
    pub quota_renewal_s: i64,
}

/// All rings, by name.
#[derive(Clone, Default)]
pub(super) struct KeyRings(Arc<BTreeMap<String, Arc<LoadedRing>>>);

struct LoadedRing {
    written: Vec<RingKey>,
    keys: HashMap<Digest, StoredKey>,
    by_shown: HashMap<String, Digest>,
}

impl RingKey {
    /// The digest of a key's text.
    pub fn digest_of(text: &str) -> Digest {
        key_format::digest(text)
    }

    /// `before` is the key in the ring that this one replaces: its quota goes on.
    fn stored(&self, before: Option<&StoredKey>) -> StoredKey {
        let session = Session {
            alias: self.alias.clone(),
            tags: self.tags.clone(),
            quota_max: self.quota_max,
            quota_renewal_rate: self.quota_renewal_s,
            ..Session::default()
        };
        let stored = StoredSession { shown: self.shown.clone(), session };
        StoredKey::new(stored.to_bytes().into(), before.map(|key| key.counters().clone()), true)
    }
}

impl LoadedRing {
    /// Of several entries for one key, the first counts.
    fn new(written: Vec<RingKey>, before: Option<&LoadedRing>) -> Self {
        let mut keys = HashMap::with_capacity(written.len());
        for key in &written {
            keys.entry(key.digest).or_insert_with(|| key.stored(before.and_then(|ring| ring.keys.get(&key.digest))));
        }
        let by_shown = written.iter().map(|key| (key.shown.clone(), key.digest)).collect();
        LoadedRing { written, keys, by_shown }
    }

    fn digest_of_stand_in(&self, token: &str) -> Option<Digest> {
        self.by_shown.get(token.strip_prefix(STAND_IN)?).copied()
    }
}

impl Keys {
    /// Replaces all rings: what is not in them is refused from the next request on.
    pub fn set_rings(&self, rings: BTreeMap<String, Vec<RingKey>>) {
        let before = self.rings.load();
        let loaded = rings.into_iter().map(|(name, written)| {
            let known = before.0.get(&name);
            let unchanged = known.filter(|ring| ring.written == written).cloned();
            let ring = unchanged.unwrap_or_else(|| Arc::new(LoadedRing::new(written, known.map(Arc::as_ref))));
            (name, ring)
        });
        self.rings.store(Arc::new(KeyRings(Arc::new(loaded.collect()))));
    }

    /// Finds the key that a request presents in a ring.
    pub fn find_in_ring(&self, ring: &str, token: &str) -> Option<HeldKey> {
        let rings = self.rings.load();
        let ring = rings.0.get(ring)?;
        let mut digest = key_format::digest(token);
        if self.is_rehearsed() && !ring.keys.contains_key(&digest) {
            digest = ring.digest_of_stand_in(token)?;
        }
        Some(self.compiled_entry(&digest, ring.keys.get(&digest)?))
    }

    /// The same keys for a rehearsal, with counters of their own.
    pub(super) fn rehearsed_rings(&self) -> ArcSwap<KeyRings> {
        let copy =
            |(name, ring): (&String, &Arc<LoadedRing>)| (name.clone(), Arc::new(LoadedRing::new(ring.written.clone(), None)));
        ArcSwap::from_pointee(KeyRings(Arc::new(self.rings.load().0.iter().map(copy).collect())))
    }
}

#[cfg(test)]
mod tests;
