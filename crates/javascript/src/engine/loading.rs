//! Loading of programs: their top-level code runs, in a process, behind the gate of all plugins. Processes that are free are kept for the next
//! load or call.

use super::state::ScriptLane;
use super::worker::{EngineWorker, Waits};
use super::{Shared, thread};
use crate::fault::ProgramFault;
use crate::limits::LOAD_TIME_MAX;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long an idle process that nobody needs stays.
const SPARE_TIME_MAX: Duration = Duration::from_secs(30);
/// Idle processes that stay.
const SPARES_MAX: usize = 2;

/// Processes that are ready for the next load or call.
#[derive(Default)]
pub(super) struct Spares(Mutex<SpareState>);

#[derive(Default)]
struct SpareState {
    /// With the time since when.
    workers: Vec<(EngineWorker, Instant)>,
    /// Whether a thread ends those that nobody needs.
    has_thread: bool,
}

impl Spares {
    fn lock(&self) -> MutexGuard<'_, SpareState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(&self) -> Option<EngineWorker> {
        self.lock().workers.pop().map(|(worker, _)| worker)
    }
}

/// Begins to load a program, and waits for the verdict as long as the gate says. Without a verdict its calls wait for it, and its host is
/// told if it fails.
pub(super) fn load(engine: &Arc<Shared>, lane: &Arc<ScriptLane>) -> Result<(), ProgramFault> {
    let (own_engine, own_lane, host) = (engine.clone(), lane.clone(), lane.host.clone());
    let work = move || {
        let result = in_worker(&own_engine, &own_lane);
        Shared::end_load(&own_engine, &own_lane, result.clone());
        result
    };
    let loaded = engine.gate.load(work, move |fault| host.load_failed(fault));
    loaded.map_err(|error| unavailable(&error.to_string()))?.unwrap_or(Ok(()))
}

fn in_worker(engine: &Arc<Shared>, lane: &Arc<ScriptLane>) -> Result<(), ProgramFault> {
    let worker = engine.spares.take().map_or_else(EngineWorker::start, Ok);
    let mut worker = worker.map_err(|error| unavailable(&error.to_string()))?;
    let result = worker.load(lane, false, &NoWaits, LOAD_TIME_MAX);
    if worker.is_usable() {
        keep_spare(engine, worker);
    }
    result
}

/// Keeps a process for the next load or call, for a while.
fn keep_spare(engine: &Arc<Shared>, worker: EngineWorker) {
    let mut state = engine.spares.lock();
    if state.workers.len() >= SPARES_MAX {
        drop(state);
        return drop(worker);
    }
    state.workers.push((worker, Instant::now()));
    if !state.has_thread {
        let weak = Arc::downgrade(engine);
        state.has_thread = thread::spawn("script-spares", move || while expire_spares(&weak) {}).is_ok();
    }
}

/// Waits, and ends processes that nobody has needed. False when there are no others.
fn expire_spares(engine: &Weak<Shared>) -> bool {
    std::thread::sleep(SPARE_TIME_MAX / 2);
    let Some(engine) = engine.upgrade() else { return false };
    let mut state = engine.spares.lock();
    let is_old = |(_, since): &mut (EngineWorker, Instant)| since.elapsed() >= SPARE_TIME_MAX;
    let old: Vec<_> = state.workers.extract_if(.., is_old).collect();
    state.has_thread = !state.workers.is_empty();
    let goes_on = state.has_thread;
    drop(state);
    drop(old);
    goes_on
}

fn unavailable(why: &str) -> ProgramFault {
    ProgramFault { source: String::new(), message: format!("the script engine can't be started: {why}") }
}

/// While a program is loaded, no call waits for its thread.
struct NoWaits;

impl Waits for NoWaits {
    fn begin(&self) {}
    fn end(&self) {}
}
