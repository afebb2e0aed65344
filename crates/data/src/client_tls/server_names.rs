//! Selects the server certificate: by the host that the client names, exactly or by wildcard, else the first one. Among several for one
//! host, the first whose key the client can verify.

use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::sync::Arc;

/// Names and their certificates, replaced as a whole.
#[derive(Debug, Default)]
pub(super) struct ServerNames(arc_swap::ArcSwap<CertificateNames>);

#[derive(Debug, Default)]
pub(super) struct CertificateNames {
    /// Certificates by host; `*.example.com` is stored as `.example.com`.
    by_name: HashMap<String, Vec<Arc<CertifiedKey>>>,
    /// Certificates for clients that name no host, or an unknown one.
    fallback: Vec<Arc<CertifiedKey>>,
}

impl CertificateNames {
    /// Adds a certificate for a host or a wildcard; the first one for a host is preferred.
    pub(super) fn add(&mut self, name: &str, certificate: &Arc<CertifiedKey>) {
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let name = name.strip_prefix('*').map_or(name.as_str(), |suffix| suffix);
        if name.is_empty() {
            return self.add_fallback(certificate);
        }
        let of_name = self.by_name.entry(name.to_owned()).or_default();
        if !of_name.iter().any(|known| Arc::ptr_eq(known, certificate)) {
            of_name.push(certificate.clone());
        }
    }

    /// Adds a certificate for all other clients.
    pub(super) fn add_fallback(&mut self, certificate: &Arc<CertifiedKey>) {
        self.fallback.push(certificate.clone());
    }

    /// Puts certificates before all others for clients that name no host.
    pub(super) fn prefer(&mut self, certificates: &[Arc<CertifiedKey>]) {
        self.fallback.splice(0..0, certificates.iter().cloned());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_name.is_empty() && self.fallback.is_empty()
    }

    /// The certificates for a host, best first.
    pub(super) fn find(&self, host: &str) -> &[Arc<CertifiedKey>] {
        self.of_host(host).unwrap_or(&self.fallback)
    }

    fn of_host(&self, host: &str) -> Option<&[Arc<CertifiedKey>]> {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let by_wildcard = || self.by_name.get(host.get(host.find('.')?..)?);
        self.by_name.get(&host).or_else(by_wildcard).map(Vec::as_slice)
    }
}

impl ServerNames {
    /// Whether a host has a certificate of its own.
    pub(super) fn have(&self, host: &str) -> bool {
        self.0.load().of_host(host).is_some()
    }

    pub(super) fn replace(&self, names: CertificateNames) {
        self.0.store(Arc::new(names));
    }
}

impl ResolvesServerCert for ServerNames {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let names = self.0.load();
        let candidates = names.find(hello.server_name().unwrap_or_default());
        let fits = |candidate: &&Arc<CertifiedKey>| candidate.key.choose_scheme(hello.signature_schemes()).is_some();
        candidates.iter().find(fits).or_else(|| candidates.first()).cloned()
    }
}

#[cfg(test)]
mod tests;
