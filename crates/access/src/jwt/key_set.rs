//! The key set at one URL (RFC 7517). It is fetched off the data path: on first use, when it is too old, and when a token names a key that
//! it lacks. If a fetch fails, the old set stays in use.

use super::VerifyKey;
use arc_swap::ArcSwapOption;
use http::Uri;
use hyper::body::Bytes;
use serde_json::Value;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tollgate_clock::Pending;
use tollgate_outbound::{Call, CallClient, LazyCallClient};
use tollgate_text::byte_order_mark;
use tollgate_tls::TlsRules;

/// Largest key set, in bytes. A set has a few KiB; a provider's whole page of sets has some ten.
const SET_BYTES_MAX: usize = 1 << 20;
/// Most keys in one set. Real sets have fewer than ten.
const KEYS_MAX: usize = 256;
/// Deadline of a fetch; no request waits longer for it.
pub const FETCH_TIME_MAX: Duration = Duration::from_secs(5);
/// Pause between two fetches for unknown key names, and after a failure. Strangers choose the names.
const FETCH_PAUSE: Duration = Duration::from_secs(10);
/// The same pause while no set has been fetched yet.
const FIRST_FETCH_PAUSE: Duration = Duration::from_secs(1);
/// How often a fetch is repeated because the set was dropped meanwhile.
const FETCH_ROUNDS_MAX: usize = 2;
/// Maximum age of a set that cannot be fetched again. Providers have long outages, but a withdrawn key must expire.
const STALE_MAX: Duration = Duration::from_secs(24 * 3600);

/// How key sets are fetched and kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SetRules {
    pub tls: TlsRules,
    /// Age after which a set is fetched again.
    pub age_max: Duration,
    /// Whether the URL is a provider's discovery document, which names the URL of the set.
    pub discovered: bool,
}

/// The key set of one URL.
pub struct KeySet {
    uri: Uri,
    rules: SetRules,
    auth_client: Arc<CallClient>,
    keys: ArcSwapOption<Fetched>,
    /// Grows when the keys change, so that tokens checked with the old keys are checked again.
    generation: AtomicU64,
    /// When the next fetch is due, in milliseconds since the gateway started.
    due_ms: AtomicU64,
    /// How often the set was dropped.
    forgotten: AtomicU64,
    fetching: Mutex<Fetching>,
}

struct Fetched {
    at: Duration,
    keys: Vec<(String, Arc<VerifyKey>)>,
    digest: [u8; 32],
}

#[derive(Default)]
struct Fetching {
    running: Option<Pending<()>>,
    /// Start of the last fetch.
    last: Option<Duration>,
}

impl KeySet {
    /// Makes the set of a URL without fetching it.
    pub fn new(url: &str, rules: &SetRules, auth_client: &LazyCallClient) -> Result<Self, String> {
        let uri: Uri = url.parse().map_err(|error| format!("is not a URL: {error}"))?;
        let auth_client = auth_client.get().ok_or("no thread to fetch it with")?;
        Ok(KeySet {
            uri,
            rules: rules.clone(),
            auth_client,
            keys: ArcSwapOption::empty(),
            generation: AtomicU64::new(0),
            due_ms: AtomicU64::new(0),
            forgotten: AtomicU64::new(0),
            fetching: Mutex::default(),
        })
    }

    /// Grows with each change of the keys.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Passes the keys with this name to `see` until it breaks.
    pub fn show<T>(
        self: &Arc<Self>,
        kid: &str,
        now: Duration,
        mut see: impl FnMut(&VerifyKey) -> ControlFlow<T>,
    ) -> ControlFlow<T> {
        self.keep_young(now);
        let fetched = self.keys.load();
        let fresh = fetched.as_ref().filter(|fetched| now.saturating_sub(fetched.at) < STALE_MAX);
        let mut keys = fresh.iter().flat_map(|fetched| &fetched.keys);
        keys.try_for_each(|(name, key)| if name == kid { see(key) } else { ControlFlow::Continue(()) })
    }

    /// Fetches the set in the background if it is too old. Costs one load otherwise.
    #[inline]
    pub fn keep_young(self: &Arc<Self>, now: Duration) {
        let due_ms = self.due_ms.load(Ordering::Relaxed);
        if due_ms > 0 && now.as_millis() as u64 >= due_ms {
            self.due_ms.store((now + FETCH_PAUSE).as_millis() as u64, Ordering::Relaxed);
            self.fetch(now);
        }
    }

    /// Fetches the set because it lacks a key; `None` when it was fetched just before.
    pub fn look_again(self: &Arc<Self>, now: Duration) -> Option<Pending<()>> {
        self.fetch(now)
    }

