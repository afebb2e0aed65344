//! Certificates that operators upload: checked once, stored under Tyk's ids, and held in memory for every component that speaks TLS. Each
//! of those components decides how to use them.

mod details;
mod encrypted_key;
mod pem;
mod pem_block;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use tollgate_store::{DocumentSpace, Redis, Store, StoreFault};

pub use details::{CertificateInfo, CertificateSummary, details, summary};
pub use encrypted_key::KeyEncoding;
pub use pem::UploadedCertificate;

/// Hexadecimal digits at the end of an id: the SHA-256 of the certificate.
const FINGERPRINT_DIGITS: usize = 64;

/// Longest organisation id in a certificate id, in bytes; Tyk's have 24.
const ORG_BYTES_MAX: usize = 256;

/// Ids that are looked up again in a shared store at a time. Definitions and sessions name them.
const ASKED_MAX: usize = 10_000;

/// All certificates.
pub struct Certificates {
    store: Arc<dyn Store>,
    /// The store, if other gateways add certificates to it and remove them.
    shared: Option<Arc<Redis>>,
    encoding: KeyEncoding,
    by_id: RwLock<BTreeMap<String, StoredCertificate>>,
    /// Those of another part of the process. They are in no store, and nobody uploads or removes them.
    external: RwLock<BTreeMap<String, StoredCertificate>>,
    /// Ids that somebody has used since the store was last asked for them.
    asked: Mutex<BTreeSet<String>>,
    /// Whether the stored certificates have been read once.
    is_read: AtomicBool,
}

struct StoredCertificate {
    certificate: Arc<UploadedCertificate>,
    /// Of its text.
    digest: blake3::Hash,
}

/// Why a certificate is rejected.
#[derive(Debug)]
pub enum CertificateRejection {
    /// The certificate is unusable.
    Bad(String),
    /// The store failed to save it.
    Store(StoreFault),
}

impl Certificates {
    /// Starts empty; `read` loads the certificates of the store. `encoding` is for private keys in the store.
    pub fn new(store: Arc<dyn Store>, shared: Option<Arc<Redis>>, encoding: KeyEncoding) -> Self {
        let (by_id, external, asked) = Default::default();
        Certificates { store, shared, encoding, by_id, external, asked, is_read: AtomicBool::new(false) }
    }

    /// Reads the stored certificates. Blocks.
    pub fn read(&self) -> Result<(), StoreFault> {
        let mut found = BTreeMap::new();
        self.store.for_each(DocumentSpace::Certificate, &mut |id, text| {
            if let Some(certificate) = self.stored(id, text) {
                found.insert(id.to_owned(), certificate);
            }
        })?;
        self.by_id.write().unwrap_or_else(PoisonError::into_inner).append(&mut found);
        self.is_read.store(true, Ordering::Release);
        Ok(())
    }

    fn stored(&self, id: &str, text: &[u8]) -> Option<StoredCertificate> {
        match self.parse(text) {
            Ok(certificate) => Some(StoredCertificate { certificate: Arc::new(certificate), digest: blake3::hash(text) }),
            Err(reason) => {
                tracing::error!(id, reason, "a stored certificate can't be read");
                None
            }
        }
    }

