//! JSON documents of other servers that clients ask the gateway for: each is fetched once for all who ask at a time, and kept for a while. A failure
//! is kept too, for a shorter time, because anyone may ask.

use axum::http::{HeaderName, HeaderValue, StatusCode, Uri, header};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tollgate_data::discovery::MirroredDiscovery;
use tollgate_outbound::{Call, CallClient, CallFault};

/// How long a document is used; those of authorization change rarely.
const AGE_MAX: Duration = Duration::from_secs(300);
/// How long a failure is.
const FAULT_AGE_MAX: Duration = Duration::from_secs(5);
const FETCH_TIME_MAX: Duration = Duration::from_secs(10);
const DOCUMENT_BYTES_MAX: usize = 64 << 10;
/// Most documents. An upstream chooses only the names of its own servers; what is too old goes first.
const DOCUMENTS_MAX: usize = 10_000;

/// The members of a document, sorted.
pub(crate) type MirroredDocument = BTreeMap<String, Value>;

/// The documents by their URLs, as the APIs' upstreams name them.
#[derive(Default)]
pub struct MirroredDocuments(Mutex<HashMap<(String, String), Arc<DocumentPlace>>>);

/// Held while it is fetched.
#[derive(Default)]
struct DocumentPlace(tokio::sync::Mutex<Option<Fetched>>);

struct Fetched {
    at: Instant,
    outcome: Result<MirroredDocument, MirrorFault>,
}

/// Why there is no document.
#[derive(Clone, Debug)]
pub(crate) enum MirrorFault {
    Url,
    Call(CallFault),
    Status(StatusCode),
    NotJson,
}

impl MirroredDocuments {
    /// The document at a URL that the upstream of an API names, or that is the upstream's own.
    pub(crate) async fn get(
        &self,
        client: &CallClient,
        rules: &MirroredDiscovery,
        url: &str,
    ) -> Result<MirroredDocument, MirrorFault> {
        let place = self.place((rules.upstream_url.clone(), url.to_owned()));
        let mut known = place.0.lock().await;
        if let Some(fetched) = known.as_ref().filter(|fetched| fetched.is_fresh()) {
            return fetched.outcome.clone();
        }
        let outcome = fetch(client, rules, url).await;
        *known = Some(Fetched { at: Instant::now(), outcome: outcome.clone() });
        outcome
    }

    fn place(&self, key: (String, String)) -> Arc<DocumentPlace> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= DOCUMENTS_MAX && !places.contains_key(&key) {
            places.retain(|_, place| place.0.try_lock().map_or(true, |known| known.as_ref().is_some_and(Fetched::is_fresh)));
            if places.len() >= DOCUMENTS_MAX {
                places.clear();
            }
        }
        places.entry(key).or_default().clone()
    }
}

impl Fetched {
    fn is_fresh(&self) -> bool {
        self.at.elapsed() < if self.outcome.is_ok() { AGE_MAX } else { FAULT_AGE_MAX }
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
    serde_json::from_slice(&reply.body).map_err(|_| MirrorFault::NotJson)
}

impl fmt::Display for MirrorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MirrorFault::Url => f.write_str("it is at no usable URL"),
            MirrorFault::Call(fault) => fault.fmt(f),
            MirrorFault::Status(status) => write!(f, "the answer is {status}"),
            MirrorFault::NotJson => f.write_str("it is no JSON object"),
        }
    }
}
