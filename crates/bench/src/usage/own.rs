//! Cost of the load generator itself: CPU time of its threads and of the process, and time spent waiting for a CPU.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Ticks per second in `/proc/self/stat`; Linux uses 100 in user space on every platform we build for.
const TICKS_PER_SECOND: f64 = 100.0;

/// Times of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadTime {
    /// Time on a CPU.
    pub running: Duration,
    /// Time ready, but waiting for a CPU.
    pub waiting: Duration,
    /// Wall-clock time.
    pub elapsed: Duration,
}

impl ThreadTime {
    /// The calling thread's times so far.
    pub(crate) fn now() -> Self {
        // "time on the processor, time waiting in the run queue, slices", in nanoseconds.
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let waiting = text.split_whitespace().nth(1).and_then(|ns| ns.parse().ok()).unwrap_or_default();
        ThreadTime {
            running: read(ClockId::ThreadCPUTime),
            waiting: Duration::from_nanos(waiting),
            elapsed: read(ClockId::Monotonic),
        }
    }

    pub(crate) fn since(&self, before: &ThreadTime) -> Self {
        ThreadTime {
            running: self.running.saturating_sub(before.running),
            waiting: self.waiting.saturating_sub(before.waiting),
            elapsed: self.elapsed.saturating_sub(before.elapsed),
        }
    }

    /// Fraction of the time on a CPU.
    pub(crate) fn share(&self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.running.as_secs_f64() / self.elapsed.as_secs_f64() }
    }
}

/// CPU time of the process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessTime {
    pub total: Duration,
    user_ticks: f64,
    system_ticks: f64,
}

impl ProcessTime {
    /// The process's CPU time so far.
    pub(crate) fn now() -> Self {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The name in parentheses may contain anything; utime and stime are the 12th and 13th field after it (proc(5)).
        let mut fields =
            stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).map(|field| field.parse().unwrap_or(0.0));
        let (user_ticks, system_ticks) = (fields.next().unwrap_or(0.0), fields.next().unwrap_or(0.0));
        ProcessTime { total: read(ClockId::ProcessCPUTime), user_ticks, system_ticks }
    }

    pub(crate) fn since(&self, before: &ProcessTime) -> Self {
        ProcessTime {
            total: self.total.saturating_sub(before.total),
            user_ticks: self.user_ticks - before.user_ticks,
            system_ticks: self.system_ticks - before.system_ticks,
        }
    }

    /// CPU time in user mode and in the kernel, with a resolution of a hundredth of a second.
    pub(crate) fn user_and_system_seconds(&self) -> (f64, f64) {
        (self.user_ticks / TICKS_PER_SECOND, self.system_ticks / TICKS_PER_SECOND)
    }
}

fn read(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), u32::try_from(time.tv_nsec).unwrap_or_default())
}
