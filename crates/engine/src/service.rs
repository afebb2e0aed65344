//! The border between I/O and decisions. The engine calls, the gateway decides; both sides are synchronous here.

use crate::kept_bodies::Room;
use crate::{Fault, FaultKind, Target};
use bytes::Bytes;
use rustls::pki_types::CertificateDer;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_http::{HeaderEdits, Request, Response};

/// Creates the service of one core, on that core's thread.
pub type ServiceFactory = Arc<dyn Fn(usize) -> Rc<dyn Service> + Send + Sync>;

/// The service of one core.
pub trait Service {
    /// Creates the handler for a new client connection.
    fn handler(&self, client: &ClientInfo) -> Box<dyn Handler>;

    /// Creates the handler for a new connection whose bytes are forwarded unchanged. `None` closes it.
    fn stream(&self, _client: &ClientInfo) -> Option<Box<dyn StreamHandler>> {
        None
    }

    /// Called before the first client connects. Through `_own_requests` the service can send requests to its own core.
    fn start(&self, _own_requests: Rc<dyn OwnRequests>) {}

    /// Called about every 100 milliseconds, for work that does not depend on requests.
    fn tick(&self) {}
}

/// Sends requests to the core itself, on behalf of clients.
pub trait OwnRequests {
    /// Sends the bytes of one request as `client`. `to_head`: its method is HEAD. The body of the response has at most `bytes_max` bytes.
    fn send(&self, client: ClientInfo, request: Vec<u8>, to_head: bool, bytes_max: usize) -> OwnExchange {
        self.send_watched(client, request, to_head, bytes_max, Box::new(|_| ()))
    }

    /// The same, and `watch` gets each piece of the response's body as it comes.
    fn send_watched(&self, client: ClientInfo, request: Vec<u8>, to_head: bool, bytes_max: usize, watch: OwnWatch) -> OwnExchange;
}

/// Gets pieces of a response's body.
pub type OwnWatch = Box<dyn FnMut(&[u8])>;

/// The response to such a request, when it is complete.
pub type OwnExchange = Pin<Box<dyn Future<Output = Result<OwnResponse, OwnFault>>>>;

/// A response without its framing.
pub struct OwnResponse {
    /// The status code.
    pub status: u16,
    /// The header lines.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Vec<u8>,
    /// Counts the body among the bodies that are kept, as long as it is.
    _room: Room,
}

impl OwnResponse {
    pub(crate) fn new(status: u16, headers: Vec<(String, Vec<u8>)>, body: Vec<u8>, room: Room) -> Self {
        OwnResponse { status, headers, body, _room: room }
    }
}

/// The reason why there is no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFault {
    /// The connection ended before the response was complete.
    Closed,
    /// The body is larger than allowed.
    TooLarge,
    /// Other bodies use all the memory for bodies.
    NoRoom,
}

impl fmt::Display for OwnFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OwnFault::Closed => "the response is not complete",
            OwnFault::TooLarge => "the body of the response is too large",
            OwnFault::NoRoom => "too many bodies are kept",
        })
    }
}

/// A client connection, as known before its first request.
#[derive(Clone, Debug)]
pub struct ClientInfo {
    /// Address of the client: the peer, or the client announced by a trusted proxy.
    pub address: SocketAddr,
    /// Name of the listener that accepted it ([`Listen::name`](crate::Listen)).
    pub listener: u32,
    /// Result of the TLS handshake, if the connection uses TLS.
    pub tls: Option<Rc<ClientTls>>,
    /// Whether requests arrive over HTTP/2.
    pub http2: bool,
    /// Whether the gateway itself sends the requests, on behalf of this client.
    pub is_own: bool,
    /// The number under which the service waits for the handler of one of its own requests; 0 for all others.
    pub ticket: u64,
}

/// What a TLS handshake revealed about a client.
#[derive(Debug)]
pub struct ClientTls {
    /// The certificate chain that it presented, its own first. The client has proved to own that one's key; nothing else was
    /// verified.
    pub certificates: Vec<CertificateDer<'static>>,
    /// The host that it requested (SNI).
    pub server_name: Option<String>,
}

