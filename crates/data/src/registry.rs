//! State that survives reloads: upstream targets (so that pooled connections are kept), limit counters, breakers and round-robin positions.
//! Snapshots hold references to it; an entry is dropped after the last snapshot that uses it.

use crate::api_call::ApiCallQueue;
use crate::backends::RoutingState;
use crate::breaker::{Breaker, BreakerPlace};
use crate::bundle_store::BundleStore;
use crate::found_target::FoundTarget;
use crate::graphql::{Consumers, GraphClient, GraphqlApi, GraphqlProblem, GraphqlSource};
use crate::limit_table::LimitTable;
use crate::offload::BodyThreads;
use crate::pool_hedging::PoolHedging;
use crate::pool_name::PoolName;
use crate::second_tier::SecondTier;
use crate::settings::CacheMemory;
use crate::stream_rules::StreamMeter;
use crate::waf::RuleLibrary;
use arc_swap::ArcSwap;
use rustls::pki_types::ServerName;
use serde_json::Value;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tollgate_access::jwt::{KeySet, SetRules};
use tollgate_access::keys::Keys;
use tollgate_access::oauth::OauthClients;
use tollgate_access::passwords::Passwords;
use tollgate_access::secret::random_bytes;
use tollgate_balance::{RetryBudget, TargetHealth};
use tollgate_cache::{ApiCache, ApiCacheSettings, Cache, CacheSettings, Purge};
use tollgate_cluster::CachePurge;
use tollgate_engine::{Address, AddressCounts, EgressProxy, Http2, ProxyProtocol, Target, TargetTls};
use tollgate_javascript::ScriptEngine;
use tollgate_limit::{LimitAlgorithm, Limiter, SharedLimits};
use tollgate_llm_gateway::{LlmFigures, LlmServer, RestMail, TokenizerLibrary};
use tollgate_mcp_federation::{FederatedCall, FederatedServer, Mailboxes, OwnApis, end_all_processes};
use tollgate_observe::{HookMeter, Meters};
use tollgate_offload::StartedOnce;
use tollgate_outbound::{LazyCallClient, OfferedBodies};
use tollgate_pattern::PatternPool;
use tollgate_plugin::{HookKind, PluginDrivers};
use tollgate_statistics::{LlmCall, OpenCalls};
use tollgate_tls::{self, Library, TlsRules};

/// All state that survives reloads.
#[derive(Default)]
pub struct Registry {
    /// Counters of the APIs.
    pub meters: Meters,
    /// Patterns of endpoints and access rights.
    pub patterns: Arc<PatternPool>,
    kept: KeptState,
    shared_limits: OnceLock<Arc<SharedLimits>>,
    /// HTTP client for calls to other servers.
    pub auth_client: Arc<LazyCallClient>,
    /// The threads that run scripts.
    pub scripts: ScriptEngine,
    /// HTTP client for requests of scripts, which must not keep others waiting.
    pub script_client: LazyCallClient,
    /// The keys that scripts read and store.
    pub script_keys: OnceLock<Arc<Keys>>,
    /// The threads that check passwords.
    pub passwords: StartedOnce<Passwords>,
    /// The threads for work on large bodies and long GraphQL documents.
    pub body_threads: Arc<StartedOnce<BodyThreads>>,
    /// The last definition that was wrong, which all versions of its API ask for.
    graphql_failed: Mutex<Option<(GraphqlKey, Vec<GraphqlProblem>)>>,
    /// The threads and connections of data graphs.
    pub graph_client: Arc<GraphClient>,
    /// Consumers of Kafka.
    pub consumers: Consumers,
    /// Takes requests of the gateway's own to its APIs.
    pub api_calls: OnceLock<Arc<ApiCallQueue>>,
    /// The gateway's own APIs; set where requests are sent.
    pub own_apis: OnceLock<Arc<dyn OwnApis>>,
    /// Where calls of MCP clients wait for answers.
    pub mailboxes: Arc<Mailboxes>,
    /// Calls of federated MCP servers, for their records.
    pub federated_calls: Arc<OpenCalls<FederatedCall>>,
    /// The way to other gateways for what providers of language models refuse.
    pub rest_mail: OnceLock<Arc<dyn RestMail>>,
    /// What becomes of requests to language models, for their records.
    pub llm_calls: Arc<OpenCalls<LlmCall>>,
    /// Vocabularies of language models.
    pub tokenizers: TokenizerLibrary,
    /// Streams of language models that cores may take over.
    pub offered_bodies: Arc<OfferedBodies>,
    /// Seals names of sessions: all gateways of a cluster have the same.
    pub session_secret: OnceLock<[u8; 32]>,
    /// The clients of the OAuth 2.0 provider.
    pub oauth_clients: Arc<OauthClients>,
    /// Certificates by file or identifier.
    pub certificates: Arc<Library>,
    /// Rules of web application firewalls.
    pub rule_library: RuleLibrary,
    /// Listeners and backends that routes name.
    pub routing: Arc<RoutingState>,
    next_serial: AtomicU64,
    /// The response cache, made when the first API uses it.
    cache: OnceLock<Arc<Cache>>,
    second_tier: OnceLock<Arc<SecondTier>>,
    /// What runs plugins.
    pub plugins: OnceLock<PluginDrivers>,
    /// Their bundles.
    pub bundles: OnceLock<Arc<BundleStore>>,
}

