//! TLS towards clients: certificates by host, versions and ciphers, session tickets that all cores can read, and the hosts that request a
//! client certificate. A client's certificate is only received here; whether it may call is decided when the API is known.

use super::issued::{HostCertificates, IssueState, IssuedCertificates};
use super::server_names::{CertificateNames, ServerNames};
use arc_swap::ArcSwap;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, NoServerSessionStorage};
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme, SupportedProtocolVersion};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use tollgate_engine::{Content, TlsChoice, TlsConfigSelector};
use tollgate_model::config::GatewayConfig;
use tollgate_tls::Certificate;
use tollgate_tls::{CertificateSlot, Library};
use tollgate_tls::{provider, versions};

/// TLS configuration for all clients.
pub struct ClientTerms {
    /// Configurations for hosts that request no certificate, and for those that do. Each has its own tickets, so that a session that began
    /// without a certificate is not resumed where one is requested.
    plain: Arc<ServerConfig>,
    asking: Arc<ServerConfig>,
    names: Arc<ServerNames>,
    /// Certificates of the configuration, with the host that is configured for each.
    own: Vec<(String, Arc<CertificateSlot>)>,
    /// Those that the gateway gets by itself.
    issued: IssuedCertificates,
    /// Host of clients that name none.
    default_host: String,
    /// Host on which the control API requests certificates; empty for all hosts, `None` when it requests none.
    control_host: Option<String>,
    asked: ArcSwap<ClientCertificateHosts>,
}

/// TLS settings of an API.
pub struct ApiTls<'a> {
    /// Host of the API; empty for all hosts.
    pub host: &'a str,
    /// Server certificates, shown to clients for the hosts that the certificates name.
    pub certificates: &'a [Arc<CertificateSlot>],
    /// Whether its clients are asked for a certificate.
    pub asks_for_certificate: bool,
    /// Whether its port speaks TLS.
    pub speaks_tls: bool,
}

/// The hosts that request a certificate.
#[derive(Default)]
struct ClientCertificateHosts {
    everywhere: bool,
    hosts: HashSet<String>,
}

impl ClientTerms {
    /// Makes the TLS configuration; `None` when TLS is not enabled. With `may_come`, missing stored certificates may appear later.
    pub fn new(config: &GatewayConfig, library: &Library, may_come: bool) -> Result<Option<Self>, String> {
        if !config.http_server_options.use_ssl {
            return Ok(None);
        }
        let own = server_certificates(config, library);
        for (_, slot) in &own {
            match slot.get() {
                Some(certificate) if certificate.own.is_none() => {
                    return Err("http_server_options: a certificate has no private key beside it".to_owned());
                }
                Some(_) => {}
                None if may_come && slot.is_stored() => {}
                None => return Err(format!("http_server_options: {}", slot.error().unwrap_or_default())),
            }
        }
        ClientTerms::with_certificates(config, own).map(Some)
    }

    /// The same for ports of APIs on a gateway whose own port has no TLS. Certificates may be missing: APIs can have their own.
    pub fn for_ports(config: &GatewayConfig, library: &Library) -> Result<Self, String> {
        ClientTerms::with_certificates(config, server_certificates(config, library))
    }

    fn with_certificates(config: &GatewayConfig, own: Vec<(String, Arc<CertificateSlot>)>) -> Result<Self, String> {
        let options = &config.http_server_options;
        let at = |error: String| format!("http_server_options: {error}");
        let provider = provider(&options.ssl_ciphers).map_err(|error| at(format!("ssl_ciphers: {error}")))?;
        let versions = versions(options.min_version, options.max_version).map_err(at)?;
        let names = Arc::new(ServerNames::default());
        let make = |verifier: Arc<dyn ClientCertVerifier>| -> Result<Arc<ServerConfig>, String> {
            let mut made = server_config(&provider, &versions, verifier, names.clone())?;
            made.alpn_protocols.retain(|name| options.enable_http2 || name != b"h2");
            Ok(Arc::new(made))
        };
        let shares_port = config.control_api_port == 0 || config.control_api_port == config.listen_port;
        let asks_control = config.security.control_api_use_mutual_tls && shares_port;
        let terms = ClientTerms {
            plain: make(rustls::server::WebPkiClientVerifier::no_client_auth())?,
            asking: make(Arc::new(AskAnybody(provider.clone())))?,
            names,
            own,
            issued: IssuedCertificates::default(),
            default_host: options.server_name.clone(),
            control_host: asks_control.then(|| config.control_api_hostname.to_ascii_lowercase()),
            asked: ArcSwap::default(),
        };
        terms.rebuild(&[]);
        Ok(terms)
    }

