//! TLS to upstreams: the system's roots and verification by name, unless an API configures otherwise; pinned keys; and the gateway's own
//! certificates for upstreams that request one.

use super::certificate::{Facts, uris_of};
use super::library::{CertificateSlot, Library};
use super::{provider, versions};
use crate::ServiceKind;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ResolvesClientCert, WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tollgate_model::api::ApiDefinition;
use tollgate_model::config::GatewayConfig;

/// TLS settings to upstreams, of an API or of the gateway for all APIs.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Lowest and highest version as wire numbers; 0 for the default.
    pub min_version: u16,
    /// See `min_version`.
    pub max_version: u16,
    /// TLS 1.2 cipher suites; empty for the default.
    pub ciphers: Vec<String>,
    /// Whether the certificate's common name must be the host.
    pub checks_common_name: bool,
    /// The gateway's own certificate by upstream: host, `*.domain` or `*`.
    certificates: BTreeMap<String, String>,
    /// Pinned public keys by upstream: SHA-256, comma separated.
    pins: BTreeMap<String, String>,
    /// Whether HTTP/2 is offered to upstreams.
    pub http2: bool,
    /// URL of the proxy on the way to the upstreams; empty for none.
    pub proxy_url: String,
}

/// The rules for one upstream host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TlsRules {
    /// Whether any certificate is accepted.
    pub insecure: bool,
    /// Lowest and highest version as wire numbers; 0 for the default.
    pub min_version: u16,
    /// See `min_version`.
    pub max_version: u16,
    /// TLS 1.2 cipher suites; empty for the default.
    pub ciphers: Vec<String>,
    /// Whether the certificate's common name must be the host, instead of one of its alternative names.
    pub checks_common_name: bool,
    /// Pinned public keys, one of which the upstream must have; empty for any.
    pub pins: Vec<String>,
    /// Certificate for upstreams that request one.
    pub certificate: Option<String>,
    /// The certificate's key, if it is in a file of its own.
    pub key_file: Option<String>,
    /// The only trusted authorities, by file or identifier or as PEM text; empty for those of the system.
    pub authorities: Vec<String>,
    /// Names of which the certificate must have one in place of the host's: `dns:` and a host, or `uri:` and a URI. Empty for the host's.
    pub names: Vec<String>,
    /// Whether HTTP/2 is used with upstreams that support it.
    pub http2: bool,
    /// The kind of server that the gateway itself calls; the configuration may have proxies and certificates for it.
    pub service: ServiceKind,
}

impl TlsSettings {
    /// The gateway's own settings.
    pub fn of_gateway(config: &GatewayConfig) -> Self {
        TlsSettings {
            insecure: config.proxy_ssl_insecure_skip_verify,
            min_version: config.proxy_ssl_min_version,
            max_version: config.proxy_ssl_max_version,
            ciphers: config.proxy_ssl_ciphers.clone(),
            checks_common_name: config.ssl_force_common_name_check,
            certificates: config.security.certificates.upstream.clone(),
            pins: config.security.pinned_public_keys.clone(),
            http2: config.proxy_enable_http2,
            proxy_url: String::new(),
        }
    }

    /// These settings, overridden by those of an API.
    pub fn for_api(&self, definition: &ApiDefinition) -> Self {
        let transport = &definition.proxy.transport;
        let own = |value: u16, general: u16| if value == 0 { general } else { value };
        let mut settings = TlsSettings {
            insecure: self.insecure || transport.ssl_insecure_skip_verify,
            min_version: own(transport.ssl_min_version, self.min_version),
            max_version: own(transport.ssl_max_version, self.max_version),
            ciphers: if transport.ssl_ciphers.is_empty() { self.ciphers.clone() } else { transport.ssl_ciphers.clone() },
            checks_common_name: self.checks_common_name || transport.ssl_force_common_name_check,
            proxy_url: transport.proxy_url.clone(),
            ..self.clone()
        };
        if !definition.upstream_certificates_disabled {
            // An API's wildcard overrides exact names of the gateway, as in Tyk, which applies the API's map last.
            settings.certificates = layered(&self.certificates, &definition.upstream_certificates);
        }
        if !definition.certificate_pinning_disabled {
            settings.pins = layered(&self.pins, &definition.pinned_public_keys);
        }
        settings
    }

    /// Names of the gateway's own certificates for upstreams.
    pub fn certificate_names(&self) -> impl Iterator<Item = &String> {
        self.certificates.values()
    }

