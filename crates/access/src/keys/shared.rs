//! Cache of the sessions that several gateways share. A session is read when a request first presents its key, and stays cached until it
//! changes; every gateway is notified of changes at once. While notifications are not received, every request reads its session again. When
//! the store cannot be read either, `on_failure` decides.

use super::lookup::Lookups;
use super::{Digest, DigestHasher, Policies, StoredKey, lets_call, shared_quota_name};
use papaya::HashMap;
use std::collections::{BTreeSet, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tollgate_cluster::{Cluster, ClusterMessage, SESSIONS_CHANGED};
use tollgate_model::config::SharedStore;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, Heard, Store, StoreFault, StoreFaultKind};

/// Most cached answers "there is no such key". They keep a client with a wrong key from asking the store with every request. When the cache
/// is full, it is cleared.
const UNKNOWN_MAX: usize = 65_536;
/// Time to live of such an answer. Any change of a session clears it earlier.
const UNKNOWN_FOR: Duration = Duration::from_secs(1);
/// Time to live of a cached session. A safeguard against changes that no gateway announces, such as an operator's own in a cluster.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// Interval between searches for sessions past their time to live.
pub(super) const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Sessions that one search visits before it yields: some hundred microseconds.
const SWEPT_AT_ONCE: usize = 1_000;
/// How often a read-modify-write of a session is tried while other gateways write it too.
const REWRITES_MAX: usize = 32;

/// Prefix of the names of organisations' sessions, in the store and in messages.
const ORG_PREFIX: &str = "orgkey.";

/// State of a session that no longer equals the stored one: changed or deleted. It is never used again.
const CHANGED: u64 = 0;
/// State of a session that was just read and may have changed meanwhile.
const READ: u64 = 1;
/// State of a session past its time to live: used only when the store can't be asked.
const AGED: u64 = 2;

/// The cached sessions.
pub struct SharedKeys {
    pub cluster: Arc<Cluster>,
    pub rules: SharedStore,
    pub lookups: Lookups,
    /// Wakes the task that reads the sessions of organisations again.
    pub orgs_changed: Notify,
    table: HashMap<Digest, Arc<Cached>, BuildHasherDefault<DigestHasher>>,
    /// Odd while notifications of changes are received. Grows by one whenever that begins or ends, so that sessions read before are not
    /// trusted.
    epoch: AtomicU64,
    order: Mutex<Order>,
    unknown: HashMap<Digest, Instant, BuildHasherDefault<DigestHasher>>,
    start: Instant,
    /// Whether a session was found under the name that earlier versions gave it: only then, memory is searched for such names.
    has_former: AtomicBool,
}

/// A cached session.
struct Cached {
    entry: Arc<StoredKey>,
    /// The epoch in which it was read, or [`READ`], [`CHANGED`] or [`AGED`].
    state: AtomicU64,
    /// Whether it has been used since the last eviction pass.
    is_used: AtomicBool,
    /// When its time to live ends, in nanoseconds since the start. Equals its entry in [`Order::ages`], and changes only together with it.
    ends_ns: AtomicU64,
}

/// A session that was read and cached.
pub(super) struct KeptSession(Arc<Cached>);

/// Eviction order, by use (`turn`) and by age (`ages`). Each contains exactly the sessions of the table.
#[derive(Default)]
struct Order {
    turn: VecDeque<Digest>,
    ages: BTreeSet<(u64, Digest)>,
}

impl KeptSession {
    /// Makes the session usable, unless it has changed since it was cached.
    pub(super) fn trust(self, epoch: u64) -> Arc<StoredKey> {
        let _ = self.0.state.compare_exchange(READ, epoch, Ordering::AcqRel, Ordering::Relaxed);
        self.0.entry.clone()
    }
}

