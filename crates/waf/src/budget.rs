//! Work and memory that one request may cost. No clock: a step is a byte that is read.

use std::fmt;

/// What is left for one request.
#[derive(Debug, Clone)]
pub struct InspectionBudget {
    steps_left: u64,
    bytes_left: u64,
    steps_max: u64,
}

/// Steps that every look at a value costs besides its bytes.
const STEPS_PER_LOOK: u64 = 16;
/// Most bytes of values that a request is taken apart into, beside the request itself.
const VALUE_BYTES_MAX: u64 = 16 << 20;

/// A request costs more than it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMuchWork;

impl fmt::Display for TooMuchWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request takes too much work to inspect")
    }
}

impl InspectionBudget {
    /// `steps_max`: bytes that all operators and transformations together may read.
    pub fn new(steps_max: u64) -> Self {
        InspectionBudget { steps_left: steps_max, bytes_left: VALUE_BYTES_MAX, steps_max }
    }

    /// Bytes read so far.
    pub fn spent(&self) -> u64 {
        self.steps_max - self.steps_left
    }

    /// Takes one look at `bytes` bytes, each of which costs `weight` steps.
    pub(crate) fn look(&mut self, bytes: usize, weight: u64) -> Result<(), TooMuchWork> {
        let steps = (bytes as u64).saturating_mul(weight).saturating_add(STEPS_PER_LOOK);
        self.steps_left = self.steps_left.checked_sub(steps).ok_or(TooMuchWork)?;
        Ok(())
    }

    /// Keeps `bytes` bytes until the request has been inspected.
    pub(crate) fn keep(&mut self, bytes: usize) -> Result<(), TooMuchWork> {
        self.bytes_left = self.bytes_left.checked_sub(bytes as u64 + STEPS_PER_LOOK).ok_or(TooMuchWork)?;
        Ok(())
    }
}
