//! A thread that runs scripts.

use super::state::Assignment;
use super::{Shared, Task};
use crate::bindings::Waits;
use crate::fault::ScriptFault;
use crate::limits::THREAD_STACK_BYTES;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How much less time than the data threads it gets when both want to run: about a tenth.
const NICENESS: i32 = 10;
/// How long an idle thread stays.
const IDLE_MAX: Duration = Duration::from_secs(30);

pub(super) fn spawn<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).stack_size(THREAD_STACK_BYTES).spawn(work)
}

/// Runs calls until there have been none for a while.
pub(super) fn run(engine: &Arc<Shared>) {
    // On Linux this is the priority of the thread. A system that forbids it has no other effect.
    let _ = rustix::process::setpriority_process(None, NICENESS);
    while let Some(assignment) = next(engine) {
        let serial = assignment.serial;
        // An idle thread counts until it wakes, so calls that came meanwhile may all have relied on this one.
        Shared::wake_or_start(engine);
        serve(engine, assignment);
        let mut state = engine.lock();
        if !state.end(serial) {
            // Another thread has taken its place.
            return;
        }
    }
}

/// The next call; `None` when the thread is to end.
fn next(engine: &Arc<Shared>) -> Option<Assignment> {
    let mut state = engine.lock();
    loop {
        if let Some(assignment) = state.next() {
            return Some(assignment);
        }
        state.idle += 1;
        let (again, waited) = engine.work.wait_timeout(state, IDLE_MAX).unwrap_or_else(std::sync::PoisonError::into_inner);
        state = again;
        state.idle -= 1;
        if waited.timed_out() {
            if let Some(assignment) = state.next() {
                return Some(assignment);
            }
            state.threads -= 1;
            return None;
        }
    }
}

fn serve(engine: &Arc<Shared>, Assignment { lane, task: Task { call, reply, deadline }, serial }: Assignment) {
    if !reply.is_awaited() {
        return;
    }
    if Instant::now() >= deadline {
        return reply.send(Err(ScriptFault::Timeout(lane.limits.time_max)));
    }
    let waits = Arc::new(CallWaits { engine: engine.clone() });
    let sandbox = match lane.take_sandbox().map_or_else(|| lane.new_sandbox(waits, true), Ok) {
        Ok(sandbox) => sandbox,
        Err(fault) => return reply.send(Err(ScriptFault::Unavailable(fault.to_string()))),
    };
    CURRENT.set(serial);
    let (result, is_usable) = sandbox.run(call.entry, call.handler, &call.arguments, deadline);
    reply.send(result);
    if is_usable {
        lane.keep_sandbox(sandbox);
    }
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