    /// Looks up again, in a shared store, the ids that were used since the last call: another gateway may have added or removed them. Blocks.
    pub fn look_again(&self) {
        let Some(redis) = &self.shared else { return };
        let asked = std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner));
        redis.runtime().block_on(async {
            for id in asked {
                // The next round asks for the rest.
                if self.renew(redis, &id).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Takes over what a shared store has: all of it, for people who look at the list.
    pub async fn look_at_all(&self) -> Result<(), StoreFault> {
        let Some(redis) = &self.shared else { return Ok(()) };
        let stored: BTreeSet<String> = redis.ids(DocumentSpace::Certificate).await?.into_iter().collect();
        let known: BTreeSet<String> = self.by_id.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        for id in stored.symmetric_difference(&known) {
            self.renew(redis, id).await?;
        }
        Ok(())
    }

    /// The same for one id.
    pub async fn look_at(&self, id: &str) -> Result<(), StoreFault> {
        match &self.shared {
            Some(redis) => self.renew(redis, id).await,
            None => Ok(()),
        }
    }

    async fn renew(&self, redis: &Redis, id: &str) -> Result<(), StoreFault> {
        let text = redis.document(DocumentSpace::Certificate, id).await?.map(|(text, _)| text);
        let digest = text.as_deref().map(blake3::hash);
        let known = self.by_id.read().unwrap_or_else(PoisonError::into_inner).get(id).map(|known| known.digest);
        if digest == known {
            return Ok(());
        }
        // One that can't be read leaves the one that could.
        let found = text.map(|text| self.stored(id, &text));
        let mut by_id = self.by_id.write().unwrap_or_else(PoisonError::into_inner);
        match found {
            None => drop(by_id.remove(id)),
            Some(Some(found)) => drop(by_id.insert(id.to_owned(), found)),
            Some(None) => {}
        }
        Ok(())
    }

    /// Reads PEM text. A private key may be encrypted with the configured secret.
    pub fn parse(&self, text: &[u8]) -> Result<UploadedCertificate, String> {
        UploadedCertificate::parse(text, &self.encoding)
    }

    /// Whether the stored certificates have been read.
    pub fn are_read(&self) -> bool {
        self.is_read.load(Ordering::Acquire)
    }

    /// Reads the stored certificates if the store has not answered so far. Blocks.
    pub fn read_if_missing(&self) {
        if !self.are_read() && self.read().is_ok() {
            tracing::info!("stored certificates are read");
        }
    }

    /// Replaces all certificates of another part of the process: PEM texts by their ids. One that can't be read is left out, and logged. `true` if
    /// some are others than before.
    pub fn set_external(&self, texts: &BTreeMap<String, String>) -> bool {
        let mut known = self.external.write().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        known.retain(|id, known| texts.get(id).is_some_and(|text| blake3::hash(text.as_bytes()) == known.digest));
        let new: Vec<_> = texts.iter().filter(|(id, _)| !known.contains_key(*id)).collect();
        let has_changed = known.len() != before || !new.is_empty();
        for (id, text) in new {
            match self.parse(text.as_bytes()) {
                Ok(certificate) => {
                    let digest = blake3::hash(text.as_bytes());
                    known.insert(id.clone(), StoredCertificate { certificate: Arc::new(certificate), digest });
                }
                Err(reason) => tracing::error!(id, reason, "a certificate can't be read"),
            }
        }
        has_changed
    }

    /// Whether an id is that of a certificate of another part of the process.
    pub fn is_external(&self, id: &str) -> bool {
        self.external.read().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }

    /// The certificate with an id.
    pub fn get(&self, id: &str) -> Option<Arc<UploadedCertificate>> {
        let stored = self.by_id.read().unwrap_or_else(PoisonError::into_inner).get(id).map(|stored| stored.certificate.clone());
        let external = || Some(self.external.read().unwrap_or_else(PoisonError::into_inner).get(id)?.certificate.clone());
        stored.or_else(external)
    }

    /// The certificate with an id that a definition or a session names.
    pub fn get_used(&self, id: &str) -> Option<Arc<UploadedCertificate>> {
        if self.shared.is_some() {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            if asked.len() < ASKED_MAX && !asked.contains(id) {
                asked.insert(id.to_owned());
            }
        }
        self.get(id)
    }

    fn stored_ids(&self, org: &str) -> Vec<String> {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        by_id.keys().filter(|id| org_of(id) == org).cloned().collect()
    }

    /// Certificate ids of an organisation, or of all organisations when `org` is empty; sorted.
    pub fn ids(&self, org: &str) -> Vec<String> {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        let external = self.external.read().unwrap_or_else(PoisonError::into_inner);
        let is_of_org = |id: &&String| org.is_empty() || org_of(id) == org;
        let all: BTreeSet<&String> = by_id.keys().chain(external.keys()).collect();
        all.into_iter().filter(is_of_org).cloned().collect()
    }

    /// Checks PEM text, stores it and returns its id. The text is a chain with or without its private key, or a public key.
    pub async fn add(&self, org: &str, text: &[u8], now_unix_s: u64) -> Result<String, CertificateRejection> {
        if org.len() > ORG_BYTES_MAX || org.contains([',', '/']) || org.contains(char::is_control) {
            return Err(CertificateRejection::Bad(format!(
                "org_id must have at most {ORG_BYTES_MAX} bytes, and no comma, slash or control character"
            )));
        }
        let certificate = self.parse(text).map_err(CertificateRejection::Bad)?;
        certificate.check(now_unix_s).map_err(CertificateRejection::Bad)?;
        let id = format!("{org}{}", certificate.fingerprint);
        let text = certificate.to_stored_pem(&self.encoding).map_err(CertificateRejection::Bad)?.into_bytes();
        let stored = StoredCertificate { certificate: Arc::new(certificate), digest: blake3::hash(&text) };
        let added = self.store.write_over(DocumentSpace::Certificate, id.clone(), None, text, None).await;
        if added.map_err(CertificateRejection::Store)? {
            return Err(CertificateRejection::Bad(format!("Certificate with {id} id already exists")));
        }
        self.by_id.write().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), stored);
        if let Some(redis) = self.shared.as_ref().filter(|_| !org.is_empty())
            && let Err(fault) = redis.list_certificate(org, &id, &self.stored_ids(org)).await
        {
            tracing::warn!(%fault, id, "a certificate is stored, but not in the list of its organisation");
        }
        Ok(id)
    }

    /// Removes a certificate, if it exists.
    pub async fn remove(&self, id: &str) -> Result<(), StoreFault> {
        self.store.remove(DocumentSpace::Certificate, id.to_owned()).await?;
        self.by_id.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        match self.shared.as_ref().filter(|_| !org_of(id).is_empty()) {
            Some(redis) => redis.unlist_certificate(org_of(id), id).await,
            None => Ok(()),
        }
    }
}

/// The organisation in an id: everything before the fingerprint.
fn org_of(id: &str) -> &str {
    id.len().checked_sub(FINGERPRINT_DIGITS).and_then(|bytes| id.get(..bytes)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
