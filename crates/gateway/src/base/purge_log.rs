//! Purges of cached responses, carried out by all gateways on one Redis. A purge is an entry of a log in Redis, which every gateway reads from where
//! it left off; a message only says that there is something to read. A gateway that missed messages thus misses no purge. Each gateway says every
//! second, and after each purge, that it is there and how far it has read: that is how a purge is confirmed.

mod peers;

use super::bus::{self, Signer, UncheckedMessage};
use peers::{PeerPresence, PeerTable, PresenceState};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;
use tollgate_model::config::GatewayConfig;
use tollgate_store::{Heard, LogId, Redis, StoreFault, StoreFaultKind};
use utoipa::ToSchema;

/// The channel of messages that only these gateways understand: Tyk's nodes would log each of them as unknown.
const CHANNEL: &str = "tollgate.cache";
/// The log.
const LOG: &str = "tollgate.cache.purges";
/// Entries that the log keeps. A gateway that missed more drops everything.
const ENTRIES_MAX: usize = 1_000;
/// Entries that are read together.
const READ_AT_ONCE: usize = 100;
/// How long a purge waits for the other gateways.
const CONFIRM_TIME_MAX: Duration = Duration::from_secs(1);
/// How often a gateway says that it is there.
const PRESENT_EVERY: Duration = Duration::from_secs(1);

/// Whoever has not looked at the log for so long may not have been waited for.
const LATE_AFTER: Duration = Duration::from_millis(1_500);

/// A purge: the command of the entries, and of the message that there is a new one.
const PURGE: &str = "TollgateCachePurge";
/// What a gateway says of itself.
const PRESENCE: &str = "TollgateGateway";
/// Tyk's message that an API's cache is to be emptied; the payload is the API's id.
const DELETE_API_CACHE: &str = "DeleteAPICache";

/// Which cached responses of an API are purged, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PurgeScope {
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
pub(crate) struct CachePurge {
    /// The API; `None` for all APIs.
    pub api: Option<String>,
    pub scope: PurgeScope,
}

impl CachePurge {
    /// All responses of an API, or of all APIs.
    pub(crate) fn everything(api: Option<String>) -> Self {
        CachePurge { api, scope: PurgeScope { everything: true, ..PurgeScope::default() } }
    }
}

/// Carries purges out on this gateway.
pub(crate) trait PurgeTarget: Send + Sync {
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
pub(crate) enum NotEverywhere {
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

/// The log, and what is known of the gateways that read it.
pub(crate) struct PurgeLog {
    redis: Arc<Redis>,
    signer: Signer,
    /// This gateway.
    name: String,
    target: Arc<dyn PurgeTarget>,
    peers: Mutex<PeerTable>,
    peers_changed: Notify,
    /// The last entry that was carried out here; `None` until the log was read first.
    applied: Mutex<Option<LogId>>,
    /// There may be entries that were not read.
    is_behind: AtomicBool,
    /// The other gateways are not known yet.
    is_new: AtomicBool,
    wake: Notify,
}

impl PurgeLog {
    /// Follows the log. `name` is this gateway's, unlike that of any other.
    pub(crate) fn start(redis: Arc<Redis>, config: &GatewayConfig, name: String, target: Arc<dyn PurgeTarget>) -> Arc<Self> {
        let log = Arc::new(PurgeLog {
            redis: redis.clone(),
            signer: Signer::new(config),
            name,
            target,
            peers: Mutex::default(),
            peers_changed: Notify::new(),
            applied: Mutex::default(),
            is_behind: AtomicBool::new(false),
            is_new: AtomicBool::new(false),
            wake: Notify::new(),
        });
        let heard = Arc::downgrade(&log);
        redis.listen_to_channels(&[CHANNEL, bus::CHANNEL], move |what| {
            if let Some(log) = heard.upgrade() {
                log.hear(what);
            }
        });
        redis.runtime().spawn(follow(Arc::downgrade(&log)));
        log
    }

    /// Tells all gateways, and waits until each that is known to be alive has carried the purge out.
    ///
    /// # Errors
    /// The purge is not in effect everywhere. A gateway that was told and has not confirmed carries it out as soon as it can.
    pub(crate) async fn spread(&self, purge: &CachePurge) -> Result<(), NotEverywhere> {
        let deadline = tokio::time::Instant::now() + CONFIRM_TIME_MAX;
        let told = tokio::time::timeout_at(deadline, self.tell(purge)).await;
        let silent = |_| Err(StoreFault::new(StoreFaultKind::Unavailable, "Redis does not answer"));
        let id = told.unwrap_or_else(silent).map_err(NotEverywhere::Untold)?;
        loop {
            let changed = self.peers_changed.notified();
            let unconfirmed = lock(&self.peers).unconfirmed(id, Instant::now());
            if unconfirmed.is_empty() {
                return Ok(());
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return Err(NotEverywhere::Unconfirmed(unconfirmed));
            }
        }
    }

    /// The gateways that are alive, this one first, once it follows the log.
    pub(crate) fn gateways(&self) -> Vec<String> {
        let own = lock(&self.applied).is_some().then(|| self.name.clone());
        own.into_iter().chain(lock(&self.peers).alive(Instant::now())).collect()
    }

