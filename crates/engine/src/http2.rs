//! HTTP/2 with clients. Each stream is translated into HTTP/1.1 on a pipe, and a `Connection` like any other serves the other end: what
//! holds for a connection with one request holds for a stream. The h2 crate does the framing, the flow control and the header
//! compression; here are the bounds, the drain, and an end for clients that open streams to throw them away.

mod body;
mod client_stream;
mod frame_allowance;
mod frame_deadline;
mod frames;
mod head;
mod io;
mod tunnel;
mod upstream;
mod upstream_stream;

pub(crate) use upstream::Http2Upstreams;

use crate::buffer_account::BufferAccount;
use crate::core::Core;
use crate::peers::Counted;
use crate::service::Client;
use crate::stream::Stream;
use body::Piece;
use client_stream::Lane;
use frame_allowance::FrameAllowance;
use h2::{Reason, server};
use io::Io;
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::{Rc, Weak};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// What every HTTP/2 connection begins with (RFC 9113 §3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Bytes of one stream that wait here before its other side must pause.
const STREAM_WINDOW: u32 = 256 * 1024;
/// The same for all streams of a client's connection together, once one of them has content: what its uploads can make a core hold. Until
/// then, and where the core holds too much already, the protocol's own 64 KiB hold.
const CONNECTION_WINDOW: u32 = 1024 * 1024;
/// Bytes that one connection's streams hold for readers that have not taken them before each stream is kept to its share of them:
/// sixteen streams at full speed, or two hundred of usual answers.
const CONNECTION_BUFFER_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of one stream's response that h2 holds; more waits in the upstream.
const SEND_BUFFER_BYTES: usize = 64 * 1024;
/// Streams that a client may throw away, beyond one for each that it lets finish: enough for a browser that stops loading a page, not
/// for one that opens streams for nothing but the work they make (CVE-2023-44487).
const THROWN_AWAY_MAX: u32 = 200;
/// Shortest wait between two looks at whether a connection is idle.
const IDLE_LOOK_MS: u64 = 100;
/// How long the end of a connection may take that is ended because of its client.
const MISUSE_END_MS: u64 = 2_000;
/// Streams that h2 remembers after a reset, and those it was to hand over when they were reset.
const RESETS_REMEMBERED_MAX: usize = 64;
/// h2 counts the bytes that small frames are short of 256, ends the connection at a budget, and does not give back what counted for
/// streams that ended before. Streams take their frames at once here, and a turn has a bound: the budget is not needed, and many small
/// messages must not end a connection that others share.
const SMALL_FRAMES_BUDGET: usize = usize::MAX;

/// Lanes that a connection keeps for its next streams: some 3 KiB each.
const LANES_SPARE_MAX: usize = 16;
/// After so long without a stream a connection keeps none.
const LANES_SPARE_MS: u64 = 2_000;

type ClientConnection = server::Connection<Io, Piece>;

/// The HTTP/2 connections of one core's clients.
#[derive(Default)]
pub(crate) struct Http2Clients(RefCell<Vec<Weak<Standing>>>);

impl Http2Clients {
    /// Lets go of what idle connections keep for their next streams.
    pub fn prune(&self) {
        self.0.borrow_mut().retain(|standing| {
            let Some(standing) = standing.upgrade() else { return false };
            if standing.idle_for_ms() >= LANES_SPARE_MS {
                drop(standing.lanes.take());
            }
            true
        });
    }
}

/// What streams have in common, and have done to the connection they belong to.
struct Standing {
    core: Rc<Core>,
    client: Client,
    lanes: RefCell<Vec<Lane>>,
    open: Cell<usize>,
    /// Streams thrown away, less those finished.
    thrown_away: Cell<u32>,
    /// Coarse time of the last stream's end.
    busy_ms: Cell<u64>,
    /// Bytes that wait for the client, and for upstreams.
    account: Rc<BufferAccount>,
    allowance: Rc<FrameAllowance>,
}

/// Serves a connection whose first bytes, if they were read already, are `ahead`.
pub(crate) async fn serve(core: Rc<Core>, stream: Stream, ahead: Vec<u8>, client: Client, counted: Counted) {
    let standing = Rc::new(Standing::new(&core, Client { http2: true, ..client }));
    let io = Io::of_client(stream, ahead, &core, standing.allowance.clone());
    core.http2_clients.0.borrow_mut().push(Rc::downgrade(&standing));
    // What has begun is kept for long, how it began is not: in boxes of their own, neither takes room in the other.
    if let Some(connection) = Box::pin(begin(&standing, io)).await {
        run(connection, &standing).await;
    }
    drop(counted);
}

