//! Sessions that several gateways share: what is kept of them in memory, and how long it may be trusted. A session is read when a request
//! first presents its key, and stays until somebody changes it, which every gateway is told at once. While nothing can be heard of
//! changes, every request has its session read again; when nothing can be read either, `on_failure` says what holds.

use super::ends::forgotten_at;
use super::lookup::Lookups;
use super::{Digest, DigestHasher, Entry, Policies, lets_call, shared_quota_name};
use crate::bus::{Bus, Notice, SESSIONS_CHANGED};
use crate::limit::SharedLimits;
use crate::secret::random_text;
use papaya::HashMap;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tollgate_model::config::SharedStore;
use tollgate_model::key as key_format;
use tollgate_model::session::{Session, StoredSession};
use tollgate_store::{Heard, Kind, Question, Redis, Store, StoreFault, StoreFaultKind};

/// Answers "there is no such key" that are remembered, so that a client with a wrong key does not ask the store with every request. With
/// more of them all are forgotten.
const UNKNOWN_MAX: usize = 65_536;
/// For which such an answer holds; it is forgotten sooner when any session changes.
const UNKNOWN_FOR: Duration = Duration::from_secs(1);
/// For which a session is kept without being read again. A safeguard for changes that nobody tells of, such as an operator's own in
/// a cluster.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// How often sessions are looked for that are kept for too long.
pub const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// What the name of an organisation's session begins with, in the store and in messages.
const ORG_PREFIX: &str = "orgkey.";

/// No longer what the store has: changed, or gone. Never used again.
const CHANGED: u64 = 0;
/// Kept for long: only used when the store can't be asked.
const AGED: u64 = 2;

/// The sessions in memory.
pub struct SharedKeys {
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
    entry: Arc<Entry>,
    /// The epoch it was read in, [`CHANGED`] or [`AGED`].
    state: AtomicU64,
    /// Since the last look of the one who evicts.
    is_used: AtomicBool,
    /// When it has been kept for long, since the start.
    ends: Duration,
}

/// Who has to go next: by use, and by age.
#[derive(Default)]
struct Order {
    turn: VecDeque<Digest>,
    ages: BinaryHeap<Reverse<(Duration, Digest)>>,
}

