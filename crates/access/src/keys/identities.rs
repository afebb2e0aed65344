//! Sessions of identities that are known by something other than a key, such as a token of another server. They are made on first use, kept
//! only in memory, and made again identically after eviction. The used part of their quotas is stored like that of keys.

use super::{Counters, Digest, HeldKey, Keys, StoredKey};
use std::collections::VecDeque;
use std::sync::PoisonError;
use tollgate_model::session::{Session, StoredSession};

/// Most identities at one time. Each takes some KiB with its limits; the oldest is evicted first. Only identities that a trusted server
/// vouches for get here, so this is a safeguard.
const IDENTITIES_MAX: usize = 262_144;

/// The identities that have a session, oldest first.
#[derive(Default)]
pub(super) struct Identities(VecDeque<Digest>);

/// The digest that an identity's session is stored under. Anyone who knows the identity can guess its name, so presenting the name as a key
/// must not find the session.
pub fn identity_digest(token: &str) -> Digest {
    blake3::hash(&[b"identity\0", token.as_bytes()].concat()).into()
}

/// The same for a caller for whom a plugin vouches: no other method must find the session.
fn vouched_digest(name: &str) -> Digest {
    blake3::hash(&[b"vouched\0", name.as_bytes()].concat()).into()
}

impl Keys {
    /// The session of the identity named `token`, with these policies, valid at least until `expires` if it expires at all. `make` makes
    /// the session when there is none.
    #[inline]
    pub fn identity(
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
        // One step: an operator's concurrent write comes before or after it, and is not lost.
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
            // What an operator stored stays stored; only the token's policies and expiry are applied to it.
            Some(StoredKey::new(stored(session), Some(old.counters().clone()), old.transient))
        });
        if is_new {
            identities.0.push_back(*digest);
            self.evict(&mut identities);
        }
        drop(identities);
        self.compiled(digest)
    }

    /// The session of a caller for whom a plugin has vouched under this name.
    pub fn vouched(&self, name: &str) -> Option<HeldKey> {
        self.compiled(&vouched_digest(name))
    }

    /// Takes the session of a caller for whom a plugin vouches under this name. It replaces the one before, and the counters go on. `None` if
    /// its policies can't be applied.
    pub fn vouch(&self, name: &str, session: &Session) -> Option<HeldKey> {
        let digest = vouched_digest(name);
        let shown = self.shown_hash(name).unwrap_or_else(|| name.to_owned());
        let document = StoredSession { shown, session: session.clone() }.to_bytes();
        let is_known = self.table.with(&digest, |entry| entry.document() == document.as_slice()).unwrap_or_default();
        if !is_known {
            self.with_policies(session).ok()?;
            let mut identities = self.identities.lock().unwrap_or_else(PoisonError::into_inner);
            let mut is_new = false;
            self.table.change(digest, |old| {
                is_new = old.is_none();
                Some(StoredKey::new(document.into(), old.map(|old| old.counters().clone()), true))
            });
            if is_new {
                identities.0.push_back(digest);
                self.evict(&mut identities);
            }
        }
        self.compiled(&digest)
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

    /// Keeps the used part of quotas until the identity comes back.
    fn save_for_later(&self, digest: &Digest, counters: &Counters) {
        let quotas = counters.quotas.lock().unwrap_or_else(PoisonError::into_inner);
        if self.saved.len() > 2 * IDENTITIES_MAX {
            self.saved.forget_renewed(tollgate_clock::unix_s());
        }
        for (scope, quota) in quotas.iter() {
            if let Some(counter) = quota.counter().filter(|counter| counter.value > 0) {
                self.saved.put(digest, scope, &counter);
            }
        }
    }
}
