//! The log as messages for a syslog server, in the format of RFC 3164 and as Go's `log/syslog` writes it, which Tyk uses: over UDP, TCP or
//! a socket of this machine. Messages that cannot be delivered are lost and counted; nobody waits for a server.

use jiff::ZonedDateTime;
use jiff::tz::TimeZone;
use std::fmt;
use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tollgate_model::config::GatewayConfig;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// The facility `daemon` of RFC 3164, section 4.1.1, in its place within a priority.
const DAEMON: u8 = 3 << 3;
/// Where the syslog server of this machine listens, as in Go's `log/syslog`.
const LOCAL_SOCKETS: [&str; 3] = ["/dev/log", "/var/run/syslog", "/var/run/log"];
/// Time for a server to accept a connection, and to take bytes.
const SERVER_TIME: Duration = Duration::from_secs(5);
/// Interval between attempts to reach a server.
const RETRY_TIME: Duration = Duration::from_secs(1);

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
}

impl SyslogServer {
    /// The server of a configuration that [`GatewayConfig`] has checked.
    pub fn new(config: &GatewayConfig) -> Option<Self> {
        let address = config.syslog_network_addr.clone();
        config.use_syslog.then(|| match config.syslog_transport.as_str() {
            "" => SyslogServer::Local,
            "udp" => SyslogServer::Udp(address),
            "tcp" => SyslogServer::Tcp(address),
            _ => SyslogServer::Socket(PathBuf::from(address)),
        })
    }

    fn is_local(&self) -> bool {
        matches!(self, SyslogServer::Local | SyslogServer::Socket(_))
    }

    fn open(&self) -> io::Result<SyslogSocket> {
        match self {
            SyslogServer::Local => {
                let path = LOCAL_SOCKETS.into_iter().map(Path::new).find(|path| path.exists());
                open_socket(path.ok_or(io::ErrorKind::NotFound)?)
            }
            SyslogServer::Socket(path) => open_socket(path),
            SyslogServer::Udp(address) => {
                let server = first_address(address)?;
                let own = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                let socket = UdpSocket::bind(own)?;
                socket.connect(server)?;
                Ok(SyslogSocket::Udp(socket))
            }
            SyslogServer::Tcp(address) => {
                let stream = TcpStream::connect_timeout(&first_address(address)?, SERVER_TIME)?;
                stream.set_write_timeout(Some(SERVER_TIME))?;
                Ok(SyslogSocket::Tcp(stream))
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
        }
    }
}

fn first_address(text: &str) -> io::Result<std::net::SocketAddr> {
    text.to_socket_addrs()?.next().ok_or_else(|| io::ErrorKind::NotFound.into())
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

enum SyslogSocket {
    Udp(UdpSocket),
    Tcp(TcpStream),
    Datagram(UnixDatagram),
    Stream(UnixStream),
}

impl SyslogSocket {
    /// Sends one message, which ends with a line feed, as the streams need it.
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match self {
            SyslogSocket::Udp(socket) => socket.send(message).map(drop),
            SyslogSocket::Datagram(socket) => socket.send(message).map(drop),
            SyslogSocket::Tcp(stream) => stream.write_all(message),
            SyslogSocket::Stream(stream) => stream.write_all(message),
        }
    }
}

/// Sends the lines that are written to it. Each line begins with its priority, as [`WithPriority`] writes it.
pub(super) struct SyslogWriter {
    server: SyslogServer,
    socket: Option<SyslogSocket>,
    /// Of the last attempt that failed.
    failed: Option<Instant>,
    lost: u64,
    host: String,
    message: Vec<u8>,
    zone: TimeZone,
}

impl SyslogWriter {
    pub(super) fn new(server: SyslogServer) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned();
        SyslogWriter { server, socket: None, failed: None, lost: 0, host, message: Vec::new(), zone: TimeZone::system() }
    }

    fn send(&mut self, line: &[u8]) {
        if self.failed.is_some_and(|at| at.elapsed() < RETRY_TIME) {
            self.lost += 1;
            return;
        }
        self.write_message(line);
        // A server that was restarted is found again with the second attempt.
        let mut sent = self.send_message();
        if sent.is_err() {
            self.socket = None;
            sent = self.send_message();
        }
        match sent {
            Ok(()) if self.failed.take().is_some() => {
                let lost = std::mem::take(&mut self.lost);
                tracing::info!(target: super::ABOUT, server = %self.server, lost_lines = lost, "the syslog server takes lines again");
            }
            Ok(()) => {}
            Err(error) => {
                self.socket = None;
                self.lost += 1;
                if self.failed.replace(Instant::now()).is_none() {
                    tracing::error!(target: super::ABOUT, server = %self.server, %error, "the syslog server takes no lines");
                }
            }
        }
    }

    fn send_message(&mut self) -> io::Result<()> {
        let socket = match &mut self.socket {
            Some(socket) => socket,
            none => none.insert(self.server.open()?),
        };
        socket.send(&self.message)
    }

    fn write_message(&mut self, line: &[u8]) {
        let split = line.iter().position(|byte| *byte == b'>').filter(|_| line.starts_with(b"<")).map_or(0, |end| end + 1);
        let (priority, text) = line.split_at(split);
        let priority = if priority.is_empty() { b"<30>" } else { priority };
        let now = ZonedDateTime::now().with_time_zone(self.zone.clone());
        let message = &mut self.message;
        message.clear();
        message.extend_from_slice(priority);
        let pid = std::process::id();
        // Writing to a vector does not fail.
        let _ = match self.server.is_local() {
            true => write!(message, "{} tollgate[{pid}]: ", now.strftime("%b %e %H:%M:%S")),
            false => write!(message, "{} {} tollgate[{pid}]: ", now.strftime("%Y-%m-%dT%H:%M:%S%:z"), self.host),
        };
        message.extend_from_slice(text);
        message.push(b'\n');
    }
}

impl Write for SyslogWriter {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).for_each(|line| self.send(line));
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes the priority of RFC 3164 before each line of another format.
pub(super) struct WithPriority<F>(pub F);

impl<S, N, F> FormatEvent<S, N> for WithPriority<F>
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    N: for<'w> FormatFields<'w> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        write!(writer, "<{}>", priority(*event.metadata().level()))?;
        self.0.format_event(context, writer, event)
    }
}

/// The severities of RFC 3164, section 4.1.1.
fn priority(level: Level) -> u8 {
    DAEMON
        + match level {
            Level::ERROR => 3,
            Level::WARN => 4,
            Level::INFO => 6,
            _ => 7,
        }
}
