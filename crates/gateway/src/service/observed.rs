//! What is counted of a request, when it is over.

use super::GatewayHandler;
use super::in_flight::{InFlight, Place};
use super::walk::Arrival;
use crate::observe::{Cells, Side, Tally, method_number};
use crate::refusal;
use crate::snapshot::CoreSnapshot;
use std::rc::Rc;
use std::time::Duration;
use tollgate_engine::{Ended, FaultKind, Outgoing, Times};

impl GatewayHandler {
    /// Counts a request that the gateway answered by itself.
    #[inline]
    pub(super) fn count_reply(
        &self,
        arrival: &Arrival<'_>,
        snapshot: &Rc<CoreSnapshot>,
        outgoing: &Outgoing,
        cause: Option<&'static str>,
    ) {
        let Some(cells) = self.cells(snapshot, self.place) else { return };
        cells.count(&Tally {
            status: outgoing.status,
            method: method_number(arrival.request.method),
            total: arrival.began.elapsed(),
            upstream: None,
            request_bytes: 0,
            response_bytes: outgoing.body.len() as u64,
        });
        if let Some(cause) = cause {
            cells.refused(cause);
        }
    }

    /// A request is sent on.
    #[inline]
    pub(super) fn count_begin(&self) {
        if let Some(in_flight) = &self.in_flight
            && let Some(cells) = self.cells(&in_flight.snapshot, in_flight.place)
        {
            cells.begin();
        }
    }

    /// Counts a request that was sent on and is over.
    #[inline]
    pub(super) fn count_end(&self, in_flight: &InFlight, ended: &Ended) {
        let Some(times) = ended.times else { return };
        let Some(cells) = self.cells(&in_flight.snapshot, in_flight.place) else { return };
        cells.end(&Tally {
            status: in_flight.status,
            method: in_flight.method,
            total: times.end.saturating_duration_since(in_flight.began),
            upstream: upstream_time(&times),
            request_bytes: ended.request_body_bytes,
            response_bytes: ended.response_bytes,
        });
        if let Some(kind) = in_flight.failed {
            let (side, cause) = fault_cause(kind);
            cells.failed(side, cause);
        }
    }

    #[inline]
    fn cells<'s>(&self, snapshot: &'s Rc<CoreSnapshot>, place: Place) -> Option<&'s Cells> {
        if !self.core.shared.observer.metrics {
            return None;
        }
        snapshot.apis.get(place.api)?.meter.core(self.core.index)
    }
}

/// From sending the request to its answer: to the head if all came with it, else to the end.
fn upstream_time(times: &Times) -> Option<Duration> {
    let end = times.answered.filter(|_| times.at_once).unwrap_or(times.end);
    times.sent.map(|sent| end.saturating_duration_since(sent))
}

/// Whose fault it is, and its stable name for figures.
pub fn fault_cause(kind: FaultKind) -> (Side, &'static str) {
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
    };
    let is_client =
        matches!(kind, FaultKind::BodyTooLarge | FaultKind::BodyMalformed(_) | FaultKind::ClientTimeout | FaultKind::ClientGone);
    (if is_client { Side::Client } else { Side::Upstream }, cause)
}