    /// The rules for a host.
    pub fn for_host(&self, host: &str) -> TlsRules {
        let pins = best(&self.pins, host).map(|pins| pins.split(',').map(fingerprint).filter(|pin| !pin.is_empty()).collect());
        TlsRules {
            insecure: self.insecure,
            min_version: self.min_version,
            max_version: self.max_version,
            ciphers: self.ciphers.clone(),
            checks_common_name: self.checks_common_name,
            pins: pins.unwrap_or_default(),
            certificate: best(&self.certificates, host).cloned(),
            key_file: None,
            authorities: Vec::new(),
            names: Vec::new(),
            http2: self.http2,
            service: ServiceKind::Other,
        }
    }
}

/// Merges two maps; an entry of `above` hides every entry of `below` that it covers.
fn layered(below: &BTreeMap<String, String>, above: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut all = below.clone();
    all.retain(|host, _| best(above, host.trim_start_matches("*.")).is_none());
    all.extend(above.clone());
    all
}

/// The entry for a host in any letter case: the host's own, else its domain's, else that of `*`.
fn best<'m>(map: &'m BTreeMap<String, String>, host: &str) -> Option<&'m String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let named = |name: &str| map.iter().find(|(own, _)| own.strip_suffix('.').unwrap_or(own).eq_ignore_ascii_case(name));
    let named = |name: &str| map.get(name).or_else(|| Some(named(name)?.1));
    let of_domain = || named(&format!("*.{}", host.split_once('.')?.1));
    named(host).or_else(of_domain).or_else(|| map.get("*")).filter(|value| !value.is_empty())
}

/// Removes the organisation that may precede a fingerprint, as in ids of stored keys.
fn fingerprint(pin: &str) -> String {
    let pin = pin.trim();
    let start = pin.len().saturating_sub(64);
    pin.get(start..).unwrap_or(pin).to_ascii_lowercase()
}

/// Makes the client configuration for some rules.
pub fn client_config(rules: &TlsRules, library: &Library) -> Result<ClientConfig, String> {
    let provider = provider(&rules.ciphers)?;
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&versions(rules.min_version, rules.max_version)?)
        .map_err(|error| error.to_string())?;
    let roots = match (rules.insecure, rules.authorities.is_empty()) {
        (true, _) => RootCertStore::empty(),
        (false, true) => system_roots(),
        (false, false) => own_roots(&rules.authorities, library)?,
    };
    let verifier = Verifier {
        strict: WebPkiServerVerifier::builder_with_provider(Arc::new(roots.clone()), provider.clone()).build().ok(),
        roots,
        insecure: rules.insecure,
        checks_common_name: rules.checks_common_name,
        pins: rules.pins.clone(),
        names: rules.names.clone(),
        provider,
    };
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match &rules.certificate {
        None => builder.with_no_client_auth(),
        Some(name) => {
            let slot = match &rules.key_file {
                Some(key) => library.pair(Path::new(name), Path::new(key)),
                None => library.named(name),
            };
            builder.with_client_cert_resolver(Arc::new(OwnCertificate(slot)))
        }
    };
    if rules.http2 {
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    }
    Ok(config)
}

/// The authorities in files or in the store.
fn own_roots(names: &[String], library: &Library) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for name in names {
        let text = match library.stored_text(name) {
            Some(text) => text,
            None if Library::is_text(name) => name.as_bytes().to_vec(),
            None => std::fs::read(name).map_err(|error| format!("authority {name}: {error}"))?,
        };
        // A text is no name for a message.
        let name = if Library::is_text(name) { "text" } else { name };
        for certificate in CertificateDer::pem_slice_iter(&text) {
            let certificate = certificate.map_err(|error| format!("authority {name}: {error}"))?;
            roots.add(certificate).map_err(|error| format!("authority {name}: {error}"))?;
        }
    }
    if roots.is_empty() { Err("there is no authority in the files that are named".to_owned()) } else { Ok(roots) }
}

fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    for error in &found.errors {
        tracing::warn!(%error, "cannot read some of the system's root certificates");
    }
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        tracing::warn!("the system has no root certificates: no https upstream will be trusted");
    }
    roots
}

/// The gateway's own certificate, as it is at each handshake.
#[derive(Debug)]
struct OwnCertificate(Arc<CertificateSlot>);

