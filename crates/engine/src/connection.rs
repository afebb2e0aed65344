//! One client connection: reads heads, forwards requests, relays both bodies, and starts over. It is a state machine that one task
//! drives. Between polls it holds no buffer unless a socket is full.

mod coded;
mod collect;
mod detach;
mod detached_exchange;
mod exchange;
mod hedge;
mod keep;
mod relay;
mod resend;
mod retarget;
mod sourced;

use crate::core::{Buffers, Core};
use crate::deadlines::NEVER;
use crate::dial::{Dial, LOOK_AFTER, dial, dial_within};
use crate::fault::{Fault, FaultKind};
use crate::kept_bodies::ROOM_LOOK_MS;
use crate::outbox::Outbox;
use crate::pace::Looks;
use crate::peers::{CountedConnection, HandedConnection, PeerEntry};
use crate::pipe::Pipe;
use crate::pool::PoolSlot;
use crate::service::{Capture, ClientInfo, Forward, Handler, HoldUntil, NotKept, Outgoing, SourcedBody, Verdict, Work};
use crate::stream::Stream;
use crate::tunnel::Tunnel;
use crate::turn::{DIAL_BYTES, SharedTurn, Turn};
use coded::FLUSH_AFTER_MS;
use collect::Collected;
use exchange::ExchangeState;
use sourced::SourcedReply;
use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tollgate_clock::MonoTime;
use tollgate_http::{
    Body, BodyReader, HeaderEdits, HeaderStorage, KnownHeader, Malformed, ReplyBody, Request, RequestHead, write_reply,
    write_request,
};

/// Maximum bytes that a client may pipeline while its current request is being answered.
const AHEAD_BYTES_MAX: usize = 64 * 1024;
/// How long a response head waits for its small body.
const HEAD_HELD_MS: u64 = 500;
/// If a response takes longer than this, the connection starts to check whether its client is still there. A check has a small
/// cost, and most responses are faster.
const WATCH_AFTER_MS: u64 = 200;
/// After an early response, the connection keeps reading from the client for this long and up to this many bytes, so that a TCP
/// reset does not destroy the response in transit.
const LINGER_MS: u64 = 2_000;
const LINGER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// After an early response, a remaining request body up to this size is read to its end if it arrives soon. That is cheaper for
/// both sides than a new connection.
const DRAIN_BYTES_MAX: u64 = 64 * 1024;
const DRAIN_MS: u64 = 2_000;

pub(crate) struct Connection {
    core: Rc<Core>,
    client: Stream,
    client_address: SocketAddr,
    /// Name of the listener that accepted the connection.
    listener: u32,
    /// The client's IP address as text.
    client_ip: ClientIp,
    /// Held while the connection lives. None for an HTTP/2 stream, which is counted with its connection.
    counted: Option<CountedConnection>,
    handler: Box<dyn Handler>,
    deadline: usize,
    /// Coarse time of the last progress in the current stage.
    since_ms: u64,
    /// Bytes from the client that are not consumed yet: part of a head, or pipelined requests.
    input: Vec<u8>,
    to_client: Outbox,
    /// Checks whether the client reads what the kernel has buffered for it.
    looks: Looks,
    stage: Stage,
    exchange: ExchangeState,
    /// Whether nothing was done yet since the task was woken.
    woken: bool,
    turn: Turn,
}

enum Stage {
    /// Waiting for the head of a request. `unread`: `input` has grown since it was last parsed.
    Head {
        unread: bool,
    },
    /// Holding a request, whose bytes are in `input`, until this coarse time or until the work completes.
    Pause(u64, Option<Work>),
    /// Reading the body of a request, whose bytes are in `input`.
    Collect(Box<Collected>),
    /// A held request, whose bytes are in `input`, goes on: with its body, if that is what it has waited for.
    Resume(Option<Result<Vec<u8>, NotKept>>),
    /// Waiting for a new upstream connection.
    Dial(Dial),
    /// Relaying request and response.
    Relay,
    /// Sending a reply whose body comes from a source.
    Sourced(Box<SourcedReply>),
    /// The protocol was switched; bytes pass in both directions.
    Tunnel(Box<Tunnel>),
    /// The response is sent: discards the rest of the request's body to reach the next request. Holds the number of bytes
    /// discarded.
    Drain(u64),
    /// Everything is sent: keeps reading for a moment, then closes. Holds the number of bytes read.
    Linger(u64),
    /// The client speaks HTTP/2: this connection ends, and its parts move on.
    Http2(Box<Http2Start>),
    Closed,
}

/// A client connection that starts with the HTTP/2 preface.
pub(crate) struct Http2Start {
    pub stream: Stream,
    /// The bytes already read from it.
    pub bytes: Vec<u8>,
    pub client: ClientInfo,
    pub counted: CountedConnection,
}

/// Text of an IP address, without a heap allocation.
struct ClientIp {
    text: [u8; 46],
    length: usize,
}

