//! Writes to keys, serialised per key. A write reads the key, stores its result and updates memory before the next write begins, so that
//! memory and store always agree. Between gateways the shared store decides the order: a read-modify-write takes effect only if the value
//! it read is still there.

use super::{Counters, Digest, Keys, StoredKey, hex, own_quota_name};
use crate::passwords;
use crate::secret::random_text;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};
use tollgate_clock::unix_s;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, StoreFault, StoreFaultKind, StoreReply};

/// Number of locks. Keys that share one wait for each other needlessly; with so many, a hundred writers hardly ever do.
const LOCKS: usize = 1_024;

/// Digest that a session is stored under, and the listed form of its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName {
    pub digest: Digest,
    pub shown: String,
}

/// The locks that serialise writes per key.
pub(super) struct WriteOrder {
    locks: Box<[Mutex<()>]>,
    last: Mutex<()>,
}

impl Default for WriteOrder {
    fn default() -> Self {
        WriteOrder { locks: (1..LOCKS).map(|_| Mutex::default()).collect(), last: Mutex::default() }
    }
}

impl WriteOrder {
    /// Locks a key for writing. The holder must not lock another key: that may be the same lock.
    pub(super) async fn turn(&self, digest: &Digest) -> MutexGuard<'_, ()> {
        let [first, second, ..] = digest;
        let index = usize::from(u16::from_le_bytes([*first, *second])) % LOCKS;
        self.locks.get(index).unwrap_or(&self.last).lock().await
    }
}

/// Runs work to its end even when the caller is gone: a caller who disconnects in the middle of a write must not leave it half done.
pub(super) async fn to_its_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreFault>> + Send + 'static,
) -> Result<T, StoreFault> {
    tokio::spawn(work).await.unwrap_or_else(|error| Err(StoreFault::new(StoreFaultKind::Unavailable, error)))
}

/// Prepares a session for the store: hashes its password, and makes an HMAC secret if the key signs requests and has none. Hashing takes a
/// twentieth of a second, on a thread of its own.
pub async fn prepared(mut session: Session) -> Result<Session, String> {
    if session.hmac_enabled && session.hmac_string.is_empty() {
        session.hmac_string = random_text().map_err(|error| error.to_string())?;
    }
    if session.basic_auth_data.password.is_empty() {
        return Ok(session);
    }
    let hashed = tokio::task::spawn_blocking(move || {
        passwords::hash(&mut session.basic_auth_data)?;
        Ok(session)
    });
    hashed.await.unwrap_or_else(|error| Err(error.to_string()))
}

/// Prepares a session that replaces another one: if it has no password, the old one stays.
pub fn in_place_of(old: &Session, mut session: Session) -> Session {
    if session.basic_auth_data.password.is_empty() {
        session.basic_auth_data = old.basic_auth_data.clone();
    }
    session
}

impl Keys {
    /// Digest and listed form of a key that does not exist yet.
    pub fn new_name(&self, token: &str) -> KeyName {
        KeyName { digest: self.digest(token), shown: self.name(token) }
    }

    /// Stores a session under a key, replacing any other; with `keep_counters`, rates and quotas continue.
    pub async fn put(self: &Arc<Self>, name: KeyName, session: Session, keep_counters: bool) -> Result<(), StoreFault> {
        let keys = self.clone();
        to_its_end(async move {
            let _turn = keys.order.turn(&name.digest).await;
            match &keys.shared {
                Some(shared) => {
                    keys.refuse_identity(&name.digest)?;
                    let kept_until = keys.kept_until(&session, unix_s());
                    shared.put(&StoredSession { shown: name.shown, session }, kept_until, keep_counters).await
                }
                None => keys.put_own(&name, session, keep_counters).await,
            }
        })
        .await
    }

    /// Stores the result of `change` for the current session, if any. False when `change` returns `None`: nothing changes then. It may be
    /// called several times when other gateways write too.
    pub async fn rewrite(
        self: &Arc<Self>,
        name: KeyName,
        keep_counters: bool,
        change: impl Fn(Option<Session>) -> Option<Session> + Send + Sync + 'static,
    ) -> Result<bool, StoreFault> {
        let keys = self.clone();
        to_its_end(async move {
            let _turn = keys.order.turn(&name.digest).await;
            if let Some(shared) = &keys.shared {
                keys.refuse_identity(&name.digest)?;
                let kept_until = |session: &Session| keys.kept_until(session, unix_s());
                return shared.rewrite(&name.shown, keep_counters, change, kept_until).await;
            }
            let Some(session) = change(keys.session(&name.digest)) else { return Ok(false) };
            keys.put_own(&name, session, keep_counters).await.map(|()| true)
        })
        .await
    }

