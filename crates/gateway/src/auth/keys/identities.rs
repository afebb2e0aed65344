//! Sessions of identities that are known by something else than a key: a token of another server, say. They are made when they are first
//! needed, kept in memory only, and made again the same when they are gone; what is used of their quotas is stored as that of keys.

use super::{Counters, Digest, HeldKey, Keys, StoredKey};
use std::collections::VecDeque;
use std::sync::PoisonError;
use tollgate_model::session::{Session, StoredSession};

/// Identities at one time. Each takes some KiB with its limits; the longest known goes when there are more. Only those whom a trusted
/// server vouches for get here, so this is a safeguard.
const IDENTITIES_MAX: usize = 262_144;

/// The identities that have a session, the longest known first.
#[derive(Default)]
pub(super) struct Identities(VecDeque<Digest>);

/// What an identity's session is filed under. Its name can be guessed by whoever knows the identity, so that it must not be found by
/// somebody who presents the name as a key.
pub(crate) fn identity_digest(token: &str) -> Digest {
    blake3::hash(&[b"identity\0", token.as_bytes()].concat()).into()
}

impl Keys {
    /// The session of an identity, named `token`, with these policies and at least until `expires` if it ends at all. `make` makes it when
    /// there is none.
    #[inline]
    pub(crate) fn identity(
        &self,
        digest: &Digest,
        token: &str,
        policies: &[String],
        expires: i64,
        make: &dyn Fn() -> Session,
    ) -> Option<HeldKey> {
        let fits = |session: &Session| session.apply_policies == policies && (session.expires <= 0 || session.expires >= expires);
        if let Some(key) = self.compiled(digest)
            && fits(&key.session)
        {
            return Some(key);
        }
        let mut identities = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = self.shown_hash(token).unwrap_or_else(|| token.to_owned());
        let mut is_new = false;
        // In one step: what an operator writes at the same time comes before it or after it, and is not lost.
        self.table.change(*digest, |old| {
            let stored = |session| StoredSession { shown, session }.to_bytes().into();
            let Some(old) = old else {
                is_new = true;
                return Some(StoredKey::new(stored(make()), None, true));
            };
            let mut session = old.session()?;
            if fits(&session) {
                // Another thread was faster.
                return None;
            }
            session.apply_policies = policies.to_vec();
            session.apply_policy_id.clear();
            if session.expires > 0 {
                session.expires = session.expires.max(expires);
            }
            // What an operator stored stays stored; only what its tokens say is laid over it.
            Some(StoredKey::new(stored(session), Some(old.counters().clone()), old.transient))
        });
        if is_new {
            identities.0.push_back(*digest);
            self.evict(&mut identities);
        }
        drop(identities);
        self.compiled(digest)
    }

    fn evict(&self, identities: &mut Identities) {
        while identities.0.len() > IDENTITIES_MAX {
            let Some(digest) = identities.0.pop_front() else { return };
            let transient = self.table.with(&digest, |entry| entry.transient.then(|| entry.counters().clone())).flatten();
            let Some(counters) = transient else { continue };
            self.save_for_later(&digest, &counters);
            self.table.remove(&digest);
        }
    }

    /// Keeps what is used of quotas for when the identity comes back.
    fn save_for_later(&self, digest: &Digest, counters: &Counters) {
        let quotas = counters.quotas.lock().unwrap_or_else(PoisonError::into_inner);
        if self.saved.len() > 2 * IDENTITIES_MAX {
            self.saved.forget_renewed(crate::base::clock::unix_s());
        }
        for (scope, quota) in quotas.iter() {
            if let Some(counter) = quota.counter().filter(|counter| counter.value > 0) {
                self.saved.put(digest, scope, &counter);
            }
        }
    }
}
