//! Service level objectives: `p99<5ms`, `max<1s`. They apply to the response time, which starts at the intended send time.

use crate::amount;
use crate::stats::distribution::LatencyDistribution;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A statistic of the response time and its upper bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Objective {
    figure: ObjectiveFigure,
    below: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ObjectiveFigure {
    Mean,
    Max,
    /// The percentile.
    Percentile(f64),
}

impl Objective {
    /// The objective if none is given.
    pub(crate) const DEFAULT: Objective = Objective { figure: ObjectiveFigure::Percentile(99.0), below: Duration::from_millis(10) };

    /// The measured value if it violates the objective.
    pub(crate) fn missed(&self, response_time: &LatencyDistribution) -> Option<Duration> {
        let us = match self.figure {
            ObjectiveFigure::Mean => response_time.mean_us(),
            ObjectiveFigure::Max => response_time.max_us(),
            ObjectiveFigure::Percentile(percent) => response_time.percentile_us(percent),
        };
        let measured = Duration::from_secs_f64(us / 1e6);
        (measured >= self.below).then_some(measured)
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.figure {
            ObjectiveFigure::Mean => write!(out, "mean<{:?}", self.below),
            ObjectiveFigure::Max => write!(out, "max<{:?}", self.below),
            ObjectiveFigure::Percentile(percent) => write!(out, "p{percent}<{:?}", self.below),
        }
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an objective such as p99<5ms, mean<2ms or max<1s");
        let (figure, below) = text.split_once('<').ok_or_else(wrong)?;
        let figure = match figure.trim() {
            "mean" => ObjectiveFigure::Mean,
            "max" => ObjectiveFigure::Max,
            figure => {
                let percent = figure.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok()).ok_or_else(wrong)?;
                if !(percent > 0.0 && percent < 100.0) {
                    return Err(wrong());
                }
                ObjectiveFigure::Percentile(percent)
            }
        };
        let below = amount::duration(below.trim())?;
        if below.is_zero() { Err(wrong()) } else { Ok(Objective { figure, below }) }
    }
}

#[cfg(test)]
mod tests;
