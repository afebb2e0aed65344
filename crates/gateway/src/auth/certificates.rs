//! Certificates that operators upload: checked once, stored under Tyk's ids, and held in memory for every component that speaks TLS. Each
//! of those components decides how to use them.

mod details;
mod encrypted_key;
mod pem;
mod pem_block;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use tollgate_store::{DocumentSpace, Question, Store, StoreFault};

pub(crate) use details::{CertificateInfo, CertificateSummary, details, summary};
pub(crate) use encrypted_key::KeyEncoding;
pub(crate) use pem::UploadedCertificate;

/// Hexadecimal digits at the end of an id: the SHA-256 of the certificate.
const FINGERPRINT_DIGITS: usize = 64;

/// Longest organisation id in a certificate id, in bytes; Tyk's have 24.
const ORG_BYTES_MAX: usize = 256;

/// All certificates.
pub(crate) struct Certificates {
    store: Arc<dyn Store>,
    encoding: KeyEncoding,
    by_id: RwLock<BTreeMap<String, Arc<UploadedCertificate>>>,
    /// Whether the stored certificates have been read once.
    is_read: AtomicBool,
}

/// Why a certificate is rejected.
#[derive(Debug)]
pub(crate) enum CertificateRejection {
    /// The certificate is unusable.
    Bad(String),
    /// The store failed to save it.
    Store(StoreFault),
}

impl Certificates {
    /// Starts empty; `read` loads the certificates of the store. `encoding` is for private keys in the store.
    pub(crate) fn new(store: Arc<dyn Store>, encoding: KeyEncoding) -> Self {
        Certificates { store, encoding, by_id: RwLock::default(), is_read: AtomicBool::new(false) }
    }

    /// Reads the stored certificates. Blocks.
    pub(crate) fn read(&self) -> Result<(), StoreFault> {
        let mut found = BTreeMap::new();
        self.store.for_each(DocumentSpace::Certificate, &mut |id, text| match self.parse(text) {
            Ok(certificate) => drop(found.insert(id.to_owned(), Arc::new(certificate))),
            Err(reason) => tracing::error!(id, reason, "a stored certificate can't be read"),
        })?;
        self.by_id.write().unwrap_or_else(PoisonError::into_inner).append(&mut found);
        self.is_read.store(true, Ordering::Release);
        Ok(())
    }

    /// Reads PEM text. A private key may be encrypted with the configured secret.
    pub(crate) fn parse(&self, text: &[u8]) -> Result<UploadedCertificate, String> {
        UploadedCertificate::parse(text, &self.encoding)
    }

    /// Whether the stored certificates have been read.
    pub(crate) fn are_read(&self) -> bool {
        self.is_read.load(Ordering::Acquire)
    }

    /// Reads the stored certificates if the store has not answered so far. Blocks.
    pub(crate) fn read_if_missing(&self) {
        if !self.are_read() && self.read().is_ok() {
            tracing::info!("stored certificates are read");
        }
    }

    /// The certificate with an id.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<UploadedCertificate>> {
        self.by_id.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Certificate ids of an organisation, or of all organisations when `org` is empty; sorted.
    pub(crate) fn ids(&self, org: &str) -> Vec<String> {
        let by_id = self.by_id.read().unwrap_or_else(PoisonError::into_inner);
        let is_of_org = |id: &&String| org.is_empty() || org_of(id) == org;
        by_id.keys().filter(is_of_org).cloned().collect()
    }

    /// Checks PEM text, stores it and returns its id. The text is a chain with or without its private key, or a public key.
    pub(crate) async fn add(&self, org: &str, text: &[u8], now_unix_s: u64) -> Result<String, CertificateRejection> {
        if org.len() > ORG_BYTES_MAX || org.contains([',', '/']) || org.contains(char::is_control) {
            return Err(CertificateRejection::Bad(format!(
                "org_id must have at most {ORG_BYTES_MAX} bytes, and no comma, slash or control character"
            )));
        }
        let certificate = self.parse(text).map_err(CertificateRejection::Bad)?;
        certificate.check(now_unix_s).map_err(CertificateRejection::Bad)?;
        let id = format!("{org}{}", certificate.fingerprint);
        let question = Question::PutNew {
            kind: DocumentSpace::Certificate,
            id: id.clone(),
            value: certificate.to_stored_pem(&self.encoding).map_err(CertificateRejection::Bad)?.into_bytes(),
            expires_unix_s: None,
        };
        if self.store.ask(question).await.and_then(|answer| answer.existed()).map_err(CertificateRejection::Store)? {
            return Err(CertificateRejection::Bad(format!("Certificate with {id} id already exists")));
        }
        self.by_id.write().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), Arc::new(certificate));
        Ok(id)
    }

    /// Removes a certificate, if it exists.
    pub(crate) async fn remove(&self, id: &str) -> Result<(), StoreFault> {
        self.store.ask(Question::Delete { kind: DocumentSpace::Certificate, id: id.to_owned() }).await?;
        self.by_id.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        Ok(())
    }
}

/// The organisation in an id: everything before the fingerprint.
fn org_of(id: &str) -> &str {
    id.len().checked_sub(FINGERPRINT_DIGITS).and_then(|bytes| id.get(..bytes)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
