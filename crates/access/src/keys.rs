//! Keys and their sessions, in memory: every request is checked against them. With the embedded store, this table is loaded at start and
//! changes only after the store has acknowledged the change. With a store that several gateways share, memory holds only recently used
//! sessions: see `shared`.

mod budget_counters;
mod call_limits;
mod held_key;
mod identities;
mod key;
mod key_expiry;
mod key_rings;
mod limits;
mod listing;
mod lookup;
mod mcp_rights;
mod orgs;
mod policies;
mod presented;
mod quota;
mod rehearsed;
mod rights;
mod saved;
mod sealed_name;
mod shared;
mod table;
mod terms;
mod view;
mod writes;

use crate::digest::{Digest, DigestHasher, hex, parse_digest};
use arc_swap::{ArcSwap, Guard};
use identities::Identities;
use key_expiry::Ends;
use key_rings::KeyRings;
use limits::LimitSource;
use orgs::Org;
use papaya::HashMap;
use quota::DirtyQuotas;
use rehearsed::KeyOrigin;
use rights::RightPatterns;
use saved::SavedQuotas;
use sealed_name::NameSeal;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use table::{KeyTable, StoredKey};
use tollgate_limit::{LimitAlgorithm, Limiter, SharedQuota};
use tollgate_model::Problem;
use tollgate_model::config::GatewayConfig;
use tollgate_model::key::{self as key_format, KeyFunction};
use tollgate_model::policy;
use tollgate_model::session::{LifetimeRules, Session, StoredSession};
use tollgate_pattern::PatternPool;
use tollgate_pattern::PatternRules;
use tollgate_store::question::COUNTERS_MAX;
use tollgate_store::{CounterValue, DocumentSpace, Store, StoreFault};
use writes::WriteOrder;

pub use budget_counters::BudgetCounters;
pub use held_key::HeldKey;
pub use identities::identity_digest;
pub use key::{Key, KeyState, Permission, TOKEN_SESSION};
pub use key_expiry::forgotten_at;
pub use key_rings::RingKey;
pub use limits::{CallRates, Checks, CountedRequest, LimitRejection, RequestLimits};
pub use listing::ListedKey;
pub use mcp_rights::McpRights;
pub use policies::{Policies, PolicyChange};
pub use presented::{AskedKeys, Presented};
pub use quota::Quota;
pub use rehearsed::stand_in;
pub use shared::SharedKeys;
pub use terms::KeyTerms;
pub use view::KeyView;
pub use writes::{KeyName, in_place_of, prepared};

/// Interval of the quota writer: a stored quota is at most this old.
const WRITE_BEHIND: Duration = Duration::from_secs(1);

/// Turns of the quota writer between searches for budgets that are over: a search visits all of them.
const BUDGETS_FORGOTTEN_EVERY: u64 = 60;

/// Keys that a listing reads before it yields to other work of the control plane; takes some milliseconds.
const SHOWN_AT_ONCE: usize = 1_024;

/// All keys.
pub struct Keys {
    pub rules: KeyRules,
    store: Arc<dyn Store>,
    /// Sessions of a shared store; `None` with the embedded store.
    shared: Option<Arc<SharedKeys>>,
    table: KeyTable,
    /// Keys that are in no store.
    rings: ArcSwap<KeyRings>,
    orgs: HashMap<String, Arc<Org>>,
    policies: ArcSwap<Policies>,
    /// Compiled URLs and endpoints of access rights.
    patterns: RightPatterns,
    /// Grows when the policies change: a key compiled with an older generation is compiled again.
    generation: AtomicU64,
    dirty: Arc<DirtyQuotas>,
    /// Whether some keys came from a shared store, which knows only their hashes: they are stored under those.
    has_named: AtomicBool,
    saved: SavedQuotas,
    /// Counters of budgets, by name.
    budgets: Mutex<BTreeMap<String, Arc<Quota>>>,
    /// Whether quota writes are paused because another process takes over.
    holds_quotas: AtomicBool,
    identities: Mutex<Identities>,
    /// Expiry times of keys that are not kept forever.
    ends: Mutex<Ends>,
    /// What each API says of its keys, by API id.
    terms: ArcSwap<BTreeMap<String, KeyTerms>>,
    order: WriteOrder,
    /// Where sessions come from, if these are the keys of a rehearsal.
    origin: Option<KeyOrigin>,
}

