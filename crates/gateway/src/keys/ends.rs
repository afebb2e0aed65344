//! Keys that are not kept for ever: tokens that were given to an OAuth client. There is a new one for each login, so that those that
//! have ended must go; for a while they stay, and their holders are told that they have ended.

use super::{Digest, Entry, Keys};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::PoisonError;
use tollgate_model::session::Session;

/// For which a token is known after its end.
const KNOWN_AFTER_END_S: u64 = 600;
/// Keys that are forgotten in one go; the rest comes a second later.
const FORGOTTEN_MAX: usize = 10_000;

/// What is to be forgotten, the first to go on top.
pub(super) type Ends = BinaryHeap<Reverse<(u64, Digest)>>;

/// The second since 1970 in which a session is forgotten, if it ever is.
pub fn forgotten_at(session: &Session) -> Option<u64> {
    let ends = u64::try_from(session.expires).ok().filter(|ends| *ends > 0)?;
    (!session.oauth_client_id.is_empty()).then_some(ends.saturating_add(KNOWN_AFTER_END_S))
}

/// Whether a stored document may be of a session that is forgotten one day; it is not taken apart.
pub(super) fn may_be_forgotten(document: &[u8]) -> bool {
    const NAME: &str = "\"oauth_client_id\":\"";
    let after_name = |text: &str| text.find(NAME).and_then(|start| text.as_bytes().get(start + NAME.len()).copied());
    std::str::from_utf8(document).is_ok_and(|text| after_name(text).is_some_and(|byte| byte != b'"'))
}

impl Keys {
    /// A session is in memory from now on.
    pub(super) fn note_end(&self, digest: Digest, session: &Session) {
        if let Some(at) = forgotten_at(session) {
            self.ends.lock().unwrap_or_else(PoisonError::into_inner).push(Reverse((at, digest)));
        }
    }

    /// Forgets the keys whose time has come. The store forgets them by itself.
    pub(super) fn forget_ended(&self, unix_s: u64) {
        for _ in 0..FORGOTTEN_MAX {
            let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(Reverse((_, digest))) = ends.peek().copied().filter(|Reverse((at, _))| *at <= unix_s) else { return };
            ends.pop();
            drop(ends);
            // It may have been given more time since.
            let is_over = |entry: &Entry| entry.session().and_then(|session| forgotten_at(&session)).is_some_and(|at| at <= unix_s);
            if let Some(counters) = self.table.remove_if(&digest, is_over) {
                counters.retire();
            }
        }
    }
}