/// What APIs share by name, and what a new snapshot takes over from the one before.
#[derive(Default)]
struct KeptState {
    targets: Interned<TargetKey, Target>,
    limits: Interned<String, Limiter>,
    limit_tables: Interned<String, LimitTable>,
    address_counts: Interned<String, AddressCounts>,
    breakers: Interned<BreakerPlace, Breaker>,
    turns: Interned<String, AtomicUsize>,
    target_healths: Interned<(PoolName, String), TargetHealth>,
    retry_budgets: Interned<(String, String), RetryBudget>,
    discovered: Interned<PoolName, ArcSwap<Vec<FoundTarget>>>,
    stream_meters: Interned<String, StreamMeter>,
    hedgings: Interned<PoolName, PoolHedging>,
    key_sets: Interned<(String, SetRules), KeySet>,
    graphql: Interned<GraphqlKey, GraphqlApi>,
    api_caches: Interned<String, ApiCache>,
    llm_servers: Interned<(String, String), LlmServer>,
    llm_figures: Interned<String, LlmFigures>,
    mcp_servers: Interned<(String, String), FederatedServer>,
    hook_meters: Interned<HookPlace, HookMeter>,
    client_configs: Mutex<HashMap<TlsRules, Arc<rustls::ClientConfig>>>,
}

/// An API, and what its schema and limits are made of.
type GraphqlKey = (String, GraphqlSource);

/// A hook of an API: its API, its kind and the name of its function.
pub type HookPlace = (String, &'static str, String);

#[derive(Clone, PartialEq, Eq, Hash)]
struct TargetKey {
    address: String,
    proxy: Option<(String, ProxyProtocol)>,
    tls: Option<(String, TlsRules)>,
    http2: Http2,
}

/// Values by key, each kept while it is in use.
struct Interned<K, V>(Mutex<HashMap<K, Weak<V>>>);

impl<K, V> Default for Interned<K, V> {
    fn default() -> Self {
        Interned(Mutex::default())
    }
}

impl<K: Eq + Hash, V> Interned<K, V> {
    fn get_or(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        let made: Result<Arc<V>, Infallible> = self.get_or_try(key, || Ok(make()));
        match made {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    fn get_or_try<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<Arc<V>, E> {
        self.get_or_replace(key, |known| known.map_or_else(|| make().map(Arc::new), Ok))
    }

    /// Gives out what `choose` makes of the value that is known.
    fn get_or_replace<E>(&self, key: K, choose: impl FnOnce(Option<Arc<V>>) -> Result<Arc<V>, E>) -> Result<Arc<V>, E> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value = choose(values.get(&key).and_then(Weak::upgrade))?;
        values.insert(key, Arc::downgrade(&value));
        Ok(value)
    }

    fn all(&self) -> Vec<Arc<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().filter_map(Weak::upgrade).collect()
    }

    fn entries(&self) -> Vec<(K, Arc<V>)>
    where
        K: Clone,
    {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.iter().filter_map(|(key, value)| Some((key.clone(), value.upgrade()?))).collect()
    }

    fn purge(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, value| value.strong_count() > 0);
    }
}

