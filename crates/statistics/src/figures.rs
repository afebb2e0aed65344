//! The figures of one interval: of an API, or of all.

use tollgate_model::distribution::{BOUNDS, Distribution, OWN_NS, REQUEST_NS};

/// Buckets of durations.
const BUCKETS: usize = BOUNDS + 1;

/// The counts, by name.
pub const COUNTS: [&str; 10] = [
    "requests",
    "ok",
    "client_errors",
    "server_errors",
    "refused",
    "upstream_errors",
    "timeouts",
    "in_flight",
    "request_bytes",
    "response_bytes",
];

/// Places in [`COUNTS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// All requests.
    Requests,
    /// Answers with a status below 400.
    Ok,
    /// Answers with 4xx.
    ClientErrors,
    /// Answers with 5xx, and requests without an answer.
    ServerErrors,
    /// Requests that the gateway rejected; they are among the answers too.
    Refused,
    /// Requests that an upstream failed.
    UpstreamErrors,
    /// Of these, those that took too long.
    Timeouts,
    /// Requests at the upstream at the end of the interval: not a count but a level.
    InFlight,
    /// Bytes of request bodies.
    RequestBytes,
    /// Bytes of response bodies.
    ResponseBytes,
}

/// Figures of an interval, or since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// By place in [`COUNTS`].
    pub counts: [u64; COUNTS.len()],
    /// Requests by the upstream's time.
    pub upstream: [u64; BUCKETS],
    /// Requests by the gateway's own time.
    pub gateway: [u64; BUCKETS],
}

/// Numbers of one set of figures.
pub(crate) const NUMBERS: usize = COUNTS.len() + 2 * BUCKETS;

impl Figures {
    /// One of the counts.
    pub fn count(&self, count: Count) -> u64 {
        self.counts.get(count as usize).copied().unwrap_or_default()
    }

    /// Sets one of the counts.
    pub fn set(&mut self, count: Count, value: u64) {
        self.counts.get_mut(count as usize).into_iter().for_each(|own| *own = value);
    }

    /// Whether nothing happened.
    pub fn is_idle(&self) -> bool {
        self.count(Count::Requests) == 0 && self.count(Count::InFlight) == 0
    }

    /// What happened since an earlier state. Counters that were reset count from 0.
    #[must_use]
    pub fn since(&self, earlier: &Figures) -> Figures {
        let mut since = self.clone();
        if self.count(Count::Requests) < earlier.count(Count::Requests) {
            return since;
        }
        since.numbers_mut().zip(earlier.numbers()).for_each(|(now, then)| *now = now.saturating_sub(then));
        since.set(Count::InFlight, self.count(Count::InFlight));
        since
    }

    /// Adds the figures of another gateway or API over the same time.
    pub fn add(&mut self, other: &Figures) {
        self.numbers_mut().zip(other.numbers()).for_each(|(own, more)| *own = own.saturating_add(more));
    }

    /// Adds the figures of the following interval. Levels take the higher one.
    pub fn extend(&mut self, next: &Figures) {
        let level = self.count(Count::InFlight).max(next.count(Count::InFlight));
        self.add(next);
        self.set(Count::InFlight, level);
    }

    /// p50, p90 and p99 of the upstream's and the gateway's time, in microseconds with two digits; `None` without a request.
    pub fn percentiles_us(&self) -> [Option<u64>; 6] {
        let upstream = [0.5, 0.9, 0.99].map(|share| quantile_us(&self.upstream, &REQUEST_NS, share));
        let gateway = [0.5, 0.9, 0.99].map(|share| quantile_us(&self.gateway, &OWN_NS, share));
        let ([a, b, c], [d, e, f]) = (upstream, gateway);
        [a, b, c, d, e, f]
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.counts.iter().chain(&self.upstream).chain(&self.gateway).copied()
    }

    pub(crate) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.counts.iter_mut().chain(&mut self.upstream).chain(&mut self.gateway)
    }
}

/// Names of what [`Figures::percentiles_us`] returns.
pub(crate) const PERCENTILES: [&str; 6] =
    ["upstream_p50_us", "upstream_p90_us", "upstream_p99_us", "gateway_p50_us", "gateway_p90_us", "gateway_p99_us"];

fn quantile_us(buckets: &[u64; BUCKETS], bounds: &[u64; BOUNDS], share: f64) -> Option<u64> {
    let distribution = Distribution { buckets: *buckets, sum_ns: 0 };
    (distribution.count() > 0).then(|| two_digits(distribution.quantile_ns(bounds, share) / 1_000))
}

/// Buckets tell no more than two digits.
fn two_digits(value: u64) -> u64 {
    let mut unit = 1;
    while value / unit >= 100 {
        unit *= 10;
    }
    (value + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::{Count, Figures, two_digits};

    #[test]
    fn percentiles_have_two_digits() {
        for (value, shown) in [(0, 0), (7, 7), (99, 99), (123, 120), (999, 1000), (1_949, 1_900), (30_000_000, 30_000_000)] {
            assert_eq!(two_digits(value), shown, "{value}");
        }
    }

    #[test]
    fn counters_that_were_reset_count_from_zero_and_levels_are_not_subtracted() {
        let figures = |requests, in_flight| {
            let mut figures = Figures::default();
            figures.set(Count::Requests, requests);
            figures.set(Count::InFlight, in_flight);
            figures
        };
        assert_eq!(figures(10, 3).since(&figures(4, 5)), figures(6, 3));
        assert_eq!(figures(2, 1).since(&figures(4, 5)), figures(2, 1));
        let mut longer = figures(2, 1);
        longer.extend(&figures(3, 4));
        assert_eq!(longer, figures(5, 4));
    }

    #[test]
    fn without_requests_there_are_no_percentiles() {
        let mut figures = Figures::default();
        assert_eq!(figures.percentiles_us(), [None; 6]);
        figures.gateway[3] = 10;
        assert_eq!(figures.percentiles_us()[3], Some(40));
        figures.upstream[16] = 10;
        assert_eq!(figures.percentiles_us()[2], Some(30_000_000), "beyond the last bound");
    }
}
