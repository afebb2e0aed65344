//! Counts of a run: exact, without a cap, and summed over its threads.

use crate::load::result::{Bytes, ConnectionCounts, Details, Errors, Requests};
use crate::load::wire::connection::TimedResponse;
use crate::load::wire::events::EventTimes;
use crate::load::wire::fault::{Cause, WireFault};
use crate::stats::distribution::LatencyDistribution;
use std::collections::BTreeMap;

/// Maximum distinct error messages kept; a server that varies them must not fill the memory.
const MESSAGES_MAX: usize = 64;
/// Status codes have three digits.
const STATUSES: usize = 1000;

/// The counts of one thread, or of all.
pub(crate) struct RequestTally {
    pub requests: Requests,
    status: Vec<u64>,
    pub errors: Errors,
    pub messages: BTreeMap<String, u64>,
    pub bytes: Bytes,
    pub connections: ConnectionCounts,
    pub response_time: LatencyDistribution,
    /// Empty without a rate, because it would equal the response time.
    pub service_time: LatencyDistribution,
    pub send_lag: LatencyDistribution,
    pub details: Details,
    /// Events of responses, if they are looked at.
    pub events: Option<Box<EventTally>>,
}

/// The events of responses.
#[derive(Default)]
pub(crate) struct EventTally {
    pub count: u64,
    /// From sending a request to its first event.
    pub first: LatencyDistribution,
    /// From one event to the next.
    pub gap: LatencyDistribution,
}

impl EventTally {
    fn count(&mut self, events: &EventTimes, started_ns: u64) {
        self.count += events.count;
        if events.count > 0 {
            self.first.record(events.first_ns.saturating_sub(started_ns));
        }
        events.gaps_ns.iter().for_each(|gap| self.gap.record(*gap));
    }

    fn add(&mut self, other: &EventTally) {
        self.count += other.count;
        self.first.add(&other.first);
        self.gap.add(&other.gap);
    }
}

impl RequestTally {
    pub(crate) fn new() -> Self {
        RequestTally {
            requests: Requests::default(),
            status: vec![0; STATUSES],
            errors: Errors::default(),
            messages: BTreeMap::new(),
            bytes: Bytes::default(),
            connections: ConnectionCounts::default(),
            response_time: LatencyDistribution::new(),
            service_time: LatencyDistribution::new(),
            send_lag: LatencyDistribution::new(),
            details: Details::default(),
            events: None,
        }
    }

    /// Counts a response to a request sent at `started_ns`; its durations are recorded elsewhere.
    #[inline]
    pub(crate) fn count(&mut self, answer: &TimedResponse, started_ns: u64) {
        self.requests.completed += 1;
        if let Some(count) = self.status.get_mut(usize::from(answer.status)) {
            *count += 1;
        }
        self.bytes.sent += answer.sent_bytes;
        self.bytes.received += answer.received_bytes;
        self.bytes.body += answer.body_bytes;
        // A response that arrived before its request was fully written has no write time.
        let written_ns = answer.written_ns.clamp(started_ns, answer.first_ns);
        self.details.write.count(written_ns - started_ns);
        self.details.wait.count(answer.first_ns - written_ns);
        self.details.read.count(answer.done_ns - answer.first_ns);
        if let Some(events) = &answer.events {
            self.events.get_or_insert_default().count(events, started_ns);
        }
    }

    /// Counts a failed request.
    pub(crate) fn count_fault(&mut self, fault: WireFault) {
        self.requests.failed += 1;
        self.errors.count(fault.cause);
        self.count_message(fault.message, 1);
    }

    fn count_message(&mut self, message: String, times: u64) {
        let full = self.messages.len() >= MESSAGES_MAX && !self.messages.contains_key(&message);
        *self.messages.entry(if full { "other".to_owned() } else { message }).or_default() += times;
    }

    /// Responses by status.
    pub(crate) fn statuses(&self) -> BTreeMap<u16, u64> {
        (0u16..).zip(&self.status).filter(|(_, count)| **count > 0).map(|(status, count)| (status, *count)).collect()
    }

    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: RequestTally) {
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
        if let Some(events) = &other.events {
            self.events.get_or_insert_default().add(events);
        }
    }
}

impl Errors {
    /// Counts one error.
    pub(crate) fn count(&mut self, cause: Cause) {
        *match cause {
            Cause::Connect => &mut self.connect,
            Cause::Tls => &mut self.tls,
            Cause::Timeout => &mut self.timeout,
            Cause::Reset => &mut self.reset,
            Cause::Protocol => &mut self.protocol,
            Cause::Local => &mut self.local,
        } += 1;
    }
}
