//! Load balancing of connections between cores. A new connection goes to the core with the fewest connections, whatever its
//! protocol, and counts there from the moment it is handed over. Connections cause different loads, so an overloaded core also
//! hands connections over between two of their requests.

use crate::addresses::IpPermit;
use crate::listen::{Listen, NewListener};
use std::cell::Cell;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tollgate_clock::MonoTime;

/// Maximum messages waiting for one core. A core that does not process them is stuck; the others then keep what they accept.
pub(crate) const INBOX_MAX: usize = 1024;
/// A connection stays on the core that accepted it while that core has at most one sixteenth more connections than the least loaded
/// one: with thousands of connections, handing most of them over would cost more than the imbalance.
const TOLERATED_SHARE: usize = 16;
/// Load above which a core is overloaded, in thousandths of its time.
const BUSY_MIN: u32 = 900;
/// Load below which a core can take connections from others, in thousandths of its time.
const IDLE_MAX: u32 = 500;
/// Maximum connections that one core hands over per load check.
const GIVEN_MAX: usize = 16;
/// Idle client connections that all cores together close when file descriptors run out; nginx closes as many.
const IDLE_CLOSED_MAX: usize = 32;
/// Minimum interval between log lines about exhausted file descriptors.
const FILES_LOG_EVERY: Duration = Duration::from_secs(10);

/// A core as seen by the others.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Client connections that are open on this core or on their way to it.
    open: Arc<AtomicUsize>,
    /// Recent load of the core's thread, in thousandths.
    busy: Arc<AtomicU32>,
    inbox: mpsc::Sender<PeerMessage>,
}

/// A message from one core to another.
pub(crate) enum PeerMessage {
    /// A client connection to serve.
    Arrival(HandedConnection),
    /// File descriptors are exhausted: close this many idle connections.
    CloseIdle(usize),
    /// A listener to accept connections from.
    Listen(NewListener),
}

/// A client connection on its way to the core that will serve it.
pub(crate) struct HandedConnection {
    pub stream: TcpStream,
    /// The client's address, or that of the proxy until its header is read.
    pub client: SocketAddr,
    pub entry: PeerEntry,
    /// Counts the connection for its core and address.
    pub counted: CountedConnection,
}

/// What is ahead of a connection.
pub(crate) enum PeerEntry {
    /// The PROXY header and TLS handshake of the listener that accepted it, if it wants them.
    Listener(Arc<Listen>),
    /// Its next request: it was served before. The name of its listener.
    Served(u32),
}

/// One connection in the count of its core and of its address; dropping it decrements both.
pub(crate) struct CountedConnection {
    open: Arc<AtomicUsize>,
    pub seat: Option<IpPermit>,
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts of exhausted file descriptors, shared by all cores.
#[derive(Default)]
pub(crate) struct FileShortage {
    /// How often file descriptors ran out.
    met: AtomicU64,
    /// Idle connections closed for this reason.
    closed: AtomicU64,
}

/// All cores, seen from one of them.
pub(crate) struct CoreBalancer {
    own: usize,
    all: Vec<Peer>,
    drain: watch::Receiver<Option<Duration>>,
    shortage: Arc<FileShortage>,
    /// Counts and time of the last log line about the shortage; used by the first core only.
    logged: Cell<(u64, u64, Option<MonoTime>)>,
    /// Connections that this core should still hand over.
    to_give: Cell<usize>,
    last_look: Cell<(MonoTime, Duration)>,
}

impl Peer {
    pub(crate) fn new(inbox: mpsc::Sender<PeerMessage>) -> Self {
        Peer { open: Arc::default(), busy: Arc::default(), inbox }
    }

    fn load(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// Counts a connection for this core.
    pub(crate) fn count(&self, seat: Option<IpPermit>) -> CountedConnection {
        self.open.fetch_add(1, Ordering::Relaxed);
        CountedConnection { open: self.open.clone(), seat }
    }

    /// Gives the core a listener. Returns it if the core's inbox is full; `None` for the listener of a core that has ended.
    pub(crate) fn listen(&self, listener: NewListener) -> Result<(), Option<NewListener>> {
        match self.inbox.try_send(PeerMessage::Listen(listener)) {
            Err(TrySendError::Full(PeerMessage::Listen(listener))) => Err(Some(listener)),
            Err(_) => Err(None),
            Ok(()) => Ok(()),
        }
    }

    /// Hands a connection over. Returns it if the core accepts none any more or its inbox is full.
    pub(crate) fn hand_over(&self, arrival: HandedConnection) -> Result<(), HandedConnection> {
        match self.inbox.try_send(PeerMessage::Arrival(arrival)) {
            Err(TrySendError::Full(PeerMessage::Arrival(arrival)) | TrySendError::Closed(PeerMessage::Arrival(arrival))) => {
                Err(arrival)
            }
            _ => Ok(()),
        }
    }
}

impl CoreBalancer {
    pub(crate) fn new(own: usize, all: Vec<Peer>, drain: watch::Receiver<Option<Duration>>, shortage: Arc<FileShortage>) -> Self {
        let (logged, to_give) = (Cell::new((0, 0, None)), Cell::new(0));
        CoreBalancer { own, all, drain, shortage, logged, to_give, last_look: Cell::new((MonoTime::now(), Duration::ZERO)) }
    }

