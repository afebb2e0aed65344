//! Keys and their sessions, in memory: what every request is checked against. The store keeps them; this table is loaded from it at
//! start and changed only after the store has acknowledged the change. Of a store that several gateways share, memory has only what was
//! used lately: see `shared`.

mod identities;
mod key;
mod limits;
mod lookup;
mod orgs;
mod policies;
mod quota;
mod shared;

use crate::bus;
use crate::endpoints::PatternRules;
use crate::limit::{Algorithm, Limiter};
use crate::passwords;
use crate::secret::random_text;
use arc_swap::{ArcSwap, ArcSwapOption};
use identities::Identities;
use limits::Source;
use orgs::Org;
use papaya::HashMap;
use quota::{DirtyQuotas, Quota};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tollgate_model::config::GatewayConfig;
use tollgate_model::key::{self as key_format, KeyFunction, hexadecimal};
use tollgate_model::policy;
use tollgate_model::session::Session;
use tollgate_store::question::COUNTERS_MAX;
use tollgate_store::{Counter, Kind, Question, Store, StoreFault, StoreFaultKind};

pub use identities::identity_digest;
pub use key::{Key, KeyState};
pub use limits::{Checks, Limits, Rejection};
pub use lookup::Presented;
pub use policies::Policies;
pub use shared::SharedKeys;

/// How old a stored quota may be.
const WRITE_BEHIND: Duration = Duration::from_secs(1);

/// All keys.
pub struct Keys {
    pub rules: KeyRules,
    store: Arc<dyn Store>,
    /// The sessions of a store that several gateways share.
    shared: Option<Arc<SharedKeys>>,
    table: HashMap<Digest, Arc<Entry>, BuildHasherDefault<DigestHasher>>,
    /// The digests of the keys that are shown by the same hash; short hashes collide.
    by_hash: Mutex<BTreeMap<String, BTreeSet<Digest>>>,
    orgs: HashMap<String, Arc<Org>>,
    policies: ArcSwap<Policies>,
    /// Grows with the policies: compiled keys of an older number are compiled again.
    generation: AtomicU64,
    dirty: Arc<DirtyQuotas>,
    /// Some keys came from a shared store, where only their hashes are known: they are filed under those.
    has_named: AtomicBool,
    /// Quotas as they were stored, until their keys are used.
    saved: Mutex<BTreeMap<String, (i64, u64)>>,
    identities: Mutex<Identities>,
}

/// What a key is filed under.
pub type Digest = [u8; 32];

/// A digest is its own hash.
#[derive(Default)]
pub struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*first);
        }
    }
    fn write_usize(&mut self, _: usize) {}
}

/// How keys are made, hashed and found.
#[derive(Clone, Debug)]
pub struct KeyRules {
    pub hash_keys: bool,
    pub functions: Vec<KeyFunction>,
    pub token_bytes_min: usize,
    pub allow_master_keys: bool,
    pub lists_hashed: bool,
    /// How rates are counted.
    limiter: Algorithm,
    /// How endpoint patterns in access rights are read.
    patterns: PatternRules,
}

/// One key as it is stored.
struct Entry {
    /// The key, or the hash it is shown by.
    shown: Box<str>,
    /// The session as written, JSON.
    session: Box<[u8]>,
    /// Made when the key is first used, and again when policies change.
    compiled: ArcSwapOption<Key>,
    counters: Arc<Counters>,
    /// In memory only; see `identities`.
    transient: bool,
}

/// The counters of one key, by scope and use. They outlive changes of the session that do not reset them.
#[derive(Default)]
pub struct Counters {
    rates: Mutex<BTreeMap<String, Arc<Limiter>>>,
    quotas: Mutex<BTreeMap<String, Arc<Quota>>>,
    retired: Arc<AtomicBool>,
}

/// What the store keeps of a key: the session and how the key is shown.
#[derive(Debug)]
pub struct Stored {
    pub shown: String,
    pub session: Session,
}

impl KeyRules {
    pub fn new(config: &GatewayConfig) -> Self {
        KeyRules {
            hash_keys: config.hash_keys,
            functions: config.key_functions(),
            token_bytes_min: config.token_bytes_min(),
            allow_master_keys: config.allow_master_keys,
            lists_hashed: config.enable_hashed_keys_listing,
            limiter: Algorithm::of(config),
            patterns: PatternRules::new(config),
        }
    }

    fn function(&self) -> KeyFunction {
        self.functions.first().copied().unwrap_or(KeyFunction::Plain)
    }
}

