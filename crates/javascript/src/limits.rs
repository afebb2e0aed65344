//! The limits of a call.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The limits of each call of a script.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ScriptLimits {
    /// Time from the moment when the call is made, including its wait for a thread and for other servers.
    pub time_max: Duration,
    /// Memory of the engine that runs the call, in bytes.
    pub memory_bytes_max: usize,
}

/// Bytes that one call may log: some hundred lines. A script that logs more does so in a loop.
pub(crate) const LOG_BYTES_MAX: usize = 64 << 10;

/// Stack of the interpreter. Its frames are large; this allows some thousand nested calls. A thread has [`THREAD_STACK_BYTES`].
pub(crate) const STACK_BYTES_MAX: usize = 768 << 10;

/// Stack of the thread that runs scripts: the interpreter's, and room for what is called from it.
pub(crate) const THREAD_STACK_BYTES: usize = 2 << 20;

/// Time for loading a program, which runs its top-level code once.
pub(crate) const LOAD_TIME_MAX: Duration = Duration::from_secs(5);

/// Requests in one `TykBatchRequest`; the same as for batches of clients.
pub(crate) const BATCH_REQUESTS_MAX: usize = 100;
