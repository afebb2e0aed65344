//! HTTP/2 with clients. Each stream is translated into HTTP/1.1 on a pipe, and a `Connection` like any other serves the other end: what
//! holds for a connection with one request holds for a stream. The protocol itself is `tollgate_http2`'s; here are the bounds, the time
//! limits, the drain, and an end for clients that open streams to throw them away.

mod answer;
mod client_stream;
mod tunnel;

use crate::buffer_account::BufferAccount;
use crate::core::{Core, Tidied};
use crate::deadlines::NEVER;
use crate::http2::STREAM_WINDOW;
use crate::http2::driver::{ConnectionEnd, Driver};
use crate::http2::frame_allowance::FrameAllowance;
use crate::http2::link::Http2Link;
use crate::peers::CountedConnection;
use crate::service::ClientInfo;
use crate::stream::Stream;
use client_stream::{StreamRequest, StreamSlot};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tollgate_http2::{FrameCounts, Http2Connection, Http2ErrorCode, Http2Event, Http2Settings, Http2Side};

/// Bytes of all streams of a client's connection together that wait here, once one of them has content: what its uploads can make a core hold. Until
/// then, and where the core holds too much already, the protocol's own 64 KiB hold.
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Bytes that one connection's streams hold for readers that have not taken them before each stream is kept to its share of them:
/// sixteen streams at full speed, or two hundred of usual answers.
const CONNECTION_BUFFER_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Streams that a client may throw away, beyond one for each that it lets finish: enough for a browser that stops loading a page, not
/// for one that opens streams for nothing but the work they make (CVE-2023-44487).
const THROWN_AWAY_MAX: u32 = 200;
/// Shortest wait between two looks at whether a connection is idle.
const IDLE_LOOK_MS: u64 = 100;
/// How long the end of a connection may take that is ended because of its client.
const MISUSE_END_MS: u64 = 2_000;
/// After the end, what the client has still sent is read for this long and this much: what stays unread would make the system reset the
/// connection, and the client lose the reason.
const LINGER_MS: u64 = 1_000;
const LINGER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Slots that a connection keeps for its next streams: some 3 KiB each.
const SLOTS_SPARE_MAX: usize = 16;
/// After so long without a stream a connection keeps none.
const SLOTS_SPARE_MS: u64 = 2_000;

/// Serves a connection whose first bytes, if they were read already, are `ahead`.
pub(crate) async fn serve(core: Rc<Core>, stream: Stream, ahead: Vec<u8>, client: ClientInfo, counted: CountedConnection) {
    let mut connection = Box::new(ClientConnection::new(&core, stream, ahead, client));
    drop(core);
    std::future::poll_fn(|cx| connection.poll(cx)).await;
    drop(counted);
}

/// One client's connection.
struct ClientConnection {
    driver: Driver,
    state: Rc<ClientState>,
    deadline: usize,
    /// The last limit that was set.
    due_ms: u64,
    /// What the client has begun and not finished, by number, and since when.
    begun: Option<(u64, u64)>,
    stage: ConnectionStage,
}

/// Where a connection is in its life. Times are coarse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionStage {
    Serving,
    /// The client was told to go, and is looked at again then.
    Leaving(u64),
    /// The client was told that the connection has failed; that must be written by then.
    Failed(u64),
    /// All is said: what still comes is read until then. Counts the bytes.
    Lingering(u64, usize),
}

impl ClientConnection {
    fn new(core: &Rc<Core>, stream: Stream, ahead: Vec<u8>, client: ClientInfo) -> Self {
        let limits = &core.limits;
        let settings = Http2Settings {
            stream_window: STREAM_WINDOW,
            connection_window: 0,
            streams_max: limits.http2_streams_max,
            header_list_bytes_max: u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX),
            connect_protocol: limits.tunnels,
        };
        let state = Rc::new(ClientState::new(core, ClientInfo { http2: true, ..client }));
        core.tidy_later(&state);
        let link = Http2Link::new(core, Http2Connection::new(Http2Side::Server, &settings), &state.account);
        let driver = Driver::new(link, stream, ahead);
        ClientConnection {
            driver,
            state,
            deadline: core.deadlines.register(),
            due_ms: 0,
            begun: None,
            stage: ConnectionStage::Serving,
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let core = self.state.core.clone();
        if core.deadlines.take_expired(self.deadline) {
            self.due_ms = NEVER;
            if core.deadlines.take_unwanted(self.deadline) && self.is_idle() {
                // Others need its file descriptor: it is told, and not waited for.
                self.leave(Http2Connection::leave_now);
                let _ = self.drive(cx);
                return Poll::Ready(());
            }
        }
        if core.draining.get() && self.stage == ConnectionStage::Serving {
            self.leave(Http2Connection::leave);
        }
        if self.is_late() {
            return Poll::Ready(());
        }
        if !matches!(self.stage, ConnectionStage::Lingering(..)) {
            match self.drive(cx) {
                Poll::Pending => {
                    self.set_deadline(cx);
                    return Poll::Pending;
                }
                Poll::Ready(ConnectionEnd::Gone(error)) => {
                    tracing::debug!(client = %self.state.client.address, %error, "HTTP/2 connection ended");
                    return Poll::Ready(());
                }
                Poll::Ready(ConnectionEnd::Over) => {
                    self.stage = ConnectionStage::Lingering(core.deadlines.now_ms() + LINGER_MS, 0);
                }
            }
        }
        let lingered = self.linger(cx);
        if lingered.is_pending() {
            self.set_deadline(cx);
        }
        lingered
    }