    /// Replaces the `meta_data` of a key's session; its counters go on. A session that is only in memory stays there.
    pub async fn put_meta_data(self: &Arc<Self>, name: KeyName, meta_data: Map<String, Value>) -> Result<(), StoreFault> {
        let mut is_transient = false;
        self.table.change(name.digest, |old| {
            let old = old.filter(|old| old.transient)?;
            is_transient = true;
            let session = Session { meta_data: meta_data.clone(), ..old.session()? };
            let document = StoredSession { shown: old.shown(), session }.to_bytes();
            Some(StoredKey::new(document.into(), Some(old.counters().clone()), true))
        });
        if is_transient {
            return Ok(());
        }
        let put = move |old: Option<Session>| old.map(|old| Session { meta_data: meta_data.clone(), ..old });
        self.rewrite(name, true, put).await.map(drop)
    }

    /// Removes a key; the next request with it is rejected. False when there was none.
    pub async fn remove(self: &Arc<Self>, name: KeyName) -> Result<bool, StoreFault> {
        let keys = self.clone();
        to_its_end(async move {
            let _turn = keys.order.turn(&name.digest).await;
            match &keys.shared {
                Some(shared) => Ok(keys.table.remove(&name.digest).is_some() || shared.remove(&name.shown).await?),
                None => keys.remove_own(&name.digest).await,
            }
        })
        .await
    }

    /// Removes the session with this name from a shared store, if it exists.
    pub async fn remove_named(self: &Arc<Self>, name: &str) -> Result<bool, StoreFault> {
        self.remove(KeyName { digest: key_format::digest(name), shown: name.to_owned() }).await
    }

    /// Refuses to store the session of an identity in a shared store: sessions there have only names, and its name could be presented as a
    /// key.
    fn refuse_identity(&self, digest: &Digest) -> Result<(), StoreFault> {
        if self.table.contains(digest) {
            let detail = "the session of an identity can't be kept in a store that gateways share";
            return Err(StoreFault::new(StoreFaultKind::Denied, detail));
        }
        Ok(())
    }

    async fn put_own(&self, name: &KeyName, session: Session, keep_counters: bool) -> Result<(), StoreFault> {
        let stored = StoredSession { shown: name.shown.clone(), session };
        let expires_unix_s = self.kept_until(&stored.session, unix_s());
        let document = stored.to_bytes_until(expires_unix_s);
        let (id, value) = (hex(&name.digest), document.clone());
        self.store.write(DocumentSpace::Session, id, value, expires_unix_s).await?;
        let counters = self.table.with(&name.digest, |entry| entry.counters().clone());
        let forgotten = match counters.filter(|_| keep_counters) {
            Some(_) => None,
            None => self.forget_quotas(&name.digest),
        };
        self.table.change(name.digest, |old| {
            let counters = old.map(StoredKey::counters).filter(|counters| !counters.is_retired()).cloned();
            Some(StoredKey::new(document.into(), counters, false))
        });
        self.note_end(name.digest, expires_unix_s);
        // Memory already equals the store, even if this fails.
        match forgotten {
            Some(forgotten) => forgotten.await.map(|_| ()),
            None => Ok(()),
        }
    }

    async fn remove_own(&self, digest: &Digest) -> Result<bool, StoreFault> {
        let existed = self.store.remove(DocumentSpace::Session, hex(digest)).await?;
        let forgotten = self.forget_quotas(digest);
        let removed = self.table.remove(digest);
        if let Some(forgotten) = forgotten {
            forgotten.await?;
        }
        Ok(existed || removed.is_some())
    }

    /// Resets the used quotas of a key: in memory at once, in the store when the reply arrives. `None` when there is nothing to delete.
    fn forget_quotas(&self, digest: &Digest) -> Option<StoreReply<bool>> {
        let counters = self.table.with(digest, |entry| entry.counters().clone());
        self.forget_quotas_of(digest, counters.as_deref())
    }

    /// Like [`Keys::forget_quotas`], for counters that may not be in the table.
    pub(super) fn forget_quotas_of(&self, digest: &Digest, counters: Option<&Counters>) -> Option<StoreReply<bool>> {
        if let Some(counters) = counters {
            counters.retire();
        }
        let was_saved = self.saved.forget(digest);
        // A new key has nothing in the store.
        let is_needed = counters.is_some() || was_saved;
        is_needed.then(|| self.store.remove_counters_under(own_quota_name(digest, "")))
    }
}
