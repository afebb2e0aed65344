//! Signed tokens as an issuer makes them: with keys made for the test, and by hand, so that broken ones can be made as well.

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// What was signed and its signature, in the compact form.
pub fn compact(header: &Value, claims: &Value, sign: impl FnOnce(&[u8]) -> Vec<u8>) -> String {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", encode(header), encode(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(signed.as_bytes()));
    format!("{signed}.{signature}")
}

/// A token signed with HS256.
pub fn hs256(secret: &[u8], claims: &Value) -> String {
    compact(&json!({"alg": "HS256", "typ": "JWT"}), claims, |signed| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed).as_ref().to_vec()
    })
}

/// A key pair for ES256, by name.
pub struct Signer {
    pub kid: String,
    pair: EcdsaKeyPair,
}

impl Signer {
    pub fn new(kid: &str) -> Signer {
        Signer { kid: kid.to_owned(), pair: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).expect("a key pair") }
    }

    /// The public key as a key set lists it.
    pub fn jwk(&self) -> Value {
        let point = self.pair.public_key().as_ref();
        let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        json!({"kty": "EC", "crv": "P-256", "kid": self.kid, "use": "sig", "x": encode(&point[1..33]), "y": encode(&point[33..])})
    }

    pub fn token(&self, claims: &Value) -> String {
        compact(&json!({"alg": "ES256", "kid": self.kid}), claims, |signed| {
            self.pair.sign(&SystemRandom::new(), signed).expect("a signature").as_ref().to_vec()
        })
    }
}

pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs() as i64
}
