//! Converts PEM text to a certificate and back: checks which blocks may stand together and whether the private key fits. Messages are Tyk's
//! where it has them.

use super::encrypted_key::KeyEncoding;
use super::pem_block::write_block;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{PemObject, SectionKind};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs1KeyDer, PrivatePkcs8KeyDer, PrivateSec1KeyDer, SubjectPublicKeyInfoDer,
};
use rustls::sign::CertifiedKey;
use tollgate_tls::{Facts, hex_sha256};
use x509_parser::prelude::{FromDer, X509Certificate};

/// Longest PEM text, in bytes; a chain with its key has some 10 KiB.
const PEM_BYTES_MAX: usize = 1 << 20;

/// An uploaded certificate or public key, parsed.
pub struct UploadedCertificate {
    /// SHA-256 of the first certificate or of the public key, lower-case hexadecimal.
    pub fingerprint: String,
    pub material: Material,
}

/// Content of an upload.
pub enum Material {
    /// A certificate chain, leaf first, with its private key if it was uploaded.
    Chain { chain: Vec<CertificateDer<'static>>, key: Option<PrivateKeyDer<'static>> },
    /// A public key for checking signatures or pins.
    PublicKey(SubjectPublicKeyInfoDer<'static>),
}

impl UploadedCertificate {
    /// Reads PEM text; `encoding` decrypts private keys.
    pub fn parse(text: &[u8], encoding: &KeyEncoding) -> Result<Self, String> {
        let undecodable = || "Failed to decode certificate. It should be PEM encoded.".to_owned();
        if text.len() > PEM_BYTES_MAX {
            return Err(format!("larger than {PEM_BYTES_MAX} bytes"));
        }
        let is_encrypted = |mark: &[u8]| text.windows(mark.len()).any(|window| window == mark);
        let clear;
        let mut text = text;
        if is_encrypted(b"Proc-Type: 4,ENCRYPTED") {
            clear = encoding.decrypted(std::str::from_utf8(text).map_err(|_| undecodable())?)?;
            text = clear.as_bytes();
        } else if is_encrypted(b"BEGIN ENCRYPTED PRIVATE KEY") {
            return Err("private keys that are encrypted as PKCS #8 are not supported: decrypt it first".to_owned());
        }
        let (mut chain, mut keys, mut public_keys) = (Vec::new(), Vec::new(), Vec::new());
        for block in <(SectionKind, Vec<u8>)>::pem_slice_iter(text) {
            let (kind, der) = block.map_err(|_| undecodable())?;
            match kind {
                SectionKind::Certificate => chain.push(CertificateDer::from(der)),
                SectionKind::PrivateKey => keys.push(PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(der))),
                SectionKind::RsaPrivateKey => keys.push(PrivateKeyDer::Pkcs1(PrivatePkcs1KeyDer::from(der))),
                SectionKind::EcPrivateKey => keys.push(PrivateKeyDer::Sec1(PrivateSec1KeyDer::from(der))),
                SectionKind::PublicKey => public_keys.push(SubjectPublicKeyInfoDer::from(der)),
                _ => {}
            }
        }
        if keys.len() > 1 {
            return Err("Found multiple private keys".to_owned());
        }
        let (fingerprint, material) = match (chain.first(), public_keys.into_iter().next()) {
            (None, None) => return Err(undecodable()),
            (Some(_), Some(_)) => return Err("Public keys can't be combined with certificates".to_owned()),
            (None, Some(_)) if !keys.is_empty() => return Err("a private key needs its certificate".to_owned()),
            (None, Some(key)) => (hex_sha256(&key), Material::PublicKey(key)),
            (Some(first), None) => (hex_sha256(first), Material::Chain { key: keys.pop(), chain }),
        };
        Ok(UploadedCertificate { fingerprint, material })
    }

    /// Whether the upload is usable: every certificate can be parsed and has not expired, and a private key belongs to the leaf.
    pub fn check(&self, now_unix_s: u64) -> Result<(), String> {
        let Material::Chain { chain, key } = &self.material else { return Ok(()) };
        for der in chain {
            if Facts::new(der)?.has_expired(now_unix_s) {
                return Err("certificate is expired".to_owned());
            }
        }
        let Some(key) = key else { return Ok(()) };
        match CertifiedKey::from_der(chain.clone(), key.clone_key(), &aws_lc_rs::default_provider()) {
            Ok(_) => Ok(()),
            Err(rustls::Error::InconsistentKeys(_)) => Err("tls: private key does not match public key".to_owned()),
            Err(error) => Err(format!("tls: failed to parse private key: {error}")),
        }
    }

    /// The leaf certificate; `None` for a public key.
    pub fn leaf(&self) -> Option<X509Certificate<'_>> {
        match &self.material {
            Material::Chain { chain, .. } => X509Certificate::from_der(chain.first()?).ok().map(|(_, certificate)| certificate),
            Material::PublicKey(_) => None,
        }
    }

    pub fn has_private_key(&self) -> bool {
        matches!(&self.material, Material::Chain { key: Some(_), .. })
    }

    /// PEM text to store: the private key is encrypted if that is configured.
    pub(super) fn to_stored_pem(&self, encoding: &KeyEncoding) -> Result<String, String> {
        match &self.material {
            Material::Chain { chain, key: Some(key) } if !encoding.encrypts.is_empty() => {
                let mut text = String::new();
                chain.iter().for_each(|der| write_block("CERTIFICATE", "", der, &mut text));
                Ok(text + &encoding.encrypted(key.secret_der())?)
            }
            _ => Ok(self.to_pem()),
        }
    }

    /// PEM text: the same blocks, without any text between them.
    pub fn to_pem(&self) -> String {
        let mut text = String::new();
        match &self.material {
            Material::PublicKey(der) => write_block("PUBLIC KEY", "", der, &mut text),
            Material::Chain { chain, key } => {
                chain.iter().for_each(|der| write_block("CERTIFICATE", "", der, &mut text));
                match key {
                    Some(PrivateKeyDer::Pkcs1(key)) => write_block("RSA PRIVATE KEY", "", key.secret_pkcs1_der(), &mut text),
                    Some(PrivateKeyDer::Sec1(key)) => write_block("EC PRIVATE KEY", "", key.secret_sec1_der(), &mut text),
                    Some(PrivateKeyDer::Pkcs8(key)) => write_block("PRIVATE KEY", "", key.secret_pkcs8_der(), &mut text),
                    Some(_) | None => {}
                }
            }
        }
        text
    }
}
