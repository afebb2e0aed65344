//! Threads for work that would hold up those who serve others. Each group has a bounded queue in which nobody waits behind what another asks too
//! much. Knows nothing of the work, does no I/O, and must never run it on the thread that asks.
#![forbid(unsafe_code)]

mod fair_queue;
mod fair_threads;
mod started_once;

pub use fair_threads::{FairThreads, ThreadPlan, half_of_the_cores};
pub use started_once::{StartedOnce, ThreadGroup};
