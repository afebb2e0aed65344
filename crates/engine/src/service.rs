//! The border between I/O and decisions. The engine calls, the gateway answers; both sides are synchronous here.

use crate::{Fault, Moment, Target};
use rustls::pki_types::CertificateDer;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tollgate_http::{HeaderEdits, Request, Response};

/// Makes one core's service, on that core's thread.
pub type ServiceFactory = Arc<dyn Fn(usize) -> Rc<dyn Service> + Send + Sync>;

/// What one core serves.
pub trait Service {
    /// The handler for a new client connection.
    fn handler(&self, client: &ClientInfo) -> Box<dyn Handler>;

    /// Comes about every 100 milliseconds, for what must be done without a request too.
    fn tick(&self) {}
}

/// A client's connection, as far as it is known before its first request.
#[derive(Clone, Debug)]
pub struct ClientInfo {
    /// Where it comes from: the connection's other end, or what a trusted proxy says.
    pub address: SocketAddr,
    /// What the handshake told, if TLS is spoken.
    pub tls: Option<Rc<ClientTls>>,
    /// Its requests come over HTTP/2.
    pub http2: bool,
}

/// What a TLS handshake told about a client.
#[derive(Debug)]
pub struct ClientTls {
    /// The certificates it showed, its own first; it has proved to hold that one's key, and nothing else was checked.
    pub certificates: Vec<CertificateDer<'static>>,
    /// The host that it named.
    pub server_name: Option<String>,
}

/// Decides about the exchanges of one client connection, one at a time.
pub trait Handler {
    /// A request's head has arrived. A verdict of `Forward` has filled `outgoing`'s target and host, one of `Reply` its status and body.
    fn on_request(&mut self, request: &Request<'_>, now: Moment, outgoing: &mut Outgoing) -> Verdict;

    /// The whole body of the request, without its framing, after a verdict of `Read`. [`Handler::on_request`] comes next.
    fn on_body(&mut self, body: Result<Vec<u8>, NotKept>);

    /// Where the current exchange goes, when a new connection is needed.
    fn target(&self) -> Option<Arc<Target>>;

    /// The upstream's final response head has arrived. `outgoing` has no edits yet; its other fields hold anything.
    fn on_response(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict;

    /// The body that a verdict of `Keep` asked for, without its framing, and the same head once more. `outgoing` is as for the head.
    fn on_response_body(&mut self, response: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict;

    /// The next bytes of a response's body, without its framing, after a verdict of `Watch`. A body whose end is never shown was cut.
    fn on_response_bytes(&mut self, bytes: &[u8], is_end: bool);

    /// Whether a field of this name may follow the request's body to the upstream. Asked only of names that
    /// [`may_be_trailer`](tollgate_http::may_be_trailer) lets pass.
    fn passes_request_trailer(&self, name: &str) -> bool;

    /// The same for a response's body and the client.
    fn passes_response_trailer(&self, name: &str) -> bool;

    /// The exchange failed before a response: fills `outgoing` with what the client is told.
    fn on_fault(&mut self, fault: &Fault, outgoing: &mut Outgoing);

    /// The exchange is over: nothing of it may be held any longer.
    fn on_end(&mut self, ended: Ended);
}

/// What becomes of a request.
pub enum Verdict {
    /// Send it on.
    Forward(Forward),
    /// The gateway answers by itself.
    Reply,
    /// Keep the request and ask again after this long. Nothing else waits for it, and no more is read from its client.
    Wait(Duration),
    /// Keep the request and ask again when this is done, but at the latest after this long.
    Await(Work, Duration),
    /// Keep the request until its body is there, of at most so many bytes, hand that over and ask again.
    Read(usize),
}

/// What becomes of a response. One that has switched protocols passes, whatever the verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseVerdict {
    /// It passes as it comes, with the edits.
    Pass,
    /// It passes as it comes, with the edits, and [`Handler::on_response_bytes`] sees its body.
    Watch,
    /// It is held until its body is there, of at most so many bytes. [`Handler::on_response_body`] comes next.
    Keep(usize),
    /// It passes with the edits, `outgoing`'s status unless that is 0, and `outgoing`'s body in place of its own.
    Rewrite,
    /// The gateway's own answer, in `outgoing`, takes its place.
    Reply,
}

/// Why a body could not be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotKept {
    /// It is larger than it may be.
    TooLarge,
    /// Other bodies take all the memory that there is for bodies.
    NoRoom,
}

/// The body of a response that was held for it.
#[derive(Clone, Copy, Debug)]
pub enum KeptBody<'b> {
    /// All of it.
    Whole(&'b [u8]),
    /// It is larger than asked for; this is how it begins.
    Part(&'b [u8]),
    /// Other bodies take all the memory that there is for bodies.
    NoRoom,
}

/// Something that goes on elsewhere and that a request waits for. Dropped when the client goes or the time is over.
pub type Work = Pin<Box<dyn Future<Output = ()>>>;

/// How a request is sent on.
pub struct Forward {
    /// Serial of the target: which pool to take a connection from.
    pub target_serial: u64,
    /// Time to the first byte of the answer, if not the engine's own.
    pub first_byte_ms: Option<u64>,
    /// Bytes of the request's body, if bounded.
    pub body_bytes_max: Option<u64>,
    /// Let the client switch protocols.
    pub upgrade: bool,
    /// Read the clock at the exchange's turning points.
    pub timed: bool,
    /// Bytes that are kept of what passes in each direction; 0 for none.
    pub capture_bytes_max: usize,
}

/// What the engine saw of an exchange that is over.
#[derive(Debug, Default)]
pub struct Ended {
    /// When things happened, if that was asked for.
    pub times: Option<Times>,
    /// Bytes of the request's body that came from the client.
    pub request_body_bytes: u64,
    /// Bytes that were sent to the client, head and body.
    pub response_bytes: u64,
    /// What passed, if that was asked for.
    pub capture: Option<Box<Capture>>,
}

/// What passed in an exchange, up to a bound.
#[derive(Debug, Default)]
pub struct Capture {
    /// The request's body as it came from the client.
    pub request: Vec<u8>,
    /// The response as it went to the client, with its head.
    pub response: Vec<u8>,
    bytes_max: usize,
}

impl Capture {
    /// Keeps this much of either direction, if it is anything.
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

/// The turning points of an exchange.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The request's head was sent on, or a connection for it was asked for.
    pub sent: Option<Moment>,
    /// The final response's head came.
    pub answered: Option<Moment>,
    /// The whole response came together with its head.
    pub at_once: bool,
    /// The end.
    pub end: Moment,
}

/// What a handler says of the message that goes out. One per core; its buffers are reused.
#[derive(Default)]
pub struct Outgoing {
    /// The method to send, if not the client's.
    pub method: Option<Vec<u8>>,
    /// Path and query to send.
    pub target: Vec<u8>,
    /// The Host to send.
    pub host: Vec<u8>,
    /// Leave X-Forwarded-For as the client and the edits have it.
    pub keep_forwarded_for: bool,
    /// Header lines to take out and put in; for a reply, its header lines.
    pub edits: HeaderEdits,
    /// Status of a reply, or of a response that is rewritten.
    pub status: u16,
    /// Body of a reply, of a response that is rewritten, or of a request whose body is replaced.
    pub body: Vec<u8>,
    /// The request goes out with `body` in place of its own, which has been read.
    pub replaces_body: bool,
    /// The edits of a reply have its Date.
    pub is_dated: bool,
    /// How long the body is that this reply to HEAD stands for is not known.
    pub lacks_length: bool,
    /// The connection ends with this reply.
    pub close: bool,
}

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
    }
}