impl SharedKeys {
    pub fn new(cluster: Arc<Cluster>, rules: SharedStore) -> Self {
        let lookups = Lookups::new(Duration::from_millis(rules.answer_ms_max));
        let (table, order, unknown) = (HashMap::default(), Mutex::default(), HashMap::default());
        // The epoch starts above the states with a meaning of their own, and even: no notifications are received yet.
        SharedKeys {
            cluster,
            rules,
            lookups,
            orgs_changed: Notify::new(),
            table,
            epoch: AtomicU64::new(4),
            order,
            unknown,
            start: Instant::now(),
            has_former: AtomicBool::new(false),
        }
    }

    /// The current epoch; what was read in it is trusted if it is odd.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Notifications of changes are received from now on.
    pub fn begin_to_trust(&self) {
        self.unknown.pin().clear();
        if self.epoch().is_multiple_of(2) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Notifications of changes may be missed from now on.
    pub fn distrust(&self) {
        if !self.epoch().is_multiple_of(2) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        self.unknown.pin().clear();
    }

    #[allow(clippy::len_without_is_empty, reason = "a figure")]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub(super) fn has_former(&self) -> bool {
        self.has_former.load(Ordering::Relaxed)
    }

    /// Notes that the store has a session under the name that earlier versions gave it.
    pub(super) fn note_former(&self) {
        self.has_former.store(true, Ordering::Relaxed);
    }

    /// A cached session that is known to equal the stored one.
    #[inline]
    pub(super) fn get(&self, digest: &Digest) -> Option<Arc<StoredKey>> {
        let table = self.table.pin();
        let cached = table.get(digest)?;
        let epoch = self.epoch();
        if cached.state.load(Ordering::Acquire) != epoch || epoch.is_multiple_of(2) {
            return None;
        }
        if !cached.is_used.load(Ordering::Relaxed) {
            cached.is_used.store(true, Ordering::Relaxed);
        }
        Some(cached.entry.clone())
    }

    /// The last known session, unless it is known to have changed since.
    pub(super) fn last_known(&self, digest: &Digest) -> Option<Arc<StoredKey>> {
        let table = self.table.pin();
        let cached = table.get(digest)?;
        (cached.state.load(Ordering::Acquire) != CHANGED).then(|| cached.entry.clone())
    }

    /// Caches a session that was read, with the counters that its key has so far.
    pub(super) fn keep(&self, digest: Digest, stored: &StoredSession, ends_after: Option<Duration>) -> KeptSession {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let table = self.table.pin();
        let old = table.get(&digest);
        let counters = old.map(|cached| cached.entry.counters().clone()).filter(|counters| !counters.is_retired());
        let ends_ns = nanoseconds(self.start.elapsed() + ends_after.unwrap_or(KEPT_FOR).min(KEPT_FOR));
        // A new session is evicted before sessions that are in use.
        let cached = Arc::new(Cached {
            entry: Arc::new(StoredKey::new(stored.to_bytes().into(), counters, false)),
            state: AtomicU64::new(READ),
            is_used: AtomicBool::new(old.is_some()),
            ends_ns: AtomicU64::new(ends_ns),
        });
        match old {
            Some(old) => drop(order.ages.remove(&(old.ends_ns.load(Ordering::Relaxed), digest))),
            None => order.turn.push_back(digest),
        }
        order.ages.insert((ends_ns, digest));
        table.insert(digest, cached.clone());
        while order.turn.len() > self.rules.sessions_max {
            let Some(first) = order.turn.pop_front() else { break };
            let Some(cached) = table.get(&first) else { continue };
            if cached.is_used.swap(false, Ordering::Relaxed) {
                // Used since the last pass: it stays for another round.
                order.turn.push_back(first);
            } else {
                order.ages.remove(&(cached.ends_ns.load(Ordering::Relaxed), first));
                table.remove(&first);
            }
        }
        KeptSession(cached)
    }