/// Decides about one connection whose bytes are forwarded unchanged.
pub trait StreamHandler {
    /// The next upstream to try; `None` to close the connection. `failed` is the fault of the one before.
    fn next(&mut self, failed: Option<&Fault>, now: MonoTime) -> Option<Arc<Target>>;

    /// The upstream of the last call is not connected after `_waited`. Whether to give it up and ask for the next one. Called at intervals;
    /// for datagrams, which need no connection, with no time.
    fn gives_up(&mut self, _waited: Duration, _now: MonoTime) -> bool {
        false
    }

    /// The upstream of the last call is connected.
    fn on_connected(&mut self, now: MonoTime);

    /// This many bytes moved since the last call: from the client, and to it. Called at intervals and at the end.
    fn on_bytes(&mut self, from_client: u64, to_client: u64);
}

/// Decides about the exchanges of one client connection, one at a time.
pub trait Handler {
    /// Decides about a request whose head has arrived. With `Forward`, `outgoing`'s target and host are set; with `Reply`, its
    /// status and body.
    fn on_request(&mut self, request: &Request<'_>, now: MonoTime, outgoing: &mut Outgoing) -> Verdict;

    /// Goes on with a request after a verdict of `Hold`: what it has waited for is there, or the time for it is over. `request` is the same head
    /// again, and `outgoing` is empty. `body` is the whole decoded body after [`HoldUntil::Body`].
    fn on_resume(
        &mut self,
        request: &Request<'_>,
        _body: Option<Result<Vec<u8>, NotKept>>,
        now: MonoTime,
        outgoing: &mut Outgoing,
    ) -> Verdict {
        self.on_request(request, now, outgoing)
    }

    /// The upstream of the current exchange. Called when a new connection is needed.
    fn target(&self) -> Option<Arc<Target>>;

    /// The upstream is not connected after `_waited`. Whether to give it up; the try then ends with a fault. Called at intervals.
    fn gives_up(&mut self, _waited: Duration) -> bool {
        false
    }

    /// An upstream failed or answered a request that can be sent again, and nothing of a response has reached the client: either
    /// [`Forward::resend`] asked for that and the request is kept whole, or no connection to the upstream was opened. Returns how to send it
    /// again; then [`Handler::target`] is its new upstream. If it returns `None`, the response or the fault is handled as usual.
    fn on_try_ended(&mut self, _ended: &TryEnd<'_>, _retarget: &mut Retarget) -> Option<Resend> {
        None
    }

    /// The upstream is slow to answer a request whose [`KeepForResend::hedge_after`] is over. Returns another upstream that gets the request too, and
    /// the parts of the head that change for it; `None` if there is none.
    fn on_hedge(&mut self, _retarget: &mut Retarget) -> Option<Arc<Target>> {
        None
    }

    /// What [`Handler::on_hedge`] began is over. After `Won`, the exchange goes on with its upstream.
    fn on_hedge_ended(&mut self, _end: HedgeEnd) {}

    /// Decides about the upstream's final response head. `outgoing` has no edits yet; its other fields are unspecified.
    fn on_response(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict;

    /// Receives the decoded body that a verdict of `Keep` asked for, and the same head again. `outgoing` is as for the head.
    fn on_response_body(&mut self, response: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict;

    /// Receives the next decoded bytes of a response body after a verdict of `Watch`. If `is_end` never comes, the body was cut.
    fn on_response_bytes(&mut self, bytes: &[u8], is_end: bool);

    /// Whether a trailer field of this name may follow the request's body to the upstream. Called only for names that
    /// [`may_be_trailer`](tollgate_http::may_be_trailer) allows.
    fn passes_request_trailer(&self, name: &str) -> bool;

    /// Same for the trailers of a response to the client.
    fn passes_response_trailer(&self, name: &str) -> bool;

    /// The exchange failed before a response: fills `outgoing` with an error response for the client.
    fn on_fault(&mut self, fault: &Fault, outgoing: &mut Outgoing);

    /// The exchange is over: releases everything that belongs to it.
    fn on_end(&mut self, ended: Ended);
}

/// Decision about a request.
pub enum Verdict {
    /// Forward it.
    Forward(Forward),
    /// The gateway responds itself.
    Reply,
    /// Hold the request, and then go on with it: see [`Handler::on_resume`].
    Hold(HoldUntil),
}

/// What a held request waits for.
pub enum HoldUntil {
    /// This time is over.
    Time(Duration),
    /// The work is done, or this time is over.
    Done(Work, Duration),
    /// Its body of at most this many bytes is complete.
    Body(usize),
}

/// Decision about a response. A response that switches protocols passes, whatever the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseVerdict {
    /// It passes as received, with the edits.
    Pass,
    /// It passes as received, with the edits and the status of `outgoing` unless that is 0, and [`Handler::on_response_bytes`] sees its body.
    Watch,
    /// It is held until its body of at most this many bytes is complete. [`Handler::on_response_body`] is called next.
    Keep(usize),
    /// It is held, with its complete body, until the work in `outgoing` is done. [`Handler::on_response_body`] is called next. Only for a
    /// body that [`Handler::on_response_body`] has received whole.
    Await,
    /// It passes with the edits, the status of `outgoing` unless that is 0, and the body of `outgoing` instead of its own.
    Rewrite,
    /// The gateway's own response in `outgoing` replaces it.
    Reply,
    /// As `Reply`, and `outgoing`'s sink receives the upstream's body at the upstream's pace, even if the client leaves.
    Detach,
    /// Send the request again, without the conditions of [`Forward::is_conditional`].
    Again,
}

/// Why a body was not buffered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// It exceeds its size limit.
    TooLarge,
    /// Other bodies use all the memory for buffered bodies.
    NoRoom,
}

/// The body of a held response.
#[derive(Clone, Copy, Debug)]
pub enum KeptBody<'b> {
    /// The whole body.
    Whole(&'b [u8]),
    /// The start of a body that exceeds the requested size.
    Part(&'b [u8]),
    /// Other bodies use all the memory for buffered bodies.
    NoRoom,
}

/// Asynchronous work that a request waits for. Dropped when the client disconnects or the time is over.
pub type Work = Pin<Box<dyn Future<Output = ()>>>;

/// How to forward a request.
pub struct Forward {
    /// Serial of the target: selects the connection pool.
    pub target_serial: u64,
    /// Time to the first byte of the response, instead of the engine's default.
    pub first_byte_ms: Option<u64>,
    /// Maximum bytes of the request's body.
    pub body_bytes_max: Option<u64>,
    /// Whether the client may switch protocols.
    pub upgrade: bool,
    /// Whether to take timestamps during the exchange.
    pub timed: bool,
    /// Bytes to record in each direction; 0 for none.
    pub capture_bytes_max: usize,
    /// The edits add `If-None-Match` or `If-Modified-Since`. A request that is sent again goes out without them.
    pub is_conditional: bool,
    /// What to keep of the request so that [`Handler::on_try_ended`] may have it sent again. Nothing is kept of one that may switch protocols.
    pub resend: Option<KeepForResend>,
    /// The handlers of exchanges without a client that each get a copy of the request, when the exchange ends. They need `resend`, within whose
    /// bound the copy is kept; a larger request is not copied.
    pub copies: Vec<Box<dyn Handler>>,
}

/// What is kept of a request so that it can be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepForResend {
    /// Most bytes of its body. A larger body is forwarded and forgotten.
    pub body_bytes_max: usize,
    /// Time to connect, instead of the engine's default.
    pub connect_ms: Option<u64>,
    /// If nothing of a response has arrived after this time, an idempotent request is also sent to another upstream ([`Handler::on_hedge`]).
    pub hedge_after: Option<Duration>,
}

/// How the second sending of a hedged request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HedgeEnd {
    /// Its upstream answered first, and the client gets that response. The other connection is closed.
    Won,
    /// The other upstream answered first, or the exchange ended otherwise.
    Lost,
    /// It failed; the other upstream is still awaited.
    Failed(FaultKind),
}

