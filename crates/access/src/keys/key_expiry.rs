//! Expiry of keys that are not kept forever: keys with a lifetime, and tokens of OAuth clients. Every login makes a new token, so expired
//! tokens must be deleted. They stay for a while after expiry, so that their holders are told that they have expired.

use super::{Digest, Keys, StoredKey, hex};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{MutexGuard, PoisonError};
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, StoreFault};

/// Seconds for which a token is known after its expiry.
const KNOWN_AFTER_END_S: u64 = 600;
/// Most keys deleted per run; the rest follows a second later.
const FORGOTTEN_MAX: usize = 10_000;

/// Keys to delete, the earliest on top.
pub(super) type Ends = BinaryHeap<Reverse<(u64, Digest)>>;

/// When a token's session is deleted if nothing else sets its lifetime, in Unix seconds.
pub fn forgotten_at(session: &Session) -> Option<u64> {
    let ends = u64::try_from(session.expires).ok().filter(|ends| *ends > 0)?;
    (!session.oauth_client_id.is_empty()).then_some(ends.saturating_add(KNOWN_AFTER_END_S))
}

/// Whether a stored document may be a session that is deleted some day; checked without parsing it.
pub(super) fn may_be_forgotten(document: &[u8]) -> bool {
    const NAME: &str = "\"oauth_client_id\":\"";
    let after_name = |text: &str| text.find(NAME).and_then(|start| text.as_bytes().get(start + NAME.len()).copied());
    std::str::from_utf8(document).is_ok_and(|text| after_name(text).is_some_and(|byte| byte != b'"'))
}

impl StoredKey {
    /// When the session is deleted, in Unix seconds; `None` for never.
    pub(super) fn kept_until(&self) -> Option<u64> {
        let (_, kept_until) = StoredSession::outline(self.document())?;
        // Earlier versions did not store this time.
        kept_until.or_else(|| self.session().and_then(|session| forgotten_at(&session)))
    }
}

impl Keys {
    /// Notes when a session in memory is to be deleted.
    pub(super) fn note_end(&self, digest: Digest, kept_until: Option<u64>) {
        if let Some(at) = kept_until {
            self.ends().push(Reverse((at, digest)));
        }
    }

    /// Deletes keys whose time has come, in memory and in the store; at most `FORGOTTEN_MAX` per call.
    pub(super) async fn forget_ended(&self, unix_s: u64) -> Result<(), StoreFault> {
        let mut told = Vec::new();
        for _ in 0..FORGOTTEN_MAX {
            let Some(digest) = self.next_ended(unix_s) else { break };
            let _turn = self.order.turn(&digest).await;
            // Its lifetime may have been extended since.
            let is_over = |entry: &StoredKey| entry.kept_until().is_some_and(|at| at <= unix_s);
            let Some(counters) = self.table.remove_if(&digest, is_over) else { continue };
            told.push(self.store.remove(DocumentSpace::Session, hex(&digest)));
            told.extend(counters.has_quotas().then(|| self.forget_quotas_of(&digest, Some(&counters))).flatten());
            counters.retire();
        }
        for reply in told {
            reply.await?;
        }
        Ok(())
    }

    fn next_ended(&self, unix_s: u64) -> Option<Digest> {
        let mut ends = self.ends();
        let Reverse((_, digest)) = ends.peek().copied().filter(|Reverse((at, _))| *at <= unix_s)?;
        ends.pop();
        Some(digest)
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
