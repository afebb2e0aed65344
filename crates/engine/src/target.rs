//! An upstream that connections can be made to. Targets outlive configurations: the same upstream is the same target, so that its
//! pooled connections survive a reload.

use rustls::pki_types::ServerName;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

/// Makes one end of a connection to something inside this process.
pub type LocalConnector = Arc<dyn Fn() -> io::Result<UnixStream> + Send + Sync>;

/// One upstream.
#[derive(Debug)]
pub struct Target {
    /// Never used twice in a process: the key of the pools.
    pub serial: u64,
    /// Where it is.
    pub address: Address,
    /// TLS, if it speaks TLS.
    pub tls: Option<TargetTls>,
    /// Whether it is asked over HTTP/2.
    pub http2: Http2,
}

/// When an upstream is asked over HTTP/2. A request that is to switch protocols always goes over HTTP/1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Http2 {
    /// Never.
    #[default]
    Never,
    /// If the upstream agrees to it in the TLS handshake.
    IfAgreed,
    /// Always, without asking.
    Always,
}

/// Where an upstream is.
#[derive(Clone)]
pub enum Address {
    /// A literal address.
    Socket(SocketAddr),
    /// A name, resolved again whenever the last answer's time to live is over.
    Name {
        /// The name, without a trailing dot.
        host: String,
        /// The port.
        port: u16,
    },
    /// Something inside this process.
    Local(LocalConnector),
}

/// How to speak TLS to an upstream.
#[derive(Clone, Debug)]
pub struct TargetTls {
    /// Roots, versions and checks.
    pub config: Arc<rustls::ClientConfig>,
    /// The name that the certificate must have.
    pub name: ServerName<'static>,
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
