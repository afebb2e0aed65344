//! What is counted while a run goes on: by thread, by second, and line by line for `-o csv`.

pub(super) mod csv;
pub(super) mod recorder;
pub(super) mod sample;
pub(super) mod series;
pub(super) mod tally;
