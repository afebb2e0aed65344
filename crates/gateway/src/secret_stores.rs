//! Secrets that are stored on other servers: HashiCorp Vault and Consul, over their HTTP APIs. A secret is read when it is first asked for and
//! then again and again; while a store does not answer, its last good values stay. Values are never logged.

mod consul;
mod vault;

use consul::Consul;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use tollgate_model::config::{KvSettings, RemoteStore};
use tollgate_model::reference::{RemoteSecrets, SecretFault, SecretStoreState};
use tollgate_outbound::HttpClientSettings;
use vault::Vault;

/// Largest answer of a store: a secret is a key, a certificate or a password, not a data set.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Time for an answer, where the store's settings do not say.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// How long those who ask wait at most for all attempts together.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// How soon a secret without a value is asked for again.
const RETRY: Duration = Duration::from_secs(2);
/// Questions in this time get the answer of the last one.
const JUST_NOW: Duration = Duration::from_millis(500);

/// The connections to all stores.
#[derive(Clone)]
pub(crate) struct SecretStores(Arc<Stores>);

struct Stores {
    runtime: Handle,
    by_name: BTreeMap<String, SecretStore>,
    known: Mutex<HashMap<SecretName, KnownSecret>>,
    generation: AtomicU64,
    refreshed: Mutex<Option<Instant>>,
}

/// What names a secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct SecretName {
    store: String,
    path: String,
    field: Option<String>,
}

/// What the last question about a secret brought.
struct KnownSecret {
    /// The last good value.
    value: Option<String>,
    /// Why there is no value.
    fault: Option<SecretFault>,
    asked: Instant,
    /// Whether the configuration uses it, which is read only once.
    of_configuration: bool,
}

/// One store, and how its answers are.
struct SecretStore {
    server: SecretServer,
    is_up: AtomicBool,
    answers: AtomicU64,
    faults: AtomicU64,
}

/// What is asked.
enum SecretServer {
    Vault(Vault),
    Consul(Consul),
    /// Its settings are unusable.
    Unusable(String),
}

/// Connects to the stores of a configuration; `None` if there are none.
pub(crate) fn connect(settings: &KvSettings) -> Option<Arc<dyn RemoteSecrets>> {
    let stores = settings.remote_stores();
    if stores.is_empty() {
        return None;
    }
    match SecretStores::start(stores) {
        Ok(stores) => Some(Arc::new(stores)),
        Err(error) => {
            tracing::error!(%error, "no thread for stores of secrets");
            None
        }
    }
}

/// Reads the secrets again and again. Calls `changed` when one has another value.
pub(crate) fn watch(
    secrets: &Arc<dyn RemoteSecrets>,
    interval: Duration,
    changed: impl Fn() + Send + 'static,
) -> std::io::Result<()> {
    let secrets = secrets.clone();
    let run = move || {
        let mut generation = secrets.generation();
        let mut last = Instant::now();
        loop {
            std::thread::sleep(RETRY.min(interval));
            let lacks_some = secrets.states().iter().any(|store| !store.is_up);
            if last.elapsed() < interval && !lacks_some {
                continue;
            }
            last = Instant::now();
            secrets.refresh();
            if std::mem::replace(&mut generation, secrets.generation()) != generation {
                changed();
            }
        }
    };
    std::thread::Builder::new().name("secrets".to_owned()).spawn(run).map(drop)
}

impl SecretStores {
    fn start(stores: BTreeMap<String, RemoteStore>) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(4).build()?;
        let handle = runtime.handle().clone();
        let run = move || runtime.block_on(std::future::pending::<()>());
        std::thread::Builder::new().name("secret-stores".to_owned()).spawn(run)?;
        let made = |(name, store)| {
            let server = match store {
                RemoteStore::Vault(settings) => Vault::new(&settings).map(SecretServer::Vault),
                RemoteStore::Consul(settings) => Consul::new(&settings).map(SecretServer::Consul),
            };
            let server = server.unwrap_or_else(SecretServer::Unusable);
            (name, SecretStore { server, is_up: AtomicBool::new(true), answers: AtomicU64::new(0), faults: AtomicU64::new(0) })
        };
        Ok(SecretStores(Arc::new(Stores {
            runtime: handle,
            by_name: stores.into_iter().map(made).collect(),
            known: Mutex::default(),
            generation: AtomicU64::new(0),
            refreshed: Mutex::default(),
        })))
    }

    /// Asks a store, and waits for its answer.
    fn ask(&self, name: &SecretName) -> Result<String, SecretFault> {
        let (answer, answered) = sync_channel(1);
        let (stores, asked) = (self.0.clone(), name.clone());
        self.0.runtime.spawn(async move {
            // Nobody waits any more after a long time.
            let _ = answer.send(stores.read(&asked).await);
        });
        let late = || SecretFault::Unavailable("can't be read: the store does not answer".to_owned());
        answered.recv_timeout(WAIT_MAX).unwrap_or_else(|_| Err(late()))
    }

    /// Notes an answer. Returns what applies now.
    fn note(&self, name: &SecretName, answer: Result<String, SecretFault>) -> Result<String, SecretFault> {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = !known.contains_key(name);
        let entry = known.entry(name.clone()).or_insert_with(|| KnownSecret {
            value: None,
            fault: None,
            asked: Instant::now(),
            // The configuration is read before anything else.
            of_configuration: self.0.refreshed.lock().unwrap_or_else(PoisonError::into_inner).is_none(),
        });
        entry.asked = Instant::now();
        match answer {
            Ok(value) => {
                let is_changed = entry.value.as_ref() != Some(&value);
                if is_changed && !is_new {
                    self.0.generation.fetch_add(1, Ordering::AcqRel);
                    let (secret, store) = (name.to_string(), &name.store);
                    match entry.of_configuration {
                        true => {
                            tracing::warn!(secret, store, "a secret of the configuration has changed: it applies after a restart")
                        }
                        false => tracing::info!(secret, store, "a secret has changed"),
                    }
                }
                entry.value = Some(value.clone());
                entry.fault = None;
                Ok(value)
            }
            Err(fault) => {
                if entry.value.is_some() && fault == SecretFault::Missing && entry.fault.is_none() {
                    tracing::warn!(secret = name.to_string(), "a secret is gone from its store: its last value stays");
                }
                // Where a store is asked in two places, the second is asked once the first is known to have nothing.
                if fault == SecretFault::Missing && matches!(entry.fault, Some(SecretFault::Unavailable(_))) {
                    self.0.generation.fetch_add(1, Ordering::AcqRel);
                }
                entry.fault = Some(fault.clone());
                entry.value.clone().ok_or(fault)
            }
        }
    }
}

