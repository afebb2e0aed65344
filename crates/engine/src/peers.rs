//! The cores as one of them sees them, and where a connection belongs. A new connection goes to the core that has the fewest, whatever it
//! speaks, and counts there from the moment it is handed over. Connections differ in what they ask for, so a core that has no time left
//! also gives connections away between two of their requests.

use crate::addresses::Seat;
use crate::moment::Moment;
use std::cell::Cell;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};

/// Messages that may wait for one core. A core that does not get to them is stuck, and the others then keep what they accept.
pub(crate) const INBOX_MAX: usize = 1024;
/// A connection stays where it came in while this core has at most one sixteenth more than the one with the fewest: among thousands of
/// connections, handing most of them over would cost more than the difference does.
const TOLERATED_SHARE: usize = 16;
/// A core that works for more of its time than this has none left, in thousandths.
const BUSY_MIN: u32 = 900;
/// A core that works for less than this can help.
const IDLE_MAX: u32 = 500;
/// Connections that one core gives away in one look at its time.
const GIVEN_MAX: usize = 16;
/// Idle client connections that all cores together close when no file descriptor is left, as many as nginx closes.
const IDLE_CLOSED_MAX: usize = 32;
/// At most one line in so much time about descriptors that are used up.
const FILES_LOG_EVERY: Duration = Duration::from_secs(10);

/// A core as the others see it.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Client connections that are open or on their way to it.
    open: Arc<AtomicUsize>,
    /// Share of the last moments that its thread worked, in thousandths.
    busy: Arc<AtomicU32>,
    inbox: mpsc::Sender<PeerMessage>,
}

/// What one core sends to another.
pub(crate) enum PeerMessage {
    /// A client connection to serve.
    Arrival(HandedConnection),
    /// No file descriptor is left: close so many connections that are idle.
    CloseIdle(usize),
}

/// A client's connection on its way to the core that will serve it.
pub(crate) struct HandedConnection {
    pub stream: TcpStream,
    /// The client, or who announces it at the entrance.
    pub client: SocketAddr,
    /// The listener whose entrance is still before it; none for a connection that was served before.
    pub entrance: Option<usize>,
    /// Its place in the counts.
    pub counted: CountedConnection,
}

/// One connection in its core's count and in that of its address, for as long as this lives.
pub(crate) struct CountedConnection {
    open: Arc<AtomicUsize>,
    pub seat: Option<Seat>,
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What all cores know of descriptors that are used up.
#[derive(Default)]
pub(crate) struct FileShortage {
    /// Times that none was left.
    met: AtomicU64,
    /// Idle connections that were closed for it.
    closed: AtomicU64,
}

/// All cores, seen from one of them.
pub(crate) struct Peers {
    own: usize,
    all: Vec<Peer>,
    drain: watch::Receiver<Option<Duration>>,
    shortage: Arc<FileShortage>,
    /// What of the shortage was logged, and when; looked at by the first core.
    logged: Cell<(u64, u64, Option<Moment>)>,
    /// Connections that this core should still give away.
    to_give: Cell<usize>,
    last_look: Cell<(Moment, Duration)>,
}

impl Peer {
    pub(crate) fn new(inbox: mpsc::Sender<PeerMessage>) -> Self {
        Peer { open: Arc::default(), busy: Arc::default(), inbox }
    }

    fn load(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// A connection in this core's count.
    pub(crate) fn count(&self, seat: Option<Seat>) -> CountedConnection {
        self.open.fetch_add(1, Ordering::Relaxed);
        CountedConnection { open: self.open.clone(), seat }
    }

    /// Hands a connection over; it comes back when the core takes none any more, or has too many on their way.
    pub(crate) fn hand_over(&self, arrival: HandedConnection) -> Result<(), HandedConnection> {
        match self.inbox.try_send(PeerMessage::Arrival(arrival)) {
            Err(TrySendError::Full(PeerMessage::Arrival(arrival)) | TrySendError::Closed(PeerMessage::Arrival(arrival))) => {
                Err(arrival)
            }
            _ => Ok(()),
        }
    }
}

impl Peers {
    pub(crate) fn new(own: usize, all: Vec<Peer>, drain: watch::Receiver<Option<Duration>>, shortage: Arc<FileShortage>) -> Self {
        let (logged, to_give) = (Cell::new((0, 0, None)), Cell::new(0));
        Peers { own, all, drain, shortage, logged, to_give, last_look: Cell::new((Moment::now(), Duration::ZERO)) }
    }

    /// Where a new connection belongs, if not here.
    pub(crate) fn better_place(&self) -> Option<&Peer> {
        let own = self.all.get(self.own)?.load();
        let least = self.all.iter().min_by_key(|peer| peer.load())?;
        (own > least.load() + least.load() / TOLERATED_SHARE).then_some(least)
    }

    /// Whom to give a connection whose request is answered, if this core has no time left and another has.
    #[inline]
    pub(crate) fn relief(&self) -> Option<&Peer> {
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

    /// Looks at the time that this core's thread has worked since the last look.
    pub(crate) fn look_at_time(&self, now: Moment) {
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

    /// Counts a connection of this core.
    pub(crate) fn count(&self, seat: Option<Seat>) -> CountedConnection {
        self.all
            .get(self.own)
            .map_or_else(|| CountedConnection { open: Arc::new(AtomicUsize::new(1)), seat: None }, |own| own.count(seat))
    }

    /// Has every core close some of its idle connections, this one by `close`: no file descriptor is left.
    pub(crate) fn close_idle(&self, close: impl FnOnce(usize)) {
        self.shortage.met.fetch_add(1, Ordering::Relaxed);
        let each = IDLE_CLOSED_MAX.div_ceil(self.all.len().max(1));
        for (_, peer) in self.all.iter().enumerate().filter(|(index, _)| *index != self.own) {
            let _ = peer.inbox.try_send(PeerMessage::CloseIdle(each));
        }
        close(each);
    }

    /// Counts idle connections that were closed because no file descriptor was left.
    pub(crate) fn count_closed(&self, connections: usize) {
        self.shortage.closed.fetch_add(connections as u64, Ordering::Relaxed);
    }

    /// Says what descriptors that were used up have led to. One core speaks for all.
    pub(crate) fn log_shortage(&self, now: Moment) {
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

    /// Client connections of this core.
    pub(crate) fn own_open(&self) -> u64 {
        self.all.get(self.own).map_or(0, |own| own.load() as u64)
    }

    /// Share of the last moments that this core's thread worked, in thousandths.
    pub(crate) fn own_busy(&self) -> u64 {
        self.all.get(self.own).map_or(0, |own| u64::from(own.busy.load(Ordering::Relaxed)))
    }

    /// This core has no connection, and none is on its way.
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
