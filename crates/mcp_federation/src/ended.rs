//! Sessions that their clients have ended before their time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Ended sessions that are remembered.
const ENDED_MAX: usize = 100_000;

/// Sessions that their clients have ended, with the time when they would have ended by themselves.
#[derive(Default)]
pub(crate) struct EndedSessions(Mutex<HashMap<[u8; 32], u64>>);

impl EndedSessions {
    pub(crate) fn add(&self, name: &str, ends_unix_s: u64, now_unix_s: u64) {
        let mut ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.len() >= ENDED_MAX {
            ended.retain(|_, ends| *ends > now_unix_s);
        }
        if ended.len() < ENDED_MAX {
            ended.insert(*blake3::hash(name.as_bytes()).as_bytes(), ends_unix_s);
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(blake3::hash(name.as_bytes()).as_bytes())
    }
}
