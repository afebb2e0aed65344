//! The real `tollgate-bench` against small servers: what is sent, what is counted, and what happens when things go wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod command;
mod failure;
mod flags;
mod http2;
mod pacing;
mod server;
mod tls;
mod websocket;
