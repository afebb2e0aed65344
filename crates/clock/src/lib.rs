//! Time as the gateway reads it: monotonic within the process ([`MonoTime`]), and wall-clock time of a core ([`TimeOfDay`]); and results that
//! are not there yet ([`Pending`]). Knows nothing of requests, and does no I/O.
#![forbid(unsafe_code)]

mod mono_time;
mod pending;
mod wall;

pub use mono_time::MonoTime;
pub use pending::{Completer, Pending};
pub use wall::{TimeOfDay, unix_ms, unix_ns, unix_s};

/// Clocks of the calling thread that a test stops and moves.
#[cfg(any(test, feature = "virtual-time"))]
pub mod virtual_time {
    pub use crate::mono_time::virtual_time::{advance, stop};
    pub use crate::wall::virtual_time::pass;
}
