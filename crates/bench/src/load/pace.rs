//! When requests are due: the schedule of a rate, the ramp of workers, and their clock and timer.

pub(super) mod clock;
pub(super) mod ramp;
pub(super) mod schedule;
