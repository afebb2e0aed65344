//! An upstream to connect to. Targets outlive configurations: the same upstream is the same target, so that its pooled connections
//! survive a reload.

use rustls::pki_types::ServerName;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Opens one end of a connection to a component within this process.
pub type LocalConnector = Arc<dyn Fn() -> io::Result<UnixStream> + Send + Sync>;

/// One upstream.
#[derive(Debug)]
pub struct Target {
    /// Key of the pools; never reused within a process.
    pub serial: u64,
    /// Address of the upstream.
    pub address: Address,
    /// The proxy on the way to it.
    pub proxy: Option<EgressProxy>,
    /// TLS settings, if it speaks TLS.
    pub tls: Option<TargetTls>,
    /// Whether to use HTTP/2.
    pub http2: Http2,
}

/// When to use HTTP/2 to an upstream. A request that switches protocols always uses HTTP/1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Http2 {
    /// Never.
    #[default]
    Never,
    /// If the upstream agrees to it in the TLS handshake.
    IfAgreed,
    /// Always, without negotiation.
    Always,
}

/// Address of an upstream.
#[derive(Clone)]
pub enum Address {
    /// An IP address and port.
    Socket(SocketAddr),
    /// A name, resolved again when the time to live of the last answer ends.
    Name {
        /// The name, without a trailing dot.
        host: String,
        /// The port.
        port: u16,
    },
    /// A component within this process.
    Local(LocalConnector),
}

/// TLS settings for an upstream.
#[derive(Clone, Debug)]
pub struct TargetTls {
    /// Roots, versions and checks.
    pub config: Arc<rustls::ClientConfig>,
    /// The name that the certificate must contain.
    pub name: ServerName<'static>,
}

/// A proxy on the way to upstreams.
#[derive(Clone)]
pub struct EgressProxy {
    /// Address of the proxy.
    pub address: Address,
    /// How to ask it.
    pub protocol: ProxyProtocol,
}

/// How a proxy is asked for a connection.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum ProxyProtocol {
    /// `CONNECT`, with the value of `Proxy-Authorization`.
    Http(Option<String>),
    /// SOCKS5, with user and password.
    Socks5(Option<(String, String)>),
}

impl fmt::Debug for EgressProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the credentials.
        write!(f, "proxy at {:?}", self.address)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Socket(address) => write!(f, "{address}"),
            Address::Name { host, port } => write!(f, "{host}:{port}"),
            Address::Local(_) => f.write_str("local"),
        }
    }
}
