//! The cores as one of them sees them, and where a connection belongs. Few connections are packed onto few cores: a core that has
//! several to look after sleeps less between events, and sleeping and waking is what costs most (8 connections cost a sixth less CPU
//! per request on one core than on two). A core that has no time left gives connections away between two of their requests.

use crate::addresses::Seat;
use crate::moment::Moment;
use std::cell::Cell;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// A core takes this many connections before the next one gets any; beyond that the least loaded one does.
const PACKED_CONNECTIONS: usize = 8;
/// A core that works for more of its time than this has none left, in thousandths.
const BUSY_MIN: u32 = 900;
/// A core that works for less than this can help.
const IDLE_MAX: u32 = 500;
/// Connections that one core gives away in one look at its time.
const GIVEN_MAX: usize = 16;

/// A core as the others see it.
#[derive(Clone)]
pub(crate) struct Peer {
    /// Open client connections.
    open: Arc<AtomicUsize>,
    /// Share of the last moments that its thread worked, in thousandths.
    busy: Arc<AtomicU32>,
    inbox: mpsc::UnboundedSender<Arrival>,
}

/// A client's connection on its way to the core that will serve it.
pub(crate) struct Arrival {
    pub stream: TcpStream,
    /// The client, or who announces it at the entrance.
    pub client: SocketAddr,
    /// The listener whose entrance is still before it; none for a connection that was served before.
    pub entrance: Option<usize>,
    /// Its place in the count of its address, if that has one.
    pub seat: Option<Seat>,
}

/// One connection in its core's count and in that of its address, for as long as this lives.
pub(crate) struct Counted {
    open: Arc<AtomicUsize>,
    pub seat: Option<Seat>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All cores, seen from one of them.
pub(crate) struct Peers {
    own: usize,
    all: Vec<Peer>,
    drain: watch::Receiver<Option<Duration>>,
    /// Connections that this core should still give away.
    to_give: Cell<usize>,
    last_look: Cell<(Moment, Duration)>,
}

impl Peer {
    pub fn new(inbox: mpsc::UnboundedSender<Arrival>) -> Self {
        Peer { open: Arc::default(), busy: Arc::default(), inbox }
    }

    fn load(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    pub fn hand_over(&self, arrival: Arrival) -> Result<(), Arrival> {
        self.inbox.send(arrival).map_err(|refused| refused.0)
    }
}

impl Peers {
    pub fn new(own: usize, all: Vec<Peer>, drain: watch::Receiver<Option<Duration>>) -> Self {
        Peers { own, all, drain, to_give: Cell::new(0), last_look: Cell::new((Moment::now(), Duration::ZERO)) }
    }

    /// Where a new connection belongs, if not here.
    pub fn better_place(&self) -> Option<&Peer> {
        let packed = self.all.iter().position(|peer| peer.load() < PACKED_CONNECTIONS);
        let place = packed.or_else(|| self.least_loaded())?;
        if place == self.own { None } else { self.all.get(place) }
    }

    fn least_loaded(&self) -> Option<usize> {
        let (place, least) = self.all.iter().enumerate().min_by_key(|(_, peer)| peer.load())?;
        // A new connection stays where it came in unless that is clearly worse.
        let own = self.all.get(self.own)?.load();
        Some(if least.load() + 2 <= own { place } else { self.own })
    }

    /// Whom to give a connection whose request is answered, if this core has no time left and another has.
    #[inline]
    pub fn relief(&self) -> Option<&Peer> {
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
    pub fn look_at_time(&self, now: Moment) {
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
    pub fn count(&self, seat: Option<Seat>) -> Counted {
        let open = self.all.get(self.own).map(|own| own.open.clone()).unwrap_or_default();
        open.fetch_add(1, Ordering::Relaxed);
        Counted { open, seat }
    }

    /// Open client connections of this core.
    pub fn own_open(&self) -> u64 {
        self.all.get(self.own).map_or(0, |own| own.load() as u64)
    }

    /// Share of the last moments that this core's thread worked, in thousandths.
    pub fn own_busy(&self) -> u64 {
        self.all.get(self.own).map_or(0, |own| u64::from(own.busy.load(Ordering::Relaxed)))
    }

    /// This core has no connection.
    pub fn is_empty(&self) -> bool {
        self.all.get(self.own).is_none_or(|own| own.load() == 0)
    }

    /// Resolves when the engine drains.
    pub async fn drained(&self) {
        let _ = self.drain.clone().wait_for(Option::is_some).await;
    }

    /// How long connections without a request may stay once the engine drains.
    pub fn idle_time(&self) -> Duration {
        self.drain.borrow().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
