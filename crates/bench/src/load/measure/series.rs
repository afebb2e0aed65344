//! Throughput and latency over time: one entry per second, merged from the reports of the threads. A completed second is stored
//! compressed, so that an hour takes a few megabytes.

use crate::load::result::LoadSecond;
use crate::stats::distribution::LatencyDistribution;
use std::collections::BTreeMap;

/// How many seconds stay open for late reports of threads.
const OPEN_SECONDS: u64 = 4;

/// The figures of one thread for one second.
pub(crate) struct SecondUpdate {
    pub thread: usize,
    pub second: u64,
    pub requests: u64,
    pub errors: u64,
    pub connections_open: u64,
    pub times: Option<LatencyDistribution>,
}

/// The seconds of a run.
#[derive(Default)]
pub(crate) struct SecondsSeries {
    open: BTreeMap<u64, Open>,
    closed: BTreeMap<u64, LoadSecond>,
}

#[derive(Default)]
struct Open {
    requests: u64,
    errors: u64,
    connections_open: BTreeMap<usize, u64>,
    times: LatencyDistribution,
}

impl SecondsSeries {
    /// Adds the report of a thread.
    pub(crate) fn add(&mut self, update: SecondUpdate) {
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

    /// The seconds in order, without gaps.
    pub(crate) fn finish(mut self) -> Vec<LoadSecond> {
        for (second, open) in std::mem::take(&mut self.open) {
            close(&mut self.closed, second, open);
        }
        let last = self.closed.last_key_value().map(|(second, _)| *second);
        for second in 0..last.unwrap_or_default() {
            self.closed.entry(second).or_insert_with(|| LoadSecond::new(second, 0, 0, 0, &LatencyDistribution::new()));
        }
        self.closed.into_values().collect()
    }
}

fn close(closed: &mut BTreeMap<u64, LoadSecond>, second: u64, open: Open) {
    let connections_open = open.connections_open.values().sum();
    let new = LoadSecond::new(second, open.requests, open.errors, connections_open, &open.times);
    let joined = match closed.remove(&second) {
        Some(before) => before.join(&new),
        None => new,
    };
    closed.insert(second, joined);
}
