//! Purges of cached responses, carried out by all gateways on one Redis. A purge is an entry of a log in Redis, which every gateway reads from where
//! it left off; a message only says that there is something to read. A gateway that missed messages thus misses no purge. How far a gateway has read is
//! part of its sign of life: that is how a purge is confirmed.

use crate::message::{Signer, UncheckedMessage};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tollgate_store::{LogId, Redis, StoreFault};
use utoipa::ToSchema;

/// The log.
const LOG: &str = "tollgate.cache.purges";
/// Entries that the log keeps. A gateway that missed more drops everything.
const ENTRIES_MAX: usize = 1_000;
/// Entries that are read together.
const READ_AT_ONCE: usize = 100;

/// A purge: the command of the entries, and of the message that there is a new one.
pub(crate) const PURGE: &str = "TollgateCachePurge";
/// Tyk's message that an API's cache is to be emptied; the payload is the API's id.
pub(crate) const DELETE_API_CACHE: &str = "DeleteAPICache";

/// Which cached responses of an API are purged, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PurgeScope {
    /// All responses of the API.
    #[schema(required = false)]
    pub everything: bool,
    /// Responses of these URLs in every variant: path and query, `/shop/products/1?page=2`.
    #[schema(required = false)]
    pub urls: Vec<String>,
    /// Responses of these paths and everything below them: `/shop/products/` means `/shop/products`, `/shop/products?page=2` and `/shop/products/1`.
    #[schema(required = false)]
    pub prefixes: Vec<String>,
    /// Responses with one of these tags in `Surrogate-Key`, `xkey` or `Cache-Tag`.
    #[schema(required = false)]
    pub tags: Vec<String>,
    /// The responses become stale instead of being dropped: they are served where stale responses may be, until the upstream has confirmed or
    /// replaced them. Responses that are cached by Tyk's rules are dropped all the same.
    #[schema(required = false)]
    pub soft: bool,
}

/// A purge of cached responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachePurge {
    /// The API; `None` for all APIs.
    pub api: Option<String>,
    /// Which of its responses.
    pub scope: PurgeScope,
}

impl CachePurge {
    /// All responses of an API, or of all APIs.
    pub fn everything(api: Option<String>) -> Self {
        CachePurge { api, scope: PurgeScope { everything: true, ..PurgeScope::default() } }
    }
}

/// Carries purges out on this gateway.
pub trait PurgeTarget: Send + Sync {
    /// Purges what is in memory.
    fn purge(&self, purge: &CachePurge);

    /// Purges all responses of an API, those in Redis too: Tyk's dashboard wants it, or this gateway carries out a purge so late that it may have
    /// written to Redis after the others had deleted there.
    fn purge_with_redis(&self, api: &str);

    /// Waits until nothing that was stored before the last purge is still on its way to a store that gateways share.
    fn settle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// Why a purge is not in effect on all gateways.
#[derive(Debug)]
pub enum NotEverywhere {
    /// The other gateways were not told.
    Untold(StoreFault),
    /// These gateways have not confirmed it in time.
    Unconfirmed(Vec<String>),
}

impl fmt::Display for NotEverywhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotEverywhere::Untold(fault) => write!(f, "only this gateway has purged: {fault}"),
            NotEverywhere::Unconfirmed(names) => write!(f, "not confirmed within a second by {}", names.join(", ")),
        }
    }
}

/// The log, as far as this gateway has read it.
pub struct PurgeLog {
    redis: Arc<Redis>,
    signer: Signer,
    /// This process, unlike any other.
    id: String,
    pub(crate) target: Arc<dyn PurgeTarget>,
    /// The last entry that was carried out here; `None` until the log was read first.
    applied: Mutex<Option<LogId>>,
    /// There may be entries that were not read.
    pub(crate) is_behind: AtomicBool,
}

impl PurgeLog {
    /// The log as a process reads it; `id` is unlike that of any other.
    pub(crate) fn new(redis: Arc<Redis>, signer: Signer, id: String, target: Arc<dyn PurgeTarget>) -> Self {
        PurgeLog { redis, signer, id, target, applied: Mutex::default(), is_behind: AtomicBool::new(true) }
    }

    /// The last entry that was carried out here; `None` until the log was read first.
    pub(crate) fn applied(&self) -> Option<LogId> {
        *lock(&self.applied)
    }

    /// Appends a purge; returns its place.
    pub(crate) async fn append(&self, purge: &CachePurge) -> Result<LogId, StoreFault> {
        let payload = serde_json::to_string(purge).unwrap_or_default();
        let entry = self.signer.message_from(&self.id, PURGE, &payload);
        self.redis.append_to_log(LOG, entry.as_bytes(), ENTRIES_MAX).await
    }

    /// Carries out what the log has that was not read yet, if there may be something. Returns whether nothing is left.
    pub(crate) async fn catch_up_if_behind(&self, is_late: bool) -> bool {
        if !self.is_behind.swap(false, Ordering::AcqRel) {
            return true;
        }
        let caught_up = self.catch_up(is_late).await;
        if let Err(fault) = &caught_up {
            tracing::debug!(%fault, "the log of purges can't be read");
            self.is_behind.store(true, Ordering::Release);
        }
        caught_up.is_ok()
    }

    /// Carries out what the log has that was not read yet.
    async fn catch_up(&self, is_late: bool) -> Result<(), StoreFault> {
        let last = self.purge_unread(is_late).await?;
        self.target.settle().await;
        *lock(&self.applied) = Some(last);
        Ok(())
    }

    /// Purges what the log says from the last entry on that is known; returns the last one now.
    async fn purge_unread(&self, is_late: bool) -> Result<LogId, StoreFault> {
        let Some(mut last) = *lock(&self.applied) else { return self.begin().await };
        loop {
            // With the entry that was the last: if it is not there, others may be missing too.
            let entries = self.redis.log_from(LOG, last, READ_AT_ONCE).await?;
            if entries.first().is_none_or(|(id, _)| *id != last) {
                tracing::warn!("the log of purges has a gap: all cached responses are dropped");
                return self.begin().await;
            }
            let is_end = entries.len() < READ_AT_ONCE;
            for (id, entry) in entries.into_iter().skip(1) {
                match self.read(&entry) {
                    // Its own purges are carried out before they are in the log. Once more would drop what came since.
                    Ok(None) => {}
                    Ok(Some(purge)) => {
                        self.target.purge(&purge);
                        purge.api.iter().filter(|_| is_late).for_each(|api| self.target.purge_with_redis(api));
                    }
                    Err(why) => tracing::warn!(%id, why, "an entry of the log of purges is ignored"),
                }
                last = id;
            }
            if is_end {
                return Ok(last);
            }
        }
    }

    /// The purge of an entry; `None` for one of this gateway.
    fn read(&self, entry: &[u8]) -> Result<Option<CachePurge>, &'static str> {
        let message = UncheckedMessage::parse(entry)?;
        self.signer.check(&message)?;
        if message.text("from") == self.id {
            return Ok(None);
        }
        serde_json::from_str(message.payload()).map(Some).map_err(|_| "it is no purge")
    }

    /// Drops everything, and follows the log from a new entry on that purges nothing.
    async fn begin(&self) -> Result<LogId, StoreFault> {
        let nothing = CachePurge { api: None, scope: PurgeScope::default() };
        let id = self.append(&nothing).await?;
        self.target.purge(&CachePurge::everything(None));
        Ok(id)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
