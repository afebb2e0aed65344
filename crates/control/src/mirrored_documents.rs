//! JSON documents of other servers that clients ask the gateway for, or speak of: each is fetched once for all who ask at a time, and kept for a while.
//! A failure is kept too, for a shorter time, because anyone may ask.

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tollgate_data::discovery::MirroredDiscovery;
use tollgate_outbound::{Call, CallClient, CallFault, Holder, Shares};
use tollgate_text::byte_order_mark;
use tollgate_tls::TlsRules;

/// How long a document is used; those of authorization change rarely.
const AGE_MAX: Duration = Duration::from_secs(300);
/// How long a failure is.
const FAULT_AGE_MAX: Duration = Duration::from_secs(5);
const FETCH_TIME_MAX: Duration = Duration::from_secs(10);
const DOCUMENT_BYTES_MAX: usize = 64 << 10;
/// Most documents. An upstream chooses only the names of its own servers; what is too old goes first.
const DOCUMENTS_MAX: usize = 10_000;
/// Documents of clients, whose URLs anyone chooses: how many are kept and for how long, how long and large they may be, and how many are fetched at a
/// time, of all hosts and of one.
const CLIENTS_MAX: usize = 1_000;
const CLIENT_AGE_MAX: Duration = Duration::from_secs(24 * 3600);
const CLIENT_TIME_MAX: Duration = Duration::from_secs(5);
const CLIENT_BYTES_MAX: usize = 16 << 10;
const CLIENT_CALLS_MAX: usize = 32;
const CLIENT_CALLS_OF_HOST_MAX: usize = 2;

/// The members of a document, sorted.
pub(crate) type MirroredDocument = BTreeMap<String, Value>;

/// The documents.
pub struct MirroredDocuments {
    /// By their URLs, as the APIs' upstreams name them.
    of_servers: FetchedDocuments<(String, String), MirroredDocument>,
    /// By their URLs, which are the ids of clients.
    of_clients: FetchedDocuments<String, Bytes>,
    client_calls: Arc<Shares>,
}

/// Documents by their names.
struct FetchedDocuments<K, D> {
    places: Mutex<HashMap<K, Arc<DocumentPlace<D>>>>,
    documents_max: usize,
}

/// Held while it is fetched.
struct DocumentPlace<D>(tokio::sync::Mutex<Option<Fetched<D>>>);

struct Fetched<D> {
    at: Instant,
    age_max: Duration,
    outcome: Result<D, MirrorFault>,
}

/// Why there is no document.
#[derive(Clone, Debug)]
pub(crate) enum MirrorFault {
    Url,
    Call(CallFault),
    Status(StatusCode),
    NotJson,
    /// Too many are fetched at the moment.
    Busy,
    /// What is wrong with it.
    Content(String),
}

impl Default for MirroredDocuments {
    fn default() -> Self {
        MirroredDocuments {
            of_servers: FetchedDocuments::new(DOCUMENTS_MAX),
            of_clients: FetchedDocuments::new(CLIENTS_MAX),
            client_calls: Shares::new(CLIENT_CALLS_MAX, CLIENT_CALLS_OF_HOST_MAX),
        }
    }
}

impl MirroredDocuments {
    /// The document at a URL that the upstream of an API names, or that is the upstream's own.
    pub(crate) async fn get(
        &self,
        client: &CallClient,
        rules: &MirroredDiscovery,
        url: &str,
    ) -> Result<MirroredDocument, MirrorFault> {
        let fetching = async { (fetch(client, rules, url).await, AGE_MAX) };
        self.of_servers.get((rules.upstream_url.clone(), url.to_owned()), fetching).await
    }

    /// The document at a URL of a host that a client names. One that `check` does not accept is none.
    pub(crate) async fn of_client(
        &self,
        client: &CallClient,
        tls: TlsRules,
        (url, host): (&str, &str),
        check: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<Bytes, MirrorFault> {
        let fetching = async {
            let holder = Holder { owner: host.to_owned(), network: None };
            let Some(_share) = self.client_calls.take(holder, 1) else { return (Err(MirrorFault::Busy), Duration::ZERO) };
            match fetch_client(client, tls, url).await {
                Ok((document, age_max)) => (check(&document).map_err(MirrorFault::Content).map(|()| document), age_max),
                Err(fault) => (Err(fault), Duration::ZERO),
            }
        };
        self.of_clients.get(url.to_owned(), fetching).await
    }
}

impl<K: Eq + Hash, D: Clone> FetchedDocuments<K, D> {
    fn new(documents_max: usize) -> Self {
        FetchedDocuments { places: Mutex::default(), documents_max }
    }

