//! A number of workers that changes linearly over time: `--ramp 0:2000:120s`.

use crate::amount;
use std::str::FromStr;
use std::time::Duration;

/// Changes the number of workers from one value to another in this time; then it stays constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ramp {
    pub from: usize,
    pub to: usize,
    pub duration: Duration,
}

impl Ramp {
    /// The maximum number of workers at any time.
    pub(crate) fn workers_max(&self) -> usize {
        self.from.max(self.to)
    }

    /// When worker `index` starts, in nanoseconds since the start of the run.
    pub(crate) fn begins_ns(&self, index: usize) -> u64 {
        if index < self.from { 0 } else { self.crossed_ns(index + 1 - self.from) }
    }

    /// When worker `index` ends; `None` if it stays until the end of the run.
    pub(crate) fn ends_ns(&self, index: usize) -> Option<u64> {
        if self.to >= self.from || index < self.to { None } else { Some(self.crossed_ns(self.from - index)) }
    }

    /// When the number of workers has changed by `steps`.
    fn crossed_ns(&self, steps: usize) -> u64 {
        let total = self.to.abs_diff(self.from).max(1);
        (self.duration.as_nanos() as f64 * steps as f64 / total as f64) as u64
    }
}

impl FromStr for Ramp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not FROM:TO:DURATION such as 0:2000:120s");
        let mut parts = text.splitn(3, ':');
        let (Some(from), Some(to), Some(time)) = (parts.next(), parts.next(), parts.next()) else { return Err(wrong()) };
        let from = from.parse().map_err(|_| wrong())?;
        let to = to.parse().map_err(|_| wrong())?;
        let duration = amount::duration(time)?;
        if from == to || duration.is_zero() {
            return Err(format!("`{text}`: the ends must differ and the duration be above 0"));
        }
        Ok(Ramp { from, to, duration })
    }
}

#[cfg(test)]
mod tests;
