//! HTTP/2 connections to the server of plugins, and single calls on them. Each data thread has connections of its own, so that a call never
//! changes threads. A connection is opened by the first call that needs it; calls share it, as many as the server allows at a time.

use crate::address::{GrpcAddress, GrpcTransport};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use h2::{Reason, RecvStream};
use http::{HeaderMap, Method, Request, Uri};
use percent_encoding::percent_decode_str;
use prost::Message;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
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
/// After so many calls in a row without an answer a connection is replaced: its server may be gone without a trace.
const UNANSWERED_MAX: u32 = 8;
/// Flow control windows, so that bodies of some hundred KiB need no extra round trips.
const WINDOW_BYTES: u32 = 1 << 20;
/// Length of the prefix of a message: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;

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
    lanes: Box<[Mutex<Lane>]>,
    scheme: &'static str,
    authority: String,
}

/// The connections of one thread.
#[derive(Default)]
struct Lane {
    connections: Vec<Connection>,
    next: usize,
    resolved: Option<Instant>,
    failed: Option<(Instant, String)>,
}

#[derive(Clone)]
struct Connection {
    sender: SendRequest<Bytes>,
    state: Arc<ConnectionState>,
}

#[derive(Default)]
struct ConnectionState {
    is_closed: AtomicBool,
    /// Calls in a row that got no answer.
    unanswered: AtomicU32,
}

/// Counts a call as unanswered if it is dropped.
struct AnswerGuard<'s>(&'s ConnectionState);

impl Drop for AnswerGuard<'_> {
    fn drop(&mut self) {
        if self.0.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= UNANSWERED_MAX {
            self.0.is_closed.store(true, Ordering::Relaxed);
        }
    }
}

impl Channel {
    /// A channel for so many threads.
    pub(crate) fn new(settings: GrpcSettings, threads: usize) -> Self {
        let lanes = (0..threads.max(1)).map(|_| Mutex::default()).collect();
        let authority = if settings.authority.is_empty() { settings.address.to_string() } else { settings.authority.clone() };
        let scheme = if settings.tls.is_some() { "https" } else { "http" };
        Channel { settings, lanes, scheme, authority }
    }

    /// The URL of a method of the service.
    pub(crate) fn url(&self, method: &str) -> Result<Uri, String> {
        let path = format!("/coprocess.Dispatcher/{method}");
        let made = Uri::builder().scheme(self.scheme).authority(self.authority.as_str()).path_and_query(path).build();
        made.map_err(|error| error.to_string())
    }

    /// Largest call in bytes.
    pub(crate) fn send_bytes_max(&self) -> usize {
        if self.settings.send_bytes_max == 0 { usize::MAX } else { self.settings.send_bytes_max }
    }

    /// Calls a method. `message` begins with its prefix, and so does not the answer.
    pub(crate) async fn call(
        &self,
        thread: usize,
        url: &Uri,
        message: Bytes,
        time_max: Duration,
        trace_parent: Option<&str>,
    ) -> Result<Bytes, HookFault> {
        let connection = self.connection(thread).await?;
        let guard = AnswerGuard(&connection.state);
        let answered = self.exchange(connection.sender.clone(), url, message, time_max, trace_parent).await;
        // Whatever it is, the server has answered or the connection has ended.
        std::mem::forget(guard);
        connection.state.unanswered.store(0, Ordering::Relaxed);
        answered
    }

    async fn exchange(
        &self,
        sender: SendRequest<Bytes>,
        url: &Uri,
        message: Bytes,
        time_max: Duration,
        trace_parent: Option<&str>,
    ) -> Result<Bytes, HookFault> {
        let unavailable = |error: h2::Error| HookFault::Unavailable(format!("the server of plugins: {error}"));
        let mut sender = sender.ready().await.map_err(unavailable)?;
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(url.clone())
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .header("grpc-timeout", format!("{}m", time_max.as_millis().clamp(1, 99_999_999)));
        if let Some(trace_parent) = trace_parent {
            request = request.header("traceparent", trace_parent);
        }
        let request = request.body(()).map_err(|error| HookFault::Failed(error.to_string()))?;
        let (answer, mut body) = sender.send_request(request, false).map_err(unavailable)?;
        body.send_data(message, true).map_err(unavailable)?;
        let (head, body) = answer.await.map_err(unavailable)?.into_parts();
        if head.status != 200 {
            return Err(HookFault::Unavailable(format!("the server of plugins answers with status {}", head.status.as_u16())));
        }
        // A call that fails at once has no body: its head is also its end.
        if head.headers.contains_key("grpc-status") {
            check_status(&head.headers)?;
        }
        let bytes_max = if self.settings.recv_bytes_max == 0 { ANSWER_BYTES_MAX } else { self.settings.recv_bytes_max };
        read(body, bytes_max).await
    }

    /// A connection of this thread.
    async fn connection(&self, thread: usize) -> Result<Connection, HookFault> {
        let lane = self.lanes.get(thread).or(self.lanes.first()).ok_or_else(|| HookFault::Failed("no threads".to_owned()))?;
        // Calls that need a new connection wait for the one that opens it.
        let mut lane = lane.lock().await;
        lane.connections.retain(|connection| !connection.state.is_closed.load(Ordering::Relaxed));
        let is_old = self.settings.round_robin && lane.resolved.is_none_or(|at| at.elapsed() >= ADDRESSES_KEPT);
        if lane.connections.is_empty() || is_old {
            self.connect(&mut lane).await?;
        }
        lane.next = lane.next.wrapping_add(1);
        let index = lane.next % lane.connections.len().max(1);
        lane.connections.get(index).cloned().ok_or_else(|| HookFault::Unavailable("the server has no address".to_owned()))
    }

