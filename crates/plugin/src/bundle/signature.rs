//! Signatures of bundles: RSA with SHA-256 over the contents of all listed files, as Tyk makes them.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair;
use aws_lc_rs::signature::{RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, SubjectPublicKeyInfoDer};

/// Verifies signatures.
pub struct VerifyingKey(Vec<u8>);

/// Signs bundles.
pub struct SigningKey(KeyPair);

impl VerifyingKey {
    /// Reads a public key in PEM (`PUBLIC KEY`).
    ///
    /// # Errors
    /// It is no such key.
    pub fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let key = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|error| format!("is no public key in PEM: {error}"))?;
        Ok(VerifyingKey(key.as_ref().to_vec()))
    }

    /// Whether a signature in Base64 belongs to these bytes.
    pub(crate) fn verifies(&self, bytes: &[u8], signature: &str) -> bool {
        let Ok(signature) = STANDARD.decode(signature) else { return false };
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, &self.0).verify(bytes, &signature).is_ok()
    }
}

impl SigningKey {
    /// Reads a private RSA key in PEM.
    ///
    /// # Errors
    /// It is no such key.
    pub fn from_pem(pem: &[u8]) -> Result<Self, String> {
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|error| format!("is no private key in PEM: {error}"))?;
        let pair = match &key {
            PrivateKeyDer::Pkcs1(der) => KeyPair::from_der(der.secret_pkcs1_der()),
            PrivateKeyDer::Pkcs8(der) => KeyPair::from_pkcs8(der.secret_pkcs8_der()),
            _ => return Err("is no RSA key".to_owned()),
        };
        pair.map(SigningKey).map_err(|error| format!("is no RSA key: {error}"))
    }

    /// The signature of these bytes in Base64.
    pub(crate) fn sign(&self, bytes: &[u8]) -> Result<String, String> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        let signed = self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), bytes, &mut signature);
        signed.map_err(|_| "the key can't sign".to_owned())?;
        Ok(STANDARD.encode(signature))
    }
}
