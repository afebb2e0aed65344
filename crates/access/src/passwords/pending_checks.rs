//! Checks that are under way, by what is checked, so that requests with the same password wait for one check.

use crate::digest::Digest;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tollgate_clock::Pending;

/// Holds no more than the queue does: a check that nobody waits for is removed when the next one starts.
#[derive(Default)]
pub struct PendingChecks(Mutex<HashMap<Digest, Weak<Pending<bool>>>>);

impl PendingChecks {
    /// The check that is under way, or the one that `start` starts; two requests at the same time start one. `None` if `start` has none.
    pub fn join_or(&self, digest: Digest, start: impl FnOnce() -> Option<Pending<bool>>) -> Option<Arc<Pending<bool>>> {
        // Held while the check is put into the queue. Few requests come here, and their passwords take a thousand times as long.
        let mut checks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(check) = checks.get(&digest).and_then(Weak::upgrade) {
            return Some(check);
        }
        let check = Arc::new(start()?);
        checks.retain(|_, check| check.strong_count() > 0);
        checks.insert(digest, Arc::downgrade(&check));
        Some(check)
    }
}

#[cfg(test)]
mod tests;
