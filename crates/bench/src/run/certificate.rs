//! The certificate of a run: for localhost, self-signed, generated for each scenario.

use crate::peers::CertificateFiles;
use crate::scenario::CertificateKind;
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256};
use std::path::Path;

/// Writes a certificate and its key into a directory.
pub(crate) fn make(kind: CertificateKind, directory: &Path) -> Result<CertificateFiles, String> {
    let failed = |error: rcgen::Error| format!("no certificate can be made: {error}");
    let algorithm = match kind {
        CertificateKind::Ecdsa => &PKCS_ECDSA_P256_SHA256,
        CertificateKind::Rsa => &PKCS_RSA_SHA256,
    };
    let key = KeyPair::generate_for(algorithm).map_err(failed)?;
    let params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).map_err(failed)?;
    let certificate = params.self_signed(&key).map_err(failed)?.pem();
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: cannot be written: {error}", path.display()))?;
        Ok::<_, String>(path)
    };
    let key = key.serialize_pem();
    Ok(CertificateFiles {
        certificate: write("certificate.pem", &certificate)?,
        key: write("key.pem", &key)?,
        both: write("both.pem", &format!("{certificate}{key}"))?,
    })
}
