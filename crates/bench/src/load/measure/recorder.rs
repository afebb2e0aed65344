//! Records the results of a thread's workers. The durations of the current second go to their own distribution, which is added to
//! the run's at the end of the second, so that each request is recorded once although it counts in both.

use super::csv::Rows;
use super::sample::RequestSample;
use super::series::SecondUpdate;
use super::tally::RequestTally;
use crate::load::wire::fault::WireFault;
use crate::stats::distribution::LatencyDistribution;
use std::cell::Cell;
use std::rc::Rc;
use std::sync::mpsc::Sender;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Destinations of a thread's figures during the run.
pub(crate) struct Outlets {
    pub updates: Sender<SecondUpdate>,
    pub rows: Option<Rows>,
}

/// The figures of one thread while it runs.
pub(crate) struct ThreadRecorder {
    pub tally: RequestTally,
    thread: usize,
    paced: bool,
    warmup_ns: u64,
    second: u64,
    second_ends_ns: u64,
    requests: u64,
    errors: u64,
    times: LatencyDistribution,
    connections_open: Rc<Cell<u64>>,
    outlets: Outlets,
    /// Failed requests, including those of the warm-up.
    pub failures: u64,
    /// When the last response arrived; 0 before the first.
    pub answered_ns: u64,
}

impl ThreadRecorder {
    pub(crate) fn new(thread: usize, paced: bool, warmup_ns: u64, outlets: Outlets, connections_open: Rc<Cell<u64>>) -> Self {
        ThreadRecorder {
            tally: RequestTally::new(),
            thread,
            paced,
            warmup_ns,
            second: 0,
            second_ends_ns: NS_PER_SECOND,
            requests: 0,
            errors: 0,
            times: LatencyDistribution::new(),
            connections_open,
            outlets,
            failures: 0,
            answered_ns: 0,
        }
    }

    /// Counts an answered request.
    #[inline]
    pub(crate) fn answered(&mut self, sample: &RequestSample<'_>) {
        let done = sample.answer.done_ns;
        self.roll(done);
        self.answered_ns = done;
        if sample.due_ns < self.warmup_ns {
            self.tally.requests.warmup += 1;
            return;
        }
        self.requests += 1;
        self.times.record(done.saturating_sub(sample.due_ns));
        if self.paced {
            self.tally.service_time.record(done.saturating_sub(sample.started_ns));
        }
        let connect_ns = sample.connect_ns.unwrap_or_default();
        if sample.connect_ns.is_some() {
            self.tally.details.connect.count(connect_ns);
        }
        self.tally.count(sample.answer, sample.started_ns + connect_ns);
        if let Some(rows) = &mut self.outlets.rows {
            rows.push(sample);
        }
    }

    /// Counts a failed request.
    pub(crate) fn failed(&mut self, due_ns: u64, now_ns: u64, fault: WireFault) {
        self.roll(now_ns);
        self.failures += 1;
        if due_ns < self.warmup_ns {
            self.tally.requests.warmup += 1;
            return;
        }
        self.errors += 1;
        self.tally.count_fault(fault);
    }

    /// Records that a request was sent this much later than due, although its worker was waiting for it.
    pub(crate) fn lagged(&mut self, ns: u64) {
        self.tally.send_lag.record(ns);
    }

    /// Closes the seconds that have ended.
    #[inline]
    pub(crate) fn roll(&mut self, now_ns: u64) {
        if now_ns >= self.second_ends_ns {
            self.close_second();
            self.second = now_ns / NS_PER_SECOND;
            self.second_ends_ns = (self.second + 1) * NS_PER_SECOND;
        }
    }

    fn close_second(&mut self) {
        self.tally.response_time.add(&self.times);
        let update = SecondUpdate {
            thread: self.thread,
            second: self.second,
            requests: self.requests,
            errors: self.errors,
            connections_open: self.connections_open.get(),
            times: (self.times.count() > 0).then(|| self.times.clone()),
        };
        // The receiver is only gone if the run was aborted.
        let _ = self.outlets.updates.send(update);
        if self.times.count() > 0 {
            self.times.reset();
        }
        (self.requests, self.errors) = (0, 0);
    }

    /// The thread's complete figures.
    pub(crate) fn finish(&mut self, now_ns: u64) -> RequestTally {
        self.roll(now_ns);
        self.close_second();
        std::mem::replace(&mut self.tally, RequestTally::new())
    }
}
