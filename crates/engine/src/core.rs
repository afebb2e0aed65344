//! State owned by one core: its buffers, upstream pools, clock and service. Never shared, so nothing here needs a lock.

use crate::addresses::AddressLimit;
use crate::buffer_account::BufferAccount;
use crate::coding_turns::CodingTurns;
use crate::counter::Counter;
use crate::deadlines::{Deadlines, NEVER, SWEEP_MS};
use crate::handshake_limit::Handshakes;
use crate::kept_bodies::KeptBodies;
use crate::limits::Limits;
use crate::output_buffers::OutputBuffers;
use crate::peers::CoreBalancer;
use crate::pool::Pool;
use crate::resolver::Resolver;
use crate::service::{Outgoing, Service};
use crate::shared_upstreams::SharedUpstreams;
use crate::stats::CoreStats;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::TcpStream;
use tollgate_clock::MonoTime;
use tollgate_http::{HeaderEdits, HeaderStorage, Response};

/// Maximum bytes of one read. Larger reads mean fewer system calls for large bodies.
const SCRATCH_BYTES: usize = 64 * 1024;
/// Maximum age of the Date header's value.
const DATE_MS: u64 = 100;
/// Spare buffers that a core keeps for reuse.
const SPARE_BUFFERS_MAX: usize = 64;
/// Spare buffers larger than this are freed.
const SPARE_BYTES_MAX: usize = 16 * 1024;

pub(crate) struct Core {
    pub limits: Limits,
    pub service: Rc<dyn Service>,
    pub buffers: RefCell<Buffers>,
    pub pool: RefCell<Pool>,
    pub shared_upstreams: SharedUpstreams,
    pub http2_buffers: OutputBuffers,
    /// Connections to upstreams, in use and idle.
    pub upstreams_open: Rc<Cell<usize>>,
    /// Bytes that HTTP/2 streams buffer for readers that have not taken them.
    pub buffered: Rc<BufferAccount>,
    /// Bytes of bodies that are buffered because something must see them whole.
    pub kept_bodies: Rc<KeptBodies>,
    /// Which body may be coded next.
    pub coding_turns: CodingTurns,
    /// Tunnels that are open or reserved.
    pub tunnels_open: Rc<Cell<usize>>,
    /// Number of exchanges without a client.
    pub detached_open: Rc<Cell<usize>>,
    pub deadlines: Deadlines,
    pub resolver: Resolver,
    pub draining: Cell<bool>,
    /// Coarse time from which a draining core closes connections without a request.
    idle_end_ms: Cell<u64>,
    pub handshakes: Handshakes,
    /// Limits connections by client address, if configured.
    pub address_limit: Option<Arc<AddressLimit>>,
    /// The other cores.
    pub peers: Rc<CoreBalancer>,
    pub stats: Arc<CoreStats>,
    tidied: RefCell<Vec<Weak<dyn Tidied>>>,
    spare: RefCell<Vec<Vec<u8>>>,
    address_turn: Cell<usize>,
    date: RefCell<Date>,
}

/// A component that keeps memory for reuse and can free it when it stays unused.
pub(crate) trait Tidied {
    /// Frees unused memory. Called periodically while the component lives.
    fn tidy(&self);
}

/// The line of the Date header, with the coarse time at which it was made.
#[derive(Default)]
struct Date {
    read_ms: u64,
    line: String,
}

/// Buffers for the duration of one poll. A waiting connection holds none of them.
pub(crate) struct Buffers {
    pub scratch: Vec<u8>,
    pub out: Vec<u8>,
    pub outgoing: Outgoing,
    pub lines: HeaderStorage,
}

