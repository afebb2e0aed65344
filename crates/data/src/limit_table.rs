//! The counters of a limit that counts for each client, or for each value that requests have. They survive reloads, and are bounded: of more values
//! than fit, those that were not used for longest are forgotten.

use crate::two_generation_cache::{TwoGenerationCache, digest_of};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_access::digest::hex;
use tollgate_limit::{LimitAlgorithm, Limiter, SharedLimits};

/// Counters of a limit, in each of two generations. One takes some 200 bytes, with windows up to 16 KiB.
const COUNTERS_MAX: usize = 32_768;
/// Digits of a value's digest in the name of a shared counter: values that clients choose must not meet.
const NAME_DIGITS: usize = 32;

/// The counters of one limit.
pub struct LimitTable {
    name: String,
    algorithm: LimitAlgorithm,
    shared: Option<Arc<SharedLimits>>,
    counters: TwoGenerationCache<Limiter>,
    making: Mutex<()>,
}

impl LimitTable {
    pub(crate) fn new(name: String, algorithm: LimitAlgorithm, shared: Option<Arc<SharedLimits>>) -> Self {
        LimitTable { name, algorithm, shared, counters: TwoGenerationCache::new(COUNTERS_MAX), making: Mutex::default() }
    }

    /// The counter of a value.
    pub fn counter(&self, value: &[u8]) -> Arc<Limiter> {
        let digest = digest_of(value);
        if let Some(known) = self.counters.get(&digest) {
            return known;
        }
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = self.counters.get(&digest) {
            return made;
        }
        let made = Arc::new(match &self.shared {
            None => Limiter::new(self.algorithm),
            Some(shared) => {
                // All gateways must give it this name, whatever their processors are good at.
                let digits = hex(blake3::hash(value).as_bytes());
                let name = format!("api.{}/{}", self.name, digits.get(..NAME_DIGITS).unwrap_or_default());
                Limiter::Shared(shared.rate(&name, self.algorithm))
            }
        });
        self.counters.put(digest, made.clone());
        made
    }
}

#[cfg(test)]
mod tests;
