//! Quotas as they were stored, until their keys are used. A million of them are as many numbers, not as many names.

use crate::base::digest::{Digest, parse_digest};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tollgate_store::CounterValue;

/// What is stored of quotas that nobody has asked for yet.
#[derive(Default)]
pub(super) struct SavedQuotas(Mutex<Quotas>);

/// Key and scope; what is used, and when it begins anew.
type Quotas = BTreeMap<(Digest, Box<str>), (i64, u64)>;

impl SavedQuotas {
    /// Adds a counter of the embedded store; one of another kind is left out.
    pub(super) fn add(&self, counter: &CounterValue) {
        let parts = counter.name.strip_prefix("quota-").and_then(|name| name.split_once('-'));
        if let Some((digest, scope)) = parts.and_then(|(hex, scope)| Some((parse_digest(hex)?, scope))) {
            self.put(&digest, scope, counter);
        }
    }

    /// Adds what a quota stands at.
    pub(super) fn put(&self, digest: &Digest, scope: &str, counter: &CounterValue) {
        self.lock().insert((*digest, scope.into()), (counter.value, counter.renews_unix_s));
    }

    /// Forgets everything for what stands in `newer`.
    pub(super) fn replace(&self, newer: SavedQuotas) {
        *self.lock() = newer.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Drops what has begun anew meanwhile.
    pub(super) fn forget_renewed(&self, now_unix_s: u64) {
        self.lock().retain(|_, (_, renews_unix_s)| *renews_unix_s > now_unix_s);
    }

    /// Takes what a quota stood at, and when it is to begin anew.
    pub(super) fn take(&self, digest: &Digest, scope: &str) -> Option<(i64, u64)> {
        let key: (Digest, Box<str>) = (*digest, scope.into());
        self.lock().remove(&key)
    }

    /// Drops what there is of a key. False when that is nothing.
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
