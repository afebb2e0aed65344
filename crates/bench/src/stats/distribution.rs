//! A distribution of durations: an HDR histogram of nanoseconds with three significant digits, 100 ns to an hour. Every value
//! counts, none is sampled, and distributions can be added without loss.

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Resolution.
const LOWEST_NS: u64 = 100;
/// Maximum; longer durations count as this long.
const HIGHEST_NS: u64 = 3_600_000_000_000;
const DIGITS: u8 = 3;

/// Recorded durations.
#[derive(Clone, Debug)]
pub(crate) struct LatencyDistribution {
    histogram: Histogram<u64>,
}

impl LatencyDistribution {
    /// An empty distribution.
    #[expect(clippy::expect_used, reason = "the bounds are constants that the constructor accepts")]
    pub(crate) fn new() -> Self {
        LatencyDistribution { histogram: Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS).expect("constant bounds") }
    }

    /// Records one duration.
    #[inline]
    pub(crate) fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
    }

    /// Adds all durations of `other`.
    pub(crate) fn add(&mut self, other: &LatencyDistribution) {
        // Both have the same bounds, so nothing can be out of range; `decode` validates files.
        let _ = self.histogram.add(&other.histogram);
    }

    /// Removes all durations.
    pub(crate) fn reset(&mut self) {
        self.histogram.reset();
    }

    /// Number of recorded durations.
    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The percentile in microseconds.
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

    /// Number of durations above `above_us` and up to `up_to_us`, within the resolution.
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

    /// HdrHistogram's compressed V2 encoding in base64, which its other implementations also read.
    pub(crate) fn encode(&self) -> String {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = V2DeflateSerializer::new().serialize(&self.histogram, &mut bytes);
        BASE64.encode(bytes)
    }

    /// Decodes the output of `encode`.
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