impl RemoteSecrets for SecretStores {
    fn secret(&self, store: &str, path: &str, field: Option<&str>) -> Result<String, SecretFault> {
        if !self.0.by_name.contains_key(store) {
            return Err(SecretFault::Unavailable(format!("can't be read: no store {store:?} is configured")));
        }
        let name = SecretName { store: store.to_owned(), path: path.to_owned(), field: field.map(str::to_owned) };
        {
            let known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
            match known.get(&name) {
                Some(KnownSecret { value: Some(value), .. }) => return Ok(value.clone()),
                Some(KnownSecret { fault: Some(fault), asked, .. }) if asked.elapsed() < JUST_NOW => return Err(fault.clone()),
                _ => {}
            }
        }
        self.note(&name, self.ask(&name))
    }

    fn generation(&self) -> u64 {
        self.0.generation.load(Ordering::Acquire)
    }

    fn refresh(&self) {
        {
            let mut refreshed = self.0.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
            if refreshed.replace(Instant::now()).is_some_and(|last| last.elapsed() < JUST_NOW) {
                return;
            }
        }
        let mut names: Vec<SecretName> = self.0.known.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        names.sort();
        let mut silent: Option<String> = None;
        for name in names {
            // One question without an answer is enough for a store that is gone.
            if silent.as_ref() == Some(&name.store) {
                continue;
            }
            let answer = self.ask(&name);
            if matches!(answer, Err(SecretFault::Unavailable(_))) {
                silent = Some(name.store.clone());
            }
            // Whoever needs the value asks for it.
            let _ = self.note(&name, answer);
        }
    }

    fn states(&self) -> Vec<SecretStoreState> {
        let state = |(name, store): (&String, &SecretStore)| SecretStoreState {
            name: name.clone(),
            is_up: store.is_up.load(Ordering::Relaxed),
            answers: store.answers.load(Ordering::Relaxed),
            faults: store.faults.load(Ordering::Relaxed),
        };
        self.0.by_name.iter().map(state).collect()
    }
}

impl Stores {
    async fn read(&self, name: &SecretName) -> Result<String, SecretFault> {
        let Some(store) = self.by_name.get(&name.store) else { return Err(SecretFault::Missing) };
        let field = name.field.as_deref();
        let answer = match &store.server {
            SecretServer::Vault(vault) => vault.read(&name.path, field).await,
            SecretServer::Consul(consul) => consul.read(&name.path, field).await,
            SecretServer::Unusable(why) => Err(SecretFault::Unavailable(format!("can't be read: {why}"))),
        };
        let is_up = !matches!(answer, Err(SecretFault::Unavailable(_)));
        let count = if is_up { &store.answers } else { &store.faults };
        count.fetch_add(1, Ordering::Relaxed);
        let was_up = store.is_up.swap(is_up, Ordering::Relaxed);
        match &answer {
            // Once for each outage.
            Err(SecretFault::Unavailable(why)) if was_up => {
                tracing::warn!(
                    store = name.store,
                    secret = name.to_string(),
                    why,
                    "a store of secrets fails; last good values stay"
                );
            }
            _ if is_up && !was_up => tracing::info!(store = name.store, "a store of secrets answers again"),
            _ => {}
        }
        answer
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.store, self.path)?;
        self.field.as_ref().map_or(Ok(()), |field| write!(f, "#{field}"))
    }
}

impl fmt::Debug for SecretStores {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SecretStores").field(&self.0.by_name.keys()).finish()
    }
}

/// Connections to a store.
fn client_settings() -> HttpClientSettings {
    HttpClientSettings { http2: false, idle_max: Duration::from_secs(90), connect_time_max: Some(ANSWER_TIME_MAX) }
}

/// Why a store did not answer with a secret.
fn unavailable(why: impl fmt::Display) -> SecretFault {
    SecretFault::Unavailable(format!("can't be read: {why}"))
}

/// A member of a JSON object as text.
fn member(object: &serde_json::Value, field: &str) -> Result<String, SecretFault> {
    match object.get(field) {
        Some(serde_json::Value::String(text)) => Ok(text.clone()),
        None | Some(serde_json::Value::Null) => Err(SecretFault::Missing),
        Some(other) => Ok(other.to_string()),
    }
}
