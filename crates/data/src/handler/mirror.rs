//! Sends a copy of a request to another target. The client gets nothing of it: the response is read and dropped.

use crate::balanced::Mirror;
use std::sync::Arc;
use tollgate_balance::Nanos;
use tollgate_clock::MonoTime;
use tollgate_engine::{Ended, Fault, Forward, Handler, KeepForResend, KeptBody, Outgoing, ResponseVerdict, Target, Verdict};
use tollgate_http::{Request, Response};

/// The handler of a copy.
struct MirroredRequest {
    api: String,
    target: Arc<Target>,
    /// `None` for the request's.
    host: Option<String>,
}

/// Has a copy of the request sent to the mirror.
#[cold]
pub(super) fn add(mirror: &Mirror, api: &str, (random, now): (u64, Nanos), forward: &mut Forward) {
    let Some((target, host)) = mirror.upstream(random, now) else { return };
    let body_bytes_max = mirror.body_bytes_max.max(forward.resend.map_or(0, |resend| resend.body_bytes_max));
    let connect_ms = forward.resend.and_then(|resend| resend.connect_ms);
    let hedge_after = forward.resend.and_then(|resend| resend.hedge_after);
    forward.resend = Some(KeepForResend { body_bytes_max, connect_ms, hedge_after });
    forward.copies.push(Box::new(MirroredRequest { api: api.to_owned(), target, host }));
}

impl Handler for MirroredRequest {
    fn on_request(&mut self, request: &Request<'_>, _: MonoTime, outgoing: &mut Outgoing) -> Verdict {
        outgoing.target.extend_from_slice(request.target.as_bytes());
        outgoing.host.extend_from_slice(self.host.as_ref().map_or(request.authority, |host| host.as_bytes()));
        // It contains the client's address.
        outgoing.keep_forwarded_for = true;
        Verdict::Forward(Forward {
            target_serial: self.target.serial,
            first_byte_ms: None,
            body_bytes_max: None,
            upgrade: false,
            timed: false,
            capture_bytes_max: 0,
            is_conditional: false,
            resend: None,
            copies: Vec::new(),
        })
    }

    fn target(&self) -> Option<Arc<Target>> {
        Some(self.target.clone())
    }

    fn on_response(&mut self, _: &Response<'_>, _: &mut Outgoing) -> ResponseVerdict {
        ResponseVerdict::Pass
    }

    fn on_response_body(&mut self, _: &Response<'_>, _: KeptBody<'_>, _: &mut Outgoing) -> ResponseVerdict {
        ResponseVerdict::Pass
    }

    fn on_response_bytes(&mut self, _: &[u8], _: bool) {}

    fn passes_request_trailer(&self, _: &str) -> bool {
        false
    }

    fn passes_response_trailer(&self, _: &str) -> bool {
        false
    }

    fn on_fault(&mut self, fault: &Fault, outgoing: &mut Outgoing) {
        tracing::debug!(api = self.api, %fault, "a copy of a request did not reach its mirror");
        outgoing.status = 502;
    }

    fn on_end(&mut self, _: Ended) {}
}
