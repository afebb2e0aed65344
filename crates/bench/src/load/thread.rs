//! One thread of the load generator: a runtime of its own with its share of the workers. Nothing on the way of a request is
//! shared with another thread.

use super::clock::{Alarm, Clock};
use super::http2;
use super::plan::Plan;
use super::processor::ThreadTime;
use super::recorder::{Outlets, Recorder};
use super::schedule::{Pacing, Schedule, Share};
use super::slot::Slot;
use super::tally::Tally;
use super::worker;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::task::JoinSet;

/// What one read takes at most.
const SCRATCH_BYTES: usize = 64 * 1024;
/// How often deadlines, the end and the seconds are looked at.
const SWEEP_MAX: Duration = Duration::from_millis(50);
const SWEEP_MIN: Duration = Duration::from_millis(1);
/// A time limit is kept to this part of itself.
const SWEEPS_PER_TIMEOUT: u32 = 20;

/// What threads and the main thread tell each other.
#[derive(Default)]
pub struct Signals {
    /// Stop at once, with what is under way.
    pub cut: AtomicBool,
    /// When a response last came, by the run's clock, in nanoseconds.
    pub answered_ns: AtomicU64,
    /// Requests that failed so far.
    pub failed: AtomicU64,
}

/// What the workers of one thread share.
pub struct ThreadContext {
    pub plan: Arc<Plan>,
    pub share: Share,
    pub clock: Clock,
    pub alarm: Alarm,
    pub schedule: RefCell<Schedule>,
    pub recorder: RefCell<Recorder>,
    pub scratch: RefCell<Box<[u8]>>,
    pub slots: Vec<Slot>,
    /// Requests that have been sent and have neither answer nor fault.
    pub under_way: Cell<u64>,
    /// Of each server: HTTP/2 connections, each shared by `streams` workers.
    pub http2: Vec<Vec<http2::Shared>>,
    /// Connections that are open.
    pub open: Rc<Cell<u64>>,
    /// Of each worker: when the request is due that it waits to send.
    pub due: Vec<Cell<Option<u64>>>,
    taken: Cell<u64>,
}

impl ThreadContext {
    /// The number among all requests of the next one, for variables and the list of URLs.
    #[inline]
    pub fn next_number(&self) -> u64 {
        let own = self.taken.get();
        self.taken.set(own + 1);
        self.share.request(own)
    }
}

/// What a thread leaves behind.
pub struct Outcome {
    pub tally: Tally,
    pub time: ThreadTime,
}

/// Runs a thread's share to its end.
pub fn run(plan: Arc<Plan>, share: Share, clock: Clock, outlets: Outlets, signals: &Signals) -> io::Result<Outcome> {
    let before = ThreadTime::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default())?;
    let tally = runtime.block_on(async {
        let context = Rc::new(context(plan, share, clock, outlets)?);
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
    Ok(Outcome { tally, time: ThreadTime::now().since(&before) })
}

fn context(plan: Arc<Plan>, share: Share, clock: Clock, outlets: Outlets) -> io::Result<ThreadContext> {
    let workers = share.own_workers();
    let open = Rc::new(Cell::new(0));
    let groups = if plan.http2 { workers.div_ceil(plan.streams) } else { 0 };
    let warmup_ns = plan.warmup.as_nanos() as u64;
    Ok(ThreadContext {
        share,
        clock,
        alarm: Alarm::new(clock, workers)?,
        schedule: RefCell::new(Schedule::new(plan.pacing, share, plan.extent, warmup_ns, plan.seed)),
        recorder: RefCell::new(Recorder::new(share.thread, plan.pacing != Pacing::Closed, warmup_ns, outlets, Rc::clone(&open))),
        scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
        slots: (0..workers).map(|_| Slot::new()).collect(),
        under_way: Cell::new(0),
        http2: plan.targets.iter().map(|_| (0..groups).map(|_| http2::Shared::default()).collect()).collect(),
        open,
        due: (0..workers).map(|_| Cell::new(None)).collect(),
        taken: Cell::new(0),
        plan,
    })
}

/// Looks after deadlines and seconds, and returns when the run is cut off.
async fn sweep(context: &ThreadContext, signals: &Signals) {
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

/// Counts what was left undone.
fn finish(context: &ThreadContext) -> Tally {
    let now = context.clock.now_ns();
    let waiting = context.due.iter().filter(|due| due.get().is_some_and(|due| due <= now)).count() as u64;
    let mut tally = context.recorder.borrow_mut().finish(now);
    tally.requests.unfinished = context.under_way.get();
    tally.requests.unsent = waiting + context.schedule.borrow_mut().overdue(now);
    tally
}
