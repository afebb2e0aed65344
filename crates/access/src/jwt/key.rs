//! Verification keys: a secret or a public key, prepared for each algorithm that it may be used with.

use super::algorithm::Scheme;
use super::{AlgorithmFamily, JwtToken, SigningAlgorithm};
use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{ParsedPublicKey, RsaPublicKeyComponents};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rustls::pki_types::pem::{self, SectionKind};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde_json::Value;

/// Smallest RSA key, in bits; a shorter one can be factored (RFC 7518, 3.3).
const RSA_BITS_MIN: usize = 2048;

/// A key for checking signatures.
pub struct VerifyKey(Vec<(&'static str, Prepared)>);

enum Prepared {
    Secret(Box<hmac::Key>),
    Public(ParsedPublicKey),
}

impl VerifyKey {
    /// A secret for HMAC.
    pub fn secret(bytes: &[u8]) -> Result<Self, &'static str> {
        if bytes.is_empty() {
            return Err("the secret is empty");
        }
        let prepared = SigningAlgorithm::of(AlgorithmFamily::Hmac).filter_map(|algorithm| match &algorithm.scheme {
            Scheme::Hmac(function) => Some((algorithm.name, Prepared::Secret(Box::new(hmac::Key::new(*function, bytes))))),
            Scheme::Signature(_) => None,
        });
        Ok(VerifyKey(prepared.collect()))
    }

    /// A public key or a certificate, in PEM or DER.
    pub fn public(bytes: &[u8], family: AlgorithmFamily) -> Result<Self, &'static str> {
        let der = match pem::from_buf(&mut &*bytes) {
            Ok(Some((SectionKind::Certificate, der))) => key_of_certificate(&der)?,
            Ok(Some((_, der))) => der,
            Ok(None) | Err(_) => bytes.to_vec(),
        };
        match Self::from_der(&der, family, None) {
            Err(_) => Self::from_der(&key_of_certificate(&der)?, family, None),
            done => done,
        }
    }

    /// Makes a key for the family that a definition's signing method selects.
    pub fn for_family(bytes: &[u8], family: AlgorithmFamily) -> Result<Self, &'static str> {
        match family {
            AlgorithmFamily::Hmac => Self::secret(bytes),
            _ => Self::public(bytes, family),
        }
    }

    /// Makes a key from one member of a key set.
    pub fn jwk(jwk: &Value) -> Result<Self, &'static str> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        if text("use").is_some_and(|use_| use_ != "sig") {
            return Err("it is not for signatures");
        }
        let operations = jwk.get("key_ops").and_then(Value::as_array);
        if operations.is_some_and(|operations| !operations.iter().any(|operation| operation == "verify")) {
            return Err("it is not for checking signatures");
        }
        let only = text("alg");
        let bytes = |name: &str| text(name).and_then(|text| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok());
        match text("kty") {
            Some("RSA") => match (bytes("n"), bytes("e")) {
                (Some(n), Some(e)) => rsa(&n, &e, only),
                _ => Self::from_der(&first_certificate(jwk)?, AlgorithmFamily::Rsa, only),
            },
            Some("EC") => match (bytes("x"), bytes("y")) {
                (Some(x), Some(y)) => elliptic(text("crv").unwrap_or_default(), &x, &y, only),
                _ => Self::from_der(&first_certificate(jwk)?, AlgorithmFamily::Ecdsa, only),
            },
            Some("OKP") if text("crv") == Some("Ed25519") => {
                Self::from_der(&bytes("x").ok_or("x is missing")?, AlgorithmFamily::EdDsa, only.map(|_| "EdDSA"))
            }
            Some("oct") => {
                let mut key = Self::secret(&bytes("k").ok_or("k is missing")?)?;
                key.0.retain(|(name, _)| only.is_none_or(|only| only == *name));
                Ok(key)
            }
            _ => Err("its kty or crv is not supported"),
        }
    }

    /// Makes a key from DER, for one algorithm or for every algorithm of the family that it fits.
    fn from_der(der: &[u8], family: AlgorithmFamily, only: Option<&str>) -> Result<Self, &'static str> {
        let fitting = SigningAlgorithm::of(family).filter(|algorithm| only.is_none_or(|only| only == algorithm.name));
        let prepared: Vec<_> = fitting
            .filter_map(|algorithm| match &algorithm.scheme {
                Scheme::Signature(scheme) => Some((algorithm.name, Prepared::Public(ParsedPublicKey::new(*scheme, der).ok()?))),
                Scheme::Hmac(_) => None,
            })
            .collect();
        if prepared.is_empty() { Err("it is no public key for this signing method") } else { Ok(VerifyKey(prepared)) }
    }

    /// Whether this key made the token's signature with the algorithm that the token names.
    pub fn verifies(&self, token: &JwtToken<'_>, algorithm: &SigningAlgorithm) -> bool {
        self.verifies_message(algorithm, token.signed(), token.signature())
    }

    /// Like [`VerifyKey::verifies`], for any message.
    pub fn verifies_message(&self, algorithm: &SigningAlgorithm, message: &[u8], signature: &[u8]) -> bool {
        let key = self.0.iter().find(|(name, _)| *name == algorithm.name);
        match key {
            Some((_, Prepared::Secret(key))) => hmac::verify(key, message, signature).is_ok(),
            Some((_, Prepared::Public(key))) => key.verify_sig(message, signature).is_ok(),
            None => false,
        }
    }
}

