//! Counts and records a request when it has ended.

use super::context::RequestContext;
use super::in_flight::{InFlight, VersionPlace};
use super::late_records::LateRecord;
use super::own_response;
use super::record_builder::write_response_dimensions;
use super::{CoreService, GatewayHandler};
use crate::error_flags;
use crate::refusal::{self, Refusal};
use crate::snapshot::CoreSnapshot;
use std::rc::Rc;
use tollgate_clock::MonoTime;
use tollgate_engine::{Ended, Fault, FaultKind, Outgoing, Times};
use tollgate_mcp::RpcCode;
use tollgate_observe::meter::METHODS;
use tollgate_observe::{ApiMetadata, Cells, RefusalNote, RequestRecord, Side, TailEntry, Tally, Text, WafFacts, method_number};

impl GatewayHandler {
    /// Counts a request that the gateway answered itself.
    #[inline]
    pub(super) fn count_reply(
        &mut self,
        context: &RequestContext<'_>,
        snapshot: &Rc<CoreSnapshot>,
        outgoing: &mut Outgoing,
        cause: Option<&'static str>,
    ) {
        if cause.is_none() {
            self.note_response_dimensions(|name| outgoing.edits.added(name));
        }
        let mut record = self.record.take();
        if let Some(record) = record.as_mut().filter(|record| record.is_detailed()) {
            record.own_response =
                own_response::recorded(outgoing, self.core.captured_bytes(record), context.request.method == "HEAD");
        }
        let cells = self.cells(snapshot, self.place);
        if cells.is_none() && record.is_none() {
            return;
        }
        let now = MonoTime::now();
        let tally = Tally {
            status: outgoing.status,
            method: method_number(context.request.method),
            total_ns: now.ns_since(context.arrival.began),
            upstream_ns: None,
            request_bytes: 0,
            response_bytes: outgoing.sourced.as_ref().map_or(outgoing.body.len() as u64, |sourced| sourced.len.unwrap_or(0)),
        };
        if let Some(cells) = cells {
            cells.count(&tally);
            cause.iter().for_each(|cause| cells.refused(cause));
        }
        if let Some(record) = record {
            self.hand_over(record, snapshot, self.place, &tally, cause, now);
        }
    }

    /// Counts the start of a forwarded request.
    #[inline]
    pub(super) fn count_begin(&self) {
        if let Some(in_flight) = &self.in_flight
            && let Some(cells) = self.cells(&in_flight.snapshot, in_flight.place)
        {
            cells.begin();
        }
    }

    /// Counts the end of a forwarded request.
    #[inline]
    pub(super) fn count_end(&mut self, in_flight: &InFlight, ended: Ended) {
        let record = self.record.take();
        let cells = self.cells(&in_flight.snapshot, in_flight.place);
        let refused = in_flight.refused.as_deref();
        let rpc_error = self.state.notes.mcp_call.take().and_then(|call| call.error()).map(RpcCode);
        let is_server_fault = rpc_error.is_some_and(|code| code.failure_status().is_some());
        if record.is_none() && (in_flight.status >= 500 || refused.is_some()) {
            self.keep_failure(in_flight, &ended);
        }
        if cells.is_none() && record.is_none() {
            return;
        }
        let end = ended.times.map_or_else(MonoTime::now, |times| times.end);
        let tally = Tally {
            status: in_flight.status,
            method: in_flight.method,
            total_ns: end.ns_since(in_flight.began),
            upstream_ns: ended.times.as_ref().and_then(upstream_ns),
            request_bytes: ended.request_body_bytes,
            response_bytes: ended.response_bytes,
        };
        let failed = in_flight.failed.map(fault_cause).or(is_server_fault.then_some((Side::Upstream, "mcp_server")));
        if let Some(cells) = cells {
            cells.end(&tally);
            failed.iter().for_each(|(side, cause)| cells.failed(*side, cause));
            refused.iter().for_each(|refusal| cells.refused(refusal.cause));
        }
        if let Some(mut record) = record {
            record.capture = ended.capture;
            let sent = ended.times.and_then(|times| times.sent).filter(|_| record.trace.is_some());
            record.sent_after_ns = sent.map(|sent| sent.ns_since(in_flight.began));
            record.upstream_status = in_flight.upstream_status;
            if in_flight.upstream_status >= 500 && record.class.is_none() {
                record.class = error_flags::UPSTREAM_5XX;
            }
            if let Some(code) = rpc_error {
                record.mcp_error = code.0;
                record.failure_status = code.failure_status().or(record.failure_status);
            }
            if let Some(refusal) = refused {
                record.class = refusal.facts.class.or(record.class);
                self.note_refused_response(&mut record, refusal, end);
            }
            let cause = failed.map(|(_, cause)| cause).or_else(|| refused.map(|refusal| refusal.cause));
            self.hand_over(record, &in_flight.snapshot, in_flight.place, &tally, cause, end);
        }
    }