    /// Reads, writes, and looks at what the client has asked for in vain.
    fn drive(&mut self, cx: &mut Context<'_>) -> Poll<ConnectionEnd> {
        let (state, link) = (&self.state, self.driver.link().clone());
        let mut end = self.driver.poll(cx, &mut |event| state.begin(&link, event));
        let counts = link.driven(Http2Connection::take_counts);
        state.count(counts);
        if state.is_misused() && !matches!(self.stage, ConnectionStage::Failed(_)) {
            tracing::debug!(client = %state.client.address, "HTTP/2 client sends too many useless frames: connection closed");
            state.core.stats.http2_misused.add(1);
            link.driven(|protocol| protocol.fail(Http2ErrorCode::ENHANCE_YOUR_CALM));
            end = self.driver.poll(cx, &mut |_| {});
        }
        if let Some(error) = self.driver.error().filter(|_| end.is_ready()) {
            tracing::debug!(client = %state.client.address, %error, "HTTP/2 connection failed");
        }
        let now_ms = state.core.deadlines.now_ms();
        if link.driven(|protocol| protocol.has_failed()) && !matches!(self.stage, ConnectionStage::Failed(_)) {
            self.stage = ConnectionStage::Failed(now_ms + MISUSE_END_MS);
        }
        let unfinished = link.driven(|protocol| protocol.unfinished());
        if unfinished != self.begun.map(|(number, _)| number) {
            self.begun = unfinished.map(|number| (number, now_ms));
        }
        end
    }

    /// Tells the client to go.
    fn leave(&mut self, leave: impl FnOnce(&mut Http2Connection)) {
        self.driver.link().driven(leave);
        self.stage = ConnectionStage::Leaving(self.state.core.deadlines.now_ms() + IDLE_LOOK_MS);
    }

    fn is_idle(&self) -> bool {
        self.state.open.get() == 0
    }

    /// Whether a time limit is over. A client that was idle for too long is told to go first.
    fn is_late(&mut self) -> bool {
        let core = self.state.core.clone();
        let (now_ms, idle_ms) = (core.deadlines.now_ms(), self.state.idle_for_ms());
        if self.begun_due_ms().is_some_and(|due_ms| due_ms <= now_ms) {
            tracing::debug!(client = %self.state.client.address, "HTTP/2 client did not finish what it began in time");
            return true;
        }
        match self.stage {
            ConnectionStage::Serving => {
                if idle_ms >= core.limits.client_idle_ms {
                    self.leave(Http2Connection::leave);
                }
                false
            }
            ConnectionStage::Leaving(due_ms) => due_ms <= now_ms && idle_ms >= core.limits.client_idle_ms,
            ConnectionStage::Failed(due_ms) | ConnectionStage::Lingering(due_ms, _) => due_ms <= now_ms,
        }
    }

    /// When the client must have finished what it has begun: a frame but one of content, a header block, or its preface.
    fn begun_due_ms(&self) -> Option<u64> {
        let limits = &self.state.core.limits;
        let (number, since_ms) = self.begun?;
        let time_ms = if number == 0 { limits.head_ms.min(limits.handshake_ms) } else { limits.head_ms };
        matches!(self.stage, ConnectionStage::Serving | ConnectionStage::Leaving(_)).then(|| since_ms.saturating_add(time_ms))
    }

    /// Has the task of `cx` woken when the next time limit is over.
    fn set_deadline(&mut self, cx: &Context<'_>) {
        let core = &self.state.core;
        let is_idle = self.is_idle();
        let idle_ms = if is_idle { self.state.busy_ms.get() } else { core.deadlines.now_ms() };
        let idle_due_ms = idle_ms.saturating_add(core.limits.client_idle_ms);
        let due_ms = match self.stage {
            ConnectionStage::Serving => idle_due_ms,
            ConnectionStage::Leaving(due_ms) => idle_due_ms.max(due_ms),
            ConnectionStage::Failed(due_ms) | ConnectionStage::Lingering(due_ms, _) => due_ms,
        };
        let due_ms = due_ms.min(self.begun_due_ms().unwrap_or(NEVER));
        // An idle connection's limit is the same each time; that of a busy one matters little.
        if due_ms != self.due_ms || is_idle {
            self.due_ms = due_ms;
            core.deadlines.set_wait(self.deadline, due_ms, is_idle && self.stage == ConnectionStage::Serving, cx.waker());
        }
    }

