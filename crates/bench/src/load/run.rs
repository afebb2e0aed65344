//! Runs a plan: starts the threads, collects their reports, and aborts the run on an interrupt, if its end takes too long, or if
//! the server is gone.

use super::measure::csv::Rows;
use super::measure::recorder::Outlets;
use super::measure::series::SecondsSeries;
use super::measure::tally::RequestTally;
use super::pace::clock::RunClock;
use super::pace::schedule::{Extent, ThreadShare};
use super::plan::LoadPlan;
use super::progress::ProgressLine;
use super::result::LoadSecond;
use super::workers::thread;
use super::workers::thread::ThreadSignals;
use crate::interrupt::Interrupt;
use crate::usage::own::{ProcessTime, ThreadTime};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Interval between checks of the end conditions.
const LOOK: Duration = Duration::from_millis(50);

/// Outcome of a run.
pub(crate) struct LoadOutcome {
    pub tally: RequestTally,
    pub series: Vec<LoadSecond>,
    pub started_unix_ms: u64,
    /// Time from the start to the last response, including the warm-up.
    pub elapsed: Duration,
    /// Why it stopped early.
    pub stopped: Option<String>,
    pub process: ProcessTime,
    pub threads: Vec<ThreadTime>,
}

/// Runs `plan` to its end.
pub(crate) fn run(
    plan: &Arc<LoadPlan>,
    rows: Option<Rows>,
    interrupt: &Interrupt,
    mut progress: ProgressLine,
) -> io::Result<LoadOutcome> {
    raise_file_limit(plan.workers);
    let signals = ThreadSignals::default();
    let process_before = ProcessTime::now();
    let started_unix_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64);
    let clock = RunClock::starting_at(Instant::now());
    let (updates, seconds) = channel();
    let (mut series, mut stopped) = (SecondsSeries::default(), None);
    let finished = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..plan.threads)
            .map(|thread| {
                let share = ThreadShare { workers: plan.workers, threads: plan.threads, thread };
                let outlets = Outlets { updates: updates.clone(), rows: rows.clone() };
                let (plan, signals) = (Arc::clone(plan), &signals);
                scope.spawn(move || thread::run(plan, share, clock, outlets, signals))
            })
            .collect();
        drop((updates, rows));
        let mut watch = StopCondition::default();
        loop {
            match seconds.recv_timeout(LOOK) {
                Ok(update) => {
                    progress.note(&update);
                    series.add(update);
                }
                Err(RecvTimeoutError::Timeout) => {}
                // All threads are done.
                Err(RecvTimeoutError::Disconnected) => break,
            }
            progress.print(clock.now_ns());
            if stopped.is_none() {
                stopped = watch.reason_to_stop(plan, &signals, interrupt, clock.now_ns());
                signals.cut.store(stopped.is_some(), Relaxed);
            }
        }
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    progress.finish();
    let mut tally = RequestTally::new();
    let mut threads = Vec::new();
    for outcome in finished {
        let outcome = outcome.map_err(|_| io::Error::other("a thread of the load generator panicked"))??;
        tally.add(outcome.tally);
        threads.push(outcome.time);
    }
    let elapsed = Duration::from_nanos(clock.now_ns());
    let process = ProcessTime::now().since(&process_before);
    Ok(LoadOutcome { tally, series: series.finish(), started_unix_ms, elapsed, stopped, process, threads })
}

/// Tracks since when only failures have occurred.
#[derive(Default)]
struct StopCondition {
    answered_ns: u64,
    failed_then: u64,
}

impl StopCondition {
    fn reason_to_stop(&mut self, plan: &LoadPlan, signals: &ThreadSignals, interrupt: &Interrupt, now_ns: u64) -> Option<String> {
        let seconds = |ns: u64| ns as f64 / 1e9;
        if interrupt.is_raised() {
            return Some(format!("interrupted after {:.1} s", seconds(now_ns)));
        }
        if let Extent::Until(end_ns) = plan.extent
            && now_ns > end_ns + plan.drain.as_nanos() as u64
        {
            return Some(format!("requests were still open {:.1} s after its end", plan.drain.as_secs_f64()));
        }
        let (answered_ns, failed) = (signals.answered_ns.load(Relaxed), signals.failed.load(Relaxed));
        if answered_ns > self.answered_ns {
            (self.answered_ns, self.failed_then) = (answered_ns, failed);
        }
        let silent = Duration::from_nanos(now_ns.saturating_sub(self.answered_ns));
        if failed > self.failed_then && plan.give_up.is_some_and(|limit| silent >= limit) {
            return Some(match self.answered_ns {
                0 => format!("the server answered nothing in {:.1} s", silent.as_secs_f64()),
                answered => format!("the server stopped answering {:.1} s after the start", seconds(answered)),
            });
        }
        None
    }
}

/// Raises the limit of open files: each connection is one.
fn raise_file_limit(connections: usize) {
    const OTHER_FILES: u64 = 64;
    let limit = getrlimit(Resource::Nofile);
    let wanted = connections as u64 + OTHER_FILES;
    if limit.current.is_some_and(|current| current < wanted) {
        let current = Some(limit.maximum.map_or(wanted, |maximum| wanted.min(maximum)));
        // If this fails, connections will fail and report the reason.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum: limit.maximum });
    }
}
