//! The counters of one API. They belong to its id, not to a snapshot, so they go on through reloads. So that the number of time series
//! has a bound, APIs beyond it share one meter.

use super::causes::CauseCounts;
use super::histogram::Histogram;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tollgate_engine::Counter;
use tollgate_model::distribution::{Distribution, OWN_NS, REQUEST_NS};

/// The label of what has no meter of its own.
const OTHER: &str = "_other";
/// The methods that are told apart, and the rest.
pub(crate) const METHODS: [&str; 8] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "other"];
/// Classes of status codes; the first is for exchanges that ended without a status.
pub(crate) const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// All meters.
pub(crate) struct Meters {
    by_api: Mutex<HashMap<String, Weak<Meter>>>,
    cores: usize,
    apis_max: usize,
    other: Arc<Meter>,
}

/// The counters of one API, by core; a core's are made with its first request.
pub(crate) struct Meter {
    pub api: String,
    cores: Box<[OnceLock<Box<Cells>>]>,
}

/// What one core counts for one API.
#[derive(Default)]
pub(crate) struct Cells {
    requests: [[Counter; CLASSES.len()]; METHODS.len()],
    request_time: Histogram,
    upstream_time: Histogram,
    own_time: Histogram,
    request_bytes: Counter,
    response_bytes: Counter,
    refusals: CauseCounts,
    upstream_errors: CauseCounts,
    client_errors: CauseCounts,
    dry_runs: CauseCounts,
    in_flight: Counter,
}

/// The sides of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Upstream,
}

/// What is known of a request that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// 0 when nothing was answered.
    pub status: u16,
    /// Number of the method in `METHODS`.
    pub method: usize,
    pub total_ns: u64,
    /// The upstream's part; `None` when none was asked.
    pub upstream_ns: Option<u64>,
    pub request_bytes: u64,
    pub response_bytes: u64,
}

/// An API's counters of all cores together.
#[derive(Default)]
pub(crate) struct Sum {
    pub requests: [[u64; CLASSES.len()]; METHODS.len()],
    pub request_time: Distribution,
    pub upstream_time: Distribution,
    pub own_time: Distribution,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub refusals: BTreeMap<&'static str, u64>,
    pub upstream_errors: BTreeMap<&'static str, u64>,
    pub client_errors: BTreeMap<&'static str, u64>,
    pub dry_runs: BTreeMap<&'static str, u64>,
    pub in_flight: u64,
}

/// The number of a method in `METHODS`.
#[inline]
pub(crate) fn method_number(method: &str) -> usize {
    METHODS.iter().position(|known| *known == method).unwrap_or(METHODS.len() - 1)
}

/// The method itself, if it is one that is told apart.
pub(crate) fn method_name(method: &str) -> &'static str {
    METHODS.get(method_number(method)).copied().unwrap_or_default()
}

impl Default for Meters {
    fn default() -> Self {
        Meters::new(1, 0)
    }
}

impl Meters {
    /// Meters for `cores` cores; `apis_max` APIs have one of their own.
    pub(crate) fn new(cores: usize, apis_max: usize) -> Self {
        Meters { by_api: Mutex::default(), cores, apis_max, other: Arc::new(Meter::new(OTHER, cores)) }
    }

    /// The meter of an API; the same one for as long as it is used.
    pub(crate) fn get(&self, api: &str) -> Arc<Meter> {
        let mut by_api = self.by_api.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(meter) = by_api.get(api).and_then(Weak::upgrade) {
            return meter;
        }
        if by_api.len() >= self.apis_max {
            by_api.retain(|_, meter| meter.strong_count() > 0);
            if by_api.len() >= self.apis_max {
                return self.other.clone();
            }
        }
        let meter = Arc::new(Meter::new(api, self.cores));
        by_api.insert(api.to_owned(), Arc::downgrade(&meter));
        meter
    }

    /// All meters in use, by API, the shared one last.
    pub(crate) fn all(&self) -> Vec<Arc<Meter>> {
        let by_api = self.by_api.lock().unwrap_or_else(PoisonError::into_inner);
        let mut meters: Vec<_> = by_api.values().filter_map(Weak::upgrade).collect();
        meters.sort_by(|a, b| a.api.cmp(&b.api));
        meters.push(self.other.clone());
        meters
    }
}

impl Meter {
    fn new(api: &str, cores: usize) -> Self {
        Meter { api: api.to_owned(), cores: (0..cores).map(|_| OnceLock::new()).collect() }
    }

    /// The counters that a core writes.
    #[inline]
    pub(crate) fn core(&self, core: usize) -> Option<&Cells> {
        self.cores.get(core).map(|cells| &**cells.get_or_init(Box::default))
    }

    /// What all cores have counted; `None` when nothing was.
    pub(crate) fn sum(&self) -> Option<Sum> {
        let mut sum = Sum::default();
        let mut any = false;
        for cells in self.cores.iter().filter_map(OnceLock::get) {
            any = true;
            cells.add_to(&mut sum);
        }
        any.then_some(sum)
    }
}

impl Cells {
    /// A request was sent on.
    #[inline]
    pub(crate) fn begin(&self) {
        self.in_flight.add(1);
    }

    /// A request that was sent on is over.
    #[inline]
    pub(crate) fn end(&self, tally: &Tally) {
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
        self.count(tally);
    }

    /// A request is over.
    #[inline]
    pub(crate) fn count(&self, tally: &Tally) {
        let class = usize::from(tally.status / 100).min(CLASSES.len() - 1);
        if let Some(counter) = self.requests.get(tally.method).and_then(|classes| classes.get(class)) {
            counter.add(1);
        }
        self.request_time.add(&REQUEST_NS, tally.total_ns);
        if let Some(upstream_ns) = tally.upstream_ns {
            self.upstream_time.add(&REQUEST_NS, upstream_ns);
        }
        self.own_time.add(&OWN_NS, tally.total_ns.saturating_sub(tally.upstream_ns.unwrap_or_default()));
        self.request_bytes.add(tally.request_bytes);
        self.response_bytes.add(tally.response_bytes);
    }

    /// The gateway turned a request away.
    pub(crate) fn refused(&self, cause: &'static str) {
        self.refusals.add(cause);
    }

    /// One side of an exchange did not do its part.
    pub(crate) fn failed(&self, side: Side, cause: &'static str) {
        match side {
            Side::Client => self.client_errors.add(cause),
            Side::Upstream => self.upstream_errors.add(cause),
        }
    }

    /// A request would have been refused if it were not for a dry run.
    pub(crate) fn dry_run(&self, cause: &'static str) {
        self.dry_runs.add(cause);
    }

    fn add_to(&self, sum: &mut Sum) {
        for (total, own) in sum.requests.iter_mut().flatten().zip(self.requests.iter().flatten()) {
            *total += own.get();
        }
        self.request_time.add_to(&mut sum.request_time);
        self.upstream_time.add_to(&mut sum.upstream_time);
        self.own_time.add_to(&mut sum.own_time);
        sum.request_bytes += self.request_bytes.get();
        sum.response_bytes += self.response_bytes.get();
        sum.in_flight += self.in_flight.get();
        let causes = [
            (&self.refusals, &mut sum.refusals),
            (&self.upstream_errors, &mut sum.upstream_errors),
            (&self.client_errors, &mut sum.client_errors),
            (&self.dry_runs, &mut sum.dry_runs),
        ];
        for (own, total) in causes {
            own.iter().for_each(|(cause, count)| *total.entry(cause).or_default() += count);
        }
    }
}

#[cfg(test)]
mod tests;