/// How keys are made, hashed and found.
#[derive(Clone, Debug)]
pub struct KeyRules {
    pub hash_keys: bool,
    pub functions: Vec<KeyFunction>,
    pub token_bytes_min: usize,
    pub allow_master_keys: bool,
    pub lists_hashed: bool,
    /// Algorithm that counts rates.
    limiter: LimitAlgorithm,
    /// Whether rates may rise and fall in steps.
    smooths_rates: bool,
    /// Rules for endpoint patterns in access rights.
    patterns: PatternRules,
    /// Pool of compiled patterns, shared with those of APIs.
    pool: Arc<PatternPool>,
    /// Rules for how long the store keeps sessions.
    lifetime: LifetimeRules,
    /// Hides the names of keys that are stored as they are.
    seal: NameSeal,
    /// Whether a key is found only by its full text, not by the name that an operator gave it.
    only_whole: bool,
    /// Whether keys are refused of which only a hash is known that other keys may have as well.
    refuses_weak: bool,
}

/// The counters of one key, by scope and use. They survive changes of the session that do not reset them.
#[derive(Default)]
pub struct Counters {
    rates: Mutex<BTreeMap<String, Arc<Limiter>>>,
    quotas: Mutex<BTreeMap<String, Arc<Quota>>>,
    retired: Arc<AtomicBool>,
}

impl KeyRules {
    /// The rules of a configuration, with the pool of the gateway's patterns.
    pub fn new(config: &GatewayConfig, pool: Arc<PatternPool>) -> Self {
        KeyRules {
            hash_keys: config.hash_keys,
            functions: config.key_functions(),
            token_bytes_min: config.token_bytes_min(),
            allow_master_keys: config.allow_master_keys,
            lists_hashed: config.enable_hashed_keys_listing,
            limiter: LimitAlgorithm::of(config),
            smooths_rates: config.enable_rate_limit_smoothing,
            lifetime: LifetimeRules::new(config),
            seal: NameSeal::new(config),
            only_whole: config.disable_key_actions_by_username,
            refuses_weak: config.hash_keys && config.tollgate.shared_store.refuse_weak_hashes,
            patterns: PatternRules::of_keys(config),
            pool,
        }
    }

    /// The keys that a presented text may mean, in Tyk's order.
    fn texts(&self, token: &str, org: &str) -> Vec<String> {
        let functions = if self.only_whole { &[] } else { self.functions.as_slice() };
        key_format::candidates(token, org, functions)
    }

    /// Whether this text is refused because its hash stands for other keys as well.
    #[inline]
    fn refuses(&self, token: &str) -> bool {
        self.refuses_weak && key_format::function_of(token).unwrap_or_default().is_weak()
    }

    /// The text under which to look up a key that an operator created for a user name or a certificate.
    pub fn text_of<'t>(&self, name: &'t str, org: &str) -> Cow<'t, str> {
        if self.only_whole { Cow::Owned(key_format::custom(org, name, self.function())) } else { Cow::Borrowed(name) }
    }

    fn function(&self) -> KeyFunction {
        self.functions.first().copied().unwrap_or(KeyFunction::Plain)
    }
}

