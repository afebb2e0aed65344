//! The cache of one gateway and its part for one API: settings, memory, purges and metrics.

use crate::figures::{ApiCounters, CacheFigures};
use crate::flights::Flights;
use crate::generations::{Generations, Labels, Purge};
use crate::store::Partition;
use std::sync::Arc;

/// Settings of a gateway's cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheSettings {
    /// Memory for all responses that are stored, arriving or still being sent, in bytes.
    pub memory_bytes: u64,
    /// Largest body that is stored, in bytes.
    pub object_bytes_max: u64,
    /// Random bytes that clients can't know; they key the digests of cache keys.
    pub secret: [u8; 32],
}

/// Settings of the cache of one API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiCacheSettings {
    /// Memory reserved for this API, out of the gateway's; `None` shares the rest with other APIs.
    pub memory_bytes: Option<u64>,
    /// Whether directives of requests are followed (RFC 9111 §5.2.1). If not, a client can't make the cache ask the upstream.
    pub honours_requests: bool,
    /// How long a request waits for another request, in milliseconds.
    pub wait_ms_max: u64,
    /// How long requests don't wait for each other after an unstorable response, in milliseconds.
    pub hit_for_miss_ms: u64,
}

impl Default for ApiCacheSettings {
    fn default() -> Self {
        ApiCacheSettings { memory_bytes: None, honours_requests: true, wait_ms_max: 5_000, hit_for_miss_ms: 10_000 }
    }
}

/// The cache of one gateway.
pub struct Cache {
    pub(crate) settings: CacheSettings,
    shared: Arc<Partition>,
    pub(crate) flights: Arc<Flights>,
    pub(crate) generations: Generations,
}

/// Error: an API asked for more reserved memory than half of what the gateway's cache has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoomForApi;

impl std::fmt::Display for NoRoomForApi {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("is more than half of the memory that the gateway's cache has left")
    }
}

impl Cache {
    /// Makes an empty cache.
    pub fn new(settings: CacheSettings) -> Arc<Self> {
        let memory_bytes = settings.memory_bytes.saturating_sub(Generations::BYTES);
        let shared = Arc::new(Partition::new(memory_bytes, settings.object_bytes_max));
        Arc::new(Cache { settings, shared, flights: Arc::new(Flights::new()), generations: Generations::new() })
    }

    /// The cache's part for the API `id`. It survives reloads of the definition; two parts with the same `id` share stored responses,
    /// unless one has reserved memory.
    ///
    /// # Errors
    /// There is not enough memory for the API's reservation.
    pub fn api(self: &Arc<Self>, id: &str, settings: ApiCacheSettings) -> Result<Arc<ApiCache>, NoRoomForApi> {
        let partition = self.partition(settings.memory_bytes)?;
        let counters = Arc::new(ApiCounters::default());
        Ok(Arc::new(ApiCache { cache: Arc::clone(self), id: id.into(), settings, partition, counters }))
    }

    fn partition(&self, memory_bytes: Option<u64>) -> Result<Arc<Partition>, NoRoomForApi> {
        match memory_bytes {
            None => Ok(Arc::clone(&self.shared)),
            Some(bytes) => self.shared.split_off(bytes, self.settings.object_bytes_max).map(Arc::new).ok_or(NoRoomForApi),
        }
    }

    /// Memory in use by the APIs without reserved memory, in bytes.
    pub fn bytes_used(&self) -> u64 {
        self.shared.bytes_used() + Generations::BYTES
    }
}

/// The cache's part for one API.
pub struct ApiCache {
    pub(crate) cache: Arc<Cache>,
    id: Box<str>,
    pub(crate) settings: ApiCacheSettings,
    pub(crate) partition: Arc<Partition>,
    pub(crate) counters: Arc<ApiCounters>,
}

impl std::fmt::Debug for ApiCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ApiCache").field("id", &self.id).finish_non_exhaustive()
    }
}

impl ApiCache {
    /// Id of the API.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its settings.
    pub fn settings(&self) -> &ApiCacheSettings {
        &self.settings
    }

    /// The same part with other settings. Stored responses stay unless the memory changes.
    ///
    /// # Errors
    /// There is not enough memory to reserve.
    pub fn with_settings(&self, settings: ApiCacheSettings) -> Result<Arc<ApiCache>, NoRoomForApi> {
        let partition = match settings.memory_bytes == self.settings.memory_bytes {
            true => Arc::clone(&self.partition),
            false => self.cache.partition(settings.memory_bytes)?,
        };
        let (cache, counters) = (Arc::clone(&self.cache), Arc::clone(&self.counters));
        Ok(Arc::new(ApiCache { cache, id: self.id.clone(), settings, partition, counters }))
    }

    pub(crate) fn labels(&self) -> Labels<'_> {
        Labels { secret: &self.cache.settings.secret, api: &self.id }
    }

    /// Purges every response of the API.
    pub fn purge_all(&self, purge: Purge) {
        self.cache.generations.purge(self.labels().all(), purge);
    }

    /// Purges the responses of one URL, in every variant: path and query as in [`crate::KeyParts::target`].
    pub fn purge_url(&self, target: &[u8], purge: Purge) {
        self.cache.generations.purge(self.labels().url(target), purge);
    }

    /// Purges a path and everything below it: `/a` and `/a/` both mean `/a`, `/a?x` and `/a/b`, and not `/ab`.
    pub fn purge_prefix(&self, path: &[u8], purge: Purge) {
        self.cache.generations.purge(self.labels().folder(path), purge);
    }

    /// Purges the responses that carry a tag in `Surrogate-Key`, `xkey` or `Cache-Tag`.
    pub fn purge_tag(&self, tag: &[u8], purge: Purge) {
        self.cache.generations.purge(self.labels().tag(tag), purge);
    }

    /// Metrics of the cache for this API.
    pub fn figures(&self) -> CacheFigures {
        self.counters.read()
    }
}