    /// Marks sessions past their time to live, so that they are read again on their next use. True when there may be more of them.
    pub fn sweep(&self) -> bool {
        let now_ns = nanoseconds(self.start.elapsed());
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let table = self.table.pin();
        for _ in 0..SWEPT_AT_ONCE {
            let Some((ends_ns, digest)) = order.ages.first().copied().filter(|(ends_ns, _)| *ends_ns <= now_ns) else {
                return false;
            };
            order.ages.remove(&(ends_ns, digest));
            let Some(cached) = table.get(&digest) else { continue };
            let state = cached.state.load(Ordering::Acquire);
            if state != CHANGED {
                let _ = cached.state.compare_exchange(state, AGED, Ordering::AcqRel, Ordering::Relaxed);
            }
            let next_ns = now_ns.saturating_add(nanoseconds(KEPT_FOR));
            cached.ends_ns.store(next_ns, Ordering::Relaxed);
            order.ages.insert((next_ns, digest));
        }
        true
    }

    /// Marks a session as deleted from the store.
    pub fn gone(&self, digest: &Digest) {
        if let Some(cached) = self.table.pin().get(digest) {
            cached.state.store(CHANGED, Ordering::Release);
        }
    }

    /// Handles the change or deletion of a session. Reads in flight are told first: whatever they have cached by then is found here.
    pub fn changed(&self, digest: &Digest) {
        self.lookups.changed(digest);
        self.gone(digest);
        self.unknown.pin().clear();
    }

    /// Handles a notification that any session may have changed.
    pub fn all_changed(&self) {
        self.lookups.all_changed();
        self.table.pin().iter().for_each(|(_, cached)| cached.state.store(CHANGED, Ordering::Release));
        self.orgs_changed.notify_one();
        self.unknown.pin().clear();
    }

    /// Whether the store has recently said that there is no such key.
    pub fn is_unknown(&self, asked: &Digest) -> bool {
        let unknown = self.unknown.pin();
        let until = unknown.get(asked);
        !self.epoch().is_multiple_of(2) && until.is_some_and(|until| Instant::now() < *until)
    }

    pub fn remember_unknown(&self, asked: Digest) {
        let unknown = self.unknown.pin();
        if unknown.len() >= UNKNOWN_MAX {
            unknown.clear();
        }
        unknown.insert(asked, Instant::now() + UNKNOWN_FOR);
    }

    /// Handles a notification.
    pub fn hear(&self, heard: Heard) {
        match heard {
            Heard::Up => {
                tracing::info!("changes of keys are received");
                self.begin_to_trust();
                self.orgs_changed.notify_one();
            }
            Heard::Down(why) => {
                tracing::warn!(why, "changes of keys are not received: every request reads its session again");
                self.distrust();
            }
            Heard::Changed(DocumentSpace::Session, name) => self.changed(&key_format::digest(&name)),
            Heard::Changed(..) => self.orgs_changed.notify_one(),
            Heard::AllChanged => self.all_changed(),
            Heard::Message(message) => {
                if let ClusterMessage::SessionsChanged(names) = self.cluster.messages.hear(&message) {
                    names.iter().for_each(|name| self.changed(&key_format::digest(name)));
                    if names.iter().any(|name| name.starts_with(ORG_PREFIX)) {
                        self.orgs_changed.notify_one();
                    }
                }
            }
        }
    }

    /// Stores a session for all gateways.
    pub(super) async fn put(
        &self,
        stored: &StoredSession,
        expires_unix_s: Option<u64>,
        keep_counters: bool,
    ) -> Result<(), StoreFault> {
        let value = stored.session.to_json().to_string().into_bytes();
        let (kind, id) = (DocumentSpace::Session, stored.shown.clone());
        self.cluster.redis.write(kind, id, value, expires_unix_s).await?;
        self.written(&stored.shown, &stored.session, keep_counters).await
    }

