//! Revalidates a stale cached response: the request goes upstream without its client, who has received the stale response.

use super::forward;
use crate::exchange::Exchange;
use crate::response_chain::ResponseChain;
use crate::snapshot::ApiVersion;
use crate::upstream::Upstream;
use std::net::IpAddr;
use std::sync::Arc;
use tollgate_clock::MonoTime;
use tollgate_engine::{DetachedExchange, Ended, Fault, Forward, Handler, KeptBody, Outgoing, ResponseVerdict, Target, Verdict};
use tollgate_http::{Request, RequestHead, Response, write_request};

/// The handler of such an exchange. The request is complete, and the steps of the response are those of the request's chain.
struct Revalidation {
    api: String,
    target: Arc<Target>,
    forward: Option<Forward>,
    response_chain: ResponseChain,
}

/// The exchange that sends a request, which has passed its chain, to this upstream.
pub(super) fn detached(exchange: &mut Exchange<'_>, version: &ApiVersion, upstream: &Upstream, client: IpAddr) -> DetachedExchange {
    let forward = forward::fill(exchange, version, upstream);
    let outgoing = &mut *exchange.outgoing;
    outgoing.edits.add("Connection", b"close");
    let client = client.to_string();
    let head = RequestHead {
        method: b"GET",
        target: &outgoing.target,
        host: &outgoing.host,
        forwarded_for: (!outgoing.keep_forwarded_for).then_some(client.as_bytes()),
        upgrade: false,
        replaces_body: false,
    };
    let mut bytes = Vec::new();
    write_request(exchange.request, &head, &outgoing.edits, &mut bytes);
    let handler = Revalidation {
        api: exchange.api.id.clone(),
        target: upstream.target.clone(),
        forward: Some(Forward { upgrade: false, timed: false, ..forward }),
        response_chain: std::mem::take(&mut exchange.response.chain),
    };
    DetachedExchange { head: bytes, handler: Box::new(handler) }
}

impl Handler for Revalidation {
    fn on_request(&mut self, request: &Request<'_>, _: MonoTime, outgoing: &mut Outgoing) -> Verdict {
        outgoing.target.extend_from_slice(request.target.as_bytes());
        outgoing.host.extend_from_slice(request.authority);
        // It contains the client's address.
        outgoing.keep_forwarded_for = true;
        match self.forward.take() {
            Some(forward) => Verdict::Forward(forward),
            None => {
                outgoing.status = 500;
                Verdict::Reply
            }
        }
    }

    fn target(&self) -> Option<Arc<Target>> {
        Some(self.target.clone())
    }

    fn on_response(&mut self, response: &Response<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        self.response_chain.on_head(response, outgoing)
    }

    fn on_response_body(&mut self, response: &Response<'_>, body: KeptBody<'_>, outgoing: &mut Outgoing) -> ResponseVerdict {
        self.response_chain.on_body(response, body, outgoing)
    }

    fn on_response_bytes(&mut self, bytes: &[u8], is_end: bool) {
        self.response_chain.on_bytes(bytes, is_end);
    }

    fn passes_request_trailer(&self, _: &str) -> bool {
        false
    }

    fn passes_response_trailer(&self, _: &str) -> bool {
        false
    }

    fn on_fault(&mut self, fault: &Fault, outgoing: &mut Outgoing) {
        tracing::warn!(api = self.api, %fault, "a stored response could not be refreshed");
        self.response_chain.on_fault(fault.kind, outgoing);
        outgoing.status = 502;
    }

    fn on_end(&mut self, _: Ended) {
        self.response_chain.clear();
    }
}