impl Registry {
    /// A registry of its own for APIs that are only rehearsed: no counter, breaker or cache of theirs is shared with those in service.
    pub fn rehearsal(&self) -> Self {
        Registry {
            patterns: self.patterns.clone(),
            auth_client: self.auth_client.clone(),
            oauth_clients: self.oauth_clients.clone(),
            certificates: self.certificates.clone(),
            routing: self.routing.clone(),
            body_threads: self.body_threads.clone(),
            ..Registry::default()
        }
    }

    /// Makes a registry whose APIs are counted by these meters.
    pub fn new(meters: Meters) -> Self {
        Registry { meters, ..Registry::default() }
    }

    /// The target for an address; all users share it.
    pub fn target(
        &self,
        address: Address,
        proxy: Option<EgressProxy>,
        server_name: Option<ServerName<'static>>,
        rules: &TlsRules,
        http2: Http2,
    ) -> Result<Arc<Target>, String> {
        let key = TargetKey {
            address: format!("{address:?}"),
            proxy: proxy.as_ref().map(|proxy| (format!("{:?}", proxy.address), proxy.protocol.clone())),
            tls: server_name.as_ref().map(|name| (name.to_str().into_owned(), rules.clone())),
            http2,
        };
        let tls = match server_name {
            Some(name) => Some(TargetTls { config: self.client_config(rules)?, name }),
            None => None,
        };
        Ok(self.kept.targets.get_or(key, || Target { serial: self.new_serial(), address, proxy, tls, http2 }))
    }

    /// A serial number that no target has had before.
    pub fn new_serial(&self) -> u64 {
        self.next_serial.fetch_add(1, Ordering::Relaxed)
    }

    /// Makes limits count together with other gateways from now on.
    pub fn share_limits(&self, limits: Arc<SharedLimits>) {
        let _ = self.shared_limits.set(limits);
    }

    /// The counter of a limit; with a shared store, gateways count together.
    pub fn limit(&self, name: String, algorithm: LimitAlgorithm) -> Arc<Limiter> {
        let shared = self.shared_limits.get().map(|limits| limits.rate(&format!("api.{name}"), algorithm));
        self.kept.limits.get_or(name, || shared.map_or_else(|| Limiter::new(algorithm), Limiter::Shared))
    }

    /// The counters of a limit that counts for each value; with a shared store, gateways count together.
    pub fn limit_table(&self, name: String, algorithm: LimitAlgorithm) -> Arc<LimitTable> {
        let shared = self.shared_limits.get().cloned();
        self.kept.limit_tables.get_or(name.clone(), || LimitTable::new(name, algorithm, shared))
    }

    /// What counts the requests in progress of an API by address.
    pub fn address_counts(&self, api: &str) -> Arc<AddressCounts> {
        self.kept.address_counts.get_or(api.to_owned(), AddressCounts::default)
    }

    /// The breaker of an endpoint.
    pub fn breaker(&self, place: BreakerPlace) -> Arc<Breaker> {
        self.kept.breakers.get_or(place.clone(), || Breaker::new(place))
    }

    /// All breakers, sorted by place.
    pub fn all_breakers(&self) -> Vec<Arc<Breaker>> {
        let mut breakers = self.kept.breakers.all();
        breakers.sort_by(|a, b| a.place.cmp(&b.place));
        breakers
    }

    /// The counters of a hook.
    pub fn hook_meter(&self, api: &str, kind: HookKind, name: &str) -> Arc<HookMeter> {
        self.kept.hook_meters.get_or((api.to_owned(), kind.field(), name.to_owned()), HookMeter::default)
    }

    /// The counters of a plugin that changes analytics records.
    pub fn record_hook_meter(&self, api: &str, name: &str) -> Arc<HookMeter> {
        self.kept.hook_meters.get_or((api.to_owned(), "traffic_logs", name.to_owned()), HookMeter::default)
    }

    /// The counters of all hooks, sorted by place.
    pub fn all_hook_meters(&self) -> Vec<(HookPlace, Arc<HookMeter>)> {
        let mut meters = self.kept.hook_meters.entries();
        meters.sort_by(|(a, _), (b, _)| a.cmp(b));
        meters
    }

    /// Round-robin position in a list of targets.
    pub fn turn(&self, name: String) -> Arc<AtomicUsize> {
        self.kept.turns.get_or(name, AtomicUsize::default)
    }

