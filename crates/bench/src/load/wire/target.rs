//! A server and how to connect to it: its address, directly or through a proxy, and its TLS settings.

use super::url::{RequestUrl, split_port};
use crate::load::options::LoadOptions;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;

use super::unverified::Unverified;

/// Time limit of the first connection, regardless of `-t`.
const REACH_TIMEOUT: Duration = Duration::from_secs(10);

/// One server.
#[derive(Clone)]
pub(crate) struct ServerTarget {
    /// Name for messages.
    pub label: String,
    /// Address to connect to.
    pub address: SocketAddr,
    /// The CONNECT request for the proxy at `address`.
    pub tunnel: Option<Vec<u8>>,
    pub tls: Option<Tls>,
}

/// TLS settings.
#[derive(Clone)]
pub(crate) struct Tls {
    pub connector: TlsConnector,
    pub name: ServerName<'static>,
}

/// How to connect to servers.
pub(crate) struct Connecting {
    tls: Arc<ClientConfig>,
    proxy: Option<(String, u16)>,
}

impl Connecting {
    pub(crate) fn new(options: &LoadOptions) -> Result<Self, String> {
        let proxy = match &options.proxy {
            None => None,
            Some(proxy) => {
                let address = proxy.strip_prefix("http://").unwrap_or(proxy).trim_end_matches('/');
                let (host, port) = split_port(address).ok_or_else(|| format!("-x: `{proxy}` is not host:port"))?;
                Some((host.to_owned(), port.unwrap_or(80)))
            }
        };
        Ok(Connecting { tls: Arc::new(client_config(options)?), proxy })
    }

    /// Whether plain requests go to a proxy with their absolute URL.
    pub(crate) fn has_proxy(&self) -> bool {
        self.proxy.is_some()
    }

    /// The server of `url`, and the time for resolving its name.
    pub(crate) fn target(&self, url: &RequestUrl) -> Result<(ServerTarget, Duration), String> {
        let begun = Instant::now();
        let (host, port) = self.reached_by(url);
        let addresses = (host, port).to_socket_addrs().map_err(|error| format!("cannot look up {host}: {error}"))?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        let took = begun.elapsed();
        let address = *addresses.first().ok_or_else(|| format!("{host} has no address"))?;
        let mut target = self.assemble(url, address)?;
        target.choose(&addresses)?;
        Ok((target, took))
    }

    /// The server of `url` during the run, for a redirect.
    pub(crate) async fn target_later(&self, url: &RequestUrl) -> Result<ServerTarget, String> {
        let (host, port) = self.reached_by(url);
        let mut addresses =
            tokio::net::lookup_host((host, port)).await.map_err(|error| format!("cannot look up {host}: {error}"))?;
        self.assemble(url, addresses.next().ok_or_else(|| format!("{host} has no address"))?)
    }

    /// Host and port to connect to.
    fn reached_by<'a>(&'a self, url: &'a RequestUrl) -> (&'a str, u16) {
        self.proxy.as_ref().map_or((url.host.as_str(), url.port), |(host, port)| (host.as_str(), *port))
    }

    fn assemble(&self, url: &RequestUrl, address: SocketAddr) -> Result<ServerTarget, String> {
        let tls = if url.tls {
            let name =
                ServerName::try_from(url.host.clone()).map_err(|_| format!("`{}` cannot be a certificate's name", url.host))?;
            Some(Tls { connector: TlsConnector::from(Arc::clone(&self.tls)), name })
        } else {
            None
        };
        let label =
            if url.host.contains(':') { format!("[{}]:{}", url.host, url.port) } else { format!("{}:{}", url.host, url.port) };
        let tunnel =
            (self.proxy.is_some() && url.tls).then(|| format!("CONNECT {label} HTTP/1.1\r\nHost: {label}\r\n\r\n").into_bytes());
        Ok(ServerTarget { label, address, tunnel, tls })
    }
}

impl ServerTarget {
    /// Selects the first address that accepts a connection, so that a dead server is noticed before the run.
    fn choose(&mut self, addresses: &[SocketAddr]) -> Result<(), String> {
        let mut failed = None;
        for address in addresses {
            match std::net::TcpStream::connect_timeout(address, REACH_TIMEOUT) {
                Ok(_) => {
                    self.address = *address;
                    return Ok(());
                }
                Err(error) => failed = Some(format!("cannot connect to {} ({address}): {error}", self.label)),
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

fn client_config(options: &LoadOptions) -> Result<ClientConfig, String> {
    let provider = Arc::new(provider(options)?);
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS: {error}"))?;
    let mut config = if let Some(file) = &options.cacert {
        let wrong = |error: &dyn std::fmt::Display| format!("--cacert {}: {error}", file.display());
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
            roots.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
        }
        if roots.is_empty() {
            return Err(wrong(&"there is no certificate in it"));
        }
        builder.with_root_certificates(roots).with_no_client_auth()
    } else if options.verify {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err("--verify: the system has no root certificates; name them with --cacert".to_owned());
        }
        builder.with_root_certificates(roots).with_no_client_auth()
    } else {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Unverified::new(&provider))).with_no_client_auth()
    };
    config.alpn_protocols = vec![if options.http2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
    if options.disable_resumption {
        config.resumption = Resumption::disabled();
    }
    Ok(config)
}

/// The TLS algorithms: all, unless the options select one suite or group.
fn provider(options: &LoadOptions) -> Result<CryptoProvider, String> {
    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    if let Some(wanted) = &options.tls_suite {
        let known: Vec<String> = provider.cipher_suites.iter().map(|suite| format!("{:?}", suite.suite())).collect();
        provider.cipher_suites.retain(|suite| format!("{:?}", suite.suite()) == *wanted);
        if provider.cipher_suites.is_empty() {
            return Err(format!("--tls-suite: {wanted} is none of {}", known.join(", ")));
        }
    }
    if let Some(wanted) = &options.tls_group {
        let known: Vec<String> = provider.kx_groups.iter().map(|group| format!("{:?}", group.name())).collect();
        provider.kx_groups.retain(|group| format!("{:?}", group.name()) == *wanted);
        if provider.kx_groups.is_empty() {
            return Err(format!("--tls-group: {wanted} is none of {}", known.join(", ")));
        }
    }
    Ok(provider)
}
