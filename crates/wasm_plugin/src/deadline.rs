//! When a call is interrupted. Compiled code asks at loops and calls, after a number of ticks.

use crate::limits::{CPU_TIME_HERE_MAX, TICKS_HERE};
use rustix::time::{ClockId, clock_gettime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wasmtime::UpdateDeadline;

/// The end of a call.
pub(crate) enum Deadline {
    /// On a data thread: when it has worked for some time. The time begins with the first question, so that a short call asks no clock. A
    /// thread that the system has stopped meanwhile has not worked.
    Here(Option<Duration>),
    /// On another thread: when this says so.
    Until(Arc<CallClock>),
}

impl Deadline {
    /// Ticks until the first question.
    pub(crate) fn ticks(&self) -> u64 {
        match self {
            Deadline::Here(_) => TICKS_HERE,
            Deadline::Until(_) => 1,
        }
    }

    /// Whether the call goes on.
    pub(crate) fn update(&mut self) -> UpdateDeadline {
        let is_over = match self {
            Deadline::Here(began) => match *began {
                Some(began) => cpu_time().saturating_sub(began) >= CPU_TIME_HERE_MAX,
                None => {
                    *began = Some(cpu_time());
                    false
                }
            },
            Deadline::Until(clock) => clock.is_over(),
        };
        if is_over { UpdateDeadline::Interrupt } else { UpdateDeadline::Continue(1) }
    }
}

/// How long this thread has worked.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or_default(), time.tv_nsec.try_into().unwrap_or_default())
}

/// The end of a call that may take long.
pub(crate) struct CallClock {
    end: Instant,
    /// Nobody waits for the call any more.
    is_dropped: AtomicBool,
}

impl CallClock {
    pub(crate) fn new(end: Instant) -> Arc<Self> {
        Arc::new(CallClock { end, is_dropped: AtomicBool::new(false) })
    }

    /// Ends the call.
    pub(crate) fn drop_call(&self) {
        self.is_dropped.store(true, Ordering::Relaxed);
    }

    /// Whether the call must end now.
    pub(crate) fn is_over(&self) -> bool {
        self.is_dropped.load(Ordering::Relaxed) || Instant::now() >= self.end
    }
}