    async fn connect(&self, lane: &mut Lane) -> Result<(), HookFault> {
        let has_some = !lane.connections.is_empty();
        if let Some((_, why)) = lane.failed.as_ref().filter(|(at, _)| at.elapsed() < FAILURE_KEPT) {
            return if has_some { Ok(()) } else { Err(HookFault::Unavailable(why.clone())) };
        }
        let opened = self.open().await;
        lane.resolved = Some(Instant::now());
        match opened {
            Ok(connections) => {
                lane.failed = None;
                // Calls in flight on the old ones go on: they hold them.
                lane.connections = connections;
                Ok(())
            }
            Err(error) => {
                let why = format!("the server of plugins at {} can't be reached: {error}", self.settings.address);
                lane.failed = Some((Instant::now(), why.clone()));
                if has_some { Ok(()) } else { Err(HookFault::Unavailable(why)) }
            }
        }
    }

    /// Opens a connection to the first address that accepts one, or to all that do.
    async fn open(&self) -> io::Result<Vec<Connection>> {
        let (host, port) = match &self.settings.address.transport {
            GrpcTransport::Unix(path) => {
                let stream = within(UnixStream::connect(path)).await?;
                return Ok(vec![self.greet(stream).await?]);
            }
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

    async fn open_to(&self, address: SocketAddr) -> io::Result<Connection> {
        let stream = within(TcpStream::connect(address)).await?;
        stream.set_nodelay(true)?;
        match &self.settings.tls {
            None => self.greet(stream).await,
            Some((config, name)) => {
                let stream = within(TlsConnector::from(config.clone()).connect(name.clone(), stream)).await?;
                self.greet(stream).await
            }
        }
    }

    async fn greet<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(&self, stream: S) -> io::Result<Connection> {
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(WINDOW_BYTES).initial_connection_window_size(WINDOW_BYTES).enable_push(false);
        let greeting = async { builder.handshake::<_, Bytes>(stream).await.map_err(io::Error::other) };
        let (sender, connection) = within(greeting).await?;
        let state = Arc::new(ConnectionState::default());
        let own = state.clone();
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the server of plugins ended");
            }
            own.is_closed.store(true, Ordering::Relaxed);
        });
        Ok(Connection { sender, state })
    }
}

async fn within<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, "no connection in time");
    tokio::time::timeout(CONNECT_MAX, work).await.unwrap_or_else(|_| Err(late()))
}

/// Reads the one message of an answer, and its end.
async fn read(mut body: RecvStream, bytes_max: usize) -> Result<Bytes, HookFault> {
    let mut message = Vec::new();
    while let Some(piece) = body.data().await {
        let piece = piece.map_err(|error| match error.reason() {
            Some(Reason::CANCEL) => HookFault::Failed("the server has cancelled the call".to_owned()),
            _ => HookFault::Unavailable(format!("the server of plugins: {error}")),
        })?;
        if message.len() + piece.len() > bytes_max.saturating_add(PREFIX_BYTES) {
            return Err(HookFault::Failed(format!("the answer has more than {bytes_max} bytes")));
        }
        // The window is opened again at once: the message is read whole. It fails only if the stream is gone.
        let _ = body.flow_control().release_capacity(piece.len());
        message.extend_from_slice(&piece);
    }
    let trailers = body.trailers().await.map_err(|error| HookFault::Unavailable(error.to_string()))?;
    check_status(&trailers.unwrap_or_default())?;
    whole(Bytes::from(message)).ok_or_else(|| HookFault::Failed("the answer is no gRPC message".to_owned()))
}

/// The message without its prefix, if it is exactly one and is not compressed.
fn whole(mut bytes: Bytes) -> Option<Bytes> {
    if bytes.len() < PREFIX_BYTES || bytes.get_u8() != 0 {
        return None;
    }
    let announced = usize::try_from(bytes.get_u32()).ok()?;
    (announced == bytes.len()).then_some(bytes)
}

/// The outcome of a call as its server tells it.
fn check_status(trailers: &HeaderMap) -> Result<(), HookFault> {
    let text = |name: &str| trailers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let message = || percent_decode_str(text("grpc-message")).decode_utf8_lossy().chars().take(500).collect::<String>();
    match text("grpc-status") {
        "0" => Ok(()),
        "" => Err(HookFault::Failed("the answer has no status".to_owned())),
        "4" => Err(HookFault::Timeout),
        "14" => Err(HookFault::Unavailable(format!("the server of plugins: {}", message()))),
        code => Err(HookFault::Failed(format!("the server of plugins returned status {code}: {}", message()))),
    }
}

/// A message with its prefix.
pub(crate) fn framed(message: &impl Message, bytes_max: usize) -> Result<Bytes, HookFault> {
    let bytes = message.encoded_len();
    let announced = u32::try_from(bytes).ok().filter(|_| bytes <= bytes_max);
    let announced = announced.ok_or_else(|| HookFault::Failed(format!("the call has {bytes} bytes, more than are allowed")))?;
    let mut framed = BytesMut::with_capacity(PREFIX_BYTES + bytes);
    framed.put_u8(0);
    framed.put_u32(announced);
    message.encode(&mut framed).map_err(|error| HookFault::Failed(error.to_string()))?;
    Ok(framed.freeze())
}

#[cfg(test)]
mod tests;
