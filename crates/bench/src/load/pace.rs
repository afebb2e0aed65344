//! When requests are due: the schedule of a rate, the ramp of workers, and the clock and alarm that both are kept by.

pub(super) mod clock;
pub(super) mod ramp;
pub(super) mod schedule;