impl SharedKeys {
    pub fn new(redis: Arc<Redis>, bus: Bus, rules: SharedStore) -> Self {
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
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// From now on changes are heard of.
    pub fn begin_to_trust(&self) {
        self.unknown.pin().clear();
        if self.epoch().is_multiple_of(2) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// From now on changes may be missed.
    pub fn distrust(&self) {
        if !self.epoch().is_multiple_of(2) {
            self.epoch.fetch_add(1, Ordering::AcqRel);
        }
        self.unknown.pin().clear();
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// A session that is known to be what the store has.
    #[inline]
    pub(super) fn get(&self, digest: &Digest) -> Option<Arc<Entry>> {
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
    pub(super) fn last_known(&self, digest: &Digest) -> Option<Arc<Entry>> {
        let table = self.table.pin();
        let cached = table.get(digest)?;
        (cached.state.load(Ordering::Acquire) != CHANGED).then(|| cached.entry.clone())
    }

    /// Keeps a session that was read in an epoch, and what its key has counted so far.
    pub(super) fn keep(&self, digest: Digest, stored: &StoredSession, epoch: u64, ends_after: Option<Duration>) -> Arc<Entry> {
        let table = self.table.pin();
        let old = table.get(&digest);
        let counters = old.map(|cached| cached.entry.counters().clone()).filter(|counters| !counters.is_retired());
        let entry = Arc::new(Entry::new(stored.to_bytes().into(), counters, false));
        let ends = self.start.elapsed() + ends_after.unwrap_or(KEPT_FOR).min(KEPT_FOR);
        // One that is new gives way before those that are in use.
        let is_new = old.is_none();
        let cached = Cached { entry: entry.clone(), state: AtomicU64::new(epoch), is_used: AtomicBool::new(!is_new), ends };
        table.insert(digest, Arc::new(cached));
        if !is_new {
            return entry;
        }
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        order.ages.push(Reverse((ends, digest)));
        order.turn.push_back(digest);
        while order.turn.len() > self.rules.sessions_max {
            let Some(first) = order.turn.pop_front() else { break };
            match table.get(&first) {
                // Used since the last time: gets another turn.
                Some(cached) if cached.is_used.swap(false, Ordering::Relaxed) => order.turn.push_back(first),
                _ => drop(table.remove(&first)),
            }
        }
        entry
    }

    /// Sessions that were kept for long are read again when they are next needed.
    pub fn sweep(&self) {
        let now = self.start.elapsed();
        let mut order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(Reverse((ends, digest))) = order.ages.peek().copied()
            && ends <= now
        {
            order.ages.pop();
            let table = self.table.pin();
            let Some(cached) = table.get(&digest) else { continue };
            // It may have been read again since it was put in line.
            let state = cached.state.load(Ordering::Acquire);
            if cached.ends <= now && state != CHANGED {
                let _ = cached.state.compare_exchange(state, AGED, Ordering::AcqRel, Ordering::Relaxed);
            }
            let next = if cached.ends <= now { now + KEPT_FOR } else { cached.ends };
            order.ages.push(Reverse((next, digest)));
        }
    }

    /// The store has no such session.
    pub fn gone(&self, digest: &Digest) {
        if let Some(cached) = self.table.pin().get(digest) {
            cached.state.store(CHANGED, Ordering::Release);
        }
    }

    /// A session was changed or is gone.
    pub fn changed(&self, digest: &Digest) {
        self.gone(digest);
        self.lookups.changed(digest);
        self.unknown.pin().clear();
    }

    /// Any session may have changed.
    pub fn all_changed(&self) {
        self.table.pin().iter().for_each(|(_, cached)| cached.state.store(CHANGED, Ordering::Release));
        self.lookups.all_changed();
        self.orgs_changed.notify_one();
        self.unknown.pin().clear();
    }

    /// Whether the store has said lately that there is no such key.
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

    /// Something was heard.
    pub fn hear(&self, heard: Heard) {
        match heard {
            Heard::Up => {
                tracing::info!("changes of keys are heard of");
                self.begin_to_trust();
                self.orgs_changed.notify_one();
            }
            Heard::Down(why) => {
                tracing::warn!(why, "changes of keys can't be heard of: sessions are read again for every request");
                self.distrust();
            }
            Heard::Changed(Kind::Session, name) => self.changed(&key_format::digest(&name)),
            Heard::Changed(..) => self.orgs_changed.notify_one(),
            Heard::AllChanged => self.all_changed(),
            Heard::Message(message) => {
                if let Notice::SessionsChanged(names) = self.bus.hear(&message) {
                    names.iter().for_each(|name| self.changed(&key_format::digest(name)));
                    if names.iter().any(|name| name.starts_with(ORG_PREFIX)) {
                        self.orgs_changed.notify_one();
                    }
                }
            }
        }
    }

    /// Stores a session, for all gateways.
    pub(super) async fn put(&self, stored: &StoredSession, keep_counters: bool) -> Result<(), StoreFault> {
        let value = stored.session.to_json().to_string().into_bytes();
        let (kind, id) = (Kind::Session, stored.shown.clone());
        let expires_unix_s = forgotten_at(&stored.session);
        self.redis.ask(Question::Put { kind, id, value, expires_unix_s }).await?;
        if !keep_counters {
            self.forget_counters(&stored.shown, &stored.session).await?;
        }
        self.announce(&stored.shown).await;
        Ok(())
    }

    /// Removes a session that was read before, for all gateways. False when there was none.
    pub(super) async fn remove(&self, digest: &Digest) -> Result<bool, StoreFault> {
        let Some(entry) = self.last_known(digest) else { return Ok(false) };
        let name = entry.shown();
        let existed = self.redis.ask(Question::Delete { kind: Kind::Session, id: name.clone() }).await?.existed()?;
        self.announce(&name).await;
        if let Some(session) = entry.session() {
            self.forget_counters(&name, &session).await?;
        }
        Ok(existed)
    }

    /// The names of the sessions that may call an API with these policies.
    pub(super) async fn names_for(&self, api: &str, policies: Arc<Policies>) -> Result<Vec<String>, StoreFault> {
        let (redis, api) = (self.redis.clone(), api.to_owned());
        let read = tokio::task::spawn_blocking(move || {
            let mut names = Vec::new();
            redis.for_each(Kind::Session, &mut |name, document| {
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
            tracing::warn!(%fault, "other gateways could not be told that an organisation has changed");
        }
    }

    /// A session has changed: forgets it here, and tells the others. They hear of it from the server as well, or know that they hear
    /// nothing.
    async fn announce(&self, name: &str) {
        self.changed(&key_format::digest(name));
        if let Err(fault) = self.tell(name).await {
            tracing::warn!(%fault, "other gateways could not be told that a key has changed");
        }
    }

    /// Tells all gateways that sessions have changed.
    async fn tell(&self, names: &str) -> Result<(), StoreFault> {
        self.bus.tell(SESSIONS_CHANGED, names).await
    }
}

#[cfg(test)]
mod tests;