    /// The document, or what `fetching` gives, with the time for which it is good.
    async fn get(&self, key: K, fetching: impl Future<Output = (Result<D, MirrorFault>, Duration)>) -> Result<D, MirrorFault> {
        let place = self.place(key);
        let mut known = place.0.lock().await;
        if let Some(fetched) = known.as_ref().filter(|fetched| fetched.is_fresh()) {
            return fetched.outcome.clone();
        }
        let (outcome, age_max) = fetching.await;
        let age_max = match &outcome {
            Ok(_) => age_max,
            Err(MirrorFault::Busy) => Duration::ZERO,
            Err(_) => FAULT_AGE_MAX,
        };
        *known = Some(Fetched { at: Instant::now(), age_max, outcome: outcome.clone() });
        outcome
    }

    fn place(&self, key: K) -> Arc<DocumentPlace<D>> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= self.documents_max && !places.contains_key(&key) {
            places.retain(|_, place| place.0.try_lock().map_or(true, |known| known.as_ref().is_some_and(Fetched::is_fresh)));
            if places.len() >= self.documents_max {
                places.clear();
            }
        }
        places.entry(key).or_insert_with(|| Arc::new(DocumentPlace(tokio::sync::Mutex::new(None)))).clone()
    }
}

impl<D> Fetched<D> {
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < self.age_max
    }
}

async fn fetch(client: &CallClient, rules: &MirroredDiscovery, url: &str) -> Result<MirroredDocument, MirrorFault> {
    let uri: Uri = url.parse().map_err(|_| MirrorFault::Url)?;
    let tls = rules.tls.for_host(uri.host().ok_or(MirrorFault::Url)?);
    let mut call = Call::get(uri, tls, FETCH_TIME_MAX, DOCUMENT_BYTES_MAX);
    call.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    // As Tyk sends it: servers that know no other version answer all the same.
    call.headers.insert(HeaderName::from_static("mcp-protocol-version"), HeaderValue::from_static("2024-11-05"));
    let reply = client.call_within(&rules.upstream, call).await.map_err(MirrorFault::Call)?;
    if !reply.status.is_success() {
        return Err(MirrorFault::Status(reply.status));
    }
    serde_json::from_slice(byte_order_mark::without(&reply.body)).map_err(|_| MirrorFault::NotJson)
}

/// The document of a client, and how long it may be kept. Its server is not followed elsewhere, and its certificate counts, whatever holds for upstreams.
async fn fetch_client(client: &CallClient, tls: TlsRules, url: &str) -> Result<(Bytes, Duration), MirrorFault> {
    let uri: Uri = url.parse().map_err(|_| MirrorFault::Url)?;
    let tls = TlsRules { insecure: false, ..tls };
    let mut call = Call::get(uri, tls, CLIENT_TIME_MAX, CLIENT_BYTES_MAX);
    call.redirects_max = 0;
    call.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    // Whoever named it is at no origin: only public addresses are asked.
    let reply = client.call_within(&Uri::from_static("http://nowhere.invalid"), call).await.map_err(MirrorFault::Call)?;
    if reply.status != StatusCode::OK {
        return Err(MirrorFault::Status(reply.status));
    }
    let line = |name| reply.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_ascii_lowercase();
    let media = line(header::CONTENT_TYPE);
    let media = media.split(';').next().unwrap_or_default().trim();
    if media != "application/json" && !(media.starts_with("application/") && media.ends_with("+json")) {
        return Err(MirrorFault::NotJson);
    }
    let age_max = age_of(&reply.headers);
    Ok((reply.body, age_max))
}

/// How long a document is good by what its server says (RFC 9111), within bounds.
fn age_of(headers: &HeaderMap) -> Duration {
    let lines = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    let said: Vec<String> = lines.flat_map(|line| line.split(',')).map(|one| one.trim().to_ascii_lowercase()).collect();
    if said.iter().any(|one| ["no-store", "no-cache"].contains(&one.as_str())) {
        return Duration::ZERO;
    }
    let seconds = said.iter().find_map(|one| one.strip_prefix("max-age=")?.trim_matches('"').parse().ok());
    seconds.map_or(AGE_MAX, |seconds| Duration::from_secs(seconds).min(CLIENT_AGE_MAX))
}

impl fmt::Display for MirrorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MirrorFault::Url => f.write_str("it is at no usable URL"),
            MirrorFault::Call(fault) => fault.fmt(f),
            MirrorFault::Status(status) => write!(f, "the answer is {status}"),
            MirrorFault::NotJson => f.write_str("it is no JSON object"),
            MirrorFault::Busy => f.write_str("too many are fetched at the moment"),
            MirrorFault::Content(why) => f.write_str(why),
        }
    }
}
