//! Throughput and latency over time: one entry for each second, put together from what the threads report. A second that is
//! over is kept in compressed form, so that an hour costs a few megabytes.

use super::distribution::Distribution;
use super::result::Second;
use std::collections::BTreeMap;

/// Seconds that stay open for threads that report late.
const OPEN_SECONDS: u64 = 4;

/// What one thread did in one second.
pub struct Update {
    pub thread: usize,
    pub second: u64,
    pub requests: u64,
    pub errors: u64,
    pub connections_open: u64,
    pub times: Option<Distribution>,
}

/// The seconds of a run.
#[derive(Default)]
pub struct Series {
    open: BTreeMap<u64, Open>,
    closed: BTreeMap<u64, Second>,
}

#[derive(Default)]
struct Open {
    requests: u64,
    errors: u64,
    connections_open: BTreeMap<usize, u64>,
    times: Distribution,
}

impl Series {
    /// Adds a thread's report.
    pub fn add(&mut self, update: Update) {
        let second = self.open.entry(update.second).or_default();
        second.requests += update.requests;
        second.errors += update.errors;
        second.connections_open.insert(update.thread, update.connections_open);
        if let Some(times) = &update.times {
            second.times.add(times);
        }
        while let Some(oldest) = self.open.first_entry() {
            if *oldest.key() + OPEN_SECONDS > update.second {
                break;
            }
            let (second, open) = oldest.remove_entry();
            close(&mut self.closed, second, open);
        }
    }

    /// The seconds in order, none left out.
    pub fn finish(mut self) -> Vec<Second> {
        for (second, open) in std::mem::take(&mut self.open) {
            close(&mut self.closed, second, open);
        }
        let last = self.closed.last_key_value().map(|(second, _)| *second);
        for second in 0..last.unwrap_or_default() {
            self.closed.entry(second).or_insert_with(|| entry(second, 0, 0, 0, &Distribution::new()));
        }
        self.closed.into_values().collect()
    }
}

fn close(closed: &mut BTreeMap<u64, Second>, second: u64, open: Open) {
    let connections_open = open.connections_open.values().sum();
    let new = entry(second, open.requests, open.errors, connections_open, &open.times);
    let joined = match closed.remove(&second) {
        Some(before) => join(before, new),
        None => new,
    };
    closed.insert(second, joined);
}

/// Two entries of the same second as one.
pub fn join(a: Second, b: Second) -> Second {
    let mut times = Distribution::decode(&a.histogram).unwrap_or_default();
    times.add(&Distribution::decode(&b.histogram).unwrap_or_default());
    entry(a.second, a.requests + b.requests, a.errors + b.errors, a.connections_open + b.connections_open, &times)
}

fn entry(second: u64, requests: u64, errors: u64, connections_open: u64, times: &Distribution) -> Second {
    let histogram = times.encode();
    Second {
        second,
        requests,
        errors,
        p50_us: times.percentile_us(50.0),
        p99_us: times.percentile_us(99.0),
        connections_open,
        histogram,
    }
}