impl Keys {
    /// The keys of a store.
    pub fn load(rules: KeyRules, store: Arc<dyn Store>) -> Result<Self, StoreFault> {
        let mut saved = BTreeMap::new();
        store.for_each_counter(&mut |counter| {
            saved.insert(counter.name, (counter.value, counter.renews_unix_s));
        })?;
        let keys = Keys {
            rules,
            store: store.clone(),
            shared: None,
            table: HashMap::default(),
            by_hash: Mutex::default(),
            orgs: HashMap::default(),
            policies: ArcSwap::default(),
            generation: AtomicU64::new(1),
            dirty: Arc::default(),
            has_named: AtomicBool::new(false),
            saved: Mutex::new(saved),
            identities: Mutex::default(),
        };
        let mut unreadable = 0usize;
        store.for_each(Kind::Session, &mut |id, document| match (parse_digest(id), Stored::parse(document)) {
            (Some(digest), Some(stored)) => {
                let is_named = keys.rules.hash_keys && key_format::digest(&stored.shown) == digest;
                keys.has_named.fetch_or(is_named, Ordering::Relaxed);
                keys.insert(digest, &stored, Arc::default(), false);
            }
            _ => unreadable += 1,
        })?;
        if unreadable > 0 {
            tracing::error!(unreadable, "stored keys can't be read and are refused");
        }
        keys.load_orgs()?;
        Ok(keys)
    }

    /// Grows with the policies.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The keys of a store that several gateways share: none are loaded before they are used, so that the store may come later.
    pub fn shared(rules: KeyRules, shared: SharedKeys) -> Self {
        let shared = Arc::new(shared);
        let (heard, swept) = (shared.clone(), Arc::downgrade(&shared));
        shared.redis.listen(bus::CHANNEL, move |what| heard.hear(what));
        shared.redis.runtime().spawn(async move {
            while let Some(shared) = swept.upgrade() {
                shared.sweep();
                drop(shared);
                tokio::time::sleep(shared::SWEEP_EVERY).await;
            }
        });
        Keys {
            rules,
            store: shared.redis.clone(),
            shared: Some(shared),
            table: HashMap::default(),
            by_hash: Mutex::default(),
            orgs: HashMap::default(),
            policies: ArcSwap::default(),
            generation: AtomicU64::new(1),
            dirty: Arc::default(),
            has_named: AtomicBool::new(false),
            saved: Mutex::default(),
            identities: Mutex::default(),
        }
    }

    /// What is shared with other gateways, if anything is.
    pub fn shared_keys(&self) -> Option<&Arc<SharedKeys>> {
        self.shared.as_ref()
    }

