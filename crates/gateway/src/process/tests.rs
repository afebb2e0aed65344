//! Whole chains without a process: definitions go in as files, requests as bytes, and time passes only where a test says so.
//!
//! For tests that ask which verdict a chain comes to, what the upstream gets, what the client gets, or what counts. What depends on sockets,
//! signals, threads or the program's own life belongs into `tests/e2e`. Both write their tests in the same way.

mod harness;

mod cors;
mod headers;
mod versions;
