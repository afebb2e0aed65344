//! An RSA key of 2048 bits for tokens and signatures, stored in the gateway's directory.

use aws_lc_rs::encoding::{AsDer, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{KeyPair, KeySize};
use aws_lc_rs::signature::{KeyPair as _, RSA_PKCS1_SHA256};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::path::Path;

const FILE: &str = "rsa.der";
/// Id of the key in its set.
const KEY_ID: &str = "bench";
/// Number of bytes before the modulus in a public key of this size (RFC 8017, appendix A.1.1), and length of the modulus.
const BEFORE_MODULUS_BYTES: usize = 9;
const MODULUS_BYTES: usize = 256;

/// The signing key.
pub(crate) struct RsaKey(KeyPair);

impl RsaKey {
    /// The key in this directory, created if there is none.
    pub(crate) fn of(directory: &Path) -> Result<RsaKey, String> {
        let file = directory.join(FILE);
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        if let Ok(der) = std::fs::read(&file) {
            return KeyPair::from_pkcs8(&der).map(RsaKey).map_err(|error| failed(&error));
        }
        let pair = KeyPair::generate(KeySize::Rsa2048).map_err(|_| "an RSA key cannot be made".to_owned())?;
        let der: Pkcs8V1Der = pair.as_der().map_err(|_| "an RSA key cannot be written".to_owned())?;
        std::fs::write(&file, der.as_ref()).map_err(|error| failed(&error))?;
        Ok(RsaKey(pair))
    }

    /// Signs with PKCS #1 v1.5 and SHA-256.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<Vec<u8>, String> {
        let mut signature = vec![0; self.0.public_modulus_len()];
        let signed = self.0.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature);
        signed.map_err(|_| "nothing can be signed with the RSA key".to_owned())?;
        Ok(signature)
    }

    /// A JSON Web Token (RFC 7519) with these claims.
    pub(crate) fn token(&self, claims: &Value) -> Result<String, String> {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&json!({"alg": "RS256", "kid": KEY_ID})), part(claims));
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(self.sign(signed.as_bytes())?)))
    }

    /// The key set that an issuer publishes (RFC 7517).
    pub(crate) fn key_set(&self) -> Value {
        let public = self.0.public_key().as_ref();
        let modulus = public.get(BEFORE_MODULUS_BYTES..BEFORE_MODULUS_BYTES + MODULUS_BYTES).unwrap_or_default();
        json!({"keys": [{"kty": "RSA", "kid": KEY_ID, "use": "sig", "n": URL_SAFE_NO_PAD.encode(modulus), "e": "AQAB"}]})
    }

    /// The public key in PEM.
    pub(crate) fn public_pem(&self) -> Result<String, String> {
        let der: PublicKeyX509Der = self.0.public_key().as_der().map_err(|_| "the public key cannot be written".to_owned())?;
        Ok(format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der.as_ref())))
    }
}

#[cfg(test)]
mod tests;