    /// How many keys are in memory.
    pub fn len(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.len()) + self.table.len()
    }

    /// What a shared store calls the session of a key.
    fn name(&self, token: &str) -> String {
        self.shown_hash(token).unwrap_or_else(|| token.to_owned())
    }

    /// What a key is filed under. Sessions of a shared store are known by their names alone.
    #[inline]
    fn digest(&self, token: &str) -> Digest {
        if self.shared.is_some() { key_format::digest(&self.name(token)) } else { key_format::digest(token) }
    }

    /// The key that a request presents, compiled.
    #[inline]
    pub fn find(&self, token: &str, org: &str) -> Option<Arc<Key>> {
        if token.len() < self.rules.token_bytes_min {
            return None;
        }
        if let Some(key) = self.compiled(&self.digest(token)) {
            return Some(key);
        }
        let texts = key_format::candidates(token, org, &self.rules.functions);
        let found = texts.iter().find_map(|text| self.compiled(&self.digest(text)));
        if found.is_none() && self.has_named.load(Ordering::Relaxed) {
            return texts.iter().find_map(|text| self.compiled(&key_format::digest(&self.name(text))));
        }
        found
    }

    #[inline]
    fn compiled(&self, digest: &Digest) -> Option<Arc<Key>> {
        if let Some(entry) = self.shared.as_ref().and_then(|shared| shared.get(digest)) {
            return self.compiled_entry(digest, &entry);
        }
        let table = self.table.pin();
        self.compiled_entry(digest, table.get(digest)?)
    }

    #[inline]
    fn compiled_entry(&self, digest: &Digest, entry: &Entry) -> Option<Arc<Key>> {
        let generation = self.generation.load(Ordering::Acquire);
        if let Some(key) = entry.compiled.load().as_ref()
            && key.generation == generation
        {
            return Some(key.clone());
        }
        let key = Arc::new(self.compile(digest, entry, generation)?);
        entry.compiled.store(Some(key.clone()));
        Some(key)
    }

    fn compile(&self, digest: &Digest, entry: &Entry, generation: u64) -> Option<Key> {
        let (session, _) = Session::parse(&entry.session).ok()?;
        let policies = self.policies.load();
        let applied = match policy::apply(&session, &|id| policies.get(id)) {
            Ok(applied) => applied,
            Err(error) => {
                tracing::warn!(key = %entry.shown, %error, "a key's policies can't be applied: it is refused");
                let mut refused = session;
                refused.is_inactive = true;
                refused
            }
        };
        let source = Source {
            rate: &|name| entry.counters.rate(name, self.rules.limiter),
            quota: &|scope| self.quota(digest, &entry.shown, scope, &entry.counters),
            patterns: self.rules.patterns,
        };
        let mut key = Key::compile(applied, generation, &source);
        key.shown = entry.shown.clone();
        Some(key)
    }

    /// A key's quota counter, as it was stored if it is used for the first time.
    fn quota(&self, digest: &Digest, shown: &str, scope: &str, counters: &Counters) -> Arc<Quota> {
        let mut quotas = counters.quotas.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let name = self.quota_name(digest, shown, scope);
            let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
            Arc::new(Quota::new(name, saved, self.dirty.clone(), counters.retired.clone()))
        };
        quotas.entry(scope.to_owned()).or_insert_with(make).clone()
    }

    /// Tyk's name in a shared store; in one of our own, one that no other key can have.
    fn quota_name(&self, digest: &Digest, shown: &str, scope: &str) -> String {
        match &self.shared {
            Some(_) => shared_quota_name(shown, scope),
            None => own_quota_name(digest, scope),
        }
    }

    fn insert(&self, digest: Digest, stored: &Stored, counters: Arc<Counters>, transient: bool) {
        self.table.pin().insert(digest, Arc::new(Entry::new(stored, counters, transient)));
        let mut by_hash = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        by_hash.entry(stored.shown.clone()).or_default().insert(digest);
    }

    /// A new key of an organisation.
    pub fn generate(&self, org: &str, random: [u8; 16]) -> String {
        key_format::generate(org, self.rules.function(), random)
    }

    /// The key that an operator names: as given if it is one, else made from it.
    pub fn named(&self, token: &str, org: &str) -> String {
        let known = |text: &String| self.digest_of(text).is_some();
        let candidates = key_format::candidates(token, org, &self.rules.functions);
        candidates.iter().find(|text| known(text)).cloned().unwrap_or_else(|| key_format::custom(org, token, self.rules.function()))
    }

    /// The hash that a key is shown by, when keys are hashed.
    pub fn shown_hash(&self, token: &str) -> Option<String> {
        self.rules.hash_keys.then(|| key_format::hash(token, KeyFunction::Plain))
    }

    /// A session as it is stored under a key: a new password is hashed, one that is left out stays as it was, and a key that must sign
    /// its requests has a secret for that. Takes a twentieth of a second for a password, on a thread of its own.
    pub async fn prepared(&self, digest: Option<Digest>, mut session: Session) -> Result<Session, String> {
        if let Some(old) = digest.and_then(|digest| self.session(&digest))
            && session.basic_auth_data.password.is_empty()
        {
            session.basic_auth_data = old.basic_auth_data;
        }
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

    /// Stores a session under a key; with `keep_counters` rates and quotas go on.
    pub async fn put(&self, token: &str, session: Session, keep_counters: bool) -> Result<(), StoreFault> {
        let shown = self.shown_hash(token).unwrap_or_else(|| token.to_owned());
        let digest = self.digest_of(token).unwrap_or_else(|| self.digest(token));
        self.put_digest(digest, &shown, session, keep_counters).await
    }

    /// The same for a key that is known by its digest.
    pub async fn put_digest(&self, digest: Digest, shown: &str, session: Session, keep_counters: bool) -> Result<(), StoreFault> {
        let stored = Stored { shown: shown.to_owned(), session };
        if let Some(shared) = &self.shared {
            if self.table.pin().contains_key(&digest) {
                // Under its name it could be presented as a key.
                let detail = "the session of an identity can't be kept in a store that gateways share";
                return Err(StoreFault::new(StoreFaultKind::Denied, detail));
            }
            return shared.put(&stored, keep_counters).await;
        }
        let question = Question::Put { kind: Kind::Session, id: hex(&digest), value: stored.to_bytes(), expires_unix_s: None };
        self.store.ask(question).await?;
        let old = self.table.pin().get(&digest).map(|entry| entry.counters.clone());
        let counters = match old {
            Some(counters) if keep_counters => counters,
            old => {
                self.forget_quotas(&digest, old.as_deref()).await?;
                Arc::default()
            }
        };
        self.insert(digest, &stored, counters, false);
        Ok(())
    }

    /// Removes a key; the next request with it is refused. False when there was none.
    pub async fn remove(&self, digest: &Digest) -> Result<bool, StoreFault> {
        if let Some(shared) = &self.shared {
            return Ok(self.forget(digest).is_some() || shared.remove(digest).await?);
        }
        let existed = self.store.ask(Question::Delete { kind: Kind::Session, id: hex(digest) }).await?.existed()?;
        let removed = self.forget(digest);
        self.forget_quotas(digest, removed.as_ref().map(|entry| &*entry.counters)).await?;
        Ok(existed || removed.is_some())
    }

    /// Takes a key out of memory.
    fn forget(&self, digest: &Digest) -> Option<Arc<Entry>> {
        let entry = self.table.pin().remove(digest).cloned()?;
        let mut by_hash = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(digests) = by_hash.get_mut(&*entry.shown) {
            digests.remove(digest);
            if digests.is_empty() {
                by_hash.remove(&*entry.shown);
            }
        }
        Some(entry)
    }

    /// Forgets what a key has used of its quotas, in memory and in the store.
    async fn forget_quotas(&self, digest: &Digest, counters: Option<&Counters>) -> Result<(), StoreFault> {
        if let Some(counters) = counters {
            counters.retire();
        }
        let prefix = format!("quota-{}-", hex(digest));
        let was_saved = {
            let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
            let names = saved.range(prefix.clone()..).map(|(name, _)| name).take_while(|name| name.starts_with(&prefix));
            let names: Vec<String> = names.cloned().collect();
            for name in &names {
                saved.remove(name);
            }
            !names.is_empty()
        };
        // A key that is new has nothing in the store.
        if counters.is_some() || was_saved {
            self.store.ask(Question::DeleteCountersUnder { prefix }).await?;
        }
        Ok(())
    }

    /// The digest of a key or of an identity's session, by its name.
    pub fn digest_of(&self, token: &str) -> Option<Digest> {
        let digest = self.digest(token);
        if self.shared.as_ref().is_some_and(|shared| shared.last_known(&digest).is_some()) {
            return Some(digest);
        }
        let table = self.table.pin();
        let named = || Some(key_format::digest(&self.name(token))).filter(|digest| table.contains_key(digest));
        [digest, identity_digest(token)].into_iter().find(|digest| table.contains_key(digest)).or_else(named)
    }

    /// The digests of the keys that are shown by a hash.
    pub fn digests_of_hash(&self, hash: &str) -> Vec<Digest> {
        if let Some(shared) = &self.shared {
            let digest = key_format::digest(hash);
            if shared.last_known(&digest).is_some() {
                return vec![digest];
            }
        }
        let by_hash = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        by_hash.get(hash).into_iter().flatten().copied().collect()
    }

    /// How a key is shown: by itself, or by its hash.
    pub fn shown_of(&self, digest: &Digest) -> Option<String> {
        if let Some(entry) = self.shared.as_ref().and_then(|shared| shared.last_known(digest)) {
            return Some(entry.shown.to_string());
        }
        self.table.pin().get(digest).map(|entry| entry.shown.to_string())
    }

    /// The session of a key as it is written.
    pub fn session(&self, digest: &Digest) -> Option<Session> {
        let read = |entry: &Entry| Session::parse(&entry.session).ok().map(|(session, _)| session);
        if let Some(entry) = self.shared.as_ref().and_then(|shared| shared.last_known(digest)) {
            return read(&entry);
        }
        read(self.table.pin().get(digest)?)
    }

    /// The session of a key with its policies and what is left of its quotas.
    pub fn live_session(&self, digest: &Digest, now_unix_s: u64) -> Option<Session> {
        let key = match self.shared.as_ref().and_then(|shared| shared.last_known(digest)) {
            Some(entry) => self.compiled_entry(digest, &entry),
            None => self.compiled(digest),
        };
        Some(key?.live_session(now_unix_s))
    }

    /// A session as it would be with its policies.
    pub fn with_policies(&self, session: &Session) -> Result<Session, policy::PolicyError> {
        let policies = self.policies.load();
        policy::apply(session, &|id| policies.get(id))
    }

    /// How all keys are shown, sorted.
    pub async fn shown(&self) -> Result<Vec<String>, StoreFault> {
        let mut shown: Vec<String> = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        if let Some(shared) = &self.shared {
            shown.extend(shared.redis.ids(Kind::Session).await?);
            shown.sort();
            shown.dedup();
        }
        Ok(shown)
    }

    /// How the keys are shown that may call an API, sorted. A shared store is read from end to end for it.
    pub async fn shown_for(&self, api: &str) -> Result<Vec<String>, StoreFault> {
        let may_call = |digest: &Digest| self.compiled(digest).is_some_and(|key| lets_call(&key.session, api));
        let by_hash = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut shown: Vec<String> =
            by_hash.into_iter().filter(|(_, digests)| digests.iter().any(may_call)).map(|(shown, _)| shown).collect();
        if let Some(shared) = &self.shared {
            shown.extend(shared.names_for(api, self.policies.load_full()).await?);
            shown.sort();
            shown.dedup();
        }
        Ok(shown)
    }

    /// The policies in effect.
    pub fn policies(&self) -> Arc<Policies> {
        self.policies.load_full()
    }

    /// Puts policies into effect, for every key at its next request. The same policies again leave all compiled keys as they are.
    pub fn set_policies(&self, policies: Policies) {
        if **self.policies.load() == policies {
            return;
        }
        self.policies.store(Arc::new(policies));
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// Stores quotas that have changed, once a second, for as long as the process lives.
    pub async fn write_behind(self: Arc<Self>) {
        loop {
            tokio::time::sleep(WRITE_BEHIND).await;
            if let Err(fault) = self.save_quotas().await {
                tracing::error!(%fault, "quotas can't be stored");
            }
        }
    }

    /// Stores the quotas that have changed since the last time.
    pub async fn save_quotas(&self) -> Result<(), StoreFault> {
        let changed = self.dirty.take();
        let mut rest = changed.as_slice();
        while !rest.is_empty() {
            let (some, later) = rest.split_at(rest.len().min(COUNTERS_MAX));
            // Read right before they are handed over: what a key that goes meanwhile has in the store is deleted behind them.
            let counters: Vec<Counter> = some.iter().filter_map(|quota| quota.counter()).collect();
            if let Err(fault) = self.store.ask(Question::SaveCounters { counters }).await {
                rest.iter().for_each(|quota| self.dirty.add(quota));
                return Err(fault);
            }
            rest = later;
        }
        Ok(())
    }
}

impl Entry {
    fn new(stored: &Stored, counters: Arc<Counters>, transient: bool) -> Self {
        let session = serde_json::to_vec(&stored.session.to_json()).unwrap_or_default().into_boxed_slice();
        Entry { shown: stored.shown.as_str().into(), session, compiled: ArcSwapOption::empty(), counters, transient }
    }
}

impl Counters {
    /// Their key was reset or deleted: what they count is not stored any more.
    fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// The counter of one rate limit.
    fn rate(&self, name: String, algorithm: Algorithm) -> Arc<Limiter> {
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        rates.entry(name).or_insert_with(|| Arc::new(Limiter::new(algorithm))).clone()
    }
}

impl Stored {
    pub fn parse(document: &[u8]) -> Option<Self> {
        let value: serde_json::Value = serde_json::from_slice(document).ok()?;
        let shown = value.get("shown")?.as_str()?.to_owned();
        let (session, _) = Session::from_value(value.get("session")?).ok()?;
        Some(Stored { shown, session })
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::json!({ "shown": self.shown, "session": self.session.to_json() }).to_string().into_bytes()
    }
}

/// Whether a session with its policies may call an API.
fn lets_call(session: &Session, api: &str) -> bool {
    session.access_rights.is_empty() || session.access_rights.contains_key(api)
}

/// What a shared store calls a quota.
pub fn shared_quota_name(shown: &str, scope: &str) -> String {
    if scope.is_empty() { format!("quota-{shown}") } else { format!("quota-{scope}-{shown}") }
}

/// What the embedded store calls a quota.
pub fn own_quota_name(digest: &Digest, scope: &str) -> String {
    format!("quota-{}-{scope}", hex(digest))
}

pub fn hex(digest: &Digest) -> String {
    hexadecimal(digest)
}

pub fn parse_digest(text: &str) -> Option<Digest> {
    let mut digest = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (index, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(index * 2..index * 2 + 2)?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests;