impl Core {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        limits: Limits,
        service: Rc<dyn Service>,
        resolver: Resolver,
        peers: Rc<CoreBalancer>,
        stats: Arc<CoreStats>,
        address_limit: Option<Arc<AddressLimit>>,
    ) -> Self {
        let buffers = Buffers {
            scratch: vec![0; SCRATCH_BYTES],
            out: Vec::with_capacity(SCRATCH_BYTES),
            outgoing: Outgoing::default(),
            lines: HeaderStorage::new(),
        };
        Core {
            buffered: BufferAccount::new(limits.http2_buffer_bytes_max),
            kept_bodies: KeptBodies::new(limits.kept_body_bytes_max),
            limits,
            service,
            buffers: RefCell::new(buffers),
            pool: RefCell::default(),
            shared_upstreams: SharedUpstreams::default(),
            http2_buffers: OutputBuffers::default(),
            upstreams_open: Rc::default(),
            coding_turns: CodingTurns::default(),
            tunnels_open: Rc::default(),
            detached_open: Rc::default(),
            deadlines: Deadlines::new(MonoTime::now()),
            resolver,
            draining: Cell::new(false),
            idle_end_ms: Cell::new(NEVER),
            handshakes: Handshakes::default(),
            address_limit,
            peers,
            stats,
            tidied: RefCell::default(),
            spare: RefCell::default(),
            address_turn: Cell::new(0),
            date: RefCell::default(),
        }
    }

    /// Starts to drain: connections close after their current request, and after `idle_time` even without one.
    pub(crate) fn drain(&self, idle_time: Duration) {
        self.deadlines.set_now(MonoTime::now());
        self.draining.set(true);
        self.idle_end_ms.set(self.deadlines.now_ms().saturating_add(idle_time.as_millis() as u64));
        self.deadlines.wake_all();
    }

    /// Coarse time at which a connection that has waited for a request since `since_ms` times out.
    #[inline]
    pub(crate) fn idle_end_ms(&self, since_ms: u64) -> u64 {
        since_ms.saturating_add(self.limits.client_idle_ms).min(self.idle_end_ms.get())
    }

    /// An empty buffer, a spare one with memory if available.
    #[inline]
    pub(crate) fn spare(&self) -> Vec<u8> {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// Returns a buffer to the spare ones.
    #[inline]
    pub(crate) fn give_back(&self, mut buffer: Vec<u8>) {
        let mut spare = self.spare.borrow_mut();
        if buffer.capacity() > 0 && buffer.capacity() <= SPARE_BYTES_MAX && spare.len() < SPARE_BUFFERS_MAX {
            buffer.clear();
            spare.push(buffer);
        }
    }

    /// A number that increases with each call, for round robin.
    pub(crate) fn next_address(&self) -> usize {
        let turn = self.address_turn.get();
        self.address_turn.set(turn.wrapping_add(1));
        turn
    }

    /// Calls `f` with the complete line of the Date header. The clock is read at most every `DATE_MS`.
    #[inline]
    pub(crate) fn with_date_line<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        let mut date = self.date.borrow_mut();
        let now_ms = self.deadlines.now_ms();
        if now_ms.wrapping_sub(date.read_ms) >= DATE_MS || date.line.is_empty() {
            *date = Date { read_ms: now_ms, line: format!("Date: {}\r\n", httpdate::fmt_http_date(SystemTime::now())) };
        }
        f(date.line.as_bytes())
    }

    /// The same with an empty line if the response has a date.
    #[inline]
    pub(crate) fn with_date_line_of<R>(&self, response: &Response<'_>, edits: &HeaderEdits, f: impl FnOnce(&[u8]) -> R) -> R {
        if response.lacks_date(edits) { self.with_date_line(f) } else { f(b"") }
    }

    /// Frees file descriptors by closing up to this many idle connections of this core, client connections first, then upstream
    /// connections.
    pub(crate) fn close_idle(&self, connections: usize) {
        let closed = self.deadlines.end_idle(connections);
        self.stats.clients_evicted.add(closed as u64);
        self.peers.count_closed(closed);
        if closed == 0 {
            self.pool.borrow_mut().close_oldest(connections);
        }
    }

    /// Rejects a connection, and counts it. It is reset, so that nothing of it stays in the kernel.
    pub(crate) fn turn_away(&self, stream: &TcpStream, refused: &Counter) {
        refused.add(1);
        let _ = socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO));
    }

    /// Registers a component to be tidied periodically while someone else holds it.
    pub(crate) fn tidy_later<T: Tidied + 'static>(&self, tidied: &Rc<T>) {
        let weak: Weak<T> = Rc::downgrade(tidied);
        self.tidied.borrow_mut().push(weak);
    }

    fn tidy(&self) {
        self.tidied.borrow_mut().retain(|tidied| tidied.upgrade().inspect(|tidied| tidied.tidy()).is_some());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Maintains time limits and idle upstream connections while the core lives.
    pub(crate) async fn keep_time(self: Rc<Self>) {
        let prune_every = 1_000 / SWEEP_MS;
        for turn in 0u64.. {
            tokio::time::sleep(Duration::from_millis(SWEEP_MS)).await;
            let now = MonoTime::now();
            self.deadlines.sweep(now);
            self.stats.sweeps.add(1);
            self.service.tick();
            self.peers.look_at_time(now);
            self.peers.log_shortage(now);
            self.stats.clients_open.set(self.peers.own_open());
            self.stats.busy_permille.set(self.peers.own_busy());
            self.stats.upstreams_open.set(self.upstreams_open.get() as u64);
            self.stats.http2_buffered.set(self.buffered.bytes() as u64);
            self.stats.kept_body_bytes.set(self.kept_bodies.bytes() as u64);
            self.stats.tunnels_open.set(self.tunnels_open.get() as u64);
            if turn % prune_every == 0 {
                let mut pool = self.pool.borrow_mut();
                pool.prune(self.deadlines.now_ms(), &self.limits);
                self.stats.upstreams_idle.set(pool.len() as u64);
                self.tidy();
                self.shared_upstreams.prune(self.deadlines.now_ms(), &self.limits);
            }
        }
    }
}
