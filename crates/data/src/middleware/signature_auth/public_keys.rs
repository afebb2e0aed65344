//! Public keys of clients that sign with RSA, by the certificate ids in sessions; each is parsed once. A removed or expired certificate is
//! not used.

use crate::two_generation_cache::TwoGenerationCache;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::sync::Arc;
use tollgate_access::jwt::{AlgorithmFamily, SigningAlgorithm, VerifyKey};
use tollgate_model::key as key_format;
use tollgate_tls::{Facts, Library};

/// Capacity of the key cache, in each of its two generations. An entry takes some 500 bytes.
const KEYS_MAX: usize = 8_192;
/// RSA with PKCS #1 v1.5 padding and SHA-256, which `rsa-sha256` stands for.
const ALGORITHM: &str = "RS256";

/// The keys that were used recently.
pub(super) struct PublicKeys {
    certificates: Arc<Library>,
    prepared: TwoGenerationCache<PublicKey>,
}

/// One key.
pub(super) struct PublicKey {
    /// `None` when there is no such certificate, or it has no RSA key.
    key: Option<VerifyKey>,
    facts: Option<Facts>,
    /// Generation of the certificate library from which it was prepared.
    generation: u64,
}

impl PublicKeys {
    pub(super) fn new(certificates: Arc<Library>) -> Self {
        PublicKeys { certificates, prepared: TwoGenerationCache::new(KEYS_MAX) }
    }

    /// The key of a certificate id.
    pub(super) fn get(&self, id: &str, unix_s: u64) -> Option<Arc<PublicKey>> {
        let digest = key_format::digest(id);
        let generation = self.certificates.generation();
        let known = self.prepared.get(&digest).filter(|known| known.generation == generation);
        let key = known.unwrap_or_else(|| {
            let key = Arc::new(self.prepare(id, generation));
            self.prepared.put(digest, key.clone());
            key
        });
        let is_good = key.key.is_some() && !key.facts.as_ref().is_some_and(|facts| facts.has_expired(unix_s));
        is_good.then_some(key)
    }

    fn prepare(&self, id: &str, generation: u64) -> PublicKey {
        let text = self.certificates.stored_text(id).unwrap_or_default();
        let certificate = CertificateDer::from_pem_slice(&text).ok();
        PublicKey {
            key: VerifyKey::public(&text, AlgorithmFamily::Rsa).ok(),
            facts: certificate.and_then(|certificate| Facts::new(&certificate).ok()),
            generation,
        }
    }
}

impl PublicKey {
    /// Whether the key's holder signed a message.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let algorithm = SigningAlgorithm::named(ALGORITHM);
        let check = |(key, algorithm): (&VerifyKey, &SigningAlgorithm)| key.verifies_message(algorithm, message, signature);
        self.key.as_ref().zip(algorithm).is_some_and(check)
    }
}
