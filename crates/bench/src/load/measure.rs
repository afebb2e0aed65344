//! Measurements during a run: per thread, per second, and per request for `-o csv`.

pub(super) mod csv;
pub(super) mod recorder;
pub(super) mod sample;
pub(super) mod series;
pub(super) mod tally;
