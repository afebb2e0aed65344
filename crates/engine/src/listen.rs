//! Listening addresses, and what their connections perform before the first request.

use rustls::ServerConfig;
use rustls::server::ClientHello;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::watch;

/// Decides about TLS clients; called once per connection, and again after each wait.
pub trait TlsConfigSelector: Send + Sync {
    /// What becomes of a client with this ClientHello.
    fn for_client(&self, hello: &ClientHello<'_>) -> TlsChoice;
}

/// What becomes of a TLS client.
pub enum TlsChoice {
    /// TLS ends here, with these settings, and the connection carries this.
    End(Arc<ServerConfig>, Content),
    /// The bytes are forwarded as they come ([`Service::stream`](crate::Service)).
    Pass,
    /// The connection is closed.
    Refuse,
    /// It is decided after this, if there is still time for the handshake.
    Wait(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// Tells whether connections from an address start with a PROXY header.
pub type TrustedProxies = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// A listening address and its settings.
#[derive(Clone)]
pub struct Listen {
    /// The address; port 0 selects a free port.
    pub address: SocketAddr,
    /// Tells services where a client connected ([`ClientInfo::listener`](crate::ClientInfo)); 0 for the gateway's own address.
    pub name: u32,
    /// What its connections carry, if they have no TLS.
    pub content: Content,
    /// Decides about connections, if the port speaks TLS.
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

/// A socket that clients reach.
#[derive(Debug)]
pub enum ListenSocket {
    /// Accepts connections.
    Tcp(TcpListener),
    /// Receives datagrams.
    Udp(UdpSocket),
}

impl ListenSocket {
    /// Where it is bound.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match self {
            ListenSocket::Tcp(socket) => socket.local_addr(),
            ListenSocket::Udp(socket) => socket.local_addr(),
        }
    }

    /// A second handle of the same socket.
    ///
    /// # Errors
    /// No file descriptor is left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            ListenSocket::Tcp(socket) => ListenSocket::Tcp(socket.try_clone()?),
            ListenSocket::Udp(socket) => ListenSocket::Udp(socket.try_clone()?),
        })
    }
}

/// A listening socket of one core.
pub(crate) struct NewListener {
    pub listen: Arc<Listen>,
    pub socket: ListenSocket,
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
