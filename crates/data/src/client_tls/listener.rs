//! TLS of the listeners that share a socket: the host that a client names decides which one it reaches, and with it certificates, validation of
//! clients, and whether TLS ends here at all.

use super::server_names::{CertificateNames, ServerNames};
use super::terms::{AskAnybody, add_names, server_config};
use crate::route::{Hosts, normal_host};
use arc_swap::ArcSwap;
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{ClientHello, WebPkiClientVerifier};
use std::sync::Arc;
use tollgate_engine::{Content, TlsChoice, TlsConfigSelector};
use tollgate_model::config::GatewayConfig;
use tollgate_model::routing::{ClientCertificateRules, ListenerProtocol, RouteListener};
use tollgate_tls::{Library, provider, versions};

/// What the configuration says about TLS of all listeners.
#[derive(Clone, Debug, Default)]
pub struct TlsOptions {
    ciphers: Vec<String>,
    min_version: u16,
    max_version: u16,
}

/// TLS of one listener.
#[derive(Clone)]
pub enum ListenerTlsTerms {
    /// It ends here, and this is inside.
    End(Arc<ServerConfig>, Content),
    /// The bytes go on as they come.
    Pass,
}

/// The listeners of a socket, as they are now.
#[derive(Default)]
pub struct SocketTls(ArcSwap<ListenerTlsTable>);

/// Listeners by host.
#[derive(Default)]
pub struct ListenerTlsTable {
    hosts: Hosts<Option<ListenerTlsTerms>>,
    any_host: Option<ListenerTlsTerms>,
}

impl TlsOptions {
    pub fn new(config: &GatewayConfig) -> Self {
        let options = &config.http_server_options;
        TlsOptions { ciphers: options.ssl_ciphers.clone(), min_version: options.min_version, max_version: options.max_version }
    }
}

impl ListenerTlsTerms {
    /// Makes the terms of a listener. `Err` says why its clients cannot be served.
    pub fn new(listener: &RouteListener, options: &TlsOptions, library: &Library) -> Result<Self, String> {
        if listener.tls.passthrough {
            return Ok(ListenerTlsTerms::Pass);
        }
        let mut names = CertificateNames::default();
        for (index, written) in listener.tls.certificates.iter().enumerate() {
            // A document is not to name files.
            if !Library::is_text(written) {
                return Err(format!("certificates[{index}]: must be PEM"));
            }
            let slot = library.named(written);
            let usable = slot.get().and_then(|certificate| Some((certificate.own.clone()?, certificate)));
            let (own, certificate) = usable.ok_or_else(|| {
                format!("certificates[{index}]: {}", slot.error().unwrap_or_else(|| "it has no private key".to_owned()))
            })?;
            add_names(&mut names, &certificate);
            names.add_fallback(&own);
        }
        if names.is_empty() {
            return Err("it has no certificate".to_owned());
        }
        let resolver = Arc::new(ServerNames::default());
        resolver.replace(names);
        let provider = provider(&options.ciphers)?;
        let verifier: Arc<dyn ClientCertVerifier> = match &listener.tls.client_certificates {
            None => WebPkiClientVerifier::no_client_auth(),
            Some(rules) if rules.insecure_fallback => Arc::new(AskAnybody(provider.clone())),
            Some(rules) => {
                let roots = Arc::new(authorities(rules)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone()).build();
                verifier.map_err(|error| format!("client_certificates: {error}"))?
            }
        };
        let versions = versions(options.min_version, options.max_version)?;
        let mut config = server_config(&provider, &versions, verifier, resolver)?;
        let content = if listener.protocol == ListenerProtocol::Tls { Content::Stream } else { Content::Http };
        if content == Content::Stream {
            // Nothing here speaks what is inside.
            config.alpn_protocols.clear();
        }
        Ok(ListenerTlsTerms::End(Arc::new(config), content))
    }
}

fn authorities(rules: &ClientCertificateRules) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for (index, text) in rules.authorities.iter().enumerate() {
        let at = |error: String| format!("client_certificates.authorities[{index}]: {error}");
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            let certificate = certificate.map_err(|error| at(error.to_string()))?;
            roots.add(certificate).map_err(|error| at(error.to_string()))?;
        }
    }
    if roots.is_empty() { Err("client_certificates.authorities has no certificate".to_owned()) } else { Ok(roots) }
}

impl ListenerTlsTable {
    /// Adds the listener for a host, or for `*.` and all below a host; empty for all.
    pub fn add(&mut self, host: &str, terms: ListenerTlsTerms) {
        let place = if host.is_empty() { &mut self.any_host } else { self.hosts.wildcard_entry(host) };
        place.get_or_insert(terms);
    }
}

impl SocketTls {
    /// Replaces all listeners.
    pub fn replace(&self, table: Arc<ListenerTlsTable>) {
        self.0.store(table);
    }
}

impl TlsConfigSelector for SocketTls {
    fn for_client(&self, hello: &ClientHello<'_>) -> TlsChoice {
        let all = self.0.load();
        let host = normal_host(hello.server_name().unwrap_or_default());
        match all.hosts.find(&host).next().and_then(Option::as_ref).or(all.any_host.as_ref()) {
            Some(ListenerTlsTerms::End(config, content)) => TlsChoice::End(config.clone(), *content),
            Some(ListenerTlsTerms::Pass) => TlsChoice::Pass,
            None => TlsChoice::Refuse,
        }
    }
}
