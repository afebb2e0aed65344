//! The clients that exist, in memory: requests with a token are checked against this list. With the embedded store the list is complete,
//! and a change is in it before the change is answered. With a shared store it holds recently used clients; an entry older than a second is
//! refreshed in the background when it is used.

use super::client::OauthClient;
use papaya::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tollgate_clock::unix_s;
use tollgate_clock::{Completer, Pending};
use tollgate_store::{DocumentSpace, Redis, Store, StoreFault};

/// Separator between API and client in the store's name of a client.
const MARK: &str = ".oauth-clientid.";
/// Mark in the name of a set that lists clients.
const SET_MARK: &str = ".oauth-clientset.";
/// Seconds for which an answer of a shared store is valid, as in Tyk.
const ASKED_AGAIN_S: u64 = 1;
/// How long a request waits for the store.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(2);
/// Most clients of one API to remember with a shared store; beyond this, all are forgotten.
const KNOWN_MAX: usize = 65_536;

/// Whether a name in the provider's part of the store is a client's.
pub fn is_client(id: &str) -> bool {
    id.contains(MARK) && !id.contains(SET_MARK)
}

/// The name of a client in the store.
pub(super) fn client_name(api: &str, client: &str) -> String {
    format!("{api}{MARK}{client}")
}

/// The clients of all APIs.
#[derive(Default)]
pub struct OauthClients {
    apis: HashMap<String, Arc<ApiClients>>,
    /// The store, when several gateways share it.
    redis: OnceLock<Arc<Redis>>,
}

/// The clients of one API.
#[derive(Default)]
pub struct ApiClients {
    api: String,
    known: HashMap<String, Arc<KnownClient>>,
    redis: OnceLock<Arc<Redis>>,
}

/// Cached state of one client.
struct KnownClient {
    is_there: AtomicBool,
    /// When the store was last asked.
    asked_unix_s: AtomicU64,
    is_asked: AtomicBool,
}

/// Whether a client exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    There,
    Gone,
    /// The store must be asked.
    Unknown,
}

impl OauthClients {
    /// Loads the clients of an embedded store, or keeps the shared store for later questions. Blocks.
    ///
    /// # Errors
    /// The store's fault.
    pub fn connect(&self, store: &dyn Store, redis: Option<Arc<Redis>>) -> Result<(), StoreFault> {
        if let Some(redis) = redis {
            self.apis.pin().iter().for_each(|(_, clients)| drop(clients.redis.set(redis.clone())));
            let _ = self.redis.set(redis);
            return Ok(());
        }
        store.for_each(DocumentSpace::OAuth, &mut |id, document| {
            if let Some((api, client)) = id.split_once(MARK).filter(|_| is_client(id))
                && OauthClient::parse(document).is_some()
            {
                self.of(api).put(client);
            }
        })
    }

    /// The clients of one API.
    pub fn of(&self, api: &str) -> Arc<ApiClients> {
        let make = || {
            let clients = ApiClients { api: api.to_owned(), ..ApiClients::default() };
            if let Some(redis) = self.redis.get() {
                let _ = clients.redis.set(redis.clone());
            }
            Arc::new(clients)
        };
        self.apis.pin().get_or_insert_with(api.to_owned(), make).clone()
    }
}

impl ApiClients {
    /// Whether a client exists.
    #[inline]
    pub fn presence(&self, client: &str, now_unix_s: u64) -> Presence {
        let known = self.known.pin();
        let Some(known) = known.get(client) else {
            return if self.redis.get().is_some() && !client.is_empty() { Presence::Unknown } else { Presence::Gone };
        };
        if let Some(redis) = self.redis.get() {
            self.keep_young(client, known, redis, now_unix_s);
        }
        if known.is_there.load(Ordering::Acquire) { Presence::There } else { Presence::Gone }
    }

    /// Asks the store again in the background when the cached answer is too old.
    #[inline]
    fn keep_young(&self, client: &str, known: &Arc<KnownClient>, redis: &Arc<Redis>, now_unix_s: u64) {
        let age = now_unix_s.saturating_sub(known.asked_unix_s.load(Ordering::Relaxed));
        if age <= ASKED_AGAIN_S || known.is_asked.swap(true, Ordering::AcqRel) {
            return;
        }
        let (known, answer, name) = (known.clone(), redis.clone(), client_name(&self.api, client));
        redis.runtime().spawn(async move {
            // While the store does not answer, the cached answer stays valid.
            if let Ok(is_there) = exists(&answer, name).await {
                known.is_there.store(is_there, Ordering::Release);
            }
            known.asked_unix_s.store(unix_s(), Ordering::Relaxed);
            known.is_asked.store(false, Ordering::Release);
        });
    }

    /// Asks the store whether an unknown client exists; the answer is `None` when the store fails or is too slow.
    pub fn ask(self: &Arc<Self>, client: &str) -> Pending<Option<bool>> {
        let (completer, answer): (Completer<Option<bool>>, _) = Pending::pair();
        let Some(redis) = self.redis.get().cloned() else {
            completer.complete(Some(false));
            return answer;
        };
        let (clients, client) = (self.clone(), client.to_owned());
        redis.clone().runtime().spawn(async move {
            let asked = exists(&redis, client_name(&clients.api, &client));
            let is_there = tokio::time::timeout(ANSWER_TIME_MAX, asked).await.ok().and_then(Result::ok);
            if let Some(is_there) = is_there {
                clients.note(&client, is_there);
            }
            completer.complete(is_there);
        });
        answer
    }

    /// Notes that a client exists.
    pub fn put(&self, client: &str) {
        self.note(client, true);
    }

    /// Notes that a client is gone.
    pub fn remove(&self, client: &str) {
        match self.redis.get() {
            Some(_) => self.note(client, false),
            None => drop(self.known.pin().remove(client)),
        }
    }

    fn note(&self, client: &str, is_there: bool) {
        let known = self.known.pin();
        if self.redis.get().is_some() && known.len() >= KNOWN_MAX {
            known.clear();
        }
        let entry = KnownClient {
            is_there: AtomicBool::new(is_there),
            asked_unix_s: AtomicU64::new(unix_s()),
            is_asked: AtomicBool::new(false),
        };
        known.insert(client.to_owned(), Arc::new(entry));
    }
}

async fn exists(redis: &Redis, id: String) -> Result<bool, StoreFault> {
    Ok(redis.read(DocumentSpace::OAuth, id).await?.is_some())
}