    /// Stays for a moment so that the client can read why the connection ends.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let ConnectionStage::Lingering(_, read) = &mut self.stage else { return Poll::Ready(()) };
        if ready!(self.driver.poll_shutdown(cx)).is_err() {
            return Poll::Ready(());
        }
        while *read < LINGER_BYTES_MAX {
            match ready!(self.driver.poll_skip(cx)) {
                Ok(bytes) if bytes > 0 => *read += bytes,
                _ => break,
            }
        }
        Poll::Ready(())
    }
}

impl Drop for ClientConnection {
    fn drop(&mut self) {
        self.driver.link().end();
        self.state.core.deadlines.release(self.deadline);
    }
}

/// What streams have in common, and have done to the connection they belong to.
struct ClientState {
    core: Rc<Core>,
    client: ClientInfo,
    slots: RefCell<Vec<StreamSlot>>,
    open: Cell<usize>,
    /// Streams thrown away, less those finished.
    thrown_away: Cell<u32>,
    /// Coarse time of the last stream's end.
    busy_ms: Cell<u64>,
    /// Its window is that of a connection with content.
    is_wide: Cell<bool>,
    /// Bytes that wait for the client, and for upstreams.
    account: Rc<BufferAccount>,
    allowance: FrameAllowance,
}

impl ClientState {
    fn new(core: &Rc<Core>, client: ClientInfo) -> Self {
        let now_ms = core.deadlines.now_ms();
        ClientState {
            core: core.clone(),
            client,
            slots: RefCell::default(),
            open: Cell::new(0),
            thrown_away: Cell::new(0),
            busy_ms: Cell::new(now_ms),
            is_wide: Cell::new(false),
            account: BufferAccount::of_connection(&core.buffered, CONNECTION_BUFFER_BYTES_MAX),
            allowance: FrameAllowance::new(now_ms),
        }
    }

    /// A stream of the client begins.
    fn begin(self: &Rc<Self>, link: &Rc<Http2Link>, event: &Http2Event<'_>) {
        let Http2Event::Request { stream, ends } = *event else { return };
        let limits = &self.core.limits;
        if !self.is_wide.get() && !ends && !self.account.is_full() {
            self.is_wide.set(true);
            link.driven(|protocol| protocol.widen(CONNECTION_WINDOW));
        }
        // Its head has a cost, which it makes up for.
        self.count(link.driven(Http2Connection::take_counts));
        let buffer = self.core.spare();
        let asked = link.driven(|protocol| {
            let fields = protocol.fields();
            if !fields.is_too_large() {
                self.allowance.earn_request(|| fields.size());
            }
            StreamRequest::read(fields, !ends, limits, buffer)
        });
        let stream = link.accepted(stream, &self.account);
        // In a box it is not copied on its way into the task.
        tokio::task::spawn_local(Box::pin(client_stream::serve(asked, stream, Serving::new(self))));
    }

    /// The client sent these frames.
    fn count(&self, counts: FrameCounts) {
        self.allowance.count(counts, self.core.deadlines.now_ms());
        self.thrown_away.set(self.thrown_away.get().saturating_add(counts.spoilt_streams));
    }

    /// The client has made more work for nothing than it may.
    fn is_misused(&self) -> bool {
        self.allowance.is_over() || self.thrown_away.get() > THROWN_AWAY_MAX
    }

    fn set_open(&self, open: usize) {
        self.open.set(open);
        self.account.set_streams(open);
    }

    fn idle_for_ms(&self) -> u64 {
        if self.open.get() > 0 { 0 } else { self.core.deadlines.now_ms().saturating_sub(self.busy_ms.get()) }
    }
}

impl Tidied for ClientState {
    /// Lets go of what an idle connection keeps for its next streams.
    fn tidy(&self) {
        if self.idle_for_ms() >= SLOTS_SPARE_MS {
            drop(self.slots.take());
        }
    }
}

/// One stream in its connection's books.
struct Serving {
    state: Rc<ClientState>,
    finished: bool,
}

impl Serving {
    fn new(state: &Rc<ClientState>) -> Self {
        state.set_open(state.open.get() + 1);
        Serving { state: state.clone(), finished: false }
    }

    /// A slot for it.
    fn slot(&self) -> StreamSlot {
        let spare = self.state.slots.borrow_mut().pop();
        spare.map_or_else(|| StreamSlot::new(&self.state.core, &self.state.client, &self.state.account), StreamSlot::resumed)
    }

    /// Takes a slot back.
    fn give_back(&self, slot: StreamSlot) {
        let mut slots = self.state.slots.borrow_mut();
        if slots.len() < SLOTS_SPARE_MAX {
            slots.push(slot.suspended());
        }
    }

    /// The client got its whole answer.
    fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let state = &self.state;
        state.set_open(state.open.get().saturating_sub(1));
        state.busy_ms.set(state.core.deadlines.now_ms());
        // Those that the client threw away were counted when it did.
        if self.finished {
            state.thrown_away.set(state.thrown_away.get().saturating_sub(1));
        }
    }
}
