//! The way to a syslog server: over UDP, TCP, TLS or a socket of this machine. Whoever sends writes whole messages; a lost connection is opened anew.

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use std::fmt;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tollgate_model::config::{CollectorTls, GatewayConfig};
use tollgate_tls::collector_config;

/// Where the syslog server of this machine listens, as in Go's `log/syslog`.
const LOCAL_SOCKETS: [&str; 3] = ["/dev/log", "/var/run/syslog", "/var/run/log"];
/// Time for a server to accept a connection, and to take bytes.
const SERVER_TIME: Duration = Duration::from_secs(5);

/// Where messages go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SyslogServer {
    /// The server of this machine.
    Local,
    /// A socket of this machine.
    Socket(PathBuf),
    /// `host:port`
    Udp(String),
    /// `host:port`
    Tcp(String),
    /// `host:port`, and how its certificate is checked.
    Tls(String, CollectorTls),
}

impl SyslogServer {
    /// The server of the log, of a configuration that [`GatewayConfig`] has checked.
    pub fn new(config: &GatewayConfig) -> Option<Self> {
        let address = config.syslog_network_addr.clone();
        config.use_syslog.then(|| match config.syslog_transport.as_str() {
            "" => SyslogServer::Local,
            "udp" => SyslogServer::Udp(address),
            "tcp" => SyslogServer::Tcp(address),
            _ => SyslogServer::Socket(PathBuf::from(address)),
        })
    }

    pub(crate) fn is_local(&self) -> bool {
        matches!(self, SyslogServer::Local | SyslogServer::Socket(_))
    }

    fn open(&self) -> io::Result<SyslogSocket> {
        match self {
            SyslogServer::Local => {
                let path = LOCAL_SOCKETS.into_iter().map(Path::new).find(|path| path.exists());
                open_socket(path.ok_or(ErrorKind::NotFound)?)
            }
            SyslogServer::Socket(path) => open_socket(path),
            SyslogServer::Udp(address) => {
                let server = first_address(address)?;
                let own = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                let socket = UdpSocket::bind(own)?;
                socket.connect(server)?;
                Ok(SyslogSocket::Udp(socket))
            }
            SyslogServer::Tcp(address) => Ok(SyslogSocket::Tcp(connect(address)?)),
            SyslogServer::Tls(address, tls) => {
                // The files are read each time, so that new ones are used.
                let config = collector_config(tls).map_err(io::Error::other)?;
                let host = address.rsplit_once(':').map_or(address.as_str(), |(host, _)| host);
                let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned()).map_err(io::Error::other)?;
                let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
                Ok(SyslogSocket::Tls(Box::new(StreamOwned::new(connection, connect(address)?))))
            }
        }
    }
}

impl fmt::Display for SyslogServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SyslogServer::Local => f.write_str("the socket of this machine"),
            SyslogServer::Socket(path) => write!(f, "{}", path.display()),
            SyslogServer::Udp(address) => write!(f, "udp {address}"),
            SyslogServer::Tcp(address) => write!(f, "tcp {address}"),
            SyslogServer::Tls(address, _) => write!(f, "tls {address}"),
        }
    }
}

/// A server, with the connection to it if there is one.
pub struct SyslogLink {
    server: SyslogServer,
    socket: Option<SyslogSocket>,
}

impl SyslogLink {
    /// A link that is opened with the first message.
    pub fn new(server: SyslogServer) -> Self {
        SyslogLink { server, socket: None }
    }

    /// The server.
    pub fn server(&self) -> &SyslogServer {
        &self.server
    }

    /// Sends one message, which has what a stream needs to find its end. A server that was restarted is found again with the second attempt. Blocks.
    ///
    /// # Errors
    /// The server takes nothing. Without one, UDP may have lost the message, and a connection that breaks what the server has not read yet.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        if self.socket.as_mut().is_some_and(SyslogSocket::has_ended) {
            self.socket = None;
        }
        let mut sent = self.try_send(message);
        if sent.is_err() {
            self.socket = None;
            sent = self.try_send(message);
        }
        if sent.is_err() {
            self.socket = None;
        }
        sent
    }

    fn try_send(&mut self, message: &[u8]) -> io::Result<()> {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(self.server.open()?),
        };
        socket.send(message)
    }
}

enum SyslogSocket {
    Udp(UdpSocket),
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    Datagram(UnixDatagram),
    Stream(UnixStream),
}

impl SyslogSocket {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            SyslogSocket::Udp(socket) => socket.send(message).map(drop),
            SyslogSocket::Datagram(socket) => socket.send(message).map(drop),
            SyslogSocket::Tcp(stream) => stream.write_all(message),
            SyslogSocket::Tls(stream) => stream.write_all(message).and_then(|()| stream.flush()),
            SyslogSocket::Stream(stream) => stream.write_all(message),
        }
    }

    /// Whether the server has ended the connection: what is written to it would be lost without an error.
    fn has_ended(&mut self) -> bool {
        match self {
            SyslogSocket::Tcp(stream) => without_waiting(stream, |stream| stream.peek(&mut [0]).map(|length| length == 0)),
            SyslogSocket::Tls(stream) => {
                let StreamOwned { conn, sock } = &mut **stream;
                // A server sends nothing but what belongs to TLS, such as its end.
                without_waiting(sock, |mut sock| {
                    while conn.read_tls(&mut sock)? > 0 {
                        if conn.process_new_packets().map_err(io::Error::other)?.peer_has_closed() {
                            break;
                        }
                    }
                    Ok(true)
                })
            }
            SyslogSocket::Udp(_) | SyslogSocket::Datagram(_) | SyslogSocket::Stream(_) => false,
        }
    }
}

/// The answer of a look at a stream; false if there is nothing to see yet.
fn without_waiting(stream: &TcpStream, look: impl FnOnce(&TcpStream) -> io::Result<bool>) -> bool {
    let is_set = stream.set_nonblocking(true);
    let has_ended = match look(stream) {
        Ok(has_ended) => has_ended,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    };
    has_ended || is_set.and_then(|()| stream.set_nonblocking(false)).is_err()
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&first_address(address)?, SERVER_TIME)?;
    stream.set_write_timeout(Some(SERVER_TIME))?;
    stream.set_read_timeout(Some(SERVER_TIME))?;
    Ok(stream)
}

fn first_address(text: &str) -> io::Result<SocketAddr> {
    text.to_socket_addrs()?.next().ok_or_else(|| ErrorKind::NotFound.into())
}

fn open_socket(path: &Path) -> io::Result<SyslogSocket> {
    let socket = UnixDatagram::unbound()?;
    if socket.connect(path).is_ok() {
        socket.set_write_timeout(Some(SERVER_TIME))?;
        return Ok(SyslogSocket::Datagram(socket));
    }
    let stream = UnixStream::connect(path)?;
    stream.set_write_timeout(Some(SERVER_TIME))?;
    Ok(SyslogSocket::Stream(stream))
}