    /// Notes what metrics of requests need of a response: its headers by their names.
    #[inline]
    pub(super) fn note_response_dimensions<'h>(&mut self, header: impl Fn(&str) -> Option<&'h [u8]>) {
        let Some(record) = self.record.as_mut().filter(|record| record.metered) else { return };
        let recording = self.core.shared.observer.recording.as_ref();
        if let Some(metrics) = recording.and_then(|recording| recording.request_metrics.as_ref())
            && !metrics.response_headers.is_empty()
        {
            write_response_dimensions(record, &metrics.response_headers, header);
        }
    }

    /// Completes what the record of a failed request needs of the fault, and of the response in the upstream's place.
    #[cold]
    pub(super) fn note_failure(&mut self, fault: &Fault, outgoing: &mut Outgoing) {
        let Some(record) = &mut self.record else { return };
        record.class = error_flags::of_fault(fault);
        if !record.bytes(Text::McpMethod).is_empty() && outgoing.status != 0 {
            record.mcp_error = RpcCode::of_status(outgoing.status).0;
        }
        if record.is_detailed() && outgoing.status != 0 && outgoing.sourced.is_none() {
            record.own_response = own_response::recorded(outgoing, self.core.captured_bytes(record), false);
        }
    }

    /// Notes that a response is refused, if that is kept for people who look.
    #[cold]
    fn note_refused_response(&self, record: &mut RequestRecord, refusal: &Refusal, end: MonoTime) {
        let is_tracked = record.tapped || record.analytics || record.logged || record.metered;
        if record.refusal.is_none() && is_tracked && self.core.tap.keeps_refusal(self.core.time_of_day.unix_s(end)) {
            let message = refusal.message.text().to_owned();
            record.refusal = Some(Box::new(RefusalNote { middleware: "", message, limit: None }));
        }
    }

    /// Keeps what is known of a failed request without a record, for people who look.
    #[cold]
    fn keep_failure(&self, in_flight: &InFlight, ended: &Ended) {
        let Some(api) = in_flight.api().filter(|api| !api.facts.do_not_track) else { return };
        let end = ended.times.as_ref().map_or_else(MonoTime::now, |times| times.end);
        let unix_ns = self.core.time_of_day.unix_ns(end);
        let us = |ns: u64| ns / 1_000;
        let total_us = us(end.ns_since(in_flight.began));
        let upstream_us = ended.times.as_ref().and_then(upstream_ns).map(us);
        let refused = in_flight.refused.as_deref();
        let entry = || TailEntry {
            unix_ms: unix_ns / 1_000_000,
            api_id: api.id.clone(),
            name: api.name.clone(),
            method: METHODS.get(in_flight.method).copied().unwrap_or_default().to_owned(),
            status: in_flight.status,
            cause: in_flight
                .failed
                .map(|kind| fault_cause(kind).1)
                .or(refused.map(|refusal| refusal.cause))
                .unwrap_or_default()
                .to_owned(),
            message: refused.map(|refusal| refusal.message.text().to_owned()).unwrap_or_default(),
            waf: self.state.notes.response_waf.as_ref().and_then(|place| place.take()),
            total_us,
            gateway_us: total_us.saturating_sub(upstream_us.unwrap_or_default()),
            upstream_us,
            upstream_status: in_flight.upstream_status,
            target: in_flight.upstream().map(|upstream| upstream.host.clone()).unwrap_or_default(),
            request_id: self.request_id.as_deref().unwrap_or_default().to_owned(),
            trace_id: self.trace.map(|trace| trace.id.to_string()).unwrap_or_default(),
            request_bytes: ended.request_body_bytes,
            response_bytes: ended.response_bytes,
            ..TailEntry::default()
        };
        self.core.tap.take_failure(entry, unix_ns / 1_000_000_000);
    }

    /// Completes a record and hands it to the recorder.
    fn hand_over(
        &mut self,
        mut record: Box<RequestRecord>,
        snapshot: &Rc<CoreSnapshot>,
        place: VersionPlace,
        tally: &Tally,
        cause: Option<&'static str>,
        ended: MonoTime,
    ) {
        let Some(api) = snapshot.apis.get(place.api) else { return };
        if let Some(place) = self.state.notes.response_waf.take() {
            record.waf = with_response(record.waf.take(), place.take(), tally.status);
        }
        record.status = tally.status;
        record.cause = cause;
        record.total_ns = tally.total_ns;
        record.upstream_ns = tally.upstream_ns.unwrap_or_default();
        record.request_bytes = tally.request_bytes;
        record.response_bytes = tally.response_bytes;
        std::mem::swap(&mut self.steps, &mut record.steps);
        self.steps.clear();
        if let Some(id) = &self.request_id {
            record.write(Text::RequestId, id.as_bytes());
        }
        let ended_ns = self.core.time_of_day.unix_ns(ended);
        if record.llm_call.is_some() {
            let (snapshot, peer) = (snapshot.clone(), self.peer_text.clone());
            return self.core.write_when_complete(LateRecord { record, snapshot, api: place.api, peer, ended_ns, since: ended });
        }
        self.core.write_record(record, &api.facts, &self.peer_text, ended_ns);
    }

    /// Adds the request id to a forwarded request, and notes the time if the client is told it.
    #[inline]
    pub(super) fn label_request(&mut self, context: &RequestContext<'_>, outgoing: &mut Outgoing) {
        if let Some(id) = &self.request_id {
            outgoing.edits.set(&context.request.headers, "X-Request-Id", id.as_bytes());
        }
        if let (Some(tracer), Some(trace)) = (&self.core.shared.settings.watch.tracer, &self.trace) {
            tracer.pass_on(trace, &context.request.headers, &mut outgoing.edits);
        }
        if self.core.shared.settings.answers.server_timing
            && let Some(in_flight) = &mut self.in_flight
        {
            in_flight.sent = Some(MonoTime::now());
        }
    }

    #[inline]
    fn cells<'s>(&self, snapshot: &'s Rc<CoreSnapshot>, place: VersionPlace) -> Option<&'s Cells> {
        if !self.core.shared.observer.metrics {
            return None;
        }
        snapshot.apis.get(place.api)?.meter.core(self.core.index)
    }
}