async fn begin(standing: &Standing, io: Io) -> Option<Box<ClientConnection>> {
    let (limits, client) = (&standing.core.limits, &standing.client.address);
    let mut builder = server::Builder::new();
    builder
        .initial_window_size(STREAM_WINDOW)
        .max_concurrent_streams(limits.http2_streams_max)
        .max_header_list_size(u32::try_from(limits.head_bytes_max).unwrap_or(u32::MAX))
        .max_send_buffer_size(SEND_BUFFER_BYTES)
        .max_concurrent_reset_streams(RESETS_REMEMBERED_MAX)
        .max_pending_accept_reset_streams(RESETS_REMEMBERED_MAX)
        .data_frame_budget(SMALL_FRAMES_BUDGET);
    if limits.tunnels {
        builder.enable_connect_protocol();
    }
    match timeout(Duration::from_millis(limits.handshake_ms), builder.handshake(io)).await {
        Ok(Ok(connection)) => return Some(Box::new(connection)),
        Ok(Err(error)) => tracing::debug!(%client, %error, "HTTP/2 did not start"),
        Err(_) => tracing::debug!(%client, "HTTP/2 did not start in time"),
    }
    None
}

async fn run(mut connection: Box<ClientConnection>, standing: &Rc<Standing>) {
    let (core, limits) = (&standing.core, &standing.core.limits);
    let mut drained = pin!(core.peers.drained());
    let mut idle = pin!(sleep(Duration::from_millis(limits.client_idle_ms)));
    let (mut leaving, mut misused, mut has_window) = (false, false, false);
    loop {
        let accepted = tokio::select! {
            biased;
            () = standing.misused(), if !misused => {
                tracing::debug!(client = %standing.client.address, "HTTP/2 client sends too many useless frames: connection closed");
                core.stats.http2_misused.add(1);
                (leaving, misused) = (true, true);
                connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
                idle.set(sleep(Duration::from_millis(MISUSE_END_MS)));
                continue;
            }
            () = &mut drained, if !leaving => {
                leaving = true;
                connection.graceful_shutdown();
                continue;
            }
            () = &mut idle => {
                let quiet_ms = standing.idle_for_ms();
                if misused || (leaving && quiet_ms >= limits.client_idle_ms) {
                    // It was told to leave, and has nothing open.
                    break;
                }
                if quiet_ms >= limits.client_idle_ms {
                    leaving = true;
                    connection.graceful_shutdown();
                }
                idle.set(sleep(Duration::from_millis(limits.client_idle_ms.saturating_sub(quiet_ms).max(IDLE_LOOK_MS))));
                continue;
            }
            accepted = connection.accept() => accepted,
        };
        match accepted {
            Some(Ok((request, respond))) => {
                if !has_window && !request.body().is_end_stream() && !standing.account.is_full() {
                    has_window = true;
                    connection.set_target_window_size(CONNECTION_WINDOW);
                }
                standing.allowance.earn_request(|| head::decoded_bytes(request.headers()));
                // In a box it is not copied on its way into the task.
                tokio::task::spawn_local(Box::pin(client_stream::serve(request, respond, Serving::new(standing))));
            }
            Some(Err(error)) => {
                tracing::debug!(client = %standing.client.address, %error, "HTTP/2 connection failed");
                break;
            }
            None => break,
        }
    }
}

impl Standing {
    fn new(core: &Rc<Core>, client: Client) -> Self {
        let now_ms = core.deadlines.now_ms();
        Standing {
            core: core.clone(),
            client,
            lanes: RefCell::default(),
            open: Cell::new(0),
            thrown_away: Cell::new(0),
            busy_ms: Cell::new(now_ms),
            account: BufferAccount::of_connection(&core.buffered, CONNECTION_BUFFER_BYTES_MAX),
            allowance: Rc::new(FrameAllowance::new(now_ms)),
        }
    }

    /// Waits until the client has made more work for nothing than it may. What makes work wakes the connection's task.
    async fn misused(&self) {
        std::future::poll_fn(|_| {
            let is_misused = self.allowance.is_over() || self.thrown_away.get() > THROWN_AWAY_MAX;
            if is_misused { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }

    fn set_open(&self, open: usize) {
        self.open.set(open);
        self.account.set_streams(open);
    }

    fn idle_for_ms(&self) -> u64 {
        if self.open.get() > 0 { 0 } else { self.core.deadlines.now_ms().saturating_sub(self.busy_ms.get()) }
    }
}

/// One stream in its connection's books.
struct Serving {
    standing: Rc<Standing>,
    finished: bool,
}

impl Serving {
    fn new(standing: &Rc<Standing>) -> Self {
        standing.set_open(standing.open.get() + 1);
        Serving { standing: standing.clone(), finished: false }
    }

    /// A lane for it.
    fn lane(&self) -> Lane {
        let spare = self.standing.lanes.borrow_mut().pop();
        spare.map_or_else(|| Lane::new(&self.standing.core, &self.standing.client, &self.standing.account), Lane::resumed)
    }

    /// Takes a lane back.
    fn give_back(&self, lane: Lane) {
        let mut lanes = self.standing.lanes.borrow_mut();
        if lanes.len() < LANES_SPARE_MAX {
            lanes.push(lane.suspended());
        }
    }

    /// The client got its whole answer.
    fn finish(&mut self) {
        self.finished = true;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let standing = &self.standing;
        standing.set_open(standing.open.get().saturating_sub(1));
        standing.busy_ms.set(standing.core.deadlines.now_ms());
        let thrown_away = standing.thrown_away.get();
        standing.thrown_away.set(if self.finished { thrown_away.saturating_sub(1) } else { thrown_away.saturating_add(1) });
    }
}