/// How one try of a request ended.
#[derive(Clone, Copy)]
pub enum TryEnd<'r> {
    /// Without a response.
    Fault(&'r Fault),
    /// With this response. Its body has not been read.
    Response(&'r Response<'r>),
}

/// How to send a request again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    /// The wait before it.
    pub after: Duration,
    /// Time to the first byte of the response, instead of the engine's default.
    pub first_byte_ms: Option<u64>,
}

/// Parts of a request that are for another upstream. An empty part stays as it was.
#[derive(Debug, Default)]
pub struct Retarget {
    /// Path and query.
    pub target: Vec<u8>,
    /// `Host`.
    pub host: Vec<u8>,
}

/// Body of a reply that the engine writes without copying it. It may still be arriving.
pub trait BodySource {
    /// The next bytes, or `None` at the end. If the result is pending, the task is woken when more bytes arrive.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>>;
}

/// The rest of a body will never arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyCut;

/// Codes the body of a response on its way to the client: a compressor. Dropped before [`CoderStep::End`] if the body is cut.
pub trait BodyCoder {
    /// Bytes that it codes in a fraction of a millisecond: the most that it gets at once.
    fn slice_bytes(&self) -> usize;

    /// Takes the next bytes of the body, and appends to `out` what comes of them.
    ///
    /// # Errors
    /// It cannot go on, and the body is cut.
    fn code(&mut self, bytes: &[u8], step: CoderStep, out: &mut Vec<u8>) -> Result<(), BodyCut>;
}

