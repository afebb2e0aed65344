//! Plays a script: a core with one connection, whose handler does what the request's path says.

use crate::connection::Connection;
use crate::core::Core;
use crate::deadlines::SWEEP_MS;
use crate::fault::{Fault, FaultKind};
use crate::limits::Limits;
use crate::peers::CoreBalancer;
use crate::resolver::Resolver;
use crate::service::{
    BodyCoder, BodyCut, BodySink, BodySource, ClientInfo, CoderStep, DetachedExchange, Ended, Forward, Handler, HoldUntil,
    KeepForResend, KeptBody, NotKept, Outgoing, Resend, ResponseVerdict, Retarget, Service, SourcedBody, TryEnd, Verdict,
};
use crate::stats::CoreStats;
use crate::stream::Stream;
use crate::target::{Address, Http2, Target};
use bytes::Bytes;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::runtime::LocalRuntime;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tollgate_clock::{MonoTime, virtual_time};
use tollgate_http::{Request, Response};

/// One line of a script. Lines of texts end with `\n`, which stands for CR LF; lines with the date are left out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The client sends this.
    Client(&'static str),
    /// The client has got this, and nothing else.
    ClientGets(&'static str),
    /// The client sends no more, but still reads.
    ClientEnds,
    /// The client closes.
    ClientLeaves,
    /// The gateway sends the client no more.
    ClientSeesEnd,
    /// The upstream takes a new connection, which the next steps are about.
    UpstreamTakes,
    Upstream(&'static str),
    UpstreamGets(&'static str),
    /// The upstream sends no more, but still reads.
    UpstreamEnds,
    UpstreamLeaves,
    UpstreamSeesEnd,
    /// Milliseconds pass.
    Pass(u64),
    /// What the handler of `/work` waits for is done.
    WorkEnds,
    /// The source of a reply has these bytes.
    Source(&'static str),
    SourceEnds,
    SourceIsCut,
    /// The core drains; connections without a request stay for so many milliseconds.
    Drain(u64),
    /// Nothing of the connection is left.
    Over,
}

/// Rounds of the runtime in which everything that takes no time happens; a round follows one event.
const ROUNDS: usize = 24;

/// A core, one client's connection to it and one upstream.
pub(super) struct Play {
    pub core: Rc<Core>,
    pub client: End,
    pub upstream: End,
    stage: Rc<PlayState>,
    dialed: Arc<Mutex<VecDeque<UnixStream>>>,
    connection: JoinHandle<()>,
    runtime: LocalRuntime,
    _drain: watch::Sender<Option<Duration>>,
}

/// What scripts and handler share.
#[derive(Default)]
struct PlayState {
    work: Notify,
    /// An exchange has begun and has not ended.
    in_exchange: Cell<bool>,
    ended: RefCell<Vec<Ended>>,
    source: Rc<RefCell<ScriptedBytes>>,
}

/// The bytes of a reply's source. The next reply starts with an empty source.
#[derive(Default)]
struct ScriptedBytes {
    pieces: VecDeque<Bytes>,
    end: Option<Result<(), BodyCut>>,
    waker: Option<Waker>,
    /// Woken when the source has been read, or is gone.
    sink_waker: Option<Waker>,
    is_source_gone: bool,
}

impl ScriptedBytes {
    fn put(&mut self, piece: &[u8]) {
        self.pieces.push_back(Bytes::copy_from_slice(piece));
        self.wake();
    }

    fn end(&mut self, end: Result<(), BodyCut>) {
        self.end.get_or_insert(end);
        self.wake();
    }

    fn wake(&mut self) {
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}

struct ScriptedSource(Rc<RefCell<ScriptedBytes>>);

impl BodySource for ScriptedSource {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        let mut bytes = self.0.borrow_mut();
        bytes.sink_waker.take().into_iter().for_each(Waker::wake);
        match (bytes.pieces.pop_front(), bytes.end) {
            (Some(piece), _) => Poll::Ready(Ok(Some(piece))),
            (None, Some(end)) => Poll::Ready(end.map(|()| None)),
            (None, None) => {
                bytes.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for ScriptedSource {
    fn drop(&mut self) {
        let before = self.0.take();
        before.sink_waker.into_iter().for_each(Waker::wake);
        self.0.borrow_mut().is_source_gone = true;
    }
}

/// Hands a body over to a source.
struct ScriptedSink {
    bytes: Rc<RefCell<ScriptedBytes>>,
    /// The source holds it back, and it ends with the source.
    needs_source: bool,
}

impl BodySink for ScriptedSink {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.borrow_mut().put(bytes);
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BodyCut>> {
        let mut bytes = self.bytes.borrow_mut();
        if self.needs_source && bytes.is_source_gone {
            return Poll::Ready(Err(BodyCut));
        }
        if self.needs_source && !bytes.pieces.is_empty() {
            bytes.sink_waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn finish(self: Box<Self>) {
        self.bytes.borrow_mut().end(Ok(()));
    }
}

impl Drop for ScriptedSink {
    fn drop(&mut self) {
        self.bytes.borrow_mut().end(Err(BodyCut));
    }
}

/// Writes everything in capitals, at the end or when it must: so many bytes at a time, each slice with a bar behind it.
struct ScriptedCoder {
    held: Vec<u8>,
    slice_bytes: usize,
}

impl ScriptedCoder {
    /// Of slices of this size; with 0, of four bytes.
    fn boxed(slice_bytes: u64) -> Box<dyn BodyCoder> {
        let slice_bytes = if slice_bytes == 0 { 4 } else { slice_bytes as usize };
        Box::new(ScriptedCoder { held: Vec::new(), slice_bytes })
    }
}

impl BodyCoder for ScriptedCoder {
    fn slice_bytes(&self) -> usize {
        self.slice_bytes
    }

    fn code(&mut self, bytes: &[u8], step: CoderStep, out: &mut Vec<u8>) -> Result<(), BodyCut> {
        self.held.extend(bytes.to_ascii_uppercase());
        self.held.extend(bytes.iter().take(1).map(|_| b'|'));
        if step != CoderStep::More {
            out.append(&mut self.held);
        }
        if bytes == b"!" { Err(BodyCut) } else { Ok(()) }
    }
}

/// Plays a script with the default limits, and tunnels.
#[track_caller]
pub(super) fn play(steps: &[Step]) {
    play_within(Limits { tunnels: true, ..Limits::default() }, steps);
}

/// Plays a script, then checks that nothing is left that it does not name.
#[track_caller]
pub(super) fn play_within(limits: Limits, steps: &[Step]) {
    let mut play = Play::new(limits);
    for (number, step) in steps.iter().enumerate() {
        play.step(*step).unwrap_or_else(|wrong| panic!("step {number}, {step:?}: {wrong}"));
    }
    play.finish();
}

impl Play {
    pub(super) fn new(limits: Limits) -> Play {
        virtual_time::stop();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()).unwrap();
        let (near, far) = UnixStream::pair().unwrap();
        let dialed = Arc::<Mutex<VecDeque<UnixStream>>>::default();
        let stage = Rc::<PlayState>::default();
        let service = Rc::new(Scripted { stage: stage.clone(), target: target(dialed.clone()) });
        let (drain, drained) = watch::channel(None);
        let peers = Rc::new(CoreBalancer::new(0, Vec::new(), drained, Arc::default()));
        let resolver = Resolver::new(Vec::new());
        let core = Rc::new(Core::new(limits, service, resolver, peers, Arc::<CoreStats>::default(), None));
        near.set_nonblocking(true).unwrap();
        let stream = {
            let _entered = runtime.enter();
            Stream::Local(tokio::net::UnixStream::from_std(near).unwrap())
        };
        let client = ClientInfo {
            address: "192.0.2.1:5000".parse().unwrap(),
            listener: 0,
            tls: None,
            http2: false,
            is_own: false,
            ticket: 0,
        };
        let (own, counted) = (core.clone(), core.peers.count(None));
        let connection = runtime.spawn_local(async move { assert!(Connection::new(own, stream, client, counted).await.is_none()) });
        let play = Play { core, client: End::of(far), upstream: End::default(), stage, dialed, connection, runtime, _drain: drain };
        play.settle();
        play
    }

    /// Lets everything happen that takes no time.
    pub(super) fn settle(&self) {
        self.runtime.block_on(async {
            for _ in 0..ROUNDS {
                tokio::task::yield_now().await;
            }
        });
    }

    pub(super) fn pass(&self, ms: u64) {
        for passed in (0..ms).step_by(SWEEP_MS as usize) {
            virtual_time::advance(Duration::from_millis(SWEEP_MS.min(ms - passed)));
            self.core.deadlines.sweep(MonoTime::now());
            self.settle();
        }
    }

    pub(super) fn step(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Client(text) => self.client.send(text),
            Step::ClientGets(text) => self.client.expect(text)?,
            Step::ClientEnds => self.client.shut(),
            Step::ClientLeaves => self.client = End::default(),
            Step::ClientSeesEnd => self.client.expect_end()?,
            Step::UpstreamTakes => {
                let taken = self.dialed.lock().unwrap().pop_front();
                self.upstream = End::of(taken.ok_or("the gateway has not connected")?);
            }
            Step::Upstream(text) => self.upstream.send(text),
            Step::UpstreamGets(text) => self.upstream.expect(text)?,
            Step::UpstreamEnds => self.upstream.shut(),
            Step::UpstreamLeaves => self.upstream = End::default(),
            Step::UpstreamSeesEnd => self.upstream.expect_end()?,
            Step::Pass(ms) => self.pass(ms),
            Step::WorkEnds => self.stage.work.notify_one(),
            Step::Source(text) => self.stage.source.borrow_mut().put(text.as_bytes()),
            Step::SourceEnds => self.stage.source.borrow_mut().end(Ok(())),
            Step::SourceIsCut => self.stage.source.borrow_mut().end(Err(BodyCut)),
            Step::Drain(idle_ms) => self.core.drain(Duration::from_millis(idle_ms)),
            Step::Over if !self.connection.is_finished() => return Err("the connection is still there".to_owned()),
            Step::Over => {}
        }
        self.settle();
        Ok(())
    }

    /// What the last exchange came to.
    pub(super) fn last_ended(&self) -> Ended {
        self.stage.ended.borrow_mut().pop().expect("an exchange has ended")
    }

    /// Nobody has got anything that was not looked at, and nothing outlives the client.
    #[track_caller]
    pub(super) fn finish(mut self) {
        for (side, end) in [("client", &mut self.client), ("upstream", &mut self.upstream)] {
            end.receive();
            assert_eq!((end.text(), end.is_ended), (String::new(), end.is_end_seen), "at the end of the script: {side}");
        }
        assert!(self.dialed.lock().unwrap().is_empty(), "a connection to the upstream that the script does not name");
        self.client = End::default();
        // A gateway that has ended the connection still reads what comes, for a moment.
        self.pass(3_000);
        assert!(self.connection.is_finished(), "the connection outlives the client");
        assert!(!self.stage.in_exchange.get(), "the handler was not told that the exchange is over");
        let idle = self.core.pool.borrow().len();
        assert_eq!(self.core.upstreams_open.get(), idle, "a connection to the upstream outlives its exchange");
        assert_eq!((self.core.tunnels_open.get(), self.core.kept_bodies.bytes()), (0, 0), "tunnels and bytes of bodies");
        assert_eq!(self.core.detached_open.get(), 0, "exchanges without a client");
    }
}

/// The script's end of a connection.
#[derive(Default)]
pub(super) struct End {
    socket: Option<UnixStream>,
    got: Vec<u8>,
    is_ended: bool,
    /// The script knows of the end.
    is_end_seen: bool,
}

impl End {
    fn of(socket: UnixStream) -> End {
        socket.set_nonblocking(true).unwrap();
        End { socket: Some(socket), ..End::default() }
    }

    fn socket(&self) -> &UnixStream {
        self.socket.as_ref().expect("a connection that this side has not closed")
    }

    pub(super) fn send(&mut self, text: &str) {
        self.socket().write_all(text.replace('\n', "\r\n").as_bytes()).unwrap();
    }

    /// Sends as many of these bytes as are taken now, and says how many.
    pub(super) fn send_some(&mut self, bytes: &[u8]) -> usize {
        self.socket().write(bytes).unwrap_or(0)
    }

    fn shut(&mut self) {
        self.socket().shutdown(Shutdown::Write).unwrap();
    }

    /// Takes what has come.
    fn receive(&mut self) {
        let Some(socket) = &mut self.socket else { return };
        match socket.read_to_end(&mut self.got) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // Closed with or without something unread.
            Ok(_) | Err(_) => self.is_ended = true,
        }
    }

    /// Takes what has come, and says how many bytes that is.
    pub(super) fn receive_bytes(&mut self) -> usize {
        self.receive();
        std::mem::take(&mut self.got).len()
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.got).replace("\r\n", "\n");
        text.split_inclusive('\n').filter(|line| !line.starts_with("Date: ")).collect()
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        self.receive();
        let got = self.text();
        self.got.clear();
        if got == text { Ok(()) } else { Err(format!("got {got:?}")) }
    }

    pub(super) fn expect_end(&mut self) -> Result<(), String> {
        self.expect("")?;
        self.is_end_seen = true;
        if self.is_ended { Ok(()) } else { Err("no end".to_owned()) }
    }
}

/// A target that leads to the script.
fn target(dialed: Arc<Mutex<VecDeque<UnixStream>>>) -> Arc<Target> {
    let connect = move || {
        let (near, far) = UnixStream::pair()?;
        dialed.lock().unwrap().push_back(far);
        Ok(near)
    };
    Arc::new(Target { serial: 1, address: Address::Local(Arc::new(connect)), proxy: None, tls: None, http2: Http2::Never })
}

#[derive(Clone)]
struct Scripted {
    stage: Rc<PlayState>,
    target: Arc<Target>,
}

impl Service for Scripted {
    fn handler(&self, _: &ClientInfo) -> Box<dyn Handler> {
        self.new_handler()
    }
}

impl Scripted {
    fn new_handler(&self) -> Box<dyn Handler> {
        Box::new(ScriptedHandler { tries: 0, all: self.clone(), path: String::new(), was_held: false, body: None })
    }
}

/// Does what the path says: `/reply`, `/wait/MS`, `/work`, `/read/BYTES`, `/keep/BYTES`, `/most/BYTES`, `/quick/MS`, `/upgrade`, `/sourced/BYTES`,
/// `/behind/BYTES` (with an exchange of its own), `/detach/BYTES`, `/again`, `/coded/SLICE`, `/coded-keep/BYTES`, `/coded-reply`, `/coded-source`. Requests
/// for anything else are sent on.
struct ScriptedHandler {
    tries: u32,
    all: Scripted,
    path: String,
    /// The request was held, and is asked about once more.
    was_held: bool,
    body: Option<Result<Vec<u8>, NotKept>>,
}

impl ScriptedHandler {
    /// What the path begins with, and the number behind it.
    fn orders(&self) -> (&str, u64) {
        let mut parts = self.path.split('/').skip(1);
        let order = parts.next().unwrap_or_default();
        (order, parts.next().and_then(|number| number.parse().ok()).unwrap_or(0))
    }
}

/// A reply of this length from the script's source; with 0, its length is not known.
fn reply_from_source(all: &Scripted, bytes: u64, outgoing: &mut Outgoing) {
    outgoing.edits.clear();
    let len = (bytes > 0).then_some(bytes);
    if let Some(bytes) = len {
        outgoing.edits.add("Content-Length", bytes.to_string().as_bytes());
    }
    outgoing.status = 200;
    all.stage.source.borrow_mut().is_source_gone = false;
    let source = Box::new(ScriptedSource(all.stage.source.clone()));
    outgoing.sourced = Some(SourcedBody { source, len, is_event_stream: false, detached: None });
}

fn reply(outgoing: &mut Outgoing, status: u16, body: &str) -> Verdict {
    outgoing.status = status;
    outgoing.body = body.as_bytes().to_vec();
    Verdict::Reply
}

impl Handler for ScriptedHandler {
    fn on_request(&mut self, request: &Request<'_>, _: MonoTime, outgoing: &mut Outgoing) -> Verdict {
        self.all.stage.in_exchange.set(true);
        self.path = request.target.to_owned();
        let is_new = !std::mem::replace(&mut self.was_held, true);
        let (order, number) = self.orders();
        match order {
            "reply" => return reply(outgoing, 200, "own"),
            "coded-reply" => {
                outgoing.coder = Some(ScriptedCoder::boxed(0));
                return reply(outgoing, 200, "own reply");
            }
            "coded-source" => {
                reply_from_source(&self.all, 0, outgoing);
                outgoing.coder = Some(ScriptedCoder::boxed(0));
                return Verdict::Reply;
            }
            "sourced" | "behind" | "events" => {
                reply_from_source(&self.all, number, outgoing);
                if let Some(sourced) = outgoing.sourced.as_mut() {
                    let head = b"GET /a HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n".to_vec();
                    let detached = DetachedExchange { head, handler: self.all.new_handler() };
                    sourced.detached = (order == "behind").then_some(detached);
                    sourced.is_event_stream = order == "events";
                }
                return Verdict::Reply;
            }
            "again" => outgoing.edits.add("If-None-Match", b"\"one\""),
            "wait" if is_new => return Verdict::Hold(HoldUntil::Time(Duration::from_millis(number))),
            "work" if is_new => {
                let stage = self.all.stage.clone();
                let work = Box::pin(async move { stage.work.notified().await });
                return Verdict::Hold(HoldUntil::Done(work, Duration::from_secs(5)));
            }
            "read" if is_new => return Verdict::Hold(HoldUntil::Body(number as usize)),
            "read" if matches!(self.body, Some(Err(_))) => return reply(outgoing, 413, "too large"),
            _ => {}
        }
        outgoing.target.extend_from_slice(request.target.as_bytes());
        outgoing.host.extend_from_slice(b"up");
        if request.target == "/upgrade/inspected" {
            // It passes everything on, in both directions.
            outgoing.inspector = Some(Box::new(UnixStream::pair));
        }
        Verdict::Forward(Forward {
            target_serial: self.all.target.serial,
            first_byte_ms: (order == "quick").then_some(number),
            body_bytes_max: (order == "most").then_some(number),
            upgrade: order == "upgrade",
            timed: true,
            capture_bytes_max: 0,
            is_conditional: order == "again",
            resend: (order == "resend").then_some(KeepForResend {
                body_bytes_max: number as usize,
                connect_ms: None,
                hedge_after: None,
            }),
            copies: Vec::new(),
        })
    }

    fn on_resume(
        &mut self,
        request: &Request<'_>,
        body: Option<Result<Vec<u8>, NotKept>>,
        now: MonoTime,
        outgoing: &mut Outgoing,
    ) -> Verdict {
        self.body = body;
        self.on_request(request, now, outgoing)
    }

    fn target(&self) -> Option<Arc<Target>> {
        Some(self.all.target.clone())
    }

    fn on_try_ended(&mut self, ended: &TryEnd<'_>, retarget: &mut Retarget) -> Option<Resend> {
        let is_bad = !matches!(ended, TryEnd::Response(response) if response.status != 503);
        self.tries += 1;
        retarget.host = b"other".to_vec();
        // Twice at most.
        (is_bad && self.tries < 3).then_some(Resend { after: Duration::ZERO, first_byte_ms: None })
    }

    fn on_response(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        match self.orders() {
            ("coded", slice_bytes) => {
                outgoing.edits.remove(&response.headers, "Content-Length");
                outgoing.coder = Some(ScriptedCoder::boxed(slice_bytes));
                ResponseVerdict::Pass
            }
            ("keep" | "coded-keep", bytes) => ResponseVerdict::Keep(bytes as usize),
            ("detach", bytes) => {
                reply_from_source(&self.all, bytes, outgoing);
                outgoing.sink = Some(Box::new(ScriptedSink { bytes: self.all.stage.source.clone(), needs_source: bytes == 0 }));
                ResponseVerdict::Detach
            }
            ("again", _) if response.status == 304 => ResponseVerdict::Again,
            _ => ResponseVerdict::Pass,
        }
    }

    fn on_response_body(&mut self, _: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        let KeptBody::Whole(body) = body else {
            reply(outgoing, 502, "too large");
            return ResponseVerdict::Reply;
        };
        outgoing.status = 0;
        if self.orders().0 == "coded-keep" {
            outgoing.coder = Some(ScriptedCoder::boxed(0));
            // A body with a mark is rewritten, all others pass.
            if !body.contains(&b'#') {
                return ResponseVerdict::Pass;
            }
        }
        outgoing.body = body.to_ascii_uppercase();
        ResponseVerdict::Rewrite
    }

    fn on_response_bytes(&mut self, _: &[u8], _: bool) {}

    fn passes_request_trailer(&self, _: &str) -> bool {
        true
    }

    fn passes_response_trailer(&self, _: &str) -> bool {
        true
    }

    fn on_fault(&mut self, fault: &Fault, outgoing: &mut Outgoing) {
        let status = match fault.kind {
            FaultKind::ClientTimeout => 408,
            FaultKind::BodyMalformed(_) => 400,
            FaultKind::BodyTooLarge => 413,
            FaultKind::UpstreamTimeout => 504,
            FaultKind::TooManyTunnels => 503,
            _ => 502,
        };
        reply(outgoing, status, &format!("{:?}", fault.kind));
    }

    fn on_end(&mut self, ended: Ended) {
        self.was_held = false;
        self.tries = 0;
        self.body = None;
        if self.all.stage.in_exchange.replace(false) {
            self.all.stage.ended.borrow_mut().push(ended);
        }
    }
}
