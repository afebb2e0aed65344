//! Decides which requests a thread sends and when they are due. The schedule of a rate is fixed in advance: a late response does
//! not postpone requests, so a stall of the server becomes visible. A free worker takes the next request, due or not, and waits for
//! its time; so requests are taken in order, and there is no queue.

use crate::stats::random::SeededRandom;
use clap::ValueEnum;

const NS_PER_SECOND: f64 = 1e9;
/// After the end of a run, overdue requests are sent for at most this fraction of its length, within limits.
const OVERTIME_PART: u64 = 10;
const OVERTIME_NS_MIN: u64 = 1_000_000_000;
const OVERTIME_NS_MAX: u64 = 20_000_000_000;

/// Pacing of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Pacing {
    /// As fast as the workers get their responses.
    Closed,
    /// Each worker at its own rate.
    Worker { rate: f64 },
    /// All workers together at one rate.
    Open { rate: f64, arrivals: Arrivals },
}

impl Pacing {
    /// Total requests per second with this many workers.
    pub(crate) fn total_rate(&self, workers: usize) -> Option<f64> {
        match *self {
            Pacing::Closed => None,
            Pacing::Worker { rate } => Some(rate * workers as f64),
            Pacing::Open { rate, .. } => Some(rate),
        }
    }
}

/// Arrival process of an open model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Arrivals {
    /// Evenly spaced.
    Constant,
    /// Exponentially distributed gaps, like those of independent users.
    Poisson,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// After exactly this many requests.
    Requests(u64),
    /// At this time since the start, in nanoseconds; in an open model, once everything due earlier was sent.
    Until(u64),
}

/// The share of one thread: every `threads`-th worker, starting with number `thread`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadShare {
    pub workers: usize,
    pub threads: usize,
    pub thread: usize,
}

impl ThreadShare {
    /// Number of workers of the thread.
    pub(crate) fn own_workers(&self) -> usize {
        (self.workers + self.threads - 1 - self.thread) / self.threads
    }

    /// Global number of the thread's worker `own`.
    pub(crate) fn worker(&self, own: usize) -> usize {
        own * self.threads + self.thread
    }

    /// How many of `total` requests the thread sends; the shares of all threads add up exactly.
    pub(crate) fn of(&self, total: u64) -> u64 {
        let (workers, own) = (self.workers as u64, self.own_workers() as u64);
        // Workers with a number below the remainder send one more request.
        let extra = (total % workers).saturating_sub(self.thread as u64).div_ceil(self.threads as u64);
        total / workers * own + extra
    }

    /// Global number of the thread's request `own`.
    pub(crate) fn request(&self, own: u64) -> u64 {
        let of_thread = self.own_workers() as u64;
        own / of_thread * self.workers as u64 + (own % of_thread) * self.threads as u64 + self.thread as u64
    }
}

/// The requests of one thread.
#[derive(Debug)]
pub(crate) struct Schedule {
    pacing: Pacing,
    share: ThreadShare,
    extent: Extent,
    warmup_ns: u64,
    /// For `Extent::Requests`: requests left, not counting those of the warm-up.
    left: u64,
    /// In an open model: number of requests taken so far, and due time of the next.
    taken: u64,
    next_ns: u64,
    /// With a rate per worker: requests that each of the thread's workers has taken.
    turns: Vec<u64>,
    random: SeededRandom,
}

impl Schedule {
    pub(crate) fn new(pacing: Pacing, share: ThreadShare, extent: Extent, warmup_ns: u64, seed: u64) -> Self {
        let left = match extent {
            Extent::Requests(total) => share.of(total),
            Extent::Until(_) => u64::MAX,
        };
        let turns = vec![0; share.own_workers()];
        let random = SeededRandom::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(share.thread as u64));
        let mut schedule = Schedule { pacing, share, extent, warmup_ns, left, taken: 0, next_ns: 0, turns, random };
        schedule.next_ns = schedule.open_due(0, 0);
        schedule
    }

    /// Gives the thread's worker `own` its next request. Returns when it is due, `now_ns` without a rate, or `None` at the end.
    #[inline]
    pub(crate) fn take(&mut self, own: usize, now_ns: u64) -> Option<u64> {
        let due = self.next_due(own, now_ns);
        let over = match (self.extent, self.pacing) {
            (Extent::Requests(_), _) => self.left == 0,
            (Extent::Until(end_ns), Pacing::Closed) => due >= end_ns,
            // hey's -z is a hard end, even with overdue requests.
            (Extent::Until(end_ns), Pacing::Worker { .. }) => due >= end_ns || now_ns >= end_ns,
            (Extent::Until(end_ns), Pacing::Open { .. }) => due >= end_ns || now_ns >= end_ns + self.overtime_ns(end_ns),
        };
        if over {
            return None;
        }
        self.advance(own, due);
        Some(due)
    }

    /// Number of requests that were due before `now_ns` and not taken.
    pub(crate) fn overdue(&mut self, now_ns: u64) -> u64 {
        let end_ns = match self.extent {
            Extent::Until(end_ns) => end_ns.min(now_ns),
            Extent::Requests(_) => now_ns,
        };
        // In an open model, all workers share the requests, so one worker's turn counts.
        let workers = if let Pacing::Worker { .. } = self.pacing { self.turns.len() } else { 1 };
        let mut overdue = 0;
        for own in 0..workers {
            while self.pacing != Pacing::Closed && self.left > 0 && self.next_due(own, now_ns) < end_ns {
                let due = self.next_due(own, now_ns);
                self.advance(own, due);
                overdue += 1;
            }
        }
        overdue
    }

    /// When the next request for the thread's worker `own` is due.
    #[inline]
    fn next_due(&self, own: usize, now_ns: u64) -> u64 {
        match self.pacing {
            Pacing::Closed => now_ns,
            Pacing::Open { .. } => self.next_ns,
            Pacing::Worker { rate } => {
                let turn = self.turns.get(own).copied().unwrap_or_default();
                let phase = self.share.worker(own) as f64 / self.share.workers as f64;
                ((turn as f64 + phase) / rate * NS_PER_SECOND) as u64
            }
        }
    }

    /// Marks the request that was due at `due` as taken.
    #[inline]
    fn advance(&mut self, own: usize, due: u64) {
        if due >= self.warmup_ns {
            self.left -= 1;
        }
        match self.pacing {
            Pacing::Closed => {}
            Pacing::Open { .. } => {
                self.taken += 1;
                self.next_ns = self.open_due(self.taken, due);
            }
            Pacing::Worker { .. } => {
                if let Some(turn) = self.turns.get_mut(own) {
                    *turn += 1;
                }
            }
        }
    }

    /// How long overdue requests are still sent after the end. A stall at the end must be visible like any other, but a server that
    /// is too slow would never catch up.
    fn overtime_ns(&self, end_ns: u64) -> u64 {
        ((end_ns - self.warmup_ns) / OVERTIME_PART).clamp(OVERTIME_NS_MIN, OVERTIME_NS_MAX)
    }

    fn open_due(&mut self, own: u64, before_ns: u64) -> u64 {
        match self.pacing {
            Pacing::Open { rate, arrivals: Arrivals::Constant } => (self.share.request(own) as f64 / rate * NS_PER_SECOND) as u64,
            Pacing::Open { rate, arrivals: Arrivals::Poisson } => {
                // The processes of the threads add up to one process at the total rate.
                let own_rate = rate * self.share.own_workers() as f64 / self.share.workers as f64;
                before_ns + (self.random.exponential() / own_rate * NS_PER_SECOND) as u64
            }
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests;
