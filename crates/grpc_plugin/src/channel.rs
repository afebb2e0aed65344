//! The connections to the server of plugins. Each data thread has connections of its own, so that a call never changes threads. A connection
//! is opened by the first call that needs it; calls share it, as many as the server allows at a time.

use crate::address::{GrpcAddress, GrpcTransport};
use crate::link::{GrpcConnection, GrpcLink, drive};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tollgate_http2::HeaderBlock;
use tollgate_plugin::HookFault;

/// Largest answer without `grpc_recv_max_size`, as in gRPC.
pub(crate) const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Time for one connection, within the time of the call.
const CONNECT_MAX: Duration = Duration::from_secs(2);
/// After a connection has failed, calls fail without another attempt for this long: a dead server must not be asked for each request.
const FAILURE_KEPT: Duration = Duration::from_millis(100);
/// How long the addresses of a server are used for new connections when calls go to all of them.
const ADDRESSES_KEPT: Duration = Duration::from_secs(30);
/// Most addresses of one server that are used.
const ADDRESSES_MAX: usize = 32;
/// Room for the head of a call: about 150 bytes, and what identifies a trace.
const HEAD_BYTES: usize = 256;

/// How calls are made.
#[derive(Clone)]
pub struct GrpcSettings {
    /// Where the server is.
    pub address: GrpcAddress,
    /// The `:authority`; empty for the address.
    pub authority: String,
    /// TLS, and the name in the server's certificate.
    pub tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    /// Largest answer in bytes; 0 for 4 MiB.
    pub recv_bytes_max: usize,
    /// Largest call in bytes; 0 for any.
    pub send_bytes_max: usize,
    /// Whether calls go to all addresses of the server in turn.
    pub round_robin: bool,
}

/// The connections of all threads.
pub(crate) struct Channel {
    settings: GrpcSettings,
    lanes: Box<[Lane]>,
    scheme: &'static str,
    authority: String,
}

/// The connections of one thread.
#[derive(Default)]
struct Lane {
    ready: Mutex<ReadyConnections>,
    /// Held while connections are opened; calls that need one wait for it. The last failure.
    opening: tokio::sync::Mutex<Option<(Instant, String)>>,
}

#[derive(Default)]
struct ReadyConnections {
    connections: Vec<GrpcConnection>,
    next: usize,
    resolved: Option<Instant>,
}

