//! What is written of many requests alike: made once for the requests of a client with a key to an API, and kept for about a second.

use super::record::{COMMON_TEXTS, Place};
use super::sink::Hit;
use crate::auth::keys::Key;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasherDefault, Hasher};
use std::net::IpAddr;
use std::sync::Arc;

/// How many are kept.
const KEPT_MAX: usize = 1_024;

/// Values by what requests have in common.
pub struct Alike<T> {
    values: HashMap<u64, (Traits, T), BuildHasherDefault<MixedHasher>>,
}

/// What requests have in common.
struct Traits {
    api: u64,
    key: Option<Arc<Key>>,
    client_ip: IpAddr,
    http10: bool,
    http2: bool,
    status: u16,
    cause: Option<&'static str>,
    hour: i64,
    texts: Box<[u8]>,
    places: [Place; COMMON_TEXTS],
}

impl<T> Alike<T> {
    /// The value for a request: one that was made for a request like it, or a new one.
    #[inline]
    pub fn of(&mut self, hit: &Hit<'_>, make: impl FnOnce() -> T) -> &T {
        if self.values.len() >= KEPT_MAX {
            self.values.clear();
        }
        match self.values.entry(mixed(hit)) {
            Entry::Occupied(kept) if kept.get().0.fit(hit) => &kept.into_mut().1,
            Entry::Occupied(mut kept) => {
                kept.insert((Traits::of(hit), make()));
                &kept.into_mut().1
            }
            Entry::Vacant(place) => &place.insert((Traits::of(hit), make())).1,
        }
    }

    /// Forgets all, so that no value is older than the time between two calls.
    pub fn forget(&mut self) {
        self.values.clear();
    }
}

impl<T> Default for Alike<T> {
    fn default() -> Self {
        Alike { values: HashMap::default() }
    }
}

impl<T> Clone for Alike<T> {
    /// Each core makes its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Traits {
    fn of(hit: &Hit<'_>) -> Self {
        let (texts, places) = hit.record.common_texts();
        Traits {
            api: hit.facts.serial,
            key: hit.record.key.clone(),
            client_ip: hit.record.client_ip,
            http10: hit.record.http10,
            http2: hit.record.http2,
            status: hit.record.status,
            cause: hit.record.cause,
            hour: hit.hour(),
            texts: texts.into(),
            places: *places,
        }
    }

    /// Whether a request has them.
    #[inline]
    fn fit(&self, hit: &Hit<'_>) -> bool {
        let (texts, places) = hit.record.common_texts();
        self.api == hit.facts.serial
            && self.key.as_ref().map(Arc::as_ptr) == hit.record.key.as_ref().map(Arc::as_ptr)
            && self.client_ip == hit.record.client_ip
            && self.http10 == hit.record.http10
            && self.http2 == hit.record.http2
            && self.status == hit.record.status
            && self.cause == hit.record.cause
            && self.hour == hit.hour()
            && self.places == *places
            && *self.texts == *texts
    }
}

/// A number that tells most kinds of requests apart.
fn mixed(hit: &Hit<'_>) -> u64 {
    let (texts, _) = hit.record.common_texts();
    let key = hit.record.key.as_ref().map_or(0, |key| Arc::as_ptr(key) as u64);
    let client = match hit.record.client_ip {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64 ^ address.to_bits()) as u64,
    };
    let method = u64::from(texts.first().copied().unwrap_or_default());
    let status = u64::from(hit.record.status);
    [key, client, method, status, texts.len() as u64].iter().fold(hit.facts.serial, |mixed, part| {
        // An odd number near 2^64 divided by the golden ratio: each bit reaches the top.
        (mixed.rotate_left(29) ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// Passes on a number that is mixed already.
#[derive(Default)]
struct MixedHasher(u64);

impl Hasher for MixedHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests;
