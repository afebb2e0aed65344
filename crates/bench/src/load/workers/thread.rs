//! One thread of the load generator: its own runtime with its share of the workers. The path of a request shares nothing with other
//! threads.

use super::context::ThreadContext;
use super::worker;
use crate::load::measure::recorder::Outlets;
use crate::load::measure::tally::RequestTally;
use crate::load::pace::clock::RunClock;
use crate::load::pace::schedule::ThreadShare;
use crate::load::plan::LoadPlan;
use crate::usage::own::ThreadTime;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::task::JoinSet;

/// Interval between checks of deadlines, end and seconds.
const SWEEP_MAX: Duration = Duration::from_millis(50);
const SWEEP_MIN: Duration = Duration::from_millis(1);
/// Sweeps per time limit, which determine its precision.
const SWEEPS_PER_TIMEOUT: u32 = 20;

/// Signals between the threads and the main thread.
#[derive(Default)]
pub(crate) struct ThreadSignals {
    /// Stop at once, aborting requests in flight.
    pub cut: AtomicBool,
    /// When the last response arrived, by the run's clock, in nanoseconds.
    pub answered_ns: AtomicU64,
    /// Number of failed requests so far.
    pub failed: AtomicU64,
}

/// Outcome of a thread.
pub(crate) struct ThreadOutcome {
    pub tally: RequestTally,
    pub time: ThreadTime,
}

/// Runs a thread's share to its end.
pub(crate) fn run(
    plan: Arc<LoadPlan>,
    share: ThreadShare,
    clock: RunClock,
    outlets: Outlets,
    signals: &ThreadSignals,
) -> io::Result<ThreadOutcome> {
    let before = ThreadTime::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    let tally = runtime.block_on(async {
        let context = Rc::new(ThreadContext::new(plan, share, clock, outlets)?);
        let ring = Rc::clone(&context);
        tokio::task::spawn_local(async move { ring.alarm.ring().await });
        let mut workers = JoinSet::new();
        for own in 0..share.own_workers() {
            workers.spawn_local(worker::run(Rc::clone(&context), own));
        }
        tokio::select! {
            () = async { while workers.join_next().await.is_some() {} } => {}
            () = sweep(&context, signals) => {}
        }
        workers.shutdown().await;
        Ok::<_, io::Error>(finish(&context))
    })?;
    Ok(ThreadOutcome { tally, time: ThreadTime::now().since(&before) })
}

/// Checks deadlines and seconds; returns when the run is aborted.
async fn sweep(context: &ThreadContext, signals: &ThreadSignals) {
    let pause = context.plan.timeout.map_or(SWEEP_MAX, |timeout| (timeout / SWEEPS_PER_TIMEOUT).clamp(SWEEP_MIN, SWEEP_MAX));
    let mut failed_before = 0;
    while !signals.cut.load(Relaxed) {
        tokio::time::sleep(pause).await;
        let now = context.clock.now_ns();
        for slot in &context.slots {
            slot.sweep(now);
        }
        let mut recorder = context.recorder.borrow_mut();
        recorder.roll(now);
        signals.answered_ns.fetch_max(recorder.answered_ns, Relaxed);
        let failed = recorder.failures;
        signals.failed.fetch_add(failed - failed_before, Relaxed);
        failed_before = failed;
    }
}

/// Counts unfinished and unsent requests.
fn finish(context: &ThreadContext) -> RequestTally {
    let now = context.clock.now_ns();
    let waiting = context.due.iter().filter(|due| due.get().is_some_and(|due| due <= now)).count() as u64;
    let mut tally = context.recorder.borrow_mut().finish(now);
    tally.requests.unfinished = context.under_way.get();
    tally.requests.unsent = waiting + context.schedule.borrow_mut().overdue(now);
    tally
}
