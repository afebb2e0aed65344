//! The priority of a thread that runs scripts. A short call should end before the data thread that waits for it takes the CPU back, so it has almost
//! the priority of one. A call that uses much CPU loses it: an endless loop gets what nobody else needs. On Linux, what a thread sets here applies
//! to itself alone. A system that forbids it has no other effect.

use rustix::process::{Pid, getpriority_process, setpriority_process};
use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::time::Duration;

/// A third of the data threads' share of a CPU. With a tenth, a data thread interrupted the scripts for each of their results, and a header
/// change cost a quarter more.
const NICENESS_OF_SHORT_CALLS: i32 = 5;
/// A thirtieth of their share.
const NICENESS_OF_LONG_CALLS: i32 = 15;
/// CPU time of a call, from when the interpreter first asks whether to go on, until it is a long one.
const SHORT_CPU_TIME: Duration = Duration::from_millis(2);

thread_local! {
    static IS_LOW: Cell<bool> = const { Cell::new(false) };
    /// The thread's CPU time when the interpreter first asked in this call.
    static FIRST_ASKED: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// A thread starts.
pub(crate) fn begin_thread() {
    let _ = setpriority_process(None, NICENESS_OF_SHORT_CALLS);
}

/// A call starts.
pub(crate) fn begin_call() {
    FIRST_ASKED.set(None);
}

/// The interpreter asks whether the call is to go on, as it does every few thousand steps: short calls end before.
pub(crate) fn note_progress() {
    let Ok(now) = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)) else { return };
    match FIRST_ASKED.get() {
        None => FIRST_ASKED.set(Some(now)),
        Some(first) if now.saturating_sub(first) > SHORT_CPU_TIME && !IS_LOW.get() => {
            IS_LOW.set(true);
            let _ = setpriority_process(None, NICENESS_OF_LONG_CALLS);
        }
        Some(_) => {}
    }
}

/// Takes the priority of a thread whose call takes long: a built-in function does not do it itself.
pub(crate) fn lower(thread: Pid) {
    let _ = setpriority_process(Some(thread), NICENESS_OF_LONG_CALLS);
}

/// Whether the thread has lost its priority. Only a privileged process could give it back, so it ends after the call.
pub(crate) fn is_low() -> bool {
    IS_LOW.get() || getpriority_process(None).is_ok_and(|niceness| niceness > NICENESS_OF_SHORT_CALLS)
}
