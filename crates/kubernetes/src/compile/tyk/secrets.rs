//! Certificates of Tyk's resources: secrets of their own namespace, under the ids that certificates have in Tyk.

use super::super::certificates::pem_in_secret;
use super::conversion::Conversion;
use crate::objects::Key;
use sha2::{Digest, Sha256};
use std::fmt::Write;

impl Conversion<'_, '_> {
    /// The id of the certificate in a secret, which is kept for the gateway. `field` is where it is named.
    ///
    /// # Errors
    /// Why it can't be used.
    pub(super) fn certificate(&mut self, field: &str, secret: &str) -> Result<String, String> {
        let pem = self.secret(field, secret)?;
        let id = format!("{}{}", self.org, hexadecimal(&Sha256::digest(&pem.leaf)));
        self.certificates.insert(id.clone(), pem.text);
        Ok(id)
    }

    /// The same for one with a private key.
    pub(super) fn own_certificate(&mut self, field: &str, secret: &str) -> Result<String, String> {
        match self.secret(field, secret)?.has_key {
            true => self.certificate(field, secret),
            false => Err(format!("{field}: the Secret {} has no tls.key", Key::new(&self.metadata.namespace, secret))),
        }
    }

    /// The SHA-256 of a certificate's public key.
    pub(super) fn public_key(&mut self, field: &str, secret: &str) -> Result<String, String> {
        let pem = self.secret(field, secret)?;
        let certificate = webpki::EndEntityCert::try_from(&pem.leaf).map_err(|error| format!("{field}: {error}"))?;
        Ok(hexadecimal(&Sha256::digest(certificate.subject_public_key_info())))
    }

    fn secret(&self, field: &str, name: &str) -> Result<super::super::certificates::SecretPem, String> {
        let key = Key::new(&self.metadata.namespace, name);
        pem_in_secret(self.names.cluster, &key).map_err(|why| format!("{field}: the Secret {key} {why}"))
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a text can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