    /// The health of a target in a pool.
    pub fn target_health(&self, pool: &PoolName, url: &str) -> Arc<TargetHealth> {
        self.kept.target_healths.get_or((pool.clone(), url.to_owned()), TargetHealth::default)
    }

    /// The retry budget of a pool's version.
    pub fn retry_budget(&self, pool: &PoolName) -> Arc<RetryBudget> {
        self.kept.retry_budgets.get_or((pool.api.clone(), pool.version.clone()), RetryBudget::default)
    }

    /// The last good list of targets that was discovered for a pool; empty if there was none.
    pub fn discovered(&self, pool: &PoolName) -> Arc<ArcSwap<Vec<FoundTarget>>> {
        self.kept.discovered.get_or(pool.clone(), ArcSwap::default)
    }

    /// The state of a pool's hedging.
    pub fn hedging(&self, pool: &PoolName) -> Arc<PoolHedging> {
        self.kept.hedgings.get_or(pool.clone(), PoolHedging::default)
    }

    /// The counters of an API's connections.
    pub fn stream_meter(&self, api: &str) -> Arc<StreamMeter> {
        self.kept.stream_meters.get_or(api.to_owned(), StreamMeter::default)
    }

    /// The key set at a URL.
    pub fn key_set(&self, url: &str, rules: &SetRules) -> Result<Arc<KeySet>, String> {
        self.kept.key_sets.get_or_try((url.to_owned(), rules.clone()), || KeySet::new(url, rules, &self.auth_client))
    }

