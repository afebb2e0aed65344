//! Adds up results: of threads, and of runs that are merged.

use super::{Bytes, ConnectionCounts, Details, Errors, LoadSecond, PartTimes, Requests, TimeSummary};
use crate::stats::distribution::LatencyDistribution;

impl TimeSummary {
    /// Summary of a distribution.
    pub(crate) fn of(times: &LatencyDistribution) -> TimeSummary {
        let at = |percent| times.percentile_us(percent);
        TimeSummary {
            count: times.count(),
            mean_us: times.mean_us(),
            deviation_us: times.deviation_us(),
            min_us: times.min_us(),
            p10_us: at(10.0),
            p25_us: at(25.0),
            p50_us: at(50.0),
            p75_us: at(75.0),
            p90_us: at(90.0),
            p95_us: at(95.0),
            p99_us: at(99.0),
            p99_9_us: at(99.9),
            p99_99_us: at(99.99),
            max_us: times.max_us(),
            histogram: times.encode(),
        }
    }
}

impl LoadSecond {
    pub(crate) fn new(second: u64, requests: u64, errors: u64, connections_open: u64, times: &LatencyDistribution) -> LoadSecond {
        LoadSecond {
            second,
            requests,
            errors,
            p50_us: times.percentile_us(50.0),
            p99_us: times.percentile_us(99.0),
            connections_open,
            histogram: times.encode(),
        }
    }

    /// Merges two entries of the same second.
    pub(crate) fn join(&self, other: &LoadSecond) -> LoadSecond {
        let mut times = LatencyDistribution::decode(&self.histogram).unwrap_or_default();
        times.add(&LatencyDistribution::decode(&other.histogram).unwrap_or_default());
        LoadSecond::new(
            self.second,
            self.requests + other.requests,
            self.errors + other.errors,
            self.connections_open + other.connections_open,
            &times,
        )
    }
}

impl Errors {
    /// The counts with their names.
    pub(crate) fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("connect", self.connect),
            ("tls", self.tls),
            ("timeout", self.timeout),
            ("reset", self.reset),
            ("protocol", self.protocol),
            ("local", self.local),
        ]
    }

    /// Adds other counts.
    pub(crate) fn add(&mut self, other: &Errors) {
        self.connect += other.connect;
        self.tls += other.tls;
        self.timeout += other.timeout;
        self.reset += other.reset;
        self.protocol += other.protocol;
        self.local += other.local;
    }
}

impl Requests {
    pub(crate) fn add(&mut self, other: &Requests) {
        self.completed += other.completed;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.unsent += other.unsent;
        self.warmup += other.warmup;
    }
}

impl Bytes {
    pub(crate) fn add(&mut self, other: &Bytes) {
        self.sent += other.sent;
        self.received += other.received;
        self.body += other.body;
    }
}

impl ConnectionCounts {
    pub(crate) fn add(&mut self, other: &ConnectionCounts) {
        self.opened += other.opened;
        self.resent += other.resent;
    }
}

impl Details {
    pub(crate) fn add(&mut self, other: &Details) {
        self.connect.add(&other.connect);
        self.lookup.add(&other.lookup);
        self.write.add(&other.write);
        self.wait.add(&other.wait);
        self.read.add(&other.read);
    }
}

impl PartTimes {
    #[inline]
    pub(crate) fn count(&mut self, ns: u64) {
        let us = ns as f64 / 1000.0;
        if self.count == 0 || us < self.min_us {
            self.min_us = us;
        }
        if us > self.max_us {
            self.max_us = us;
        }
        self.count += 1;
        self.sum_us += us;
    }

    pub(crate) fn add(&mut self, other: &PartTimes) {
        if other.count == 0 {
            return;
        }
        self.min_us = if self.count == 0 { other.min_us } else { self.min_us.min(other.min_us) };
        self.max_us = self.max_us.max(other.max_us);
        self.count += other.count;
        self.sum_us += other.sum_us;
    }

    pub(crate) fn mean_us(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_us / self.count as f64 }
    }
}
