//! HTTP/2 with clients. Each stream is translated into HTTP/1.1 on a pipe, and a regular `Connection` serves the other end: rules
//! for a connection with one request also apply to a stream. `tollgate_http2` implements the protocol; this module adds limits,
//! timeouts, the drain, and protection against clients that open streams only to reset them.

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
use crate::turn::SharedTurn;
use client_stream::{StreamRequest, StreamSlot};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tollgate_http2::{FrameCounts, Http2Connection, Http2ErrorCode, Http2Event, Http2Settings, Http2Side};

/// Window of a client's connection once one of its streams has content: the most that its uploads can make a core buffer. Before
/// that, or if the core already buffers too much, the protocol's default of 64 KiB applies.
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Bytes that the streams of one connection may buffer for slow readers before each stream is limited to its share: sixteen streams
/// at full speed, or two hundred usual responses.
const CONNECTION_BUFFER_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Streams that a client may reset, beyond one for each that it lets finish: enough for a browser that stops loading a page, too
/// few for an attack that opens streams only to cause work (CVE-2023-44487).
const RESET_STREAMS_MAX: u32 = 200;
/// Shortest interval between checks for an idle connection.
const IDLE_LOOK_MS: u64 = 100;
/// How long the shutdown may take when a client's misbehaviour ends the connection.
const MISUSE_END_MS: u64 = 2_000;
/// After the shutdown, the connection keeps reading for this long and up to this many bytes: unread bytes would make the kernel
/// reset the connection, and the client would not learn the reason.
const LINGER_MS: u64 = 1_000;
const LINGER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Slots that a connection keeps for its next streams: about 3 KiB each.
const SLOTS_SPARE_MAX: usize = 16;
/// After this long without a stream, a connection frees its spare slots.
const SLOTS_SPARE_MS: u64 = 2_000;

/// Serves a connection whose first bytes, if already read, are in `ahead`.
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
    /// The time limit that was set last.
    due_ms: u64,
    /// Number and start time of an item that the client has begun and not finished.
    begun: Option<(u64, u64)>,
    stage: ConnectionStage,
}

/// Stage of a connection's life. Times are coarse.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConnectionStage {
    Serving,
    /// The client was sent GOAWAY; checked again at this time.
    Leaving(u64),
    /// The client was told of the connection error; that must be written by this time.
    Failed(u64),
    /// Everything is sent: discards incoming bytes until this time. Counts them.
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
                // Its file descriptor is needed: the client is told, without waiting for it.
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

    /// Reads, writes, and charges the client for pointless work.
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

    /// Tells the client to leave.
    fn leave(&mut self, leave: impl FnOnce(&mut Http2Connection)) {
        self.driver.link().driven(leave);
        self.stage = ConnectionStage::Leaving(self.state.core.deadlines.now_ms() + IDLE_LOOK_MS);
    }

    fn is_idle(&self) -> bool {
        self.state.open.get() == 0
    }

    /// Whether a time limit has passed. A client that was idle for too long is told first.
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

    /// When the client must have finished what it began: a frame without content, a header block, or its preface.
    fn begun_due_ms(&self) -> Option<u64> {
        let limits = &self.state.core.limits;
        let (number, since_ms) = self.begun?;
        let time_ms = if number == 0 { limits.head_ms.min(limits.handshake_ms) } else { limits.head_ms };
        matches!(self.stage, ConnectionStage::Serving | ConnectionStage::Leaving(_)).then(|| since_ms.saturating_add(time_ms))
    }

    /// Schedules a wakeup of the task of `cx` for the next time limit.
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
        // The limit of an idle connection is the same each time; that of a busy one matters little.
        if due_ms != self.due_ms || is_idle {
            self.due_ms = due_ms;
            core.deadlines.set_wait(self.deadline, due_ms, is_idle && self.stage == ConnectionStage::Serving, cx.waker());
        }
    }

    /// Keeps reading for a moment, so that the client can receive the reason why the connection ends.
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

/// State shared by the streams of a connection.
struct ClientState {
    core: Rc<Core>,
    client: ClientInfo,
    slots: RefCell<Vec<StreamSlot>>,
    open: Cell<usize>,
    /// Streams that the client reset, minus those that finished.
    reset_streams: Cell<u32>,
    /// Coarse time of the last stream's end.
    busy_ms: Cell<u64>,
    /// Whether the window was enlarged for content.
    is_wide: Cell<bool>,
    /// Account charged for bytes that wait for the client and for upstreams.
    account: Rc<BufferAccount>,
    /// What its streams may do before they give way to other clients.
    turn: Rc<SharedTurn>,
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
            reset_streams: Cell::new(0),
            busy_ms: Cell::new(now_ms),
            is_wide: Cell::new(false),
            account: BufferAccount::of_connection(&core.buffered, CONNECTION_BUFFER_BYTES_MAX),
            turn: Rc::default(),
            allowance: FrameAllowance::new(now_ms),
        }
    }

    /// Starts a stream of the client.
    fn begin(self: &Rc<Self>, link: &Rc<Http2Link>, event: &Http2Event<'_>) {
        let Http2Event::Request { stream, ends } = *event else { return };
        let limits = &self.core.limits;
        if !self.is_wide.get() && !ends && !self.account.is_full() {
            self.is_wide.set(true);
            link.driven(|protocol| protocol.widen(CONNECTION_WINDOW));
        }
        // The cost of its head is charged here; the request then makes up for it.
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
        // Boxed, so that it is not copied into the task.
        tokio::task::spawn_local(Box::pin(client_stream::serve(asked, stream, Serving::new(self))));
    }

    /// Charges frames that the client sent.
    fn count(&self, counts: FrameCounts) {
        self.allowance.count(counts, self.core.deadlines.now_ms());
        self.reset_streams.set(self.reset_streams.get().saturating_add(counts.spoilt_streams));
    }

    /// Whether the client has caused more pointless work than allowed.
    fn is_misused(&self) -> bool {
        self.allowance.is_over() || self.reset_streams.get() > RESET_STREAMS_MAX
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
    /// Frees the spare slots of an idle connection.
    fn tidy(&self) {
        if self.idle_for_ms() >= SLOTS_SPARE_MS {
            drop(self.slots.take());
        }
    }
}

/// One stream, counted in its connection's state.
struct Serving {
    state: Rc<ClientState>,
    finished: bool,
}

impl Serving {
    fn new(state: &Rc<ClientState>) -> Self {
        state.set_open(state.open.get() + 1);
        Serving { state: state.clone(), finished: false }
    }

    /// A slot for this stream.
    fn slot(&self) -> StreamSlot {
        let spare = self.state.slots.borrow_mut().pop();
        spare.map_or_else(|| StreamSlot::new(&self.state), StreamSlot::resumed)
    }

    /// Returns a slot for reuse.
    fn give_back(&self, slot: StreamSlot) {
        let mut slots = self.state.slots.borrow_mut();
        if slots.len() < SLOTS_SPARE_MAX {
            slots.push(slot.suspended());
        }
    }

    /// Marks the response as fully delivered to the client.
    fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let state = &self.state;
        state.set_open(state.open.get().saturating_sub(1));
        state.busy_ms.set(state.core.deadlines.now_ms());
        // Streams that the client reset were counted at the reset.
        if self.finished {
            state.reset_streams.set(state.reset_streams.get().saturating_sub(1));
        }
    }
}
