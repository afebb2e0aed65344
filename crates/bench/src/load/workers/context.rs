//! State shared by the workers of one thread. Other threads do not access it.

use super::deadline::DeadlineSlot;
use super::shared_connection::SharedConnection;
use crate::load::measure::recorder::{Outlets, ThreadRecorder};
use crate::load::pace::clock::{Alarm, RunClock};
use crate::load::pace::schedule::{Pacing, Schedule, ThreadShare};
use crate::load::plan::LoadPlan;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum bytes of one read.
const SCRATCH_BYTES: usize = 64 * 1024;

/// State shared by the workers of one thread.
pub(crate) struct ThreadContext {
    pub plan: Arc<LoadPlan>,
    pub share: ThreadShare,
    pub clock: RunClock,
    pub alarm: Alarm,
    pub schedule: RefCell<Schedule>,
    pub recorder: RefCell<ThreadRecorder>,
    pub scratch: RefCell<Box<[u8]>>,
    pub slots: Vec<DeadlineSlot>,
    /// Requests sent without a response or error so far.
    pub under_way: Cell<u64>,
    /// HTTP/2 connections by server, each shared by `streams` workers.
    pub http2: Vec<Vec<SharedConnection>>,
    /// Number of open connections.
    pub open: Rc<Cell<u64>>,
    /// By worker: due time of the request that it waits to send.
    pub due: Vec<Cell<Option<u64>>>,
    taken: Cell<u64>,
}

impl ThreadContext {
    pub(crate) fn new(plan: Arc<LoadPlan>, share: ThreadShare, clock: RunClock, outlets: Outlets) -> io::Result<ThreadContext> {
        let workers = share.own_workers();
        let open = Rc::new(Cell::new(0));
        let groups = if plan.http2 { workers.div_ceil(plan.streams) } else { 0 };
        let warmup_ns = plan.warmup.as_nanos() as u64;
        Ok(ThreadContext {
            share,
            clock,
            alarm: Alarm::new(clock, workers)?,
            schedule: RefCell::new(Schedule::new(plan.pacing, share, plan.extent, warmup_ns, plan.seed)),
            recorder: RefCell::new(ThreadRecorder::new(
                share.thread,
                plan.pacing != Pacing::Closed,
                warmup_ns,
                outlets,
                Rc::clone(&open),
            )),
            scratch: RefCell::new(vec![0; SCRATCH_BYTES].into_boxed_slice()),
            slots: (0..workers).map(|_| DeadlineSlot::new()).collect(),
            under_way: Cell::new(0),
            http2: plan.targets.iter().map(|_| (0..groups).map(|_| SharedConnection::default()).collect()).collect(),
            open,
            due: (0..workers).map(|_| Cell::new(None)).collect(),
            taken: Cell::new(0),
            plan,
        })
    }

    /// Global number of the next request, for variables and the list of URLs.
    #[inline]
    pub(crate) fn next_number(&self) -> u64 {
        let own = self.taken.get();
        self.taken.set(own + 1);
        self.share.request(own)
    }
}
