//! The limits of plugins, and their reasons.

use std::time::Duration;

/// Bytes of a module's file. Those of Go, the largest that there are, have some MiB.
pub(crate) const MODULE_BYTES_MAX: u64 = 32 << 20;

/// Memory of one instance: a body of 10 MiB fits several times.
pub(crate) const MEMORY_BYTES_MAX: usize = 64 << 20;

/// Memory of an instance that is kept for the next call, or twice its memory after the start. One that has grown further is thrown away,
/// so that large bodies leave nothing behind.
pub(crate) const KEPT_MEMORY_BYTES_MAX: usize = 8 << 20;

/// Elements of the tables of an instance: functions that are called by address. Large programs have some thousand.
pub(crate) const TABLE_ELEMENTS_MAX: usize = 100_000;

/// Tables of an instance. Compilers make one.
pub(crate) const TABLES_MAX: usize = 4;

/// The time of one tick of the clock that interrupts calls.
pub(crate) const TICK: Duration = Duration::from_millis(1);

/// Ticks before a call on a data thread is looked at. The usual call takes some microseconds.
pub(crate) const TICKS_HERE: u64 = 2;

/// Time for a call on a data thread from then on, which serves nobody else meanwhile: a wait that a busy connection hardly notices. A call
/// that takes longer starts again on another thread.
pub(crate) const CPU_TIME_HERE_MAX: Duration = Duration::from_millis(1);

/// Time for starting an instance when it is loaded. Whoever loads it does not wait that long; calls do.
pub(crate) const START_TIME_MAX: Duration = Duration::from_secs(5);

/// After a call that took too long for a data thread, so many calls must be short on other threads before they return to it.
pub(crate) const SHORT_CALLS_TO_RETURN: u32 = 64;

/// Calls of one hook that run on other threads at once, so that one hook cannot take all threads.
pub(crate) const LONG_RUNNING_MAX: usize = 4;

/// Calls of one hook that wait for a thread. What comes later could not be served in time.
pub(crate) const LONG_WAITING_MAX: usize = 4_096;

/// Threads for long calls: more than cores, so that endless loops of some hooks leave room for others.
pub(crate) const THREADS_MAX: usize = 16;

/// How long an idle thread stays.
pub(crate) const THREAD_IDLE_MAX: Duration = Duration::from_secs(30);

/// Stack of a thread: WebAssembly may use 512 KiB of it, as on a data thread.
pub(crate) const THREAD_STACK_BYTES: usize = 2 << 20;

/// Instances of a hook that long calls leave for the next ones, and those of each data thread.
pub(crate) const KEPT_INSTANCES_MAX: usize = 4;

/// Bytes of names and values of headers that one call sets, and of its properties. The gateway accepts fewer; this bounds what is copied.
pub(crate) const CHANGED_BYTES_MAX: usize = 256 << 10;

/// Bytes of a body that a call makes.
pub(crate) const BODY_BYTES_MAX: usize = MEMORY_BYTES_MAX;

/// Bytes that one call may log: some dozen lines. A plugin that logs more does so in a loop.
pub(crate) const LOG_BYTES_MAX: usize = 8 << 10;

/// Lines that one call may log.
pub(crate) const LOG_LINES_MAX: usize = 32;
