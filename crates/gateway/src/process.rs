//! The process: the command line, the start, signals, the restart, the end.

mod announcement;
pub(crate) mod bundle_build;
pub(crate) mod check;
pub(crate) mod cli;
mod control_plane;
mod engine_settings;
pub(crate) mod handover;
pub(crate) mod manual;
pub(crate) mod migrate;
pub(crate) mod notify;
mod parts;
pub(crate) mod pid_file;
pub(crate) mod plugin_drivers;
pub(crate) mod run;
pub(crate) mod schema;
mod secret_stores;
pub(crate) mod signals;
pub(crate) mod storage;

#[cfg(test)]
mod tests;
