//! A thread that has scripts run: it has a process of its own, gives it one call after the other, and does what scripts ask of their host.

use super::state::{Assignment, IDLE_MAX, IdleEnd, ScriptLane, State, WantedThread};
use super::worker::{EngineWorker, Waits};
use super::{Shared, Task};
use crate::fault::ScriptFault;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// Stack of a thread: messages to and from the process pass through it, but no script.
const STACK_BYTES: usize = 512 << 10;

pub(super) fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(work)
}

/// Makes calls until there have been none for a while.
pub(super) fn run(engine: &Arc<Shared>) {
    let mut worker = engine.take_spare();
    let mut found = wait(engine);
    while let Some(FoundCall { assignment: Assignment { lane, task, serial }, wanted }) = found {
        // For the next call, if one is ready: this one may never end.
        Shared::wake_or_start(engine, wanted);
        let result = task.reply.is_awaited().then(|| call(engine, &mut worker, &lane, &task, serial));
        // The call ends first: whoever gets the reply may make the next one, and this thread is there for it.
        let next = next(engine, serial);
        if let Some(result) = result {
            task.reply.send(result);
        }
        worker = worker.filter(EngineWorker::is_usable);
        found = next.or_else(|| wait(engine));
    }
}

/// A call to run.
struct FoundCall {
    assignment: Assignment,
    /// The thread that is missing for another one.
    wanted: Option<WantedThread>,
}

fn take(state: &mut State, now: Instant) -> Option<FoundCall> {
    let assignment = state.next(now)?;
    Some(FoundCall { assignment, wanted: state.wanted_thread(now) })
}

/// Ends a call, and takes the next one if there is one.
fn next(engine: &Arc<Shared>, serial: u64) -> Option<FoundCall> {
    let mut state = engine.lock();
    state.end(serial);
    let found = take(&mut state, Instant::now());
    if found.is_none() {
        state.look_again();
    }
    found
}

/// Waits for a call; `None` when the thread is to end.
fn wait(engine: &Arc<Shared>) -> Option<FoundCall> {
    let thread = std::thread::current();
    let mut state = engine.lock();
    let mut is_over = false;
    loop {
        let began = Instant::now();
        if let Some(found) = take(&mut state, began) {
            return Some(found);
        }
        if is_over {
            state.end_thread();
            return None;
        }
        let time_max = state.begin_idle(thread.clone());
        drop(state);
        std::thread::park_timeout(time_max);
        state = engine.lock();
        is_over = state.end_idle(&thread) == IdleEnd::ByItself && began.elapsed() >= IDLE_MAX;
    }
}

fn call(
    engine: &Arc<Shared>,
    worker: &mut Option<EngineWorker>,
    lane: &Arc<ScriptLane>,
    Task { call, deadline, .. }: &Task,
    serial: u64,
) -> Result<String, ScriptFault> {
    if Instant::now() >= *deadline {
        return Err(ScriptFault::Timeout(lane.limits.time_max));
    }
    let worker = match worker {
        Some(worker) => worker,
        none => none.insert(EngineWorker::start().map_err(|error| ScriptFault::Unavailable(error.to_string()))?),
    };
    worker.call(lane, call, &CallWaits { engine, serial }, *deadline)
}

/// Lets other calls run while this one waits for another server.
struct CallWaits<'a> {
    engine: &'a Arc<Shared>,
    serial: u64,
}

impl Waits for CallWaits<'_> {
    fn begin(&self) {
        let mut state = self.engine.lock();
        state.wait(self.serial, true);
        // The place that this call leaves is for a thread that found nothing to run, or for a new one.
        let wanted = state.wanted_thread(Instant::now());
        drop(state);
        Shared::wake_or_start(self.engine, wanted);
    }

    fn end(&self) {
        self.engine.lock().wait(self.serial, false);
    }
}
