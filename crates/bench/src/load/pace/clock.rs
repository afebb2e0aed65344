//! The run's clock, and a precise timer for each thread. The runtime's own timers would send requests up to a millisecond late,
//! which would look like latency of the server.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Poll, Waker};
use std::time::Instant;

use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

const NS_PER_SECOND: u64 = 1_000_000_000;
/// Minimum timer value; 0 would disable the timer.
const ALARM_NS_MIN: u64 = 1_000;

/// Nanoseconds since the start of the run, the same for all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    start: Instant,
}

impl RunClock {
    pub(crate) fn starting_at(start: Instant) -> Self {
        RunClock { start }
    }

    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// Wakes the workers of a thread at given times, with one kernel timer for all.
pub(crate) struct Alarm {
    clock: RunClock,
    timer: AsyncFd<OwnedFd>,
    /// Due time and sleeper index.
    waiting: RefCell<BinaryHeap<Reverse<(u64, usize)>>>,
    sleepers: Vec<RefCell<Option<Waker>>>,
    armed_ns: Cell<u64>,
}

impl Alarm {
    /// An alarm for this many sleepers; must be called within the thread's runtime.
    #[expect(deprecated, reason = "its successor is unsafe for types that may change their descriptor; an `OwnedFd` does not")]
    pub(crate) fn new(clock: RunClock, sleepers: usize) -> io::Result<Self> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Alarm {
            clock,
            timer: AsyncFd::with_interest(timer, Interest::READABLE)?,
            waiting: RefCell::new(BinaryHeap::with_capacity(sleepers)),
            sleepers: (0..sleepers).map(|_| RefCell::new(None)).collect(),
            armed_ns: Cell::new(u64::MAX),
        })
    }

    /// Waits until `due_ns`. A sleeper must not be used twice at the same time.
    pub(crate) async fn sleep_until(&self, sleeper: usize, due_ns: u64) {
        let mut asleep = false;
        poll_fn(|cx| {
            if self.clock.now_ns() >= due_ns {
                return Poll::Ready(());
            }
            if let Some(waker) = self.sleepers.get(sleeper) {
                *waker.borrow_mut() = Some(cx.waker().clone());
            }
            if !asleep {
                asleep = true;
                self.waiting.borrow_mut().push(Reverse((due_ns, sleeper)));
                if due_ns < self.armed_ns.get() {
                    self.arm(due_ns);
                }
            }
            Poll::Pending
        })
        .await;
    }

    /// Wakes sleepers in an endless loop; one task per thread.
    pub(crate) async fn ring(&self) {
        loop {
            let Ok(mut ready) = self.timer.readable().await else { return };
            // The timer is not read: setting it again cancels the expiry, and readiness is edge-triggered.
            ready.clear_ready();
            self.armed_ns.set(u64::MAX);
            let now = self.clock.now_ns();
            let next = loop {
                let mut waiting = self.waiting.borrow_mut();
                match waiting.peek() {
                    Some(Reverse((due, _))) if *due > now => break Some(*due),
                    Some(Reverse((_, sleeper))) => {
                        let waker = self.sleepers.get(*sleeper).and_then(|waker| waker.borrow_mut().take());
                        waiting.pop();
                        drop(waiting);
                        if let Some(waker) = waker {
                            waker.wake();
                        }
                    }
                    None => break None,
                }
            };
            if let Some(due) = next {
                self.arm(due);
            }
        }
    }

    fn arm(&self, due_ns: u64) {
        self.armed_ns.set(due_ns);
        let wait = due_ns.saturating_sub(self.clock.now_ns()).max(ALARM_NS_MIN);
        let value = Timespec { tv_sec: (wait / NS_PER_SECOND) as i64, tv_nsec: (wait % NS_PER_SECOND) as _ };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        // Fails only for an invalid descriptor or time, and both are created here.
        let _ = timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::empty(), &once);
    }
}
