//! Listening addresses, and what their connections perform before the first request.

use rustls::ServerConfig;
use rustls::server::ClientHello;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use tokio::sync::watch;

/// Selects the TLS settings for a client; called once per handshake.
pub trait TlsConfigSelector: Send + Sync {
    /// The settings for a client with this ClientHello.
    fn for_client(&self, hello: &ClientHello<'_>) -> Arc<ServerConfig>;
}

/// Tells whether connections from an address start with a PROXY header.
pub type TrustedProxies = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// A listening address and its settings.
#[derive(Clone)]
pub struct Listen {
    /// The address; port 0 selects a free port.
    pub address: SocketAddr,
    /// Tells services where a client connected ([`ClientInfo::listener`](crate::ClientInfo)); 0 for the gateway's own address.
    pub name: u16,
    /// What its connections carry.
    pub content: Content,
    /// TLS settings, if the port speaks TLS.
    pub tls: Option<Arc<dyn TlsConfigSelector>>,
    /// The proxies that announce clients in a PROXY header; none if absent.
    pub proxies: Option<TrustedProxies>,
}

/// What connections carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// HTTP/1.1 or HTTP/2.
    Http,
    /// Bytes that are forwarded unchanged ([`Service::stream`](crate::Service)).
    Stream,
}

/// A listening socket of one core.
pub(crate) struct NewListener {
    pub listen: Arc<Listen>,
    pub socket: TcpListener,
    /// Ends with its sender, when the listener closes.
    pub closed: watch::Receiver<()>,
}

impl Listen {
    /// Whether connections from `peer` need no step before the first request.
    pub(crate) fn is_open_to(&self, peer: SocketAddr) -> bool {
        self.tls.is_none() && self.content == Content::Http && !self.trusts(peer)
    }

    /// Whether connections from `peer` start with a PROXY header.
    pub(crate) fn trusts(&self, peer: SocketAddr) -> bool {
        self.proxies.as_ref().is_some_and(|is_trusted| is_trusted(peer.ip().to_canonical()))
    }
}