    /// Selects the configuration for clients of a port. At one of streams no protocol is negotiated, because nothing here speaks one.
    pub fn selector(self: &Arc<Self>, content: Content) -> Arc<dyn TlsConfigSelector> {
        let without_protocols = |terms: &Arc<ServerConfig>| {
            let mut terms = ServerConfig::clone(terms);
            terms.alpn_protocols.clear();
            Arc::new(terms)
        };
        match content {
            Content::Http => self.clone(),
            Content::Stream => Arc::new(StreamTerms {
                plain: without_protocols(&self.plain),
                asking: without_protocols(&self.asking),
                terms: self.clone(),
            }),
        }
    }

    /// Whether a client is asked for a certificate.
    fn asks(&self, hello: &ClientHello<'_>) -> bool {
        let asked = self.asked.load();
        asked.everywhere
            || (!asked.hosts.is_empty() && hello.server_name().is_none_or(|host| asked.hosts.contains(&host.to_ascii_lowercase())))
    }

    /// Applies the current TLS settings and certificates of the APIs.
    pub fn rebuild(&self, apis: &[ApiTls<'_>]) {
        let mut names = CertificateNames::default();
        for (host, slot) in &self.own {
            let Some(certificate) = slot.get() else { continue };
            let Some(own) = &certificate.own else { continue };
            if !host.is_empty() {
                names.add(host, own);
            }
            add_names(&mut names, &certificate);
            names.add_fallback(own);
        }
        for certificate in self.issued.slots().iter().filter_map(|slot| slot.get()) {
            add_names(&mut names, &certificate);
            certificate.own.iter().for_each(|own| names.add_fallback(own));
        }
        let of_apis = apis.iter().flat_map(|api| api.certificates).filter_map(|slot| slot.get());
        of_apis.for_each(|certificate| add_names(&mut names, &certificate));
        if names.is_empty() && apis.iter().any(|api| api.speaks_tls) {
            tracing::warn!("TLS is enabled without a certificate: every handshake fails");
        }
        if !self.default_host.is_empty() {
            let of_host = names.find(&self.default_host).to_vec();
            names.prefer(&of_host);
        }
        self.names.replace(names);
        self.asked.store(Arc::new(ClientCertificateHosts::new(apis, self.control_host.as_deref())));
    }

    /// Replaces the certificates that the gateway gets by itself; they are in service after the next [`ClientTerms::rebuild`].
    pub fn replace_issued(&self, slots: Vec<Arc<CertificateSlot>>, states: Vec<IssueState>) {
        self.issued.replace(slots, states);
    }

    /// How it is with each of them, also with those that are not there yet.
    pub fn issue_states(&self) -> Arc<Vec<IssueState>> {
        self.issued.states()
    }

    /// Those that are in service.
    pub fn issued(&self) -> Arc<Vec<Arc<CertificateSlot>>> {
        self.issued.slots()
    }

    /// Settings for connections of issuers, while one is expected.
    pub fn answer_challenges(&self, settings: Option<Arc<ServerConfig>>) {
        self.issued.answer_challenges(settings);
    }

    /// Who is asked for certificates of hosts that have none.
    pub fn ask_for_hosts(&self, of_hosts: Arc<dyn HostCertificates>) {
        self.issued.ask_for_hosts(of_hosts);
    }

    /// What becomes of a client whatever its port carries, if that is decided before.
    fn decided(&self, hello: &ClientHello<'_>) -> Option<TlsChoice> {
        if let Some(settings) = self.issued.for_issuer(hello) {
            return Some(TlsChoice::End(settings, Content::Stream));
        }
        let of_hosts = self.issued.of_hosts()?;
        let host = hello.server_name().filter(|host| !self.names.have(host))?;
        of_hosts.wait_for(host).map(TlsChoice::Wait)
    }

    /// TLS configuration of the control API's own port, which has no APIs and no HTTP/2.
    pub fn for_control(&self, asks: bool) -> Arc<ServerConfig> {
        let mut terms = ServerConfig::clone(if asks { &self.asking } else { &self.plain });
        terms.alpn_protocols.retain(|name| name != b"h2");
        Arc::new(terms)
    }
}

/// TLS for clients, with tickets of its own.
pub(super) fn server_config(
    provider: &Arc<CryptoProvider>,
    versions: &[&'static SupportedProtocolVersion],
    verifier: Arc<dyn ClientCertVerifier>,
    names: Arc<ServerNames>,
) -> Result<ServerConfig, String> {
    let builder = ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions);
    let builder = builder.map_err(|error| error.to_string())?.with_client_cert_verifier(verifier);
    let mut made = builder.with_cert_resolver(names);
    // Tickets need no memory here, and every core can read those of all others.
    made.session_storage = Arc::new(NoServerSessionStorage {});
    made.ticketer = aws_lc_rs::Ticketer::new().map_err(|error| error.to_string())?;
    // HTTP/1.0 and 1.1 need no distinction: each request names its version.
    let protocols: &[&[u8]] = &[b"h2", b"http/1.1", b"http/1.0"];
    made.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(made)
}

pub(super) fn add_names(names: &mut CertificateNames, certificate: &Certificate) {
    let Some(own) = &certificate.own else { return };
    certificate.facts.names.iter().for_each(|name| names.add(name, own));
}

impl ClientCertificateHosts {
    fn new(apis: &[ApiTls<'_>], control_host: Option<&str>) -> Self {
        let of_apis = apis.iter().filter(|api| api.asks_for_certificate).map(|api| api.host);
        let mut asked = ClientCertificateHosts::default();
        for host in of_apis.chain(control_host) {
            // A pattern is not a host name that a client could send: everyone is asked then, which rejects nobody.
            if host.is_empty() || host.contains(['{', '*']) {
                asked.everywhere = true;
            }
            asked.hosts.insert(host.to_ascii_lowercase());
        }
        asked
    }
}

impl TlsConfigSelector for ClientTerms {
    fn for_client(&self, hello: &ClientHello<'_>) -> TlsChoice {
        let usual = || TlsChoice::End(if self.asks(hello) { self.asking.clone() } else { self.plain.clone() }, Content::Http);
        self.decided(hello).unwrap_or_else(usual)
    }
}

/// TLS configuration of ports of streams.
struct StreamTerms {
    plain: Arc<ServerConfig>,
    asking: Arc<ServerConfig>,
    terms: Arc<ClientTerms>,
}

impl TlsConfigSelector for StreamTerms {
    fn for_client(&self, hello: &ClientHello<'_>) -> TlsChoice {
        let usual =
            || TlsChoice::End(if self.terms.asks(hello) { self.asking.clone() } else { self.plain.clone() }, Content::Stream);
        self.terms.decided(hello).unwrap_or_else(usual)
    }
}

/// The certificates of the configuration, with the host that is configured for each.
pub fn server_certificates(config: &GatewayConfig, library: &Library) -> Vec<(String, Arc<CertificateSlot>)> {
    let options = &config.http_server_options;
    let mut own = Vec::new();
    for written in &options.certificates {
        let slot = match written.key_file.as_path() {
            key if key == Path::new("") => library.named(&written.cert_file.to_string_lossy()),
            key => library.pair(&written.cert_file, key),
        };
        own.push((written.domain_name.clone(), slot));
    }
    own.extend(options.ssl_certificates.iter().map(|name| (String::new(), library.named(name))));
    own
}

/// Requests a certificate and accepts any, or none; it only verifies that the client holds the key.
#[derive(Debug)]
pub(super) struct AskAnybody(pub(super) Arc<CryptoProvider>);

impl ClientCertVerifier for AskAnybody {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
