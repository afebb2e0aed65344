//! Sessions that their clients have ended before their time.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Ended sessions that are remembered; the oldest are forgotten first.
const ENDED_MAX: usize = 100_000;

/// Sessions that their clients have ended.
#[derive(Default)]
pub(crate) struct EndedSessions(Mutex<Ended>);

#[derive(Default)]
struct Ended {
    all: HashSet<[u8; 32]>,
    oldest_first: VecDeque<[u8; 32]>,
}

impl EndedSessions {
    pub(crate) fn add(&self, digest: [u8; 32]) {
        let mut ended = self.lock();
        if !ended.all.insert(digest) {
            return;
        }
        ended.oldest_first.push_back(digest);
        if ended.oldest_first.len() > ENDED_MAX
            && let Some(oldest) = ended.oldest_first.pop_front()
        {
            ended.all.remove(&oldest);
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.lock().all.contains(&digest(name))
    }

    fn lock(&self) -> MutexGuard<'_, Ended> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is kept of a session's name.
pub(crate) fn digest(name: &str) -> [u8; 32] {
    *blake3::hash(name.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::{ENDED_MAX, EndedSessions, digest};

    #[test]
    fn a_flood_of_ends_forgets_the_oldest() {
        let ended = EndedSessions::default();
        (0..ENDED_MAX + 10).for_each(|number| ended.add(digest(&number.to_string())));
        assert!(!ended.has("9") && ended.has("10") && ended.has(&(ENDED_MAX + 9).to_string()));
    }
}
