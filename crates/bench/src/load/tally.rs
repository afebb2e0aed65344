//! What a run counted: exact, without a cap, and the sum of what its threads counted.

use super::connection::Answer;
use super::distribution::Distribution;
use super::fault::Fault;
use super::result::{Bytes, Connections, Details, Errors, Part, Requests};
use std::collections::BTreeMap;

/// Distinct error messages that are kept; a server that puts something new into each must not fill the memory.
const MESSAGES_MAX: usize = 64;
/// Status codes have three digits.
const STATUSES: usize = 1000;

/// The figures of one thread, or of all.
pub struct Tally {
    pub requests: Requests,
    status: Vec<u64>,
    pub errors: Errors,
    pub messages: BTreeMap<String, u64>,
    pub bytes: Bytes,
    pub connections: Connections,
    pub response_time: Distribution,
    /// Empty without a rate: it would equal the response time.
    pub service_time: Distribution,
    pub send_lag: Distribution,
    pub details: Details,
}

impl Tally {
    pub fn new() -> Self {
        Tally {
            requests: Requests::default(),
            status: vec![0; STATUSES],
            errors: Errors::default(),
            messages: BTreeMap::new(),
            bytes: Bytes::default(),
            connections: Connections::default(),
            response_time: Distribution::new(),
            service_time: Distribution::new(),
            send_lag: Distribution::new(),
            details: Details::default(),
        }
    }

    /// Counts a response that was begun at `started_ns`; its times go to the distributions elsewhere.
    #[inline]
    pub fn count(&mut self, answer: &Answer, started_ns: u64) {
        self.requests.completed += 1;
        if let Some(count) = self.status.get_mut(usize::from(answer.status)) {
            *count += 1;
        }
        self.bytes.sent += answer.sent_bytes;
        self.bytes.received += answer.received_bytes;
        self.bytes.body += answer.body_bytes;
        // A response that came before its request was written out has no time of writing.
        let written_ns = answer.written_ns.clamp(started_ns, answer.first_ns);
        self.details.write.count(written_ns - started_ns);
        self.details.wait.count(answer.first_ns - written_ns);
        self.details.read.count(answer.done_ns - answer.first_ns);
    }

    /// Counts a failed request.
    pub fn count_fault(&mut self, fault: Fault) {
        self.requests.failed += 1;
        self.errors.count(fault.cause);
        self.count_message(fault.message, 1);
    }

    fn count_message(&mut self, message: String, times: u64) {
        let full = self.messages.len() >= MESSAGES_MAX && !self.messages.contains_key(&message);
        *self.messages.entry(if full { "other".to_owned() } else { message }).or_default() += times;
    }

    /// Responses by status.
    pub fn statuses(&self) -> BTreeMap<u16, u64> {
        (0u16..).zip(&self.status).filter(|(_, count)| **count > 0).map(|(status, count)| (status, *count)).collect()
    }

    /// Adds another thread's.
    pub fn add(&mut self, other: Tally) {
        self.requests.add(&other.requests);
        for (count, more) in self.status.iter_mut().zip(&other.status) {
            *count += more;
        }
        self.errors.add(&other.errors);
        for (message, times) in other.messages {
            self.count_message(message, times);
        }
        self.bytes.add(&other.bytes);
        self.connections.add(&other.connections);
        self.response_time.add(&other.response_time);
        self.service_time.add(&other.service_time);
        self.send_lag.add(&other.send_lag);
        self.details.add(&other.details);
    }
}

impl Requests {
    pub fn add(&mut self, other: &Requests) {
        self.completed += other.completed;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.unsent += other.unsent;
        self.warmup += other.warmup;
    }
}

impl Bytes {
    pub fn add(&mut self, other: &Bytes) {
        self.sent += other.sent;
        self.received += other.received;
        self.body += other.body;
    }
}

impl Connections {
    pub fn add(&mut self, other: &Connections) {
        self.opened += other.opened;
        self.resent += other.resent;
    }
}

impl Details {
    pub fn add(&mut self, other: &Details) {
        self.connect.add(&other.connect);
        self.lookup.add(&other.lookup);
        self.write.add(&other.write);
        self.wait.add(&other.wait);
        self.read.add(&other.read);
    }
}

impl Part {
    #[inline]
    pub fn count(&mut self, ns: u64) {
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

    pub fn add(&mut self, other: &Part) {
        if other.count == 0 {
            return;
        }
        self.min_us = if self.count == 0 { other.min_us } else { self.min_us.min(other.min_us) };
        self.max_us = self.max_us.max(other.max_us);
        self.count += other.count;
        self.sum_us += other.sum_us;
    }

    pub fn mean_us(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_us / self.count as f64 }
    }
}
