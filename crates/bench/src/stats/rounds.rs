//! Figures over rounds: median, range, and the confidence interval of a ratio.

use super::random::SeededRandom;
use serde::{Deserialize, Serialize};

/// Resamples of the bootstrap: enough for the interval's ends to be stable to three digits.
const RESAMPLES: usize = 4_000;

/// A median with the lowest and highest value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub median: f64,
    pub low: f64,
    pub high: f64,
}

/// The median; `None` without values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    sorted.get(sorted.len() / 2 - 1).map(|lower| f64::midpoint(*lower, upper))
}

/// The median with the lowest and highest value.
pub(crate) fn spread(values: &[f64]) -> Option<Spread> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    Some(Spread {
        median: median(values)?,
        low: finite().fold(f64::INFINITY, f64::min),
        high: finite().fold(f64::NEG_INFINITY, f64::max),
    })
}

/// The median of the ratios within each round, and the interval that contains 95 % of the medians of resampled rounds. Ratios
/// within a round cancel out effects of the machine on both.
pub(crate) fn ratio(ours: &[f64], theirs: &[f64]) -> Option<Spread> {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(a, b)| a / b).filter(|ratio| ratio.is_finite() && *ratio > 0.0).collect();
    let centre = median(&ratios)?;
    let mut random = SeededRandom::new(0x5EED);
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let sample: Vec<f64> = ratios.iter().filter_map(|_| ratios.get(random.below(ratios.len())).copied()).collect();
            median(&sample)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    let low = *medians.get(medians.len() * 25 / 1000)?;
    let high = *medians.get((medians.len() * 975 / 1000).min(medians.len().saturating_sub(1)))?;
    Some(Spread { median: centre, low, high })
}

#[cfg(test)]
mod tests;