impl ClientIp {
    fn new(client: SocketAddr) -> Self {
        let mut text = [0u8; 46];
        let mut rest = text.as_mut_slice();
        let _ = write!(rest, "{}", client.ip().to_canonical());
        let length = 46 - rest.len();
        ClientIp { text, length }
    }

    fn as_bytes(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or_default()
    }
}

/// Whether a request asks to switch to HTTP/2. Such a tunnel would carry requests that the gateway does not inspect.
fn names_http2(protocols: &[u8]) -> bool {
    protocols.split(|byte| *byte == b',').any(|protocol| {
        let name = protocol.split(|byte| *byte == b'/').next().unwrap_or_default().trim_ascii();
        [b"h2c".as_slice(), b"h2", b"HTTP", b"PRI"].iter().any(|known| name.eq_ignore_ascii_case(known))
    })
}

/// Whether a request is gRPC. Its body may be one side of a conversation, for which no minimum speed can be required.
fn is_grpc(request: &Request<'_>) -> bool {
    request.headers.known(KnownHeader::ContentType).is_some_and(|kind| kind.starts_with(b"application/grpc"))
}

/// Sets the header lines that frame the replacement body.
#[cold]
fn replace_framing(request: &Request<'_>, bytes: usize, edits: &mut HeaderEdits) {
    let headers = &request.headers;
    edits.remove_known(headers, KnownHeader::ContentLength);
    edits.remove_known(headers, KnownHeader::TransferEncoding);
    // The body was read and is sent together with the head.
    edits.remove_known(headers, KnownHeader::Expect);
    if bytes > 0 || request.body != Body::None || headers.has(KnownHeader::ContentLength) {
        edits.add("Content-Length", bytes.to_string().as_bytes());
    }
}

/// Result of parsing a head at the start of some bytes.
enum Begun {
    /// The head is incomplete.
    Incomplete,
    /// This many bytes were consumed.
    Used(usize),
}

impl Connection {
    pub(crate) fn new(core: Rc<Core>, stream: Stream, client: ClientInfo, counted: CountedConnection) -> Self {
        core.stats.clients.add(1);
        let mut connection = Connection::of_stream(core, stream, client, None);
        connection.counted = Some(counted);
        connection
    }

    /// A connection without a socket of its own: that of one HTTP/2 stream, which shares the turn of its client's others, or of a request of the
    /// gateway's own.
    pub(crate) fn of_stream(core: Rc<Core>, stream: Stream, client: ClientInfo, turn: Option<Rc<SharedTurn>>) -> Self {
        let handler = core.service.handler(&client);
        let mut connection = Connection::with_handler(core, stream, client.address, handler);
        connection.listener = client.listener;
        connection.turn = Turn::new(turn);
        connection
    }

    /// Whether the connection has given way to others. It is polled again without anything else happening.
    pub(crate) fn has_given_way(&self) -> bool {
        self.turn.is_over()
    }

    /// A connection with this handler.
    pub(crate) fn with_handler(core: Rc<Core>, stream: Stream, client: SocketAddr, handler: Box<dyn Handler>) -> Self {
        core.deadlines.set_now(MonoTime::now());
        Connection {
            client: stream,
            client_address: client,
            listener: 0,
            client_ip: ClientIp::new(client),
            counted: None,
            handler,
            deadline: core.deadlines.register(),
            since_ms: core.deadlines.now_ms(),
            input: Vec::new(),
            to_client: Outbox::default(),
            looks: Looks::default(),
            stage: Stage::Head { unread: false },
            exchange: ExchangeState::default(),
            woken: false,
            turn: Turn::new(None),
            core,
        }
    }

    /// Whether the connection waits for a request and has no leftovers of the last one.
    #[inline]
    pub(crate) fn is_at_rest(&self) -> bool {
        matches!(self.stage, Stage::Head { .. }) && self.input.is_empty() && self.to_client.is_empty()
    }

