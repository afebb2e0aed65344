//! The process: the command line, the start, signals, the restart, the end.

pub mod check;
pub mod cli;
pub mod handover;
pub mod migrate;
pub mod notify;
pub mod run;
pub mod schema;
pub mod signals;
pub mod storage;
