//! Statistics: distributions of durations, figures over rounds, and reproducible random numbers.

pub(crate) mod distribution;
pub(crate) mod random;
pub(crate) mod rounds;
