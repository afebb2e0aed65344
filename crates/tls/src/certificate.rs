//! A certificate with its chain, and its key if there is one, read from PEM; and the few facts of it that the gateway uses.

use rustls::RootCertStore;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tollgate_model::hexadecimal;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// A loaded certificate.
#[derive(Debug)]
pub struct Certificate {
    /// What it says.
    pub facts: Facts,
    /// The certificate with its key, for presenting it.
    pub own: Option<Arc<CertifiedKey>>,
    /// For an authority: verifies certificates that it issued.
    pub issued: Option<Arc<dyn ClientCertVerifier>>,
}

/// Facts of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// SHA-256 of the whole certificate, hexadecimal.
    pub fingerprint: String,
    /// DNS names, lower case; the common name when there are none.
    pub names: Vec<String>,
    /// The first common name of its subject; empty without one.
    pub common_name: String,
    /// Expiry in Unix seconds.
    pub not_after_unix_s: i64,
    /// Whether it may issue others.
    pub is_authority: bool,
    /// SHA-256 of the public key as the certificate encodes it, hexadecimal.
    pub public_key: String,
}

impl Facts {
    /// Reads a certificate in DER.
    ///
    /// # Errors
    /// Why it is none.
    pub fn new(der: &[u8]) -> Result<Self, String> {
        let (_, parsed) = X509Certificate::from_der(der).map_err(|error| format!("not a certificate: {error}"))?;
        let common_name = parsed.subject().iter_common_name().next().and_then(|name| name.as_str().ok()).unwrap_or_default();
        let alternatives = parsed.subject_alternative_name().ok().flatten();
        let mut names: Vec<String> = alternatives
            .iter()
            .flat_map(|alternatives| &alternatives.value.general_names)
            .filter_map(|name| match name {
                GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
                _ => None,
            })
            .collect();
        if names.is_empty() && !common_name.is_empty() {
            names.push(common_name.to_ascii_lowercase());
        }
        Ok(Facts {
            fingerprint: hex_sha256(der),
            names,
            common_name: common_name.to_owned(),
            not_after_unix_s: parsed.validity().not_after.timestamp(),
            is_authority: parsed.is_ca(),
            public_key: hex_sha256(parsed.public_key().raw),
        })
    }

    /// Facts of an unreadable certificate: it counts as expired long ago.
    pub fn unreadable(der: &[u8]) -> Self {
        Facts {
            fingerprint: hex_sha256(der),
            names: Vec::new(),
            common_name: String::new(),
            not_after_unix_s: i64::MIN,
            is_authority: false,
            public_key: String::new(),
        }
    }

    /// Whether its end is before a time in Unix seconds.
    pub fn has_expired(&self, unix_s: u64) -> bool {
        self.not_after_unix_s < i64::try_from(unix_s).unwrap_or(i64::MAX)
    }
}

impl Certificate {
    /// Reads a chain, leaf first, and the leaf's key, which may be in the same text. `ocsp` is a response to staple.
    pub fn parse(chain: &[u8], key: Option<&[u8]>, ocsp: Option<Vec<u8>>) -> Result<Self, String> {
        let certificates = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>();
        let certificates = certificates.map_err(|error| format!("not PEM: {error}"))?;
        let leaf = certificates.first().ok_or("no certificate in it")?;
        let facts = Facts::new(leaf)?;
        let issued = if facts.is_authority { Some(issued_by(leaf)?) } else { None };
        let own = match PrivateKeyDer::from_pem_slice(key.unwrap_or(chain)) {
            Ok(key) => {
                let own = CertifiedKey::from_der(certificates, key, &aws_lc_rs::default_provider());
                let mut own = own.map_err(|error| format!("certificate and key can't be used together: {error}"))?;
                own.ocsp = ocsp;
                Some(Arc::new(own))
            }
            Err(rustls::pki_types::pem::Error::NoItemsFound) if key.is_none() => None,
            Err(error) => return Err(format!("no usable private key: {error}")),
        };
        Ok(Certificate { facts, own, issued })
    }
}

/// The URIs among the alternative names of a certificate.
pub(crate) fn uris_of(der: &[u8]) -> Result<Vec<String>, String> {
    let (_, parsed) = X509Certificate::from_der(der).map_err(|error| format!("not a certificate: {error}"))?;
    let alternatives = parsed.subject_alternative_name().ok().flatten();
    let names = alternatives.iter().flat_map(|alternatives| &alternatives.value.general_names);
    let uri = |name: &GeneralName<'_>| if let GeneralName::URI(uri) = name { Some((*uri).to_owned()) } else { None };
    Ok(names.filter_map(uri).collect())
}

fn issued_by(authority: &CertificateDer<'_>) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.clone().into_owned()).map_err(|error| format!("not usable as an authority: {error}"))?;
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
    verifier.map(|verifier| verifier as Arc<dyn ClientCertVerifier>).map_err(|error| error.to_string())
}

/// SHA-256 in the form of certificate fingerprints: hexadecimal, lower case.
pub fn hex_sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests;
