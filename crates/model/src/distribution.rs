//! Times in buckets, as the gateway shows them and `tollgate top` reads them.

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Bounds for what a client or an upstream takes, in nanoseconds.
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
/// Bounds for what the gateway itself takes, in nanoseconds.
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
/// Bounds of a histogram; one bucket more is for what is beyond the last.
pub const BOUNDS: usize = 16;

/// Counts of several cores, added up.
#[derive(Clone, Default)]
pub struct Distribution {
    /// How many times fell into each; the last bucket is for what is beyond the bounds.
    pub buckets: [u64; BOUNDS + 1],
    /// All times added up.
    pub sum_ns: u64,
}

impl Distribution {
    /// How many times there are.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The bound below which this share of the times lies, in nanoseconds, between two bounds in proportion; 0 without any.
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
