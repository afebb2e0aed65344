//! Statistics: distributions of times, figures over rounds, and random numbers that are the same in each run.

pub(crate) mod distribution;
pub(crate) mod random;
pub(crate) mod rounds;