/// What follows the bytes that a coder gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoderStep {
    /// More of the body: the coder may hold some of it back.
    More,
    /// A pause: the client gets all that was coded so far.
    Flush,
    /// Nothing.
    End,
}

/// Receives the body of a response that no client waits for. If it is dropped before [`BodySink::finish`], the body was truncated.
pub trait BodySink {
    /// The next bytes, without framing.
    fn push(&mut self, bytes: &[u8]);

    /// Whether more bytes may be read from the upstream. If pending, the task is woken when they may. With `BodyCut`, nobody needs the rest.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), BodyCut>> {
        Poll::Ready(Ok(()))
    }

    /// Whether nobody needs the rest any more. If pending, the task is woken when that is so.
    fn poll_unwanted(&mut self, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }

    /// Called after the last byte.
    fn finish(self: Box<Self>);
}

/// Body of a reply from a source.
pub struct SourcedBody {
    /// The source. It is not read for HEAD requests.
    pub source: Box<dyn BodySource>,
    /// Length of the body, if it is known: then the reply's header lines contain it. Otherwise the engine frames the body.
    pub len: Option<u64>,
    /// Whether it is an event stream, which may say nothing for as long as a tunnel.
    pub is_event_stream: bool,
    /// An exchange to start with this reply.
    pub detached: Option<DetachedExchange>,
}

impl SourcedBody {
    /// A body that is all there.
    pub(crate) fn whole(body: Vec<u8>) -> Self {
        let len = Some(body.len() as u64);
        SourcedBody { source: Box::new(OnePiece(Some(body.into()))), len, is_event_stream: false, detached: None }
    }
}

struct OnePiece(Option<Bytes>);

impl BodySource for OnePiece {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        Poll::Ready(Ok(self.0.take().filter(|body| !body.is_empty())))
    }
}

/// An exchange without a client.
pub struct DetachedExchange {
    /// A request with `Connection: close`, and its body if it has one.
    pub head: Vec<u8>,
    /// The handler of the exchange.
    pub handler: Box<dyn Handler>,
}

/// The engine's summary of a finished exchange.
#[derive(Debug, Default)]
pub struct Ended {
    /// Timestamps, if requested.
    pub times: Option<Times>,
    /// Bytes of the request's body received from the client.
    pub request_body_bytes: u64,
    /// Bytes sent to the client, head and body.
    pub response_bytes: u64,
    /// Recorded bytes, if requested.
    pub capture: Option<Box<Capture>>,
}

