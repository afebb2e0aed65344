//! A distribution of times: an HDR histogram of nanoseconds with three significant digits, 100 ns to an hour. Every value
//! counts, none is sampled, and two of them add up without loss.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Smallest difference that is kept.
const LOWEST_NS: u64 = 100;
/// Longer times count as this long.
const HIGHEST_NS: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

/// Recorded times.
#[derive(Clone, Debug)]
pub(crate) struct LatencyDistribution {
    histogram: Histogram<u64>,
}

impl LatencyDistribution {
    /// Nothing recorded yet.
    #[expect(clippy::expect_used, reason = "the bounds are constants that the constructor accepts")]
    pub(crate) fn new() -> Self {
        LatencyDistribution { histogram: Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS).expect("constant bounds") }
    }

    /// Counts one time.
    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
    }

    /// Adds everything that `other` recorded.
    pub(crate) fn add(&mut self, other: &LatencyDistribution) {
        // Both have the same bounds, so that nothing can be out of range; a foreign file was checked by `decode`.
        let _ = self.histogram.add(&other.histogram);
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.histogram.reset();
    }

    /// How many times were recorded.
    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The time below which this share of all lie, in per cent.
    pub(crate) fn percentile_us(&self, percent: f64) -> f64 {
        self.histogram.value_at_quantile(percent / 100.0) as f64 / 1000.0
    }

    /// The mean.
    pub(crate) fn mean_us(&self) -> f64 {
        self.histogram.mean() / 1000.0
    }

    /// The standard deviation.
    pub(crate) fn deviation_us(&self) -> f64 {
        self.histogram.stdev() / 1000.0
    }

    /// The shortest.
    pub(crate) fn min_us(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.histogram.min() as f64 / 1000.0 }
    }

    /// The longest.
    pub(crate) fn max_us(&self) -> f64 {
        self.histogram.max() as f64 / 1000.0
    }

    /// How many times lie above `above_us` and not above `up_to_us`, within the resolution.
    pub(crate) fn count_between(&self, above_us: f64, up_to_us: f64) -> u64 {
        let low = (above_us * 1000.0) as u64;
        let high = (up_to_us * 1000.0) as u64;
        if self.histogram.equivalent(low, high) {
            return 0;
        }
        self.histogram.count_between(self.histogram.next_non_equivalent(low), high)
    }

    /// The histogram itself, for its iterators.
    pub(crate) fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// HdrHistogram's compressed V2 encoding in base64, which its other implementations read too.
    pub(crate) fn encode(&self) -> String {
        let mut bytes = Vec::new();
        // Writing into memory does not fail.
        let _ = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes);
        BASE64.encode(bytes)
    }

    /// What `encode` made.
    pub(crate) fn decode(text: &str) -> Result<Self, String> {
        let bytes = BASE64.decode(text).map_err(|error| error.to_string())?;
        let decoded: Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|error| error.to_string())?;
        let mut distribution = LatencyDistribution::new();
        distribution.histogram.add(&decoded).map_err(|error| error.to_string())?;
        Ok(distribution)
    }
}

impl Default for LatencyDistribution {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
