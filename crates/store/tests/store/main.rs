//! What every store promises, and what the embedded one promises beyond: kept across `kill -9`, restarts and damage.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod contract;
mod kill;
mod load;
mod model;
mod redis;
mod servers;
mod setting;