    /// This gateway ends: the others need not wait for it.
    pub(crate) async fn leave(&self) {
        let _ = timeout(CONFIRM_TIME_MAX, self.say(PresenceState::Gone)).await;
    }

    /// Tells all gateways; returns the place of the purge in the log.
    ///
    /// # Errors
    /// What Redis says; perhaps nobody was told then.
    pub(crate) async fn tell(&self, purge: &CachePurge) -> Result<LogId, StoreFault> {
        let payload = serde_json::to_string(purge).unwrap_or_default();
        let id = self.append(&payload).await?;
        if let (Some(api), true) = (&purge.api, purge.scope.everything) {
            let message = self.signer.message_from(&self.name, DELETE_API_CACHE, api);
            self.redis.publish(bus::CHANNEL, message.as_bytes()).await?;
        }
        self.redis.publish(CHANNEL, self.signer.message(PURGE, "").as_bytes()).await?;
        Ok(id)
    }

    async fn append(&self, payload: &str) -> Result<LogId, StoreFault> {
        let entry = self.signer.message_from(&self.name, PURGE, payload);
        self.redis.append_to_log(LOG, entry.as_bytes(), ENTRIES_MAX).await
    }

    async fn say(&self, state: PresenceState) -> Result<(), StoreFault> {
        let applied = lock(&self.applied).map(|id| id.to_string());
        let presence = PeerPresence { gateway: self.name.clone(), applied, state };
        let payload = serde_json::to_string(&presence).unwrap_or_default();
        self.redis.publish(CHANNEL, self.signer.message(PRESENCE, &payload).as_bytes()).await
    }

    fn hear(&self, heard: Heard) {
        match heard {
            Heard::Up => {
                self.is_new.store(true, Ordering::Release);
                self.read_soon();
            }
            Heard::Down(why) => {
                tracing::warn!(why, "purges of other gateways are not received; they are read when Redis is back");
            }
            Heard::Message(message) => {
                if let Err(why) = self.hear_message(&message) {
                    tracing::warn!(why, "a message about cached responses is ignored");
                }
            }
            Heard::Changed(..) | Heard::AllChanged => {}
        }
    }

    fn read_soon(&self) {
        self.is_behind.store(true, Ordering::Release);
        self.wake.notify_one();
    }

    fn hear_message(&self, message: &[u8]) -> Result<(), &'static str> {
        // Most messages of Tyk's channel are about keys; they are not even parsed.
        if ![PURGE, PRESENCE, DELETE_API_CACHE].iter().any(|command| contains(message, command)) {
            return Ok(());
        }
        let message = UncheckedMessage::parse(message)?;
        match message.command() {
            PURGE => {
                self.signer.check(&message)?;
                self.read_soon();
            }
            PRESENCE => {
                self.signer.check(&message)?;
                let presence = serde_json::from_str(message.payload()).map_err(|_| "it says nothing of a gateway")?;
                self.hear_presence(presence);
            }
            // One of these gateways sends it to Tyk's nodes, and has put the purge into the log.
            DELETE_API_CACHE if message.text("from").is_empty() => {
                self.signer.check(&message)?;
                self.target.purge_with_redis(message.payload());
            }
            _ => {}
        }
        Ok(())
    }

    fn hear_presence(&self, presence: PeerPresence) {
        if presence.gateway == self.name {
            return;
        }
        if presence.state == PresenceState::New {
            self.wake.notify_one();
        }
        lock(&self.peers).hear(presence, Instant::now());
        self.peers_changed.notify_waiters();
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
        if message.text("from") == self.name {
            return Ok(None);
        }
        serde_json::from_str(message.payload()).map(Some).map_err(|_| "it is no purge")
    }

    /// Drops everything, and follows the log from a new entry on that purges nothing.
    async fn begin(&self) -> Result<LogId, StoreFault> {
        let nothing = CachePurge { api: None, scope: PurgeScope::default() };
        let payload = serde_json::to_string(&nothing).unwrap_or_default();
        let id = self.append(&payload).await?;
        self.target.purge(&CachePurge::everything(None));
        Ok(id)
    }
}

/// Reads the log when there is something to read, and says once in a while that this gateway is there.
async fn follow(log: Weak<PurgeLog>) {
    let mut seen = Instant::now();
    while let Some(strong) = log.upgrade() {
        let is_late = seen.elapsed() > LATE_AFTER;
        if strong.is_behind.swap(false, Ordering::AcqRel)
            && let Err(fault) = strong.catch_up(is_late).await
        {
            tracing::debug!(%fault, "the log of purges can't be read");
            strong.is_behind.store(true, Ordering::Release);
        } else {
            seen = Instant::now();
        }
        let state = if strong.is_new.swap(false, Ordering::AcqRel) { PresenceState::New } else { PresenceState::Up };
        if strong.say(state).await.is_err() {
            strong.is_new.fetch_or(state == PresenceState::New, Ordering::AcqRel);
        }
        let _ = timeout(PRESENT_EVERY, strong.wake.notified()).await;
    }
}

fn contains(text: &[u8], part: &str) -> bool {
    text.windows(part.len()).any(|window| window == part.as_bytes())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