    /// The core that should serve a new connection, if not this one.
    pub(crate) fn better_place(&self) -> Option<&Peer> {
        let own = self.all.get(self.own)?.load();
        let least = self.all.iter().min_by_key(|peer| peer.load())?;
        (own > least.load() + least.load() / TOLERATED_SHARE).then_some(least)
    }

    /// The core to hand an idle connection over to, if this core is overloaded and another has capacity.
    #[inline]
    pub(crate) fn offload_target(&self) -> Option<&Peer> {
        let to_give = self.to_give.get();
        if to_give == 0 {
            return None;
        }
        self.to_give.set(to_give - 1);
        self.idlest().filter(|peer| peer.busy.load(Ordering::Relaxed) < IDLE_MAX)
    }

    fn idlest(&self) -> Option<&Peer> {
        self.all.iter().min_by_key(|peer| (peer.busy.load(Ordering::Relaxed), peer.load()))
    }

    /// Measures the load of this core's thread since the last call.
    pub(crate) fn look_at_time(&self, now: MonoTime) {
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let cpu = Duration::new(cpu.tv_sec.unsigned_abs(), u32::try_from(cpu.tv_nsec).unwrap_or_default());
        let (last, last_cpu) = self.last_look.replace((now, cpu));
        let passed = u128::from(now.ns_since(last).max(1));
        let busy = cpu.saturating_sub(last_cpu).as_nanos() * 1000 / passed;
        let busy = u32::try_from(busy).unwrap_or(u32::MAX);
        let Some(own) = self.all.get(self.own) else { return };
        own.busy.store(busy, Ordering::Relaxed);
        let helper = self.idlest().filter(|peer| peer.busy.load(Ordering::Relaxed) < IDLE_MAX);
        let surplus = helper.map_or(0, |peer| own.load().saturating_sub(peer.load()) / 2);
        self.to_give.set(if busy >= BUSY_MIN { surplus.min(GIVEN_MAX) } else { 0 });
    }

    /// Counts a connection for this core.
    pub(crate) fn count(&self, seat: Option<IpPermit>) -> CountedConnection {
        self.all
            .get(self.own)
            .map_or_else(|| CountedConnection { open: Arc::new(AtomicUsize::new(1)), seat: None }, |own| own.count(seat))
    }

    /// File descriptors are exhausted: every core closes some of its idle connections, this one through `close`.
    pub(crate) fn close_idle(&self, close: impl FnOnce(usize)) {
        self.shortage.met.fetch_add(1, Ordering::Relaxed);
        let each = IDLE_CLOSED_MAX.div_ceil(self.all.len().max(1));
        for (_, peer) in self.all.iter().enumerate().filter(|(index, _)| *index != self.own) {
            let _ = peer.inbox.try_send(PeerMessage::CloseIdle(each));
        }
        close(each);
    }

    /// Counts idle connections that were closed because file descriptors were exhausted.
    pub(crate) fn count_closed(&self, connections: usize) {
        self.shortage.closed.fetch_add(connections as u64, Ordering::Relaxed);
    }

    /// Logs exhausted file descriptors and closed connections. One core logs for all.
    pub(crate) fn log_shortage(&self, now: MonoTime) {
        let (met, closed, at) = self.logged.get();
        let (met_now, closed_now) = (self.shortage.met.load(Ordering::Relaxed), self.shortage.closed.load(Ordering::Relaxed));
        let is_time = at.is_none_or(|at| now.since(at) >= FILES_LOG_EVERY);
        if self.own != 0 || met == met_now || !is_time {
            return;
        }
        self.logged.set((met_now, closed_now, Some(now)));
        tracing::error!(
            failures = met_now - met,
            idle_connections_closed = closed_now - closed,
            "no file descriptor is left: raise the limit of open files; the longest idle client connections are closed for new ones"
        );
    }

    /// Open client connections of this core.
    pub(crate) fn own_open(&self) -> u64 {
        self.all.get(self.own).map_or(0, |own| own.load() as u64)
    }

    /// Recent load of this core's thread, in thousandths.
    pub(crate) fn own_busy(&self) -> u64 {
        self.all.get(self.own).map_or(0, |own| u64::from(own.busy.load(Ordering::Relaxed)))
    }

    /// Whether this core has no connection, and none is on its way.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.get(self.own).is_none_or(|own| own.load() == 0)
    }

    /// Resolves when the engine drains.
    pub(crate) async fn drained(&self) {
        let _ = self.drain.clone().wait_for(Option::is_some).await;
    }

    /// How long connections without a request may stay once the engine drains.
    pub(crate) fn idle_time(&self) -> Duration {
        self.drain.borrow().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