/// Recorded bytes of an exchange, up to a limit.
#[derive(Debug, Default)]
pub struct Capture {
    /// The request's body as received from the client.
    pub request: Vec<u8>,
    /// The response as sent to the client, including its head.
    pub response: Vec<u8>,
    bytes_max: usize,
}

impl Capture {
    /// A capture that records this many bytes per direction; `None` for 0.
    pub(crate) fn wanted(bytes_max: usize) -> Option<Box<Self>> {
        (bytes_max > 0).then(|| Box::new(Capture { bytes_max, ..Capture::default() }))
    }

    pub(crate) fn add_request(&mut self, bytes: &[u8]) {
        add(&mut self.request, bytes, self.bytes_max);
    }

    pub(crate) fn add_response(&mut self, bytes: &[u8]) {
        add(&mut self.response, bytes, self.bytes_max);
    }
}

fn add(kept: &mut Vec<u8>, bytes: &[u8], bytes_max: usize) {
    let room = bytes_max.saturating_sub(kept.len());
    kept.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
}

/// Timestamps of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The request's head was sent, or a connection for it was requested.
    pub sent: Option<MonoTime>,
    /// The final response head arrived.
    pub answered: Option<MonoTime>,
    /// Whether the whole response arrived together with its head.
    pub at_once: bool,
    /// The exchange ended.
    pub end: MonoTime,
}

/// The handler's description of an outgoing message. One per core; its buffers are reused.
#[derive(Default)]
pub struct Outgoing {
    /// Method to send, if different from the client's.
    pub method: Option<Vec<u8>>,
    /// Path and query to send.
    pub target: Vec<u8>,
    /// The Host to send.
    pub host: Vec<u8>,
    /// Leave X-Forwarded-For as the client and the edits set it.
    pub keep_forwarded_for: bool,
    /// Header lines to remove and add; for a reply, its header lines.
    pub edits: HeaderEdits,
    /// Status of a reply or of a rewritten response.
    pub status: u16,
    /// Body of a reply, of a rewritten response, or of a request whose body is replaced.
    pub body: Vec<u8>,
    /// The request is sent with `body` instead of its own, which was read.
    pub replaces_body: bool,
    /// Whether the edits of a reply contain its Date.
    pub is_dated: bool,
    /// Whether a reply to HEAD lacks Content-Length because the length is unknown.
    pub lacks_length: bool,
    /// Whether the connection closes after this reply.
    pub close: bool,
    /// Body of a reply, in place of `body`. The engine takes it when it replies.
    pub sourced: Option<SourcedBody>,
    /// Codes the body of the response, whatever that comes from; the lines of the head say so already, and have no length. Not for a request of
    /// HTTP/1.0, nor for HEAD. The engine takes it when it writes the head.
    pub coder: Option<Box<dyn BodyCoder>>,
    /// Receiver of a detached response's body. The engine takes it when it detaches the body.
    pub sink: Option<Box<dyn BodySink>>,
    /// Work that a held response waits for, and for how long at most. The engine takes it with the verdict `Await`.
    pub work: Option<(Work, Duration)>,
    /// What the bytes of both sides pass through after a protocol switch. The engine takes it when it forwards the request.
    pub inspector: Option<TunnelInspector>,
}

/// Opens an inspector of a tunnel within this process, by two of its connections. It reads the client's bytes from the first and writes to the
/// second what the upstream gets; the upstream's bytes go the other way. What it does not write, nobody gets. The tunnel ends when it closes
/// both.
pub type TunnelInspector = Box<dyn FnOnce() -> io::Result<(UnixStream, UnixStream)>>;

impl Outgoing {
    pub(crate) fn clear(&mut self) {
        self.method = None;
        self.target.clear();
        self.host.clear();
        self.keep_forwarded_for = false;
        self.edits.clear();
        self.status = 0;
        self.body.clear();
        self.replaces_body = false;
        self.is_dated = false;
        self.lacks_length = false;
        self.close = false;
        self.inspector = None;
        self.coder = None;
    }
}
