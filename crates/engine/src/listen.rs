//! What the engine listens on, and what connections to an address pass through before their first request.

use rustls::ServerConfig;
use rustls::server::ClientHello;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Chooses how to speak TLS with a client; asked once for each handshake.
pub trait TlsTerms: Send + Sync {
    /// The settings for a client that says this.
    fn for_client(&self, hello: &ClientHello<'_>) -> Arc<ServerConfig>;
}

/// Whether connections from an address begin with a PROXY header.
pub type TrustedProxies = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// An address to listen on, and what connections to it pass through first.
#[derive(Clone)]
pub struct Listen {
    /// The address; port 0 picks a free one.
    pub address: SocketAddr,
    /// TLS, if it is spoken here.
    pub tls: Option<Arc<dyn TlsTerms>>,
    /// Who announces the real client; nobody without it.
    pub proxies: Option<TrustedProxies>,
}

impl Listen {
    /// Plain HTTP from clients themselves.
    pub fn plain(address: SocketAddr) -> Self {
        Listen { address, tls: None, proxies: None }
    }

    /// Whether a connection from `peer` has anything to pass through.
    pub(crate) fn is_open_to(&self, peer: SocketAddr) -> bool {
        self.tls.is_none() && !self.trusts(peer)
    }

    /// Whether a connection from `peer` begins with a PROXY header.
    pub(crate) fn trusts(&self, peer: SocketAddr) -> bool {
        self.proxies.as_ref().is_some_and(|is_trusted| is_trusted(peer.ip().to_canonical()))
    }
}