    /// Drops the keys. The next token that needs one waits for a new set, and tokens that were checked are checked again.
    pub fn forget(&self) {
        let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        fetching.last = None;
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.keys.store(None);
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    fn fetch(self: &Arc<Self>, now: Duration) -> Option<Pending<()>> {
        let mut fetching = self.fetching.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = fetching.running.as_ref().filter(|running| running.get().is_none()) {
            return Some(running.clone());
        }
        let pause = if self.keys.load().is_some() { FETCH_PAUSE } else { FIRST_FETCH_PAUSE };
        if fetching.last.is_some_and(|last| now.saturating_sub(last) < pause) {
            return None;
        }
        let (completer, answer) = Pending::pair();
        fetching.last = Some(now);
        fetching.running = Some(answer.clone());
        let set = self.clone();
        self.auth_client.spawn(async move {
            set.refresh(now).await;
            completer.complete(());
        });
        Some(answer)
    }

    async fn refresh(&self, now: Duration) {
        let begun = Instant::now();
        for _ in 0..FETCH_ROUNDS_MAX {
            let forgotten = self.forgotten.load(Ordering::Acquire);
            match self.fetched().await {
                // The set was dropped while the fetch was in flight, so the answer may contain the keys that had to go.
                Ok(_) if self.forgotten.load(Ordering::Acquire) != forgotten => continue,
                Ok(body) => {
                    let now = now + begun.elapsed();
                    self.take(&body, now);
                    self.due_ms.store((now + self.rules.age_max).as_millis() as u64, Ordering::Relaxed);
                }
                Err(why) => {
                    let kept = if self.keys.load().is_some() { "the last one stays in use" } else { "tokens are refused" };
                    tracing::warn!(url = %self.uri, %why, "a key set can't be fetched: {kept}");
                }
            }
            return;
        }
    }

    async fn fetched(&self) -> Result<Vec<Value>, String> {
        if !self.rules.discovered {
            return keys_of(&self.body(self.uri.clone()).await?);
        }
        let document = self.body(self.uri.clone()).await?;
        let uri = set_of(&document, &self.uri)?;
        keys_of(&self.body(uri).await?)
    }

    async fn body(&self, uri: Uri) -> Result<Bytes, String> {
        let call = Call::get(uri.clone(), self.rules.tls.clone(), FETCH_TIME_MAX, SET_BYTES_MAX);
        let reply = self.auth_client.call(call).await.map_err(|fault| format!("{uri}: {fault}"))?;
        if reply.status.is_success() { Ok(reply.body) } else { Err(format!("{uri} answered {}", reply.status)) }
    }

    fn take(&self, keys: &[Value], now: Duration) {
        let digest = *blake3::hash(Value::from(keys).to_string().as_bytes()).as_bytes();
        let last = self.keys.load_full();
        let changed = last.as_ref().is_none_or(|last| last.digest != digest);
        let keys = match last.filter(|_| !changed) {
            Some(last) => last.keys.clone(),
            None => self.usable(keys),
        };
        self.keys.store(Some(Arc::new(Fetched { at: now, keys, digest })));
        if changed {
            self.generation.fetch_add(1, Ordering::AcqRel);
            tracing::info!(url = %self.uri, keys = self.keys.load().as_ref().map_or(0, |set| set.keys.len()), "key set fetched");
        }
    }

    /// The keys that can verify signatures, by name.
    fn usable(&self, keys: &[Value]) -> Vec<(String, Arc<VerifyKey>)> {
        let mut usable: Vec<(String, Arc<VerifyKey>)> = Vec::new();
        for (index, jwk) in keys.iter().enumerate() {
            let kid = jwk.get("kid").and_then(Value::as_str).unwrap_or_default();
            match VerifyKey::jwk(jwk) {
                Ok(key) => {
                    if usable.iter().any(|(known, _)| known == kid) {
                        tracing::warn!(url = %self.uri, kid, "a key set has several keys of one name: each is tried");
                    }
                    usable.push((kid.to_owned(), Arc::new(key)));
                }
                Err(why) => tracing::warn!(url = %self.uri, index, kid, why, "a key of a key set is not used"),
            }
        }
        usable
    }
}

/// The URL of the key set in a discovery document. The document must belong to its own issuer (OpenID Connect Discovery, 4.3).
fn set_of(document: &[u8], at: &Uri) -> Result<Uri, String> {
    let document: Value =
        serde_json::from_slice(byte_order_mark::without(document)).map_err(|error| format!("is not JSON: {error}"))?;
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let issuer = text("issuer").trim_end_matches('/');
    if at.to_string() != format!("{issuer}/.well-known/openid-configuration") {
        return Err(format!("is the document of another issuer, {issuer:?}"));
    }
    let uri: Uri = text("jwks_uri").parse().map_err(|error| format!("has no usable jwks_uri: {error}"))?;
    let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_http && uri.authority().is_some() { Ok(uri) } else { Err("has no usable jwks_uri".to_owned()) }
}

/// The members of a key set.
fn keys_of(body: &[u8]) -> Result<Vec<Value>, String> {
    let mut document: Value =
        serde_json::from_slice(byte_order_mark::without(body)).map_err(|error| format!("is not JSON: {error}"))?;
    match document.get_mut("keys").map(Value::take) {
        Some(Value::Array(keys)) if keys.len() > KEYS_MAX => Err(format!("has {} keys, at most {KEYS_MAX}", keys.len())),
        Some(Value::Array(keys)) => Ok(keys),
        _ => Err("is no key set: it has no list \"keys\"".to_owned()),
    }
}

#[cfg(test)]
mod tests;