fn rsa(n: &[u8], e: &[u8], only: Option<&str>) -> Result<VerifyKey, &'static str> {
    let significant: &[u8] = n.iter().position(|byte| *byte != 0).and_then(|start| n.get(start..)).unwrap_or_default();
    let bits = significant.len() * 8 - significant.first().map_or(0, |byte| byte.leading_zeros() as usize);
    if bits < RSA_BITS_MIN {
        return Err("an RSA key of less than 2048 bits is not safe");
    }
    let components = RsaPublicKeyComponents { n: significant, e };
    let der: PublicKeyX509Der<'_> = components.as_der().map_err(|_| "it is no RSA key")?;
    VerifyKey::from_der(der.as_ref(), AlgorithmFamily::Rsa, only)
}

fn elliptic(curve: &str, x: &[u8], y: &[u8], only: Option<&str>) -> Result<VerifyKey, &'static str> {
    let (name, length) = match curve {
        "P-256" => ("ES256", 32),
        "P-384" => ("ES384", 48),
        "P-521" => ("ES512", 66),
        "secp256k1" => ("ES256K", 32),
        _ => return Err("its curve is not supported"),
    };
    if x.len() != length || y.len() != length || only.is_some_and(|only| only != name) {
        return Err("x, y or alg do not fit its curve");
    }
    VerifyKey::from_der(&[&[4], x, y].concat(), AlgorithmFamily::Ecdsa, Some(name))
}

/// The public key of the first certificate in `x5c`, which may be PEM although the RFC asks for DER.
fn first_certificate(jwk: &Value) -> Result<Vec<u8>, &'static str> {
    let text = jwk.pointer("/x5c/0").and_then(Value::as_str).ok_or("it has neither a key nor a certificate")?;
    let bytes = STANDARD.decode(text).map_err(|_| "x5c is not Base64")?;
    match CertificateDer::from_pem_slice(&bytes) {
        Ok(certificate) => key_of_certificate(&certificate),
        Err(_) => key_of_certificate(&bytes),
    }
}

/// The public key in a certificate.
fn key_of_certificate(der: &[u8]) -> Result<Vec<u8>, &'static str> {
    let certificate = CertificateDer::from(der);
    let parsed = webpki::EndEntityCert::try_from(&certificate).map_err(|_| "it is neither a public key nor a certificate")?;
    Ok(parsed.subject_public_key_info().as_ref().to_vec())
}