impl Keys {
    /// How records and lists name a key to those who may not see it: by its hash, also where keys are stored as they are.
    pub fn hash_of<'t>(&self, shown: &'t str) -> Cow<'t, str> {
        if self.rules.hash_keys || shown.is_empty() {
            Cow::Borrowed(shown)
        } else {
            Cow::Owned(key_format::hash(shown, KeyFunction::Plain))
        }
    }

    /// Loads the keys of an embedded store.
    pub fn load(rules: KeyRules, store: Arc<dyn Store>) -> Result<Self, StoreFault> {
        let keys = Keys::new(rules, store.clone(), None);
        store.for_each_counter(&mut |counter| keys.saved.add(&counter))?;
        let mut unreadable = 0usize;
        // A session is parsed on first use: parsing a million at start would take too long.
        store.for_each(
            DocumentSpace::Session,
            &mut |id, document| match parse_digest(id).zip(StoredSession::outline(document)) {
                Some((digest, (shown, kept_until))) => {
                    let is_named = keys.rules.hash_keys && key_format::digest(&shown) == digest;
                    keys.has_named.fetch_or(is_named, Ordering::Relaxed);
                    let entry = StoredKey::new(document.into(), None, false);
                    if kept_until.is_some() || key_expiry::may_be_forgotten(document) {
                        keys.note_end(digest, entry.kept_until());
                    }
                    keys.table.insert(digest, &shown, entry);
                }
                None => unreadable += 1,
            },
        )?;
        if unreadable > 0 {
            tracing::error!(unreadable, "stored keys can't be read and are refused");
        }
        keys.load_orgs()?;
        Ok(keys)
    }

    /// The patterns of access rights.
    pub fn patterns(&self) -> &RightPatterns {
        &self.patterns
    }

    /// Grows when the policies change.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Makes the keys of a shared store. Nothing is loaded before its first use, so the store may become available later.
    pub fn shared(rules: KeyRules, shared: SharedKeys) -> Self {
        let shared = Arc::new(shared);
        let (heard, swept) = (shared.clone(), Arc::downgrade(&shared));
        shared.cluster.redis.listen(tollgate_cluster::CHANNEL, move |what| heard.hear(what));
        shared.cluster.redis.runtime().spawn(async move {
            while let Some(shared) = swept.upgrade() {
                while shared.sweep() {
                    tokio::task::yield_now().await;
                }
                drop(shared);
                tokio::time::sleep(shared::SWEEP_EVERY).await;
            }
        });
        Keys::new(rules, shared.cluster.redis.clone(), Some(shared))
    }

    fn new(rules: KeyRules, store: Arc<dyn Store>, shared: Option<Arc<SharedKeys>>) -> Self {
        Keys {
            patterns: RightPatterns::new(rules.patterns, rules.pool.clone()),
            rules,
            store,
            shared,
            table: KeyTable::default(),
            rings: ArcSwap::default(),
            orgs: HashMap::default(),
            policies: ArcSwap::default(),
            generation: AtomicU64::new(1),
            dirty: Arc::default(),
            has_named: AtomicBool::new(false),
            saved: SavedQuotas::default(),
            budgets: Mutex::default(),
            holds_quotas: AtomicBool::new(false),
            identities: Mutex::default(),
            ends: Mutex::default(),
            terms: ArcSwap::default(),
            order: WriteOrder::default(),
            origin: None,
        }
    }

    /// The store that keeps the keys.
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// The store, for a part of the process that keeps it.
    pub fn kept_store(&self) -> Arc<dyn Store> {
        self.store.clone()
    }

    /// The sessions of a shared store; `None` with the embedded store.
    pub fn shared_keys(&self) -> Option<&Arc<SharedKeys>> {
        self.shared.as_ref()
    }

    /// Number of keys in memory.
    #[allow(clippy::len_without_is_empty, reason = "a figure")]
    pub fn len(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.len()) + self.table.len()
    }

    /// The name of a key's session in a shared store.
    fn name(&self, token: &str) -> String {
        self.shown_hash(token).unwrap_or_else(|| token.to_owned())
    }

    /// The name that earlier versions gave a key's session where only names are known; `None` if it is the same.
    pub fn former_name(&self, token: &str) -> Option<String> {
        let is_by_name = self.shared.is_some() || self.has_named.load(Ordering::Relaxed);
        key_format::former_hash(token).filter(|_| self.rules.hash_keys && is_by_name)
    }

    /// Whether a key of this text can be found: not if only names are known, and its name may stand for other keys.
    #[inline]
    fn refuses(&self, token: &str) -> bool {
        self.shared.is_some() && self.rules.refuses(token)
    }

    /// The digest that a key is stored under. In a shared store, sessions have only their names.
    #[inline]
    fn digest(&self, token: &str) -> Digest {
        if self.shared.is_some() { key_format::digest(&self.name(token)) } else { key_format::digest(token) }
    }

    /// Finds the key that a request presents, and compiles it if needed.
    #[inline]
    pub fn find(&self, token: &str, org: &str) -> Option<HeldKey> {
        if token.len() < self.rules.token_bytes_min {
            return None;
        }
        if let Some(key) = self.compiled(&self.digest(token)).filter(|_| !self.refuses(token)) {
            return Some(key);
        }
        let mut texts = self.rules.texts(token, org);
        texts.retain(|text| !self.refuses(text));
        let found = texts.iter().filter(|text| *text != token).find_map(|text| self.compiled(&self.digest(text)));
        if found.is_some() {
            return found;
        }
        if self.has_named.load(Ordering::Relaxed) {
            texts.retain(|text| !self.rules.refuses(text));
            let named = texts.iter().find_map(|text| self.compiled(&key_format::digest(&self.name(text))));
            return named.or_else(|| self.formerly_named(&texts));
        }
        if self.shared.as_ref().is_some_and(|shared| shared.has_former()) {
            return self.formerly_named(&texts);
        }
        if self.origin.is_some() {
            return self.of_origin(token, org);
        }
        None
    }

    /// The key that an earlier version stored under its own hash of one of these texts.
    fn formerly_named(&self, texts: &[String]) -> Option<HeldKey> {
        texts.iter().find_map(|text| self.compiled(&key_format::digest(&self.former_name(text)?)))
    }

    /// The places where [`Keys::find`] looks for a key, in order. The first place with a key decides. A caller that remembers the places
    /// therefore finds the same key while it exists, and no other unless one appears in an earlier place.
    pub fn places(&self, token: &str, org: &str) -> Vec<Digest> {
        if token.len() < self.rules.token_bytes_min {
            return Vec::new();
        }
        let others = self.rules.texts(token, org).into_iter().filter(|text| text != token);
        let texts: Vec<String> = std::iter::once(token.to_owned()).chain(others).filter(|text| !self.refuses(text)).collect();
        let former = texts.iter().filter_map(|text| Some(key_format::digest(&self.former_name(text)?)));
        texts.iter().map(|text| self.digest(text)).chain(former).collect()
    }

    /// The full text of the key that [`Keys::find`] finds: a custom key's text includes its organisation.
    pub fn written(&self, token: &str, org: &str) -> String {
        let is_known = |text: &str| self.compiled(&self.digest(text)).is_some() && !self.refuses(text);
        let is_former = |text: &&String| {
            let former = self.former_name(text).filter(|_| !self.refuses(text));
            former.is_some_and(|name| self.compiled(&key_format::digest(&name)).is_some())
        };
        if is_known(token) {
            return token.to_owned();
        }
        let texts = self.rules.texts(token, org);
        let found = texts.iter().find(|text| is_known(text)).or_else(|| texts.iter().find(is_former));
        found.map_or_else(|| token.to_owned(), String::clone)
    }

    /// The key in the first of these places that has one.
    #[inline]
    pub fn find_in(&self, places: &[Digest]) -> Option<HeldKey> {
        places.iter().find_map(|digest| self.compiled(digest))
    }

    #[inline]
    fn compiled(&self, digest: &Digest) -> Option<HeldKey> {
        if let Some(entry) = self.shared.as_ref().and_then(|shared| shared.get(digest)) {
            return Some(self.compiled_entry(digest, &entry));
        }
        self.table.with(digest, |entry| self.compiled_entry(digest, entry))
    }

    #[inline]
    fn compiled_entry(&self, digest: &Digest, entry: &StoredKey) -> HeldKey {
        let generation = self.generation();
        if let Some(compiled) = entry.compiled.get() {
            let key = HeldKey::of(compiled);
            if key.generation == generation {
                return key;
            }
            compiled.store(self.compile(digest, entry, generation));
            return HeldKey::of(compiled);
        }
        // Compiled outside `get_or_init`, so that concurrent requests do not wait.
        let key = self.compile(digest, entry, generation);
        HeldKey::of(entry.compiled.get_or_init(|| ArcSwap::new(key)))
    }

    #[cold]
    fn compile(&self, digest: &Digest, entry: &StoredKey, generation: u64) -> Arc<Key> {
        let shown = entry.shown();
        let session = entry.session().unwrap_or_else(|| {
            tracing::error!(key = shown, "a stored key can't be read: it is refused");
            Session { is_inactive: true, ..Session::default() }
        });
        let policies = self.policies.load();
        let applied = match policy::apply(&session, &|id| policies.get(id)) {
            Ok(applied) => applied,
            Err(error) => {
                tracing::warn!(key = shown, %error, "a key's policies can't be applied: it is refused");
                Session { is_inactive: true, ..session }
            }
        };
        let counters = entry.counters();
        let owner = applied.quota_of().to_owned();
        let source = LimitSource {
            rate: &|name| counters.rate(name, |name| self.new_rate(&shown, name)),
            quota: &|scope| match owner.as_str() {
                "" => self.quota(digest, &shown, scope, counters),
                owner => self.quota_of_many(owner, scope),
            },
            patterns: &self.patterns,
            smooths: self.rules.smooths_rates,
        };
        let mut key = Key::compile(applied, generation, &source);
        (key.digest, key.shown) = (*digest, shown.into());
        // They are compiled already; keeping them would copy the policy's list into each key.
        key.session.access_rights.values_mut().for_each(|right| right.allowed_urls = Vec::new());
        Arc::new(key)
    }

    /// The quota counter of a key. On first use it starts with the stored value.
    fn quota(&self, digest: &Digest, shown: &str, scope: &str, counters: &Counters) -> Arc<Quota> {
        let mut quotas = counters.quotas.lock().unwrap_or_else(PoisonError::into_inner);
        quotas.get(scope).and_then(|known| known.shared()).into_iter().for_each(SharedQuota::revise);
        let make = || {
            let name = self.quota_name(digest, shown, scope);
            if let Some(shared) = &self.shared {
                return Arc::new(Quota::of_all(shared.cluster.limits.quota(name)));
            }
            let saved = self.saved.take(digest, scope);
            Arc::new(Quota::new(name, saved, self.dirty.clone(), counters.retired.clone()))
        };
        quotas.entry(scope.to_owned()).or_insert_with(make).clone()
    }

    /// The quota counter of keys that use one together. It goes on when one of them is removed or changed.
    fn quota_of_many(&self, owner: &str, scope: &str) -> Arc<Quota> {
        let quota = self.counter(&format!("quota.{owner}.{scope}"));
        quota.shared().into_iter().for_each(SharedQuota::revise);
        quota
    }

    /// A fresh rate counter.
    fn new_rate(&self, shown: &str, name: &str) -> Limiter {
        match &self.shared {
            Some(shared) => Limiter::Shared(shared.cluster.limits.rate(&format!("{shown}{name}"), self.rules.limiter)),
            None => Limiter::new(self.rules.limiter),
        }
    }

    /// The name of a quota: Tyk's in a shared store; in the embedded store, one that no other key can have.
    fn quota_name(&self, digest: &Digest, shown: &str, scope: &str) -> String {
        match &self.shared {
            Some(_) => shared_quota_name(shown, scope),
            None => own_quota_name(digest, scope),
        }
    }

    /// Makes a new key for an organisation.
    pub fn generate(&self, org: &str, random: [u8; 16]) -> String {
        key_format::generate(org, self.rules.function(), random)
    }

    /// The hash that stands for a key in listings, when keys are hashed.
    pub fn shown_hash(&self, token: &str) -> Option<String> {
        self.rules.hash_keys.then(|| key_format::hash(token, KeyFunction::Plain))
    }

    /// The listed form of a key in memory: the key or its hash.
    pub fn shown_of(&self, digest: &Digest) -> Option<String> {
        self.table.with(digest, StoredKey::shown)
    }

    /// Whether a text is a key in memory.
    pub fn has_in_memory(&self, token: &str) -> bool {
        let digest = self.digest(token);
        self.table.contains(&digest) || self.shared.as_ref().is_some_and(|shared| shared.get(&digest).is_some())
    }

    /// The session of a key in memory, without policies applied.
    fn session(&self, digest: &Digest) -> Option<Session> {
        self.table.with(digest, StoredKey::session).flatten()
    }

    /// A session with its policies applied.
    pub fn with_policies(&self, session: &Session) -> Result<Session, policy::PolicyError> {
        let policies = self.policies.load();
        policy::apply(session, &|id| policies.get(id))
    }

    /// The listed forms of all keys, sorted.
    pub async fn shown(&self) -> Result<Vec<String>, StoreFault> {
        let mut shown = self.shown_in_table(|_| true).await;
        if let Some(shared) = &self.shared {
            shown.extend(shared.cluster.redis.ids(DocumentSpace::Session).await?);
        }
        Ok(sorted(shown))
    }

    /// The listed forms of the keys that may call an API, sorted. Scans a shared store completely.
    pub async fn shown_for(&self, api: &str) -> Result<Vec<String>, StoreFault> {
        let policies = self.policies();
        let may_call = |entry: &StoredKey| entry.session().is_some_and(|session| lets_call(session, &policies, api));
        let mut shown = self.shown_in_table(may_call).await;
        if let Some(shared) = &self.shared {
            shown.extend(shared.names_for(api, policies.clone()).await?);
        }
        Ok(sorted(shown))
    }

    /// The listed forms of matching keys in memory. Yields to other work in between: a million keys take seconds.
    async fn shown_in_table(&self, fits: impl Fn(&StoredKey) -> bool) -> Vec<String> {
        let mut shown = Vec::new();
        for some in self.table.digests().chunks(SHOWN_AT_ONCE) {
            let see = |digest| self.table.with(digest, |entry| fits(entry).then(|| entry.shown())).flatten();
            shown.extend(some.iter().filter_map(see));
            tokio::task::yield_now().await;
        }
        shown
    }

    /// The policies in effect.
    pub fn policies(&self) -> Arc<Policies> {
        self.policies.load_full()
    }

    /// Like [`Keys::policies`], for a short time: it does not write to a reference counter that all cores share.
    #[inline]
    pub fn policies_now(&self) -> Guard<Arc<Policies>> {
        self.policies.load()
    }

    /// Puts policies into effect, for every key from its next request. Unchanged policies leave all compiled keys valid. Reports patterns
    /// that have no effect.
    pub fn set_policies(&self, policies: Policies) -> Vec<Problem> {
        let problems = self.patterns.keep(&policies);
        if policies.differ_from(&self.policies.load()) {
            self.policies.store(Arc::new(policies));
            self.generation.fetch_add(1, Ordering::AcqRel);
        }
        problems
    }

    /// Stores changed quotas once a second, for the lifetime of the process.
    pub async fn write_behind(self: Arc<Self>) {
        let mut turns = 0_u64;
        loop {
            tokio::time::sleep(WRITE_BEHIND).await;
            turns += 1;
            if turns.is_multiple_of(BUDGETS_FORGOTTEN_EVERY) {
                self.forget_budgets(tollgate_clock::unix_s());
            }
            if self.holds_quotas.load(Ordering::Acquire) {
                continue;
            }
            if let Err(fault) = self.forget_ended(tollgate_clock::unix_s()).await {
                tracing::error!(%fault, "expired keys can't be deleted yet");
            }
            if let Err(fault) = self.save_quotas().await {
                tracing::error!(%fault, "quotas can't be stored");
            }
        }
    }

    /// Pauses or resumes the quota writer; [`Keys::save_quotas`] still works.
    pub fn hold_quotas(&self, hold: bool) {
        self.holds_quotas.store(hold, Ordering::Release);
    }

    /// Reads stored quotas again before the first request: the previous process may have changed them.
    pub fn read_quotas_again(&self) -> Result<(), StoreFault> {
        if self.shared.is_some() {
            return Ok(());
        }
        let saved = SavedQuotas::default();
        self.store.for_each_counter(&mut |counter| saved.add(&counter))?;
        self.saved.replace(saved);
        self.load_orgs()
    }

    /// Stores the quotas that have changed since the last call.
    pub async fn save_quotas(&self) -> Result<(), StoreFault> {
        let changed = self.dirty.take();
        let mut rest = changed.as_slice();
        while !rest.is_empty() {
            let (some, later) = rest.split_at(rest.len().min(COUNTERS_MAX));
            // Read just before the request: if a key is deleted meanwhile, its counters are deleted after this write.
            let counters: Vec<CounterValue> = some.iter().filter_map(|quota| quota.counter()).collect();
            if let Err(fault) = self.store.write_counters(counters).await {
                rest.iter().for_each(|quota| self.dirty.add(quota));
                return Err(fault);
            }
            rest = later;
        }
        Ok(())
    }
}

