//! TLS to a collector of traces and metrics, with its own authority and certificate files.

use super::{Library, TlsRules, client_config, provider, versions};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, RootCertStore};
use std::path::Path;
use std::sync::Arc;
use tollgate_model::config::CollectorTls;

/// Client settings for a collector. `Err` names the file.
pub fn collector_config(tls: &CollectorTls) -> Result<ClientConfig, String> {
    let (min_version, max_version) = tls.versions();
    let mut config = if tls.insecure_skip_verify || tls.ca_file.as_os_str().is_empty() {
        let rules = TlsRules { insecure: tls.insecure_skip_verify, min_version, max_version, ..TlsRules::default() };
        client_config(&rules, &Library::default())?
    } else {
        ClientConfig::builder_with_provider(provider(&[])?)
            .with_protocol_versions(&versions(min_version, max_version)?)
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots(&tls.ca_file)?)
            .with_no_client_auth()
    };
    if !tls.cert_file.as_os_str().is_empty() {
        let key = PrivateKeyDer::from_pem_file(&tls.key_file).map_err(|error| named(&tls.key_file, &error))?;
        let own = CertifiedKey::from_der(certificates(&tls.cert_file)?, key, &*provider(&[])?);
        let own = own.map_err(|error| named(&tls.cert_file, &error))?;
        config.client_auth_cert_resolver = Arc::new(SingleCertAndKey::from(own));
    }
    Ok(config)
}

fn roots(file: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| named(file, &error))?;
    }
    if roots.is_empty() { Err(format!("{}: there is no certificate in it", file.display())) } else { Ok(roots) }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(file).map_err(|error| named(file, &error))?;
    read.collect::<Result<Vec<_>, _>>().map_err(|error| named(file, &error))
}

fn named(file: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", file.display())
}
