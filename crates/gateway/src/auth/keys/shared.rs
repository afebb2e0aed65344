//! Sessions that several gateways share: what is kept of them in memory, and how long it may be trusted. A session is read when a request
//! first presents its key, and stays until somebody changes it, which every gateway is told at once. While nothing can be heard of
//! changes, every request has its session read again; when nothing can be read either, `on_failure` says what holds.

use super::lookup::Lookups;
use super::{Digest, DigestHasher, Policies, StoredKey, lets_call, shared_quota_name};
use crate::base::bus::{Bus, BusMessage, SESSIONS_CHANGED};
use crate::base::secret::random_text;
use papaya::HashMap;
use std::collections::{BTreeSet, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tollgate_limit::SharedLimits;
use tollgate_model::config::SharedStore;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{DocumentSpace, Heard, Question, Redis, Store, StoreFault, StoreFaultKind};

/// Answers "there is no such key" that are remembered, so that a client with a wrong key does not ask the store with every request. With
/// more of them all are forgotten.
const UNKNOWN_MAX: usize = 65_536;
/// For which such an answer holds; it is forgotten sooner when any session changes.
const UNKNOWN_FOR: Duration = Duration::from_secs(1);
/// For which a session is kept without being read again. A safeguard for changes that nobody tells of, such as an operator's own in
/// a cluster.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// How often sessions are looked for that are kept for too long.
pub(super) const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// Sessions that are looked at before others have their turn: some hundred microseconds.
const SWEPT_AT_ONCE: usize = 1_000;
/// How often a session is written that is made from what is there, while other gateways write it too.
const REWRITES_MAX: usize = 32;

/// What the name of an organisation's session begins with, in the store and in messages.
const ORG_PREFIX: &str = "orgkey.";

/// No longer what the store has: changed, or gone. Never used again.
const CHANGED: u64 = 0;
/// Just read, and it may have changed meanwhile.
const READ: u64 = 1;
/// Kept for long: only used when the store can't be asked.
const AGED: u64 = 2;

/// The sessions in memory.
pub(crate) struct SharedKeys {
    pub redis: Arc<Redis>,
    pub bus: Bus,
    pub rules: SharedStore,
    pub lookups: Lookups,
    pub limits: Arc<SharedLimits>,
    /// Sessions of organisations have to be read again.
    pub orgs_changed: Notify,
    table: HashMap<Digest, Arc<Cached>, BuildHasherDefault<DigestHasher>>,
    /// Odd while changes are heard of. Grows by one when that begins and when it ends, so that what was read before is not trusted.
    epoch: AtomicU64,
    order: Mutex<Order>,
    unknown: HashMap<Digest, Instant, BuildHasherDefault<DigestHasher>>,
    start: Instant,
}

/// A session in memory.
struct Cached {
    entry: Arc<StoredKey>,
    /// The epoch it was read in, [`READ`], [`CHANGED`] or [`AGED`].
    state: AtomicU64,
    /// Since the last look of the one who evicts.
    is_used: AtomicBool,
    /// When it has been kept for long, in nanoseconds since the start: its place in [`Order::ages`], and written with that alone.
    ends_ns: AtomicU64,
}

/// A session that was read and kept.
pub(super) struct KeptSession(Arc<Cached>);

/// Who has to go next: by use, and by age. Each has exactly the sessions of the table.
#[derive(Default)]
struct Order {
    turn: VecDeque<Digest>,
    ages: BTreeSet<(u64, Digest)>,
}

impl KeptSession {
    /// Uses it from now on, unless it has changed since it was kept.
    pub(super) fn trust(self, epoch: u64) -> Arc<StoredKey> {
        let _ = self.0.state.compare_exchange(READ, epoch, Ordering::AcqRel, Ordering::Relaxed);
        self.0.entry.clone()
    }
}

impl SharedKeys {
    pub(crate) fn new(redis: Arc<Redis>, bus: Bus, rules: SharedStore) -> Self {
        let lookups = Lookups::new(Duration::from_millis(rules.answer_ms_max));
        let id = random_text().unwrap_or_else(|_| std::process::id().to_string());
        let limits = SharedLimits::start(redis.clone(), rules.clone(), id);
        let (table, order, unknown) = (HashMap::default(), Mutex::default(), HashMap::default());
        // Above the values that have a meaning of their own, and even: nothing is heard yet.
        SharedKeys {
            redis,
            bus,
            rules,
            lookups,
            limits,
            orgs_changed: Notify::new(),
            table,
            epoch: AtomicU64::new(4),
            order,
            unknown,
            start: Instant::now(),
        }
    }

    /// The epoch, and whether what was read in it can be trusted.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// From now on changes are heard of.
    pub(crate) fn begin_to_trust(&self) {
        self.unknown.pin().clear();
        if self.epoch().is_multiple_of(2) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// From now on changes may be missed.
    pub(crate) fn distrust(&self) {
        if !self.epoch().is_multiple_of(2) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        self.unknown.pin().clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    /// A session that is known to be what the store has.
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

    /// A session as it was last known, unless it is known to have changed since.
    pub(super) fn last_known(&self, digest: &Digest) -> Option<Arc<StoredKey>> {
        let table = self.table.pin();
        let cached = table.get(digest)?;
        (cached.state.load(Ordering::Acquire) != CHANGED).then(|| cached.entry.clone())
    }

    /// Keeps a session that was read, and what its key has counted so far.
    pub(super) fn keep(&self, digest: Digest, stored: &StoredSession, ends_after: Option<Duration>) -> KeptSession {
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let table = self.table.pin();
        let old = table.get(&digest);
        let counters = old.map(|cached| cached.entry.counters().clone()).filter(|counters| !counters.is_retired());
        let ends_ns = nanoseconds(self.start.elapsed() + ends_after.unwrap_or(KEPT_FOR).min(KEPT_FOR));
        // One that is new gives way before those that are in use.
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
                // Used since the last time: gets another turn.
                order.turn.push_back(first);
            } else {
                order.ages.remove(&(cached.ends_ns.load(Ordering::Relaxed), first));
                table.remove(&first);
            }
        }
        KeptSession(cached)
    }

    /// Sessions that were kept for long are read again when they are next needed. True when there may be more of them.
    pub(crate) fn sweep(&self) -> bool {
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

    /// The store has no such session.
    pub(crate) fn gone(&self, digest: &Digest) {
        if let Some(cached) = self.table.pin().get(digest) {
            cached.state.store(CHANGED, Ordering::Release);
        }
    }

    /// A session was changed or is gone. Who is reading it is told first: whatever that one has kept by then is found here.
    pub(crate) fn changed(&self, digest: &Digest) {
        self.lookups.changed(digest);
        self.gone(digest);
        self.unknown.pin().clear();
    }

    /// Any session may have changed.
    pub(crate) fn all_changed(&self) {
        self.lookups.all_changed();
        self.table.pin().iter().for_each(|(_, cached)| cached.state.store(CHANGED, Ordering::Release));
        self.orgs_changed.notify_one();
        self.unknown.pin().clear();
    }

    /// Whether the store has said lately that there is no such key.
    pub(crate) fn is_unknown(&self, asked: &Digest) -> bool {
        let unknown = self.unknown.pin();
        let until = unknown.get(asked);
        !self.epoch().is_multiple_of(2) && until.is_some_and(|until| Instant::now() < *until)
    }

    pub(crate) fn remember_unknown(&self, asked: Digest) {
        let unknown = self.unknown.pin();
        if unknown.len() >= UNKNOWN_MAX {
            unknown.clear();
        }
        unknown.insert(asked, Instant::now() + UNKNOWN_FOR);
    }

    /// Something was heard.
    pub(crate) fn hear(&self, heard: Heard) {
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
                if let BusMessage::SessionsChanged(names) = self.bus.hear(&message) {
                    names.iter().for_each(|name| self.changed(&key_format::digest(name)));
                    if names.iter().any(|name| name.starts_with(ORG_PREFIX)) {
                        self.orgs_changed.notify_one();
                    }
                }
            }
        }
    }

    /// Stores a session, for all gateways.
    pub(super) async fn put(
        &self,
        stored: &StoredSession,
        expires_unix_s: Option<u64>,
        keep_counters: bool,
    ) -> Result<(), StoreFault> {
        let value = stored.session.to_json().to_string().into_bytes();
        let (kind, id) = (DocumentSpace::Session, stored.shown.clone());
        self.redis.ask(Question::Put { kind, id, value, expires_unix_s }).await?;
        self.written(&stored.shown, &stored.session, keep_counters).await
    }

    /// Stores what `change` makes of a session, for all gateways. False when it makes nothing.
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
            let question = match old {
                Some(old) => Question::Replace { kind, id, old, value, expires_unix_s },
                None => Question::PutNew { kind, id, value, expires_unix_s },
            };
            if self.redis.ask(question).await?.existed()? == was_there {
                self.written(name, &session, keep_counters).await?;
                return Ok(true);
            }
        }
        let detail = format_args!("the session was changed {REWRITES_MAX} times while it was written");
        Err(StoreFault::new(StoreFaultKind::Unavailable, detail))
    }

    /// Removes a session, for all gateways. False when there was none.
    pub(super) async fn remove(&self, name: &str) -> Result<bool, StoreFault> {
        let old = self.document(name).await?;
        let existed = self.redis.ask(Question::Delete { kind: DocumentSpace::Session, id: name.to_owned() }).await?.existed()?;
        self.announce(name).await;
        if let Some((session, _)) = old.and_then(|document| Session::parse(&document).ok()) {
            self.forget_counters(name, &session).await?;
        }
        Ok(existed)
    }

    async fn document(&self, name: &str) -> Result<Option<Vec<u8>>, StoreFault> {
        self.redis.ask(Question::Get { kind: DocumentSpace::Session, id: name.to_owned() }).await?.into_document()
    }

    /// A session was written: tells everybody, also when its counters can't begin anew.
    async fn written(&self, name: &str, session: &Session, keep_counters: bool) -> Result<(), StoreFault> {
        let forgotten = if keep_counters { Ok(()) } else { self.forget_counters(name, session).await };
        self.announce(name).await;
        forgotten
    }

    /// The names of the sessions that may call an API with these policies.
    pub(super) async fn names_for(&self, api: &str, policies: Arc<Policies>) -> Result<Vec<String>, StoreFault> {
        let (redis, api) = (self.redis.clone(), api.to_owned());
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

    /// Forgets what was used of the quotas of a session, here and in the store.
    async fn forget_counters(&self, name: &str, session: &Session) -> Result<(), StoreFault> {
        if let Some(cached) = self.table.pin().get(&key_format::digest(name)) {
            cached.entry.counters().retire();
        }
        let scopes = session.access_rights.values().map(|right| right.allowance_scope.as_str()).filter(|scope| !scope.is_empty());
        let scopes: BTreeSet<&str> = scopes.collect();
        self.forget_quotas(std::iter::once("").chain(scopes).map(|scope| shared_quota_name(name, scope))).await
    }

    /// What was used of these quotas.
    pub(super) async fn forget_quotas(&self, names: impl Iterator<Item = String>) -> Result<(), StoreFault> {
        self.redis.ask(Question::DeleteCounters { names: names.collect() }).await.map(|_| ())
    }

    /// The session of an organisation has changed: tells all gateways.
    pub(super) async fn announce_org(&self, id: &str) {
        if let Err(fault) = self.tell(&format!("{ORG_PREFIX}{id}")).await {
            tracing::warn!(%fault, "other gateways could not be notified of a changed organisation");
        }
    }

    /// A session has changed: forgets it here, and tells the others. They hear of it from the server as well, or know that they hear
    /// nothing.
    async fn announce(&self, name: &str) {
        self.changed(&key_format::digest(name));
        if let Err(fault) = self.tell(name).await {
            tracing::warn!(%fault, "other gateways could not be notified of a changed key");
        }
    }

    /// Tells all gateways that sessions have changed.
    async fn tell(&self, names: &str) -> Result<(), StoreFault> {
        self.bus.tell(SESSIONS_CHANGED, names).await
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