    /// Stores the result of `change` for all gateways. False when `change` returns `None`.
    pub(super) async fn rewrite(
        &self,
        name: &str,
        keep_counters: bool,
        change: impl Fn(Option<Session>) -> Option<Session>,
        kept_until: impl Fn(&Session) -> Option<u64>,
    ) -> Result<bool, StoreFault> {
        for _ in 0..REWRITES_MAX {
            let old = self.document(name).await?;
            let session = old.as_deref().and_then(|document| Session::parse(document).ok());
            let Some(session) = change(session.map(|(session, _)| session)) else { return Ok(false) };
            let value = session.to_json().to_string().into_bytes();
            let (kind, id, expires_unix_s) = (DocumentSpace::Session, name.to_owned(), kept_until(&session));
            let was_there = old.is_some();
            if self.cluster.redis.write_over(kind, id, old, value, expires_unix_s).await? == was_there {
                self.written(name, &session, keep_counters).await?;
                return Ok(true);
            }
        }
        let detail = format_args!("the session was changed {REWRITES_MAX} times while it was written");
        Err(StoreFault::new(StoreFaultKind::Unavailable, detail))
    }

    /// Removes a session for all gateways. False when there was none.
    pub(super) async fn remove(&self, name: &str) -> Result<bool, StoreFault> {
        let old = self.document(name).await?;
        let existed = self.cluster.redis.remove(DocumentSpace::Session, name.to_owned()).await?;
        self.announce(name).await;
        if let Some((session, _)) = old.and_then(|document| Session::parse(&document).ok()) {
            self.forget_counters(name, &session).await?;
        }
        Ok(existed)
    }

    async fn document(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFault> {
        self.cluster.redis.read(DocumentSpace::Session, name.to_owned()).await
    }

    /// Announces a written session, even when its counters can't be reset.
    async fn written(&self, name: &str, session: &Session, keep_counters: bool) -> Result<(), StoreFault> {
        let forgotten = if keep_counters { Ok(()) } else { self.forget_counters(name, session).await };
        self.announce(name).await;
        forgotten
    }

    /// Names of the sessions that may call an API with these policies.
    pub(super) async fn names_for(&self, api: &str, policies: Arc<Policies>) -> Result<Vec<String>, StoreFault> {
        let (redis, api) = (self.cluster.redis.clone(), api.to_owned());
        let read = tokio::task::spawn_blocking(move || {
            let mut names = Vec::new();
            redis.for_each(DocumentSpace::Session, &mut |name, document| {
                let Ok((session, _)) = Session::parse(document) else { return };
                if lets_call(session, &policies, &api) {
                    names.push(name.to_owned());
                }
            })?;
            Ok(names)
        });
        read.await.unwrap_or_else(|error| Err(StoreFault::new(StoreFaultKind::Unavailable, error)))
    }

    /// Resets the used quotas of a session, in memory and in the store.
    async fn forget_counters(&self, name: &str, session: &Session) -> Result<(), StoreFault> {
        if let Some(cached) = self.table.pin().get(&key_format::digest(name)) {
            cached.entry.counters().retire();
        }
        let scopes = session.access_rights.values().map(|right| right.allowance_scope.as_str()).filter(|scope| !scope.is_empty());
        let scopes: BTreeSet<&str> = scopes.collect();
        self.forget_quotas(std::iter::once("").chain(scopes).map(|scope| shared_quota_name(name, scope))).await
    }

    /// Deletes these quotas from the store.
    pub(super) async fn forget_quotas(&self, names: impl Iterator<Item = String>) -> Result<(), StoreFault> {
        self.cluster.redis.remove_counters(names.collect()).await.map(|_| ())
    }

    /// Announces a changed session of an organisation to all gateways.
    pub(super) async fn announce_org(&self, id: &str) {
        if let Err(fault) = self.tell(&format!("{ORG_PREFIX}{id}")).await {
            tracing::warn!(%fault, "other gateways could not be notified of a changed organisation");
        }
    }

    /// Announces a changed session and drops it from the cache. The other gateways are notified by the server as well, or know that they
    /// receive nothing.
    async fn announce(&self, name: &str) {
        self.changed(&key_format::digest(name));
        if let Err(fault) = self.tell(name).await {
            tracing::warn!(%fault, "other gateways could not be notified of a changed key");
        }
    }

    /// Tells all gateways that sessions have changed.
    async fn tell(&self, names: &str) -> Result<(), StoreFault> {
        self.cluster.messages.tell(SESSIONS_CHANGED, names).await
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
