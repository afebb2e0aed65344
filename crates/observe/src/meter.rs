//! Counters of one API. They belong to the API's id rather than to a snapshot, so they survive reloads. To bound the number of time
//! series, APIs beyond a limit share one meter.

use super::causes::CauseCounts;
use super::histogram::Histogram;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tollgate_engine::Counter;
use tollgate_model::distribution::{Distribution, OWN_NS, REQUEST_NS};
use tollgate_statistics::{Count, Figures};

/// Label of the shared meter.
const OTHER: &str = "_other";
/// Methods with their own counters; the last entry is for all others.
pub const METHODS: [&str; 8] = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "other"];
/// Classes of status codes; the first is for exchanges that ended without a status.
pub const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// All meters.
pub struct Meters {
    by_api: Mutex<HashMap<String, Weak<Meter>>>,
    cores: usize,
    apis_max: usize,
    other: Arc<Meter>,
}

/// Counters of one API, by core; a core's counters are allocated at its first request.
pub struct Meter {
    pub api: String,
    cores: Box<[OnceLock<Box<Cells>>]>,
}

/// Counters of one core for one API.
#[derive(Default)]
pub struct Cells {
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
    /// How often a middleware was timed, and the nanoseconds that it took.
    middleware_samples: CauseCounts,
    middleware_ns: CauseCounts,
}

/// Sides of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Upstream,
}

/// Facts about a finished request.
#[derive(Clone, Copy, Debug)]
pub struct Tally {
    /// 0 if there was no response.
    pub status: u16,
    /// Index of the method in `METHODS`.
    pub method: usize,
    pub total_ns: u64,
    /// Time spent on the upstream; `None` if it was not called.
    pub upstream_ns: Option<u64>,
    pub request_bytes: u64,
    pub response_bytes: u64,
}

/// Counters of an API, summed over all cores.
#[derive(Default)]
pub struct Sum {
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
    pub middleware_samples: BTreeMap<&'static str, u64>,
    pub middleware_ns: BTreeMap<&'static str, u64>,
}

/// Index of a method in `METHODS`.
#[inline]
pub fn method_number(method: &str) -> usize {
    METHODS.iter().position(|known| *known == method).unwrap_or(METHODS.len() - 1)
}

/// The method itself if it has its own counters, otherwise `other`.
pub fn method_name(method: &str) -> &'static str {
    METHODS.get(method_number(method)).copied().unwrap_or_default()
}

impl Default for Meters {
    fn default() -> Self {
        Meters::new(1, 0)
    }
}

impl Meters {
    /// Meters for `cores` cores; up to `apis_max` APIs have their own.
    pub fn new(cores: usize, apis_max: usize) -> Self {
        Meters { by_api: Mutex::default(), cores, apis_max, other: Arc::new(Meter::new(OTHER, cores)) }
    }

    /// The meter of an API; the same one while it is in use.
    pub fn get(&self, api: &str) -> Arc<Meter> {
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
    pub fn all(&self) -> Vec<Arc<Meter>> {
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

    /// The counters of one core.
    #[inline]
    pub fn core(&self, core: usize) -> Option<&Cells> {
        self.cores.get(core).map(|cells| &**cells.get_or_init(Box::default))
    }

    /// Counts of all cores; `None` if there are none.
    pub fn sum(&self) -> Option<Sum> {
        let mut sum = Sum::default();
        let mut any = false;
        for cells in self.cores.iter().filter_map(OnceLock::get) {
            any = true;
            cells.add_to(&mut sum);
        }
        any.then_some(sum)
    }

    /// The figures of the history, of all cores; `None` if there are none.
    pub fn figures(&self) -> Option<Figures> {
        let mut figures = Figures::default();
        let mut any = false;
        for cells in self.cores.iter().filter_map(OnceLock::get) {
            any = true;
            cells.add_figures(&mut figures);
        }
        any.then_some(figures)
    }
}

impl Cells {
    /// Counts a request as in flight.
    #[inline]
    pub fn begin(&self) {
        self.in_flight.add(1);
    }

    /// Counts a request that was in flight as finished.
    #[inline]
    pub fn end(&self, tally: &Tally) {
        self.in_flight.set(self.in_flight.get().saturating_sub(1));
        self.count(tally);
    }

    /// Counts a finished request.
    #[inline]
    pub fn count(&self, tally: &Tally) {
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

    /// Counts a request that the gateway rejected.
    pub fn refused(&self, cause: &'static str) {
        self.refusals.add(cause);
    }

    /// Counts a failure of one side of an exchange.
    pub fn failed(&self, side: Side, cause: &'static str) {
        match side {
            Side::Client => self.client_errors.add(cause),
            Side::Upstream => self.upstream_errors.add(cause),
        }
    }

    /// Counts a middleware's step that was timed.
    pub fn timed(&self, middleware: &'static str, ns: u64) {
        self.middleware_samples.add(middleware);
        self.middleware_ns.add_many(middleware, ns);
    }

    /// Counts a request that only a dry run saved from rejection.
    pub fn dry_run(&self, cause: &'static str) {
        self.dry_runs.add(cause);
    }

    fn add_figures(&self, figures: &mut Figures) {
        let mut add = |count: Count, more: u64| figures.set(count, figures.count(count) + more);
        for class in self.requests.iter() {
            let [none, informational, success, redirect, client, server] = class.each_ref().map(Counter::get);
            add(Count::Requests, none + informational + success + redirect + client + server);
            add(Count::Ok, informational + success + redirect);
            add(Count::ClientErrors, client);
            add(Count::ServerErrors, none + server);
        }
        add(Count::Refused, self.refusals.iter().map(|(_, count)| count).sum());
        for (cause, count) in self.upstream_errors.iter() {
            add(Count::UpstreamErrors, count);
            add(Count::Timeouts, if cause.contains("timeout") { count } else { 0 });
        }
        add(Count::InFlight, self.in_flight.get());
        add(Count::RequestBytes, self.request_bytes.get());
        add(Count::ResponseBytes, self.response_bytes.get());
        self.upstream_time.add_buckets(&mut figures.upstream);
        self.own_time.add_buckets(&mut figures.gateway);
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
            (&self.middleware_samples, &mut sum.middleware_samples),
            (&self.middleware_ns, &mut sum.middleware_ns),
        ];
        for (own, total) in causes {
            own.iter().for_each(|(cause, count)| *total.entry(cause).or_default() += count);
        }
    }
}

#[cfg(test)]
mod tests;