    /// Whether a client's own connection, not an HTTP/2 stream, is at rest.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_at_rest() && !matches!(self.client, Stream::Pipe(_))
    }

    /// Disables the time limit until [`Connection::resume`] is called.
    pub(crate) fn suspend(&mut self) {
        self.core.deadlines.set(self.deadline, NEVER, Waker::noop());
    }

    pub(crate) fn resume(&mut self) {
        self.since_ms = self.core.deadlines.now_ms();
    }

    fn drive(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        while !matches!(self.stage, Stage::Closed | Stage::Http2(_)) {
            ready!(self.turn.poll_step(cx));
            ready!(match &mut self.stage {
                Stage::Head { .. } => self.poll_head(cx, buffers),
                Stage::Pause(_, None) => self.poll_pause(cx, buffers),
                Stage::Pause(_, Some(work)) => work.as_mut().poll(cx).map(|()| self.enter(Stage::Resume(None))),
                Stage::Collect(_) => self.poll_collect(cx, buffers),
                Stage::Resume(_) => self.poll_resume(cx, buffers),
                Stage::Dial(_) => self.poll_dial(cx, buffers),
                Stage::Relay => self.poll_relay(cx, buffers),
                Stage::Sourced(_) => self.poll_sourced(cx, buffers),
                Stage::Tunnel(tunnel) => {
                    let poll = tunnel.poll(cx, &mut self.client, &mut buffers.scratch, &mut self.turn);
                    if tunnel.take_progress() {
                        self.since_ms = self.core.deadlines.now_ms();
                    }
                    poll.map(|()| self.stage = Stage::Closed)
                }
                Stage::Drain(_) => self.poll_drain(cx, buffers),
                Stage::Linger(_) => self.poll_linger(cx, buffers),
                Stage::Http2(_) | Stage::Closed => return Poll::Ready(()),
            });
        }
        Poll::Ready(())
    }

    fn enter(&mut self, stage: Stage) {
        self.since_ms = self.core.deadlines.now_ms();
        self.stage = stage;
    }

    fn poll_head(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        if !self.to_client.is_empty() && ready!(self.to_client.poll_flush(cx, &mut self.client)).is_err() {
            self.enter(Stage::Closed);
            return Poll::Ready(());
        }
        if matches!(self.stage, Stage::Head { unread: true }) && !self.input.is_empty() {
            self.stage = Stage::Head { unread: false };
            let mut input = std::mem::take(&mut self.input);
            match self.begin(cx, &input, &mut buffers.out, &mut buffers.outgoing, &mut buffers.lines) {
                Begun::Incomplete => {
                    self.input = input;
                    if !matches!(self.stage, Stage::Head { unread: false }) {
                        return Poll::Ready(());
                    }
                }
                Begun::Used(used) => {
                    input.drain(..used);
                    self.keep_input(input);
                    return Poll::Ready(());
                }
            }
        }
        if self.core.draining.get() && self.input.is_empty() && self.idle_end_ms() <= self.core.deadlines.now_ms() {
            self.client.say_goodbye(cx);
            self.enter(Stage::Closed);
            return Poll::Ready(());
        }
        let Buffers { scratch, out, outgoing, lines } = buffers;
        let reading = match std::mem::take(&mut self.woken) {
            true => self.client.poll_read_woken(cx, scratch),
            false => self.client.poll_read(cx, scratch),
        };
        let read = match ready!(reading) {
            Ok(read) if read > 0 => read,
            _ => {
                self.client.say_goodbye(cx);
                self.enter(Stage::Closed);
                return Poll::Ready(());
            }
        };
        if self.input.is_empty() {
            // Usually one read brings the whole head: it is parsed in place.
            let bytes = scratch.get(..read).unwrap_or_default();
            let rest = match self.begin(cx, bytes, out, outgoing, lines) {
                Begun::Incomplete => {
                    self.since_ms = self.core.deadlines.now_ms();
                    bytes
                }
                Begun::Used(used) => bytes.get(used..).unwrap_or_default(),
            };
            if !rest.is_empty() {
                self.input.extend_from_slice(rest);
            } else if matches!(self.stage, Stage::Head { .. }) && self.to_client.is_empty() {
                self.move_if_crowded();
            }
        } else {
            self.input.extend_from_slice(scratch.get(..read).unwrap_or_default());
            self.stage = Stage::Head { unread: true };
        }
        Poll::Ready(())
    }

    /// Holds a request until its pause ends; pipelined bytes do not end it. Notices a client that disconnects.
    fn poll_pause(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        if self.input.len() >= AHEAD_BYTES_MAX {
            return Poll::Pending;
        }
        match ready!(self.client.poll_read(cx, &mut buffers.scratch)) {
            Ok(read) if read > 0 => self.input.extend_from_slice(buffers.scratch.get(..read).unwrap_or_default()),
            _ => self.enter(Stage::Closed),
        }
        Poll::Ready(())
    }

    /// Moves the connection to a less busy core. Called between requests, the only time when that is possible.
    fn move_if_crowded(&mut self) {
        if !self.input.is_empty() || self.core.draining.get() {
            return;
        }
        let Some(peer) = self.core.peers.offload_target() else { return };
        let Some(stream) = self.client.duplicate() else { return };
        let seat = self.counted.as_mut().and_then(|counted| counted.seat.take());
        match peer.hand_over(HandedConnection {
            stream,
            client: self.client_address,
            entry: PeerEntry::Served(self.listener),
            counted: peer.count(seat),
        }) {
            Ok(()) => self.enter(Stage::Closed),
            Err(HandedConnection { counted: mut theirs, .. }) => {
                if let Some(counted) = &mut self.counted {
                    counted.seat = theirs.seat.take();
                }
            }
        }
    }

    /// Keeps the unconsumed bytes of the client; frees the memory if there are none.
    fn keep_input(&mut self, input: Vec<u8>) {
        if !input.is_empty() {
            self.input = input;
        }
    }

    /// Parses the head at the start of `bytes` and starts the exchange.
    fn begin(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
        lines: &mut HeaderStorage,
    ) -> Begun {
        let limits = &self.core.limits;
        // Matched in place: a request is expensive to move.
        let parsed = Request::parse(bytes, lines);
        let request = match &parsed {
            Ok(Some(request)) if request.head_len > limits.head_bytes_max || request.headers.len() > limits.header_lines_max => {
                return self.refuse_head(cx, bytes, 431, out);
            }
            Ok(Some(request)) => request,
            Ok(None) if bytes.len() >= limits.head_bytes_max => return self.refuse_head(cx, bytes, 431, out),
            Ok(None) => return Begun::Incomplete,
            Err(Malformed::TooManyLines) => return self.refuse_head(cx, bytes, 431, out),
            Err(Malformed::Version) if self.may_begin_http2(bytes) => return self.begin_http2(bytes),
            Err(Malformed::Version) => return self.refuse_head(cx, bytes, 505, out),
            Err(Malformed::Connect) => return self.refuse_head(cx, bytes, 501, out),
            Err(_) => return self.refuse_head(cx, bytes, 400, out),
        };
        self.exchange.begin(request);
        outgoing.clear();
        let now = self.begin_decision();
        let verdict = self.handler.on_request(request, now, outgoing);
        self.follow(cx, bytes, request, verdict, out, outgoing)
    }

    /// Continues with a held request.
    fn poll_resume(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        if !self.to_client.is_empty() && ready!(self.to_client.poll_flush(cx, &mut self.client)).is_err() {
            self.enter(Stage::Closed);
            return Poll::Ready(());
        }
        let Stage::Resume(body) = &mut self.stage else { return Poll::Ready(()) };
        let body = body.take();
        self.stage = Stage::Head { unread: false };
        let mut input = std::mem::take(&mut self.input);
        let Buffers { out, outgoing, lines, .. } = buffers;
        // The same bytes were parsed before, so this cannot fail.
        let begun = match Request::parse(&input, lines) {
            Ok(Some(request)) => {
                self.exchange.begin(&request);
                outgoing.clear();
                let now = self.begin_decision();
                let verdict = self.handler.on_resume(&request, body, now, outgoing);
                self.follow(cx, &input, &request, verdict, out, outgoing)
            }
            _ => self.refuse_head(cx, &input, 400, out),
        };
        if let Begun::Used(used) = begun {
            input.drain(..used);
        }
        self.keep_input(input);
        Poll::Ready(())
    }

    /// Takes the time of a decision about a request.
    fn begin_decision(&mut self) -> MonoTime {
        let now = MonoTime::now();
        self.core.deadlines.set_now(now);
        self.since_ms = self.core.deadlines.now_ms();
        now
    }

    /// Does what the handler has decided about the request at the start of `bytes`.
    fn follow(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        request: &Request<'_>,
        verdict: Verdict,
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
    ) -> Begun {
        let verdict = match verdict {
            Verdict::Hold(HoldUntil::Time(time)) => return self.pause(time, None),
            Verdict::Hold(HoldUntil::Done(work, time_max)) => return self.pause(time_max, Some(work)),
            Verdict::Hold(HoldUntil::Body(bytes_max)) => return self.collect(cx, request, bytes_max),
            Verdict::Reply => None,
            Verdict::Forward(forward) => Some(forward),
        };
        let rest = bytes.get(request.head_len..).unwrap_or_default();
        // Stays empty for most bodies, which are forwarded unchanged.
        let mut rewritten = Vec::new();
        let exchange = &mut self.exchange;
        let passes = |name: &str| self.handler.passes_request_trailer(name);
        let (used, mut body) = match exchange.request.body.relay(rest, &mut exchange.request.trailers, passes, &mut rewritten) {
            Ok(relayed) => relayed,
            Err(_) => {
                outgoing.sourced = None;
                self.handler.on_end(self.exchange.ended());
                return self.refuse_head(cx, bytes, 400, out);
            }
        };
        match verdict {
            None => self.reply(cx, outgoing, out),
            Some(mut forward) => {
                self.exchange.upstream.first_byte_ms = forward.first_byte_ms;
                self.exchange.request.body_bytes_max = forward.body_bytes_max;
                self.exchange.times.is_timed = forward.timed;
                self.exchange.capture = Capture::wanted(forward.capture_bytes_max);
                self.exchange.request.converses = !self.exchange.request.body.is_done() && is_grpc(request);
                let announced_too_much =
                    matches!((request.body, forward.body_bytes_max), (Body::Length(bytes), Some(most)) if bytes > most);
                self.exchange.tunnel.is_wanted = forward.upgrade && request.upgrade.is_some_and(|protocol| !names_http2(protocol));
                self.exchange.tunnel.inspector = outgoing.inspector.take();
                if announced_too_much || self.exchange.count_body(used).is_err() {
                    self.fail(cx, Fault::new(FaultKind::BodyTooLarge), out, outgoing);
                } else if self.exchange.tunnel.is_wanted && !self.reserve_tunnel() {
                    self.fail(cx, Fault::new(FaultKind::TooManyTunnels), out, outgoing);
                } else {
                    if let Some(capture) = &mut self.exchange.capture {
                        capture.add_request(rest.get(..used).unwrap_or_default());
                    }
                    let replacement = outgoing.replaces_body.then(|| std::mem::take(&mut outgoing.body));
                    if let Some(replacement) = &replacement {
                        replace_framing(request, replacement.len(), &mut outgoing.edits);
                        rewritten.clear();
                        body = replacement;
                    }
                    self.forward(cx, request, &mut forward, [&rewritten, body], out, outgoing);
                }
            }
        }
        Begun::Used(request.head_len + used)
    }

    /// Holds the request.
    fn pause(&mut self, time: Duration, work: Option<Work>) -> Begun {
        let until_ms = self.core.deadlines.now_ms().saturating_add(time.as_millis() as u64);
        self.enter(Stage::Pause(until_ms, work));
        Begun::Incomplete
    }

    /// Whether the first bytes of the connection are, or may become, the HTTP/2 preface (prior knowledge, RFC 9113 §3.3). Over TLS,
    /// ALPN selects HTTP/2 instead.
    #[cold]
    fn may_begin_http2(&self, bytes: &[u8]) -> bool {
        let is_first = !self.exchange.request.keep_alive;
        is_first
            && matches!(self.client, Stream::Tcp(_))
            && bytes.iter().zip(tollgate_http2::PREFACE).all(|(byte, wanted)| byte == wanted)
    }

    /// Hands the client over to HTTP/2 once its preface is complete.
    fn begin_http2(&mut self, bytes: &[u8]) -> Begun {
        if bytes.len() < tollgate_http2::PREFACE.len() {
            return Begun::Incomplete;
        }
        let stage = self.counted.take().map_or(Stage::Closed, |counted| {
            let stream = std::mem::replace(&mut self.client, Stream::Pipe(Pipe::new().0));
            let client = ClientInfo {
                address: self.client_address,
                listener: self.listener,
                tls: None,
                http2: true,
                is_own: false,
                ticket: 0,
            };
            Stage::Http2(Box::new(Http2Start { stream, bytes: bytes.to_vec(), client, counted }))
        });
        self.enter(stage);
        Begun::Used(bytes.len())
    }

    /// Forwards the request: at once if a pooled connection is available, otherwise when a new one is open.
    fn forward(
        &mut self,
        cx: &mut Context<'_>,
        request: &Request<'_>,
        forward: &mut Forward,
        body: [&[u8]; 2],
        out: &mut Vec<u8>,
        outgoing: &mut Outgoing,
    ) {
        let upgrade = self.exchange.tunnel.is_wanted;
        let head = RequestHead {
            method: outgoing.method.as_deref().unwrap_or(request.method.as_bytes()),
            target: &outgoing.target,
            host: &outgoing.host,
            forwarded_for: (!outgoing.keep_forwarded_for).then(|| self.client_ip.as_bytes()),
            upgrade,
            replaces_body: outgoing.replaces_body,
        };
        out.clear();
        write_request(request, &head, &outgoing.edits, out);
        body.iter().for_each(|part| out.extend_from_slice(part));
        self.exchange.upstream.is_asked_for_head = head.method == b"HEAD";
        let mut replayable = !upgrade && request.is_idempotent() && self.exchange.request.body.is_done();
        if forward.is_conditional {
            ["If-None-Match", "If-Modified-Since"].iter().for_each(|name| outgoing.edits.remove(&request.headers, name));
            let mut replay = self.core.spare();
            write_request(request, &head, &outgoing.edits, &mut replay);
            self.exchange.request.replay = replay;
            replayable = false;
        }
        if let Some(keep) = forward.resend.filter(|_| !upgrade) {
            let body_bytes = body.iter().map(|part| part.len()).sum();
            self.keep_request(out, keep, body_bytes, request.is_idempotent() && !forward.is_conditional);
            self.copy_request(std::mem::take(&mut forward.copies));
        }
        loop {
            let pooled = self.core.pool.borrow_mut().take(forward.target_serial, self.core.deadlines.now_ms(), &self.core.limits);
            let Some(mut upstream) = pooled else {
                self.exchange.upstream.outbox.put(out);
                self.exchange.times.sent_at = self.exchange.clock();
                return self.start_dial();
            };
            if self.exchange.upstream.outbox.send(cx, &mut upstream.stream, out, &[]).is_err() {
                // Nothing was sent: the pooled connection had died unnoticed.
                self.exchange.upstream.outbox.clear();
                continue;
            }
            if replayable {
                let mut replay = self.core.spare();
                replay.extend_from_slice(out);
                self.exchange.request.replay = replay;
            }
            self.core.stats.reuses.add(1);
            if self.exchange.response.room.is_some() {
                self.free_sent_body();
            }
            self.exchange.times.sent_at = self.exchange.clock();
            self.exchange.upstream.connection = Some(upstream);
            self.stage = Stage::Relay;
            return;
        }
    }

    /// Frees the memory of a buffered request body that was sent, unless the request may be sent again.
    fn free_sent_body(&mut self) {
        let exchange = &mut self.exchange;
        if let Some(room) = &mut exchange.response.room
            && exchange.response.kept.is_none()
        {
            room.set(exchange.upstream.outbox.len() + exchange.request.replay.len());
        }
    }

    /// Reserves a slot for a tunnel on this core, if one is free.
    fn reserve_tunnel(&mut self) -> bool {
        self.exchange.tunnel.slot = PoolSlot::take(&self.core.tunnels_open, self.core.limits.tunnels_max);
        self.exchange.tunnel.slot.is_some()
    }

    fn start_dial(&mut self) {
        self.turn.moved(DIAL_BYTES);
        match self.handler.target() {
            Some(target) => {
                let connect = self.exchange.request.kept.as_ref().and_then(|kept| kept.connect_time());
                let core = self.core.clone();
                self.enter(Stage::Dial(match connect {
                    None => dial(core, target, self.exchange.tunnel.is_wanted),
                    Some(time) => dial_within(core, target, time),
                }));
            }
            None => self.enter(Stage::Closed),
        }
    }

    fn poll_dial(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        let Stage::Dial(dial) = &mut self.stage else { return Poll::Ready(()) };
        let dialed = match dial.as_mut().poll(cx) {
            Poll::Ready(dialed) => dialed,
            Poll::Pending => {
                let waited = Duration::from_millis(self.core.deadlines.now_ms().saturating_sub(self.since_ms));
                if waited < LOOK_AFTER || !self.handler.gives_up(waited) {
                    return Poll::Pending;
                }
                Err(Fault::with(FaultKind::ConnectTimeout, "another upstream is tried"))
            }
        };
        match dialed {
            Ok(upstream) => {
                self.core.stats.connects.add(1);
                self.exchange.upstream.connection = Some(upstream);
                self.enter(Stage::Relay);
            }
            Err(fault) => {
                self.core.stats.connects_failed.add(1);
                self.fail(cx, fault, &mut buffers.out, &mut buffers.outgoing);
            }
        }
        Poll::Ready(())
    }

    /// Answers an invalid head and closes the connection.
    fn refuse_head(&mut self, cx: &mut Context<'_>, bytes: &[u8], status: u16, out: &mut Vec<u8>) -> Begun {
        self.core.stats.heads_refused.add(1);
        let body = format!("{status} {}", tollgate_http::reason(status)).into_bytes();
        let mut outgoing = Outgoing { status, body, ..Outgoing::default() };
        outgoing.edits.add_lines(b"Content-Type: text/plain; charset=utf-8\r\n");
        self.exchange.end(&self.core);
        self.exchange.request.is_http10 = false;
        self.exchange.request.is_head = false;
        self.send_reply(cx, &outgoing, true, out);
        Begun::Used(bytes.len())
    }

    /// Sends the handler's own response.
    fn reply(&mut self, cx: &mut Context<'_>, outgoing: &mut Outgoing, out: &mut Vec<u8>) {
        // Does not wait for a body that has not arrived: the response is meant to spare the client from sending it.
        let close =
            outgoing.close || !self.exchange.request.keep_alive || !(self.exchange.request.body.is_done() || self.can_drain());
        if outgoing.coder.is_some() && outgoing.sourced.is_none() {
            outgoing.sourced = Some(SourcedBody::whole(std::mem::take(&mut outgoing.body)));
        }
        if let Some(sourced) = outgoing.sourced.take() {
            return self.reply_from_source(cx, sourced, outgoing, close, out);
        }
        self.handler.on_end(self.exchange.ended());
        self.send_reply(cx, outgoing, close, out);
    }

    fn send_reply(&mut self, cx: &mut Context<'_>, outgoing: &Outgoing, close: bool, out: &mut Vec<u8>) {
        out.clear();
        let close = close || self.core.draining.get();
        let connection = self.exchange.connection_line(close);
        let shown = match self.exchange.request.is_head {
            false => ReplyBody::Whole,
            true if outgoing.lacks_length => ReplyBody::Nothing,
            true => ReplyBody::Length,
        };
        let Outgoing { status, edits, body, is_dated, .. } = outgoing;
        self.core.with_date_line(|date| {
            let date = if *is_dated { b"" } else { date };
            write_reply(*status, edits, body, date, connection, shown, out);
        });
        self.exchange.end(&self.core);
        match self.to_client.send(cx, &mut self.client, out, &[]) {
            Err(_) => self.enter(Stage::Closed),
            Ok(()) if close => self.enter(Stage::Linger(0)),
            Ok(()) if !self.exchange.request.body.is_done() => self.enter(Stage::Drain(0)),
            Ok(()) => self.enter(Stage::Head { unread: true }),
        }
    }

    /// Handles a failed exchange: sends an error if no byte of the response was sent, otherwise cuts the connection so that the
    /// client notices.
    fn fail(&mut self, cx: &mut Context<'_>, fault: Fault, out: &mut Vec<u8>, outgoing: &mut Outgoing) {
        tracing::debug!(%fault, "exchange failed");
        if (self.exchange.request.kept.is_some() || self.is_unsent()) && self.resend_after_fault(&fault) {
            return;
        }
        let can_answer = !self.exchange.response.is_started && fault.kind != FaultKind::ClientGone;
        outgoing.clear();
        // Left over if the client went away before they were used.
        (outgoing.sourced, outgoing.sink, outgoing.work) = (None, None, None);
        self.handler.on_fault(&fault, outgoing);
        if can_answer {
            outgoing.close |=
                matches!(fault.kind, FaultKind::ClientTimeout | FaultKind::BodyMalformed(_) | FaultKind::BodyTooLarge);
            self.exchange.upstream.connection = None;
            self.reply(cx, outgoing, out);
        } else {
            // A truncated response tells the client more than no response.
            let _ = self.send_held_head(cx);
            self.handler.on_end(self.exchange.ended());
            self.exchange.end(&self.core);
            self.enter(Stage::Closed);
        }
    }

    /// Whether the rest of the request's body may be small enough to discard. False for a client that waits for `100 Continue`: it
    /// may never send the body, so the start of the next request would be unknown (RFC 9110 §10.1.1). False for an HTTP/2 stream,
    /// which has no next request.
    fn can_drain(&self) -> bool {
        let is_small = match self.exchange.request.body {
            BodyReader::Length(left) => left <= DRAIN_BYTES_MAX,
            _ => true,
        };
        is_small && !self.exchange.request.expects_continue && !matches!(self.client, Stream::Pipe(_))
    }

    fn poll_drain(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        if !self.to_client.is_empty() && ready!(self.to_client.poll_flush(cx, &mut self.client)).is_err() {
            self.enter(Stage::Closed);
            return Poll::Ready(());
        }
        let read = match ready!(self.client.poll_read(cx, &mut buffers.scratch)) {
            Ok(read) if read > 0 => read,
            _ => {
                self.enter(Stage::Closed);
                return Poll::Ready(());
            }
        };
        let bytes = buffers.scratch.get(..read).unwrap_or_default();
        let Stage::Drain(drained) = &mut self.stage else { return Poll::Ready(()) };
        match self.exchange.request.body.feed(bytes) {
            Ok(used) if self.exchange.request.body.is_done() => {
                self.input.extend_from_slice(bytes.get(used..).unwrap_or_default());
                self.enter(Stage::Head { unread: true });
            }
            Ok(used) if *drained + used as u64 <= DRAIN_BYTES_MAX => *drained += used as u64,
            _ => self.enter(Stage::Linger(0)),
        }
        Poll::Ready(())
    }

    fn poll_linger(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) -> Poll<()> {
        if !self.to_client.is_empty() && ready!(self.to_client.poll_flush(cx, &mut self.client)).is_err() {
            self.enter(Stage::Closed);
            return Poll::Ready(());
        }
        let Stage::Linger(read) = &mut self.stage else { return Poll::Ready(()) };
        if *read == 0 {
            let _ = ready!(self.client.poll_shutdown(cx));
            *read = 1;
        }
        match ready!(self.client.poll_read(cx, &mut buffers.scratch)) {
            Ok(more) if more > 0 && *read < LINGER_BYTES_MAX => *read += more as u64,
            _ => self.stage = Stage::Closed,
        }
        Poll::Ready(())
    }

    /// When the current wait times out, in coarse time.
    #[inline]
    fn due_ms(&self) -> u64 {
        let limits = &self.core.limits;
        let client_is_late = !self.to_client.is_empty();
        let wait_ms = match &self.stage {
            Stage::Pause(until_ms, _) => return *until_ms,
            // Interim responses may wait for the client while the final response is awaited: both limits apply.
            Stage::Relay if client_is_late && self.exchange.response.body.is_none() => {
                self.exchange.wait_ms(limits).min(limits.client_write_ms)
            }
            _ if client_is_late => return self.client_due_ms(),
            Stage::Sourced(reply) if reply.is_client_late() => return self.client_due_ms(),
            Stage::Head { .. } if self.input.is_empty() => return self.idle_end_ms(),
            Stage::Head { .. } => limits.head_ms,
            Stage::Collect(collected) if collected.waits() => return self.core.deadlines.now_ms().saturating_add(ROOM_LOOK_MS),
            Stage::Collect(_) => limits.head_ms,
            Stage::Relay if self.kept_works() => return self.kept_work_due_ms(),
            Stage::Relay if self.kept_waits() => return self.core.deadlines.now_ms().saturating_add(ROOM_LOOK_MS),
            Stage::Relay if !self.exchange.response.held_head.is_empty() => HEAD_HELD_MS,
            Stage::Relay if self.holds_coded() => FLUSH_AFTER_MS,
            // For an answer, or for more of it: an event stream may say nothing for long.
            Stage::Relay if self.exchange.is_sent() && !self.exchange.response.watches_client => {
                self.exchange.wait_ms(limits).min(WATCH_AFTER_MS)
            }
            Stage::Relay => self.exchange.wait_ms(limits),
            Stage::Sourced(reply) if reply.is_event_stream() && !self.exchange.response.watches_client => WATCH_AFTER_MS,
            Stage::Sourced(reply) => limits.silence_ms(reply.is_event_stream()),
            Stage::Tunnel(_) => limits.tunnel_idle_ms,
            Stage::Drain(_) => DRAIN_MS,
            Stage::Linger(_) => LINGER_MS,
            // A dial has its own time limit; meanwhile, the handler may give it up.
            Stage::Dial(_) => return self.since_ms.max(self.core.deadlines.now_ms()).saturating_add(LOOK_AFTER.as_millis() as u64),
            Stage::Http2(_) | Stage::Resume(_) | Stage::Closed => return NEVER,
        };
        self.since_ms.saturating_add(wait_ms).min(self.pace_end_ms())
    }

    /// When to look at a client that does not read, or to cut it, in coarse time.
    fn client_due_ms(&self) -> u64 {
        self.looks.due_ms(self.since_ms, self.core.limits.client_write_ms).min(self.pace_end_ms())
    }

    /// When a connection without a request times out, in coarse time. An HTTP/2 stream ends with its request, even during a drain.
    fn idle_end_ms(&self) -> u64 {
        match self.client {
            Stream::Pipe(_) => self.since_ms.saturating_add(self.core.limits.client_idle_ms),
            _ => self.core.idle_end_ms(self.since_ms),
        }
    }

    /// Handles a wait that timed out.
    fn expire(&mut self, cx: &mut Context<'_>, buffers: &mut Buffers) {
        self.exchange.response.watches_client = true;
        if self.core.deadlines.take_unwanted(self.deadline) && self.is_idle() {
            self.client.say_goodbye(cx);
            return self.enter(Stage::Closed);
        }
        if self.core.deadlines.now_ms() < self.due_ms() {
            return;
        }
        let is_client_late = !self.to_client.is_empty() || matches!(&self.stage, Stage::Sourced(reply) if reply.is_client_late());
        match &self.stage {
            Stage::Relay if !self.exchange.response.held_head.is_empty() => {
                if let Err(fault) = self.send_held_head(cx) {
                    self.fail(cx, fault, &mut buffers.out, &mut buffers.outgoing);
                }
            }
            Stage::Relay if self.holds_coded() && !is_client_late => {
                if let Err(fault) = self.flush_coded(cx, true, &mut buffers.out) {
                    self.fail(cx, fault, &mut buffers.out, &mut buffers.outgoing);
                }
            }
            Stage::Pause(..) => self.enter(Stage::Resume(None)),
            // The relay sees that the time of the work is over.
            Stage::Relay if self.kept_works() => {}
            Stage::Relay if self.exchange.response.body.is_none() => {
                let fault = Fault::new(self.exchange.wait_fault());
                self.fail(cx, fault, &mut buffers.out, &mut buffers.outgoing);
            }
            _ if is_client_late => {
                self.look_at_client();
                if self.core.deadlines.now_ms() >= self.due_ms() {
                    self.client.abort();
                    self.enter(Stage::Closed);
                }
            }
            Stage::Head { .. } if !self.input.is_empty() => {
                self.input = Vec::new();
                self.refuse_head(cx, &[], 408, &mut buffers.out);
            }
            Stage::Relay => {
                let fault = Fault::new(self.exchange.wait_fault());
                self.fail(cx, fault, &mut buffers.out, &mut buffers.outgoing);
            }
            Stage::Collect(_) => {
                self.handler.on_end(self.exchange.ended());
                self.input = Vec::new();
                self.refuse_head(cx, &[], 408, &mut buffers.out);
            }
            Stage::Dial(_) | Stage::Resume(_) => {}
            Stage::Head { .. } => {
                self.client.say_goodbye(cx);
                self.enter(Stage::Closed);
            }
            // The source has stalled: the reply is truncated.
            Stage::Sourced(_) => self.enter(Stage::Closed),
            Stage::Tunnel(_) | Stage::Drain(_) | Stage::Linger(_) | Stage::Http2(_) | Stage::Closed => self.enter(Stage::Closed),
        }
    }
}

impl Future for Connection {
    /// The parts that continue over HTTP/2; `None` when the connection is closed.
    type Output = Option<Box<Http2Start>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let core = this.core.clone();
        let mut buffers = core.buffers.borrow_mut();
        if core.deadlines.take_expired(this.deadline) {
            this.expire(cx, &mut buffers);
        }
        this.woken = matches!(this.stage, Stage::Head { .. });
        this.turn.begin();
        let poll = this.drive(cx, &mut buffers);
        if poll.is_pending() {
            core.deadlines.set_wait(this.deadline, this.due_ms(), this.is_idle(), cx.waker());
        }
        poll.map(|()| match std::mem::replace(&mut this.stage, Stage::Closed) {
            Stage::Http2(start) => Some(start),
            _ => None,
        })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !matches!(self.stage, Stage::Head { .. }) {
            self.handler.on_end(self.exchange.ended());
        }
        self.core.deadlines.release(self.deadline);
    }
}

#[cfg(test)]
mod tests;