impl ResolvesClientCert for OwnCertificate {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        self.0.get()?.own.clone()
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Verifies an upstream's certificate by an API's rules. In any case the upstream must hold the key of the certificate it presents.
#[derive(Debug)]
struct Verifier {
    /// `None` without roots: nothing verifies then.
    strict: Option<Arc<WebPkiServerVerifier>>,
    roots: RootCertStore,
    insecure: bool,
    checks_common_name: bool,
    pins: Vec<String>,
    names: Vec<String>,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    /// Verifies the chain to a root and the host as common name, for certificates from before alternative names.
    fn check_common_name(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        if !self.insecure {
            let algorithms = self.provider.signature_verification_algorithms.all;
            verify_server_cert_signed_by_trust_anchor(
                &ParsedCertificate::try_from(leaf)?,
                &self.roots,
                intermediates,
                now,
                algorithms,
            )?;
        }
        let facts = Facts::new(leaf).map_err(rustls::Error::General)?;
        match facts.common_name.eq_ignore_ascii_case(&host.to_str()) {
            true => Ok(()),
            false => Err(CertificateError::NotValidForName.into()),
        }
    }

    /// Verifies the chain to a root, and that the certificate has one of the names.
    fn check_names(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let parsed = ParsedCertificate::try_from(leaf)?;
        let algorithms = self.provider.signature_verification_algorithms.all;
        verify_server_cert_signed_by_trust_anchor(&parsed, &self.roots, intermediates, now, algorithms)?;
        let uris = uris_of(leaf).map_err(rustls::Error::General)?;
        let has = |name: &String| match name.split_once(':') {
            Some(("uri", uri)) => uris.iter().any(|own| own == uri),
            Some(("dns", host)) => ServerName::try_from(host).is_ok_and(|host| verify_server_name(&parsed, &host).is_ok()),
            _ => false,
        };
        if self.names.iter().any(has) { Ok(()) } else { Err(CertificateError::NotValidForName.into()) }
    }

    /// Verifies a pinned key: it is the upstream's own, or that of an authority with a valid chain to the upstream. A pinned certificate
    /// that is merely sent along proves nothing.
    fn check_pins(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        now: UnixTime,
    ) -> Result<(), rustls::Error> {
        let is_pinned =
            |certificate: &CertificateDer<'_>| Facts::new(certificate).is_ok_and(|facts| self.pins.contains(&facts.public_key));
        if is_pinned(leaf) {
            return Ok(());
        }
        let leads_here = |authority: &CertificateDer<'_>| {
            let mut roots = RootCertStore::empty();
            let verifier = roots
                .add(authority.clone().into_owned())
                .ok()
                .and_then(|()| WebPkiServerVerifier::builder_with_provider(Arc::new(roots), self.provider.clone()).build().ok());
            verifier.is_some_and(|verifier| verifier.verify_server_cert(leaf, intermediates, host, &[], now).is_ok())
        };
        match intermediates.iter().filter(|certificate| is_pinned(certificate)).any(leads_here) {
            true => Ok(()),
            false => Err(rustls::Error::General("public key pinning: the upstream's key is not one of the pinned keys".to_owned())),
        }
    }
}

/// The fault that Go would name first: the certificate's expiry, its names, then its issuer. Flags and alerts depend on it.
#[cold]
fn first_fault(error: rustls::Error, leaf: &CertificateDer<'_>, host: &ServerName<'_>, now: UnixTime) -> rustls::Error {
    let rustls::Error::InvalidCertificate(fault) = error else { return error };
    let (Ok(facts), Ok(parsed)) = (Facts::new(leaf), ParsedCertificate::try_from(leaf)) else { return fault.into() };
    if i64::try_from(now.as_secs()).is_ok_and(|now_unix_s| now_unix_s > facts.not_after_unix_s) {
        return CertificateError::Expired.into();
    }
    if verify_server_name(&parsed, host).is_err() {
        return CertificateError::NotValidForName.into();
    }
    match fault {
        // An authority's certificate as the server's own: it would do if it were a root.
        CertificateError::Other(_) if facts.is_authority => CertificateError::UnknownIssuer.into(),
        fault => fault.into(),
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.checks_common_name {
            self.check_common_name(leaf, intermediates, host, now)?;
        }
        if !self.names.is_empty() {
            self.check_names(leaf, intermediates, now)?;
        } else if !self.pins.is_empty() {
            self.check_pins(leaf, intermediates, host, now)?;
        } else if !self.insecure && !self.checks_common_name {
            let strict = self.strict.as_ref().ok_or(rustls::Error::from(CertificateError::UnknownIssuer))?;
            strict.verify_server_cert(leaf, intermediates, host, ocsp, now).map_err(|error| first_fault(error, leaf, host, now))?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests;