impl Counters {
    /// Marks the counters of a reset or deleted key: they are no longer stored.
    fn retire(&self) {
        self.retired.store(true, Ordering::Release);
    }

    fn has_quotas(&self) -> bool {
        !self.quotas.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// The counter of one rate limit, made on first use.
    fn rate(&self, name: String, make: impl FnOnce(&str) -> Limiter) -> Arc<Limiter> {
        let mut rates = self.rates.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = rates.get(&name) else {
            let made = Arc::new(make(&name));
            rates.insert(name, made.clone());
            return made;
        };
        known.clone()
    }
}

/// Whether a session with these policies may call an API.
fn lets_call(session: Session, policies: &Policies, api: &str) -> bool {
    let session = policy::apply(&session, &|id| policies.get(id)).unwrap_or(session);
    session.access_rights.is_empty() || session.access_rights.contains_key(api)
}

fn sorted(mut shown: Vec<String>) -> Vec<String> {
    shown.sort_unstable();
    shown.dedup();
    shown
}

/// The name of a quota in a shared store.
pub fn shared_quota_name(shown: &str, scope: &str) -> String {
    if scope.is_empty() { format!("quota-{shown}") } else { format!("quota-{scope}-{shown}") }
}

/// The name of a quota in the embedded store; with an empty scope, the prefix of all of a key's quotas.
pub fn own_quota_name(digest: &Digest, scope: &str) -> String {
    format!("quota-{}-{scope}", hex(digest))
}

#[cfg(test)]
mod tests;
