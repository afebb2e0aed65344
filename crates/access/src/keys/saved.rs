//! Stored quotas whose keys have not been used yet. They are kept by digest, without names, so that a million take little memory.

use crate::digest::{Digest, parse_digest};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tollgate_store::CounterValue;

/// Stored values of quotas that no request has used yet.
#[derive(Default)]
pub(super) struct SavedQuotas(Mutex<Quotas>);

/// Digest of the key and scope, mapped to the used amount and the renewal time in Unix seconds.
type Quotas = BTreeMap<(Digest, Box<str>), (i64, u64)>;

impl SavedQuotas {
    /// Adds a counter of the embedded store; a counter of another kind is ignored.
    pub(super) fn add(&self, counter: &CounterValue) {
        let parts = counter.name.strip_prefix("quota-").and_then(|name| name.split_once('-'));
        if let Some((digest, scope)) = parts.and_then(|(hex, scope)| Some((parse_digest(hex)?, scope))) {
            self.put(&digest, scope, counter);
        }
    }

    /// Adds the stored value of a quota.
    pub(super) fn put(&self, digest: &Digest, scope: &str, counter: &CounterValue) {
        self.lock().insert((*digest, scope.into()), (counter.value, counter.renews_unix_s));
    }

    /// Replaces all values by those of `newer`.
    pub(super) fn replace(&self, newer: SavedQuotas) {
        *self.lock() = newer.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Drops the values of quotas that have renewed meanwhile.
    pub(super) fn forget_renewed(&self, now_unix_s: u64) {
        self.lock().retain(|_, (_, renews_unix_s)| *renews_unix_s > now_unix_s);
    }

    /// Takes the used amount of a quota and its renewal time.
    pub(super) fn take(&self, digest: &Digest, scope: &str) -> Option<(i64, u64)> {
        let key: (Digest, Box<str>) = (*digest, scope.into());
        self.lock().remove(&key)
    }

    /// Drops all values of a key. False when there were none.
    pub(super) fn forget(&self, digest: &Digest) -> bool {
        let begin: (Digest, Box<str>) = (*digest, Box::from(""));
        let mut quotas = self.lock();
        let own = quotas.range(begin..).map(|(key, _)| key).take_while(|key| key.0 == *digest);
        let own: Vec<_> = own.cloned().collect();
        own.iter().filter(|key| quotas.remove(key).is_some()).count() > 0
    }

    fn lock(&self) -> MutexGuard<'_, Quotas> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
