//! A thread that runs scripts.

use super::state::{Assignment, IDLE_MAX, IdleEnd, Lane, State, WantedThread};
use super::{Shared, Task};
use crate::bindings::Waits;
use crate::fault::ScriptFault;
use crate::limits::THREAD_STACK_BYTES;
use crate::priority;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

pub(super) fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_BYTES).spawn(work)
}

/// Runs calls until there have been none for a while.
pub(super) fn run(engine: &Arc<Shared>) {
    priority::begin_thread();
    let mut found = wait(engine);
    while let Some(FoundCall { assignment: Assignment { lane, task, serial }, wanted }) = found {
        // For the next call, if one is ready: this one may never end.
        Shared::wake_or_start(engine, wanted);
        CURRENT.set(serial);
        let result = task.reply.is_awaited().then(|| call(engine, &lane, &task));
        // The call ends first: whoever gets the reply may make the next one, and this thread is there for it.
        let next = if priority::is_low() { end_thread(engine, serial) } else { next(engine, serial) };
        if let Some(result) = result {
            task.reply.send(result);
        }
        found = match next {
            Err(ThreadEnds) => return,
            Ok(next) => next.or_else(|| wait(engine)),
        };
    }
}

/// A call to run.
struct FoundCall {
    assignment: Assignment,
    /// The thread that is missing for another one.
    wanted: Option<WantedThread>,
}

/// Another thread takes the place of this one.
struct ThreadEnds;

fn take(state: &mut State, now: Instant) -> Option<FoundCall> {
    let assignment = state.next(now)?;
    Some(FoundCall { assignment, wanted: state.wanted_thread(now) })
}

/// Ends a call, and takes the next one if there is one.
fn next(engine: &Arc<Shared>, serial: u64) -> Result<Option<FoundCall>, ThreadEnds> {
    let mut state = engine.lock();
    if !state.end(serial) {
        return Err(ThreadEnds);
    }
    let found = take(&mut state, Instant::now());
    if found.is_none() {
        state.look_again();
    }
    Ok(found)
}

/// Ends the last call of a thread.
fn end_thread(engine: &Arc<Shared>, serial: u64) -> Result<Option<FoundCall>, ThreadEnds> {
    let mut state = engine.lock();
    // A call that was given up has no thread any more.
    let wanted = state.end(serial).then(|| {
        state.miss_thread();
        state.wanted_thread(Instant::now())
    });
    drop(state);
    Shared::wake_or_start(engine, wanted.flatten());
    Err(ThreadEnds)
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

fn call(engine: &Arc<Shared>, lane: &Lane, Task { call, deadline, .. }: &Task) -> Result<String, ScriptFault> {
    if Instant::now() >= *deadline {
        return Err(ScriptFault::Timeout(lane.limits.time_max));
    }
    let waits = Arc::new(CallWaits { engine: engine.clone() });
    let sandbox = lane.take_sandbox().map_or_else(|| lane.new_sandbox(waits, true), Ok);
    let sandbox = sandbox.map_err(|fault| ScriptFault::Unavailable(fault.to_string()))?;
    let (result, is_usable) = sandbox.run(call.entry, call.handler, &call.arguments, *deadline);
    if is_usable {
        lane.keep_sandbox(sandbox);
    }
    result
}

thread_local! {
    /// The call that this thread runs.
    static CURRENT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Lets other calls run while the thread's own waits for another server.
struct CallWaits {
    engine: Arc<Shared>,
}

impl Waits for CallWaits {
    fn begin(&self) {
        let mut state = self.engine.lock();
        state.wait(CURRENT.get(), true);
        // The place that this call leaves is for a thread that found nothing to run, or for a new one.
        let wanted = state.wanted_thread(Instant::now());
        drop(state);
        Shared::wake_or_start(&self.engine, wanted);
    }

    fn end(&self) {
        self.engine.lock().wait(CURRENT.get(), false);
    }
}