impl Channel {
    /// A channel for so many threads.
    ///
    /// # Errors
    /// The authority is unusable.
    pub(crate) fn new(settings: GrpcSettings, threads: usize) -> Result<Self, String> {
        let lanes = (0..threads.max(1)).map(|_| Lane::default()).collect();
        let authority = if settings.authority.is_empty() { settings.address.to_string() } else { settings.authority.clone() };
        if !authority.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(format!("{authority:?} is no :authority"));
        }
        let scheme = if settings.tls.is_some() { "https" } else { "http" };
        Ok(Channel { settings, lanes, scheme, authority })
    }

    /// Largest call in bytes.
    pub(crate) fn send_bytes_max(&self) -> usize {
        if self.settings.send_bytes_max == 0 { usize::MAX } else { self.settings.send_bytes_max }
    }

    /// Calls the method with this path. `message` begins with its prefix, and so does not the answer.
    pub(crate) async fn call(
        &self,
        thread: usize,
        path: &str,
        message: Vec<u8>,
        time_max: Duration,
        trace_parent: Option<&str>,
    ) -> Result<Vec<u8>, HookFault> {
        let lane = self.lanes.get(thread).or(self.lanes.first()).ok_or_else(|| HookFault::Failed("no threads".to_owned()))?;
        let link = match self.ready(lane) {
            Some(link) => link,
            // In a box: what it needs is large, and hardly any call comes here.
            None => Box::pin(self.connected(lane)).await?,
        };
        let mut head = HeaderBlock::new(Vec::with_capacity(HEAD_BYTES));
        head.request(b"POST", self.scheme.as_bytes(), self.authority.as_bytes(), path.as_bytes());
        head.field(b"te", b"trailers");
        head.field(b"content-type", b"application/grpc");
        head.field(b"grpc-timeout", format!("{}m", time_max.as_millis().clamp(1, 99_999_999)).as_bytes());
        if let Some(trace_parent) = trace_parent {
            head.field(b"traceparent", trace_parent.as_bytes());
        }
        let bytes_max = if self.settings.recv_bytes_max == 0 { ANSWER_BYTES_MAX } else { self.settings.recv_bytes_max };
        link.call(head, message, bytes_max).await
    }

    /// A connection that is there already.
    fn ready(&self, lane: &Lane) -> Option<Arc<GrpcLink>> {
        let mut ready = lane.ready();
        let is_old = self.settings.round_robin && ready.resolved.is_none_or(|at| at.elapsed() >= ADDRESSES_KEPT);
        if is_old { None } else { ready.next() }
    }

    /// A connection, opened if there is none.
    async fn connected(&self, lane: &Lane) -> Result<Arc<GrpcLink>, HookFault> {
        let mut failure = lane.opening.lock().await;
        if let Some(link) = self.ready(lane) {
            return Ok(link);
        }
        let is_fresh = |(at, _): &&(Instant, String)| at.elapsed() < FAILURE_KEPT;
        if let Some((_, why)) = failure.as_ref().filter(is_fresh) {
            return lane.ready().next().ok_or_else(|| HookFault::Unavailable(why.clone()));
        }
        let opened = self.open().await;
        let mut ready = lane.ready();
        ready.resolved = Some(Instant::now());
        match opened {
            // Calls in flight on the old ones go on.
            Ok(connections) => (ready.connections, *failure) = (connections, None),
            Err(error) => {
                let why = format!("the server of plugins at {} can't be reached: {error}", self.settings.address);
                *failure = Some((Instant::now(), why));
            }
        }
        let why = || failure.as_ref().map_or_else(|| "the server of plugins has no address".to_owned(), |(_, why)| why.clone());
        ready.next().ok_or_else(|| HookFault::Unavailable(why()))
    }

    /// Opens a connection to the first address that accepts one, or to all that do.
    async fn open(&self) -> io::Result<Vec<GrpcConnection>> {
        let (host, port) = match &self.settings.address.transport {
            GrpcTransport::Unix(path) => return Ok(vec![start(within(UnixStream::connect(path)).await?)]),
            GrpcTransport::Tcp(host, port) => (host.as_str(), *port),
        };
        let addresses: Vec<SocketAddr> = within(tokio::net::lookup_host((host, port))).await?.take(ADDRESSES_MAX).collect();
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        let mut connections = Vec::new();
        for address in addresses {
            match self.open_to(address).await {
                Ok(connection) => connections.push(connection),
                Err(error) => last = error,
            }
            if !self.settings.round_robin && !connections.is_empty() {
                break;
            }
        }
        if connections.is_empty() { Err(last) } else { Ok(connections) }
    }

    async fn open_to(&self, address: SocketAddr) -> io::Result<GrpcConnection> {
        let stream = within(TcpStream::connect(address)).await?;
        stream.set_nodelay(true)?;
        Ok(match &self.settings.tls {
            None => start(stream),
            Some((config, name)) => start(within(TlsConnector::from(config.clone()).connect(name.clone(), stream)).await?),
        })
    }
}

impl Lane {
    fn ready(&self) -> MutexGuard<'_, ReadyConnections> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadyConnections {
    /// The next connection in turn.
    fn next(&mut self) -> Option<Arc<GrpcLink>> {
        self.connections.retain(|connection| connection.0.is_usable());
        self.next = self.next.wrapping_add(1);
        let index = self.next.checked_rem(self.connections.len())?;
        self.connections.get(index).map(|connection| connection.0.clone())
    }
}

fn start<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(stream: S) -> GrpcConnection {
    let connection = GrpcConnection::new();
    tokio::spawn(drive(connection.0.clone(), stream));
    connection
}

async fn within<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    tokio::time::timeout(CONNECT_MAX, work).await.unwrap_or_else(|_| Err(late()))
}
