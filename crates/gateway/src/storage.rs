//! Opens the configured store of keys and certificates: the embedded store, or a Redis shared by several gateways.

use std::error::Error;
use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tollgate_access::certificates::{Certificates, KeyEncoding};
use tollgate_access::keys::{KeyRules, Keys, SharedKeys};
use tollgate_cluster::{Cluster, redis_settings};
use tollgate_model::config::GatewayConfig;
use tollgate_pattern::PatternPool;
use tollgate_store::{Embedded, Redis, RedisSettings, Store, StoreFault};

/// How long the start waits for Redis before it continues without.
const START_TIME_MAX: Duration = Duration::from_secs(2);

/// The configured store and its keys.
pub(crate) struct Opened {
    pub store: Arc<dyn Store>,
    pub keys: Keys,
    /// The gateways on the Redis of the keys, if it is one.
    pub cluster: Option<Arc<Cluster>>,
    /// The lock that keeps other processes out of the store, if there is one.
    pub lock: Option<File>,
}

/// Opens the configured store. `lock` is the predecessor's lock; `patterns` receives the patterns of access rights.
pub(crate) fn open(config: &GatewayConfig, lock: Option<File>, patterns: Arc<PatternPool>) -> Result<Opened, Box<dyn Error>> {
    let rules = KeyRules::new(config, patterns);
    if !config.storage.is_redis() {
        let directory = &config.tollgate.data_dir;
        let store = Arc::new(match lock {
            Some(lock) => Embedded::open_with_lock(directory, lock)?,
            None => Embedded::open(directory)?,
        });
        let lock = Some(store.lock()?);
        let begun = Instant::now();
        let keys = Keys::load(rules, store.clone())?;
        tracing::info!(keys = keys.len(), ms = begun.elapsed().as_millis() as u64, "keys loaded");
        return Ok(Opened { store, keys, cluster: None, lock });
    }
    let redis = Arc::new(Redis::open(as_patient_as_requests(redis_settings(&config.storage)?, config))?);
    if !redis.wait_until_up(START_TIME_MAX) {
        tracing::warn!(why = redis.trouble(), "starting without Redis; requests that need it are refused until it is available");
    }
    let cluster = Cluster::connect(redis.clone(), config);
    let keys = Keys::shared(rules, SharedKeys::new(cluster.clone(), config.tollgate.shared_store.clone()));
    Ok(Opened { store: redis, keys, cluster: Some(cluster), lock: None })
}

/// The Redis in which gateways share cached responses: a separate one, else that of the keys, else none.
pub(crate) fn open_cache(config: &GatewayConfig, keys: &Keys) -> Result<Option<Arc<Redis>>, Box<dyn Error>> {
    if !config.enable_separate_cache_store || !config.cache_storage.is_redis() {
        return Ok(keys.shared_keys().map(|shared| shared.cluster.redis.clone()));
    }
    let settings = redis_settings(&config.cache_storage).map_err(|reason| format!("cache_{reason}"))?;
    Ok(Some(Arc::new(Redis::open(as_patient_as_requests(settings, config))?)))
}

/// Settings with which a server counts as gone no sooner than a request would stop to wait for it.
fn as_patient_as_requests(settings: RedisSettings, config: &GatewayConfig) -> RedisSettings {
    let answer_time_max = Duration::from_millis(config.tollgate.shared_store.answer_ms_max);
    RedisSettings { ping_time_max: settings.ping_time_max.max(answer_time_max), ..settings }
}

/// The certificates in the store. If a shared store does not respond at the start, they are read later.
pub(crate) fn open_certificates(config: &GatewayConfig, store: Arc<dyn Store>, keys: &Keys) -> Result<Certificates, StoreFault> {
    let secret = &config.security.private_certificate_encoding_secret;
    // Without a secret of its own, Tyk encrypts with the gateway's.
    let encoding = KeyEncoding { encrypts: secret.clone(), decrypts: vec![secret.clone(), config.secret.clone()] };
    let shared = keys.shared_keys().map(|shared| shared.cluster.redis.clone());
    let certificates = Certificates::new(store, shared, encoding);
    match certificates.read() {
        Err(fault) if keys.shared_keys().is_some() => {
            tracing::warn!(%fault, "stored certificates can't be read yet; retrying");
            Ok(certificates)
        }
        read => read.map(|()| certificates),
    }
}
