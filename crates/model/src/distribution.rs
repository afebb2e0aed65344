//! Histogram of durations: the format that the gateway shows and `tollgate top` reads.

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Bucket bounds for the time of a client or an upstream, in nanoseconds.
pub const REQUEST_NS: [u64; BOUNDS] = [
    250 * US,
    500 * US,
    MS,
    2_500 * US,
    5 * MS,
    10 * MS,
    25 * MS,
    50 * MS,
    100 * MS,
    250 * MS,
    500 * MS,
    S,
    2_500 * MS,
    5 * S,
    10 * S,
    30 * S,
];
/// Bucket bounds for the time of the gateway itself, in nanoseconds.
pub const OWN_NS: [u64; BOUNDS] = [
    10 * US,
    20 * US,
    30 * US,
    50 * US,
    75 * US,
    100 * US,
    200 * US,
    500 * US,
    MS,
    2 * MS,
    5 * MS,
    10 * MS,
    25 * MS,
    100 * MS,
    500 * MS,
    2 * S,
];
/// Number of bucket bounds; one more bucket is for durations beyond the last.
pub const BOUNDS: usize = 16;

/// Counts of several cores, summed.
#[derive(Clone, Default)]
pub struct Distribution {
    /// Number of durations in each bucket; the last one is for durations beyond the bounds.
    pub buckets: [u64; BOUNDS + 1],
    /// Sum of all durations.
    pub sum_ns: u64,
}

impl Distribution {
    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The duration below which this share of all lies, in nanoseconds, interpolated between two bounds; 0 without any duration.
    pub fn quantile_ns(&self, bounds: &[u64; BOUNDS], share: f64) -> u64 {
        let wanted = self.count() as f64 * share;
        let (mut seen, mut lower) = (0.0, 0);
        for (count, upper) in self.buckets.iter().zip(bounds) {
            let next = seen + *count as f64;
            if next >= wanted && *count > 0 {
                return lower + ((upper - lower) as f64 * (wanted - seen) / *count as f64) as u64;
            }
            (seen, lower) = (next, *upper);
        }
        if seen > 0.0 || self.buckets.last().is_some_and(|count| *count > 0) { lower } else { 0 }
    }
}
