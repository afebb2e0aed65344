//! Names that are not good any more although they were made here: of sessions that their clients have ended, and of questions that were answered.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names that are remembered; the oldest are forgotten first.
const DIGESTS_MAX: usize = 100_000;

/// Digests of such names.
#[derive(Default)]
pub(crate) struct Digests(Mutex<KnownDigests>);

#[derive(Default)]
struct KnownDigests {
    all: HashSet<[u8; 32]>,
    oldest_first: VecDeque<[u8; 32]>,
}

impl Digests {
    /// Adds one. Says whether it is new.
    pub(crate) fn add(&self, digest: [u8; 32]) -> bool {
        let mut known = self.lock();
        if !known.all.insert(digest) {
            return false;
        }
        known.oldest_first.push_back(digest);
        if known.oldest_first.len() > DIGESTS_MAX
            && let Some(oldest) = known.oldest_first.pop_front()
        {
            known.all.remove(&oldest);
        }
        true
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.lock().all.contains(&digest(name))
    }

    fn lock(&self) -> MutexGuard<'_, KnownDigests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is kept of a name.
pub(crate) fn digest(name: &str) -> [u8; 32] {
    *blake3::hash(name.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::{DIGESTS_MAX, Digests, digest};

    #[test]
    fn a_flood_of_ends_forgets_the_oldest() {
        let ended = Digests::default();
        (0..DIGESTS_MAX + 10).for_each(|number| assert!(ended.add(digest(&number.to_string()))));
        assert!(!ended.has("9") && ended.has("10") && ended.has(&(DIGESTS_MAX + 9).to_string()));
    }
}
