//! What is shown to issuers that make TLS connections: a certificate for each host, with the digest that they expect in it (RFC 8737).

use crate::documents::ShownDigests;
use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Settings for their connections; `None` if nothing is shown.
pub(crate) fn settings(shown: &ShownDigests) -> Option<Arc<ServerConfig>> {
    let mut certificates = BTreeMap::new();
    for (host, (digest, _)) in shown {
        match certificate(host, digest) {
            Ok(certificate) => drop(certificates.insert(host.clone(), Arc::new(certificate))),
            Err(error) => tracing::error!(host, error, "there is no certificate for an issuer that asks whose a host is"),
        }
    }
    if certificates.is_empty() {
        return None;
    }
    let builder =
        ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider())).with_safe_default_protocol_versions();
    let mut settings = builder.ok()?.with_no_client_auth().with_cert_resolver(Arc::new(ShownCertificates(certificates)));
    settings.alpn_protocols = vec![b"acme-tls/1".to_vec()];
    Some(Arc::new(settings))
}

#[derive(Debug)]
struct ShownCertificates(BTreeMap<String, Arc<CertifiedKey>>);

impl ResolvesServerCert for ShownCertificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.get(&hello.server_name()?.to_ascii_lowercase()).cloned()
    }
}

fn certificate(host: &str, digest: &str) -> Result<CertifiedKey, String> {
    let digest: Vec<u8> = (0..digest.len())
        .step_by(2)
        .map(|at| digest.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok()).ok_or("the digest can't be read"))
        .collect::<Result<_, _>>()?;
    let mut parameters = CertificateParams::new([host.to_owned()]).map_err(|error| error.to_string())?;
    parameters.custom_extensions = vec![CustomExtension::new_acme_identifier(&digest)];
    let key = KeyPair::generate().map_err(|error| error.to_string())?;
    let certificate = parameters.self_signed(&key).map_err(|error| error.to_string())?;
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(str::to_owned)?;
    let key = aws_lc_rs::sign::any_supported_type(&key).map_err(|error| error.to_string())?;
    // Its extension is one that nobody but issuers knows, so that the certificate is not read again.
    Ok(CertifiedKey::new(vec![certificate.der().clone()], key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_settings_only_while_something_is_shown() {
        assert!(settings(&ShownDigests::new()).is_none());
        let digest = "ab".repeat(32);
        let shown = ShownDigests::from([("a.example.com".to_owned(), (digest, 9))]);
        assert_eq!(settings(&shown).unwrap().alpn_protocols, [b"acme-tls/1"]);
        let broken = ShownDigests::from([("a.example.com".to_owned(), ("no digest".to_owned(), 9))]);
        assert!(settings(&broken).is_none());
    }
}
