//! The wait before a retry.

use crate::Nanos;

/// Waits that double, with full jitter: requests that failed together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Upper bound of the first wait.
    pub first: Nanos,
    /// Upper bound of all waits.
    pub most: Nanos,
}

impl Backoff {
    /// The wait before a retry; `retries` is the number of earlier ones.
    pub fn wait(&self, retries: u32, random: u64) -> Nanos {
        let bound = self.first.saturating_mul(1 << retries.min(20)).min(self.most);
        // The high part of the product is uniform in 0..=bound.
        ((u128::from(random) * (u128::from(bound) + 1)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix;

    #[test]
    fn waits_double_up_to_their_maximum_and_are_spread_over_their_whole_range() {
        let backoff = Backoff { first: 100, most: 350 };
        for (retries, bound) in [(0, 100), (1, 200), (2, 350), (60, 350)] {
            let waits: Vec<_> = (0..10_000).map(|n| backoff.wait(retries, mix(n))).collect();
            let mean = waits.iter().sum::<u64>() as f64 / 10_000.0;
            assert_eq!((waits.iter().min(), waits.iter().max()), (Some(&0), Some(&bound)));
            // The standard error of the mean is 0.3 % of the bound; 5 of them are exceeded once in 1.7 million.
            assert!((mean - bound as f64 / 2.0).abs() < 0.015 * bound as f64, "{mean} of {bound}");
        }
    }
}