    /// What GraphQL requests to an API are checked against. A schema that a reload leaves as it was is not compiled again, and the documents
    /// that were checked stay known.
    pub fn graphql_api(
        &self,
        api: &str,
        source: GraphqlSource,
        make: impl FnOnce() -> Result<GraphqlApi, Vec<GraphqlProblem>>,
    ) -> Result<Arc<GraphqlApi>, Vec<GraphqlProblem>> {
        let key = (api.to_owned(), source);
        let mut failed = self.graphql_failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, problems)) = &*failed
            && *known == key
        {
            return Err(problems.clone());
        }
        let made = self.kept.graphql.get_or_try(key.clone(), make);
        *failed = made.as_ref().err().map(|problems| (key, problems.clone()));
        made
    }

    /// Ends all child processes. Nobody is served any more.
    pub fn end_processes(&self) {
        end_all_processes();
    }

    /// The federated MCP server of an API. One that a reload leaves as it was goes on, with its sessions and processes. `terms` say whether it
    /// is the same.
    pub fn mcp_server(&self, api: &str, terms: String, make: impl FnOnce() -> FederatedServer) -> Arc<FederatedServer> {
        self.kept.mcp_servers.get_or((api.to_owned(), terms), make)
    }

    /// Takes mail about a key of a provider that rests. False if it is about something else.
    pub fn hear_rest(&self, mail: &Value) -> bool {
        let servers = self.kept.llm_servers.entries();
        servers.iter().fold(false, |is_known, (_, server)| server.hear_rest(mail) || is_known)
    }

    /// The server in front of an API's models. One that a reload leaves as it was goes on; another one takes over its figures.
    pub fn llm_server(&self, api: &str, terms: String, make: impl FnOnce(Arc<LlmFigures>) -> LlmServer) -> Arc<LlmServer> {
        let figures = self.kept.llm_figures.get_or(api.to_owned(), LlmFigures::default);
        self.kept.llm_servers.get_or((api.to_owned(), terms), || make(figures))
    }

    /// Figures of APIs in front of models, by their ids.
    pub fn all_llm_figures(&self) -> Vec<(String, Arc<LlmFigures>)> {
        self.kept.llm_figures.entries()
    }

    /// The response cache of an API. Stored responses survive a reload of the API.
    ///
    /// # Errors
    /// The system has no randomness.
    pub fn api_cache(&self, api: &str, limits: CacheMemory) -> Result<Arc<ApiCache>, String> {
        let cache = self.cache(limits)?;
        self.kept.api_caches.get_or_replace(api.to_owned(), |known| match known {
            Some(known) => Ok(known),
            None => cache.api(api, ApiCacheSettings::default()).map_err(|error| error.to_string()),
        })
    }

    /// The same with settings of the API's own, from now on.
    ///
    /// # Errors
    /// The same, or there is not as much memory as the API wants for itself.
    pub fn api_cache_with(&self, api: &str, limits: CacheMemory, settings: ApiCacheSettings) -> Result<Arc<ApiCache>, String> {
        let cache = self.cache(limits)?;
        self.kept.api_caches.get_or_replace(api.to_owned(), |known| match known {
            Some(known) if *known.settings() == settings => Ok(known),
            Some(known) => known.with_settings(settings).map_err(|error| error.to_string()),
            None => cache.api(api, settings).map_err(|error| error.to_string()),
        })
    }

    /// The response cache of all APIs, made when it is first used.
    fn cache(&self, limits: CacheMemory) -> Result<&Arc<Cache>, String> {
        match self.cache.get() {
            Some(cache) => Ok(cache),
            None => {
                let halves = [random_bytes(), random_bytes()].map(|half| half.map_err(|error| error.to_string()));
                let [one, other] = halves;
                let mut secret = [0; 32];
                let (low, high) = secret.split_at_mut(16);
                low.copy_from_slice(&one?);
                high.copy_from_slice(&other?);
                let memory_bytes = limits.memory_bytes_max;
                let made = CacheSettings { memory_bytes, object_bytes_max: limits.body_bytes_max, secret };
                Ok(self.cache.get_or_init(|| Cache::new(made)))
            }
        }
    }

    /// The response caches of all APIs, and the memory that they use together.
    pub fn api_caches(&self) -> (Vec<Arc<ApiCache>>, u64) {
        (self.kept.api_caches.all(), self.cache.get().map_or(0, |cache| cache.bytes_used()))
    }

    /// Purges stored responses in memory, including those in flight, even if the API is not served now.
    pub fn purge_responses(&self, purge: &CachePurge) {
        let Some(cache) = self.cache.get() else { return };
        let caches = match &purge.api {
            Some(api) => cache.api(api, ApiCacheSettings::default()).into_iter().collect(),
            None => self.kept.api_caches.all(),
        };
        let scope = &purge.scope;
        let kind = if scope.soft { Purge::Soft } else { Purge::Hard };
        for cache in caches {
            if scope.everything {
                cache.purge_all(kind);
            }
            scope.urls.iter().for_each(|url| cache.purge_url(url.as_bytes(), kind));
            scope.prefixes.iter().for_each(|path| cache.purge_prefix(path.as_bytes(), kind));
            scope.tags.iter().for_each(|tag| cache.purge_tag(tag.as_bytes(), kind));
        }
    }

    /// From now on responses that are stored by Tyk's rules are shared with other gateways.
    pub fn share_responses(&self, tier: Arc<SecondTier>) {
        let _ = self.second_tier.set(tier);
    }

    /// Where responses that are stored by Tyk's rules are shared with other gateways, if they are.
    pub fn second_tier(&self) -> Option<&Arc<SecondTier>> {
        self.second_tier.get()
    }

    /// Drops all unused entries.
    pub fn purge(&self) {
        // Each is named, so that none can be missed.
        let KeptState {
            targets,
            limits,
            limit_tables,
            address_counts,
            breakers,
            turns,
            target_healths,
            retry_budgets,
            discovered,
            stream_meters,
            hedgings,
            key_sets,
            graphql,
            api_caches,
            llm_servers,
            llm_figures,
            mcp_servers,
            hook_meters,
            client_configs,
        } = &self.kept;
        targets.purge();
        limits.purge();
        limit_tables.purge();
        address_counts.purge();
        breakers.purge();
        turns.purge();
        target_healths.purge();
        retry_budgets.purge();
        discovered.purge();
        stream_meters.purge();
        hedgings.purge();
        key_sets.purge();
        graphql.purge();
        api_caches.purge();
        llm_servers.purge();
        llm_figures.purge();
        mcp_servers.purge();
        hook_meters.purge();
        self.routing.backends.purge();
        self.patterns.purge();
        let mut configs = client_configs.lock().unwrap_or_else(PoisonError::into_inner);
        configs.retain(|_, config| Arc::strong_count(config) > 1);
    }

    fn client_config(&self, rules: &TlsRules) -> Result<Arc<rustls::ClientConfig>, String> {
        let mut configs = self.kept.client_configs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = configs.get(rules) {
            return Ok(config.clone());
        }
        let config = Arc::new(tollgate_tls::client_config(rules, &self.certificates)?);
        configs.insert(rules.clone(), config.clone());
        Ok(config)
    }
}
