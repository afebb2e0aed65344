//! The second tier of the response cache: a Redis in which gateways, and Tyk's nodes, share what they store by Tyk's rules, in Tyk's format. It is
//! asked when memory has nothing. What it does not answer in time, or not in a usable form, is a miss.

use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tollgate_cache::{ApiCache, Stored, TykPayload, Unusable};
use tollgate_clock::Pending;
use tollgate_store::{CachedValue, Redis, StoreFault};

/// Responses that wait to be written: they keep their memory, which the cache counts. When more wait, new ones are not written.
const WRITES_WAITING_MAX: usize = 1_024;
/// Responses that are written together. As text one has a third more bytes than in memory.
const WRITES_TOGETHER_MAX: usize = 16;
/// Questions on their way: their answers are not counted among the cache's memory, and each may have the size of the largest response.
const READS_MAX: usize = 64;

/// The second tier.
pub struct SecondTier {
    redis: Arc<Redis>,
    /// How long a request waits for an answer.
    pub answer_time_max: Duration,
    work: mpsc::Sender<TierWork>,
    reads: Arc<Semaphore>,
}

/// A complete response for the second tier.
pub struct TierEntry {
    pub cache: Arc<ApiCache>,
    pub key: String,
    pub stored: Arc<Stored>,
    /// When it was stored, in milliseconds since 1970.
    pub now_ms: u64,
}

enum TierWork {
    Write(TierEntry),
    /// Tells when everything before is done.
    Settle(oneshot::Sender<()>),
}

impl SecondTier {
    pub fn new(redis: Arc<Redis>, answer_time_max: Duration) -> Self {
        let (work, received) = mpsc::channel(WRITES_WAITING_MAX);
        redis.runtime().spawn(carry_out(redis.clone(), received));
        SecondTier { redis, answer_time_max, work, reads: Arc::new(Semaphore::new(READS_MAX)) }
    }

    /// Asks for the response of a key. `None` while Redis can't be asked.
    pub fn read(&self, key: String, to_head: bool) -> Option<Pending<Option<Arc<TykPayload>>>> {
        if self.redis.trouble().is_some() {
            return None;
        }
        let permit = self.reads.clone().try_acquire_owned().ok()?;
        let (completer, pending) = Pending::pair();
        let (redis, time_max) = (self.redis.clone(), self.answer_time_max);
        self.redis.runtime().spawn(async move {
            let _held = permit;
            let found = match tokio::time::timeout(time_max, redis.cached(&key)).await {
                Ok(Ok(text)) => text,
                Ok(Err(fault)) => {
                    tracing::debug!(%fault, "a stored response can't be read from Redis");
                    None
                }
                Err(_) => {
                    redis.suspect();
                    None
                }
            };
            completer.complete(found.and_then(|text| usable(&text, to_head)).map(Arc::new));
        });
        Some(pending)
    }

    /// Writes a response behind the request.
    pub fn write(&self, entry: TierEntry) {
        // With a queue that is full, other gateways ask the upstream once more.
        let _ = self.work.try_send(TierWork::Write(entry));
    }

    /// Waits until what was given to [`SecondTier::write`] before is written or dropped.
    pub async fn settle(&self) {
        let (done, settled) = oneshot::channel();
        if self.work.send(TierWork::Settle(done)).await.is_ok() {
            let _ = settled.await;
        }
    }

    /// Deletes the responses of an API. Its names begin with the API's id twice: first Tyk's prefix, then Tyk's key.
    ///
    /// # Errors
    /// What Redis says; some may be deleted then.
    pub async fn delete(&self, api: &str) -> Result<(), StoreFault> {
        self.redis.delete_cached(&format!("cache-{api}{api}")).await
    }
}

fn usable(text: &[u8], to_head: bool) -> Option<TykPayload> {
    let now_ms = tollgate_clock::unix_s().saturating_mul(1_000);
    match TykPayload::decode(text, to_head, now_ms) {
        Ok(payload) => Some(payload),
        Err(Unusable::Expired) => None,
        Err(why) => {
            tracing::warn!(?why, "a stored response in Redis is not usable");
            None
        }
    }
}

/// Writes what comes, in its order.
async fn carry_out(redis: Arc<Redis>, mut received: mpsc::Receiver<TierWork>) {
    let mut batch = Vec::new();
    while received.recv_many(&mut batch, WRITES_TOGETHER_MAX).await > 0 {
        let (mut writes, mut settled) = (Vec::new(), Vec::new());
        for work in batch.drain(..) {
            match work {
                TierWork::Write(entry) => writes.extend(entry.value().map(|value| {
                    let redis = redis.clone();
                    tokio::spawn(async move { redis.put_cached(value).await })
                })),
                TierWork::Settle(done) => settled.push(done),
            }
        }
        for write in writes {
            if let Ok(Err(fault)) = write.await {
                tracing::debug!(%fault, "a response is not stored in Redis");
            }
        }
        for done in settled {
            let _ = done.send(());
        }
    }
}

impl TierEntry {
    /// `None` when it was purged or has expired meanwhile.
    fn value(self) -> Option<CachedValue> {
        let expires_s = self.stored.expires_s(self.now_ms);
        let ttl_s = expires_s.saturating_sub(self.now_ms / 1_000);
        if ttl_s == 0 || !self.cache.is_current(&self.stored) {
            return None;
        }
        let text = TykPayload::encode(&self.stored, i64::try_from(expires_s).ok()?)?;
        Some(CachedValue { key: self.key, value: text.into_bytes(), ttl_s })
    }
}