impl CoreService {
    /// Hands a complete record to whoever wants it. `ended_ns`: in nanoseconds since 1970.
    #[inline]
    pub(super) fn write_record(&self, record: Box<RequestRecord>, facts: &ApiMetadata, peer: &str, ended_ns: u64) {
        if record.tapped || record.refusal.is_some() || record.status >= 500 || record.is_incomplete_llm() {
            self.tap.take(&record, facts, ended_ns);
        }
        let is_recorded = record.analytics || record.logged || record.metered || record.trace.is_some_and(|trace| trace.taken);
        match &self.recorder {
            Some(recorder) if is_recorded => recorder.take(record, facts, peer, ended_ns),
            _ => self.tap.put_back(record),
        }
    }
}

/// What the firewall found in a request, and in its response.
#[cold]
fn with_response(found: Option<Box<WafFacts>>, of_response: Option<Box<WafFacts>>, status: u16) -> Option<Box<WafFacts>> {
    let switched = || WafFacts { response_fault: "the connection was upgraded".to_owned(), ..WafFacts::default() };
    let Some(of_response) = of_response.or_else(|| (status == 101).then(|| Box::new(switched()))) else { return found };
    let mut facts = found.unwrap_or_default();
    facts.add_response(*of_response);
    Some(facts)
}

/// Time from sending the request to its answer: to the head if everything arrived with it, else to the end.
fn upstream_ns(times: &Times) -> Option<u64> {
    let end = times.answered.filter(|_| times.at_once).unwrap_or(times.end);
    times.sent.map(|sent| end.ns_since(sent))
}

/// The side that caused a fault, and the fault's stable name in metrics.
pub(super) fn fault_cause(kind: FaultKind) -> (Side, &'static str) {
    let cause = match kind {
        FaultKind::Lookup => refusal::UPSTREAM_LOOKUP.cause,
        FaultKind::Connect => "upstream_connect",
        FaultKind::Tls => "upstream_tls",
        FaultKind::UpstreamClosed => "upstream_closed",
        FaultKind::UpstreamMalformed(_) => "upstream_malformed",
        FaultKind::UpstreamHeadTooLarge => "upstream_head_too_large",
        FaultKind::UpstreamTimeout => refusal::UPSTREAM_TIMEOUT.cause,
        FaultKind::ConnectTimeout => "upstream_connect_timeout",
        FaultKind::BodyTooLarge => "body_too_large",
        FaultKind::BodyMalformed(_) => "body_malformed",
        FaultKind::ClientTimeout => "client_timeout",
        FaultKind::ClientGone => "client_gone",
        FaultKind::TooManyTunnels => "too_many_tunnels",
    };
    let is_client = matches!(
        kind,
        FaultKind::BodyTooLarge
            | FaultKind::BodyMalformed(_)
            | FaultKind::ClientTimeout
            | FaultKind::ClientGone
            | FaultKind::TooManyTunnels
    );
    (if is_client { Side::Client } else { Side::Upstream }, cause)
}
