//! A thread that runs scripts.

use super::state::{Assignment, IDLE_MAX, IdleEnd, Lane};
use super::{Shared, Task};
use crate::bindings::Waits;
use crate::fault::ScriptFault;
use crate::limits::THREAD_STACK_BYTES;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// How much less time than the data threads it gets when both want to run: about a tenth.
const NICENESS: i32 = 10;
pub(super) fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_BYTES).spawn(work)
}

/// Runs calls until there have been none for a while.
pub(super) fn run(engine: &Arc<Shared>) {
    // On Linux this is the priority of the thread. A system that forbids it has no other effect.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    while let Some(assignment) = next(engine) {
        // For the next call, if one is ready: this one may never end.
        Shared::wake_or_start(engine);
        if !serve(engine, assignment) {
            // Another thread has taken its place.
            return;
        }
    }
}

/// The next call; `None` when the thread is to end.
fn next(engine: &Arc<Shared>) -> Option<Assignment> {
    let thread = std::thread::current();
    let mut state = engine.lock();
    let mut is_over = false;
    loop {
        let began = Instant::now();
        if let Some(assignment) = state.next(began) {
            return Some(assignment);
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

/// Runs a call. False if it was given up meanwhile.
fn serve(engine: &Arc<Shared>, Assignment { lane, task, serial }: Assignment) -> bool {
    CURRENT.set(serial);
    let result = task.reply.is_awaited().then(|| call(engine, &lane, &task));
    // The call ends first: whoever gets the reply may make the next one, and this thread is there for it.
    let is_in_time = engine.lock().end(serial);
    if let Some(result) = result {
        task.reply.send(result);
    }
    is_in_time
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
        self.engine.lock().wait(CURRENT.get(), true);
        // The place that this call leaves is for a thread that found nothing to run, or for a new one.
        Shared::wake_or_start(&self.engine);
    }

    fn end(&self) {
        self.engine.lock().wait(CURRENT.get(), false);
    }
}
