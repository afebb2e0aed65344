//! A stream that a server within the process has begun goes on where its client is: the core takes it over, and the connection to the server is free.
//! Reads `tollgate.llm` and `tollgate.mcp`. Comes after all that sees or changes responses; where something needs the body itself, the server goes on with it.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::header_names::HeaderNames;
use crate::response_chain::{ResponseAction, ResponseHead, ResponseStep};
use bytes::Bytes;
use hyper::body::Body;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tollgate_engine::{BodyCut, BodySource};
use tollgate_http::Response;
use tollgate_outbound::{LocalBody, OFFER_LINE, OfferedBodies};

pub(super) struct OfferedStream {
    offers: Arc<OfferedBodies>,
}

impl OfferedStream {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let tollgate = &source.definition.tollgate;
        if tollgate.llm.is_none() && tollgate.mcp.is_none() {
            return None;
        }
        let offers = source.context.registry.offered_bodies.clone();
        Some(Box::new(OfferedStream { offers }))
    }
}

impl Middleware for OfferedStream {
    fn header_names(&self, names: &mut HeaderNames) {
        names.add(OFFER_LINE);
    }

    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        exchange.response.chain.push(OfferStep { offers: self.offers.clone() });
        Step::Next
    }
}

struct OfferStep {
    offers: Arc<OfferedBodies>,
}

/// The number of an offer, if there is one.
fn number_of(response: &Response<'_>) -> Option<u64> {
    std::str::from_utf8(response.headers.get(OFFER_LINE)?).ok()?.parse().ok()
}

impl ResponseStep for OfferStep {
    fn on_head(&mut self, head: &mut ResponseHead<'_>) -> ResponseAction {
        let Some(number) = number_of(head.upstream) else { return ResponseAction::Pass };
        head.remove_header(OFFER_LINE);
        if head.is_watched {
            self.offers.leave(number);
            return ResponseAction::Pass;
        }
        match self.offers.take(number) {
            Some(body) => {
                head.reply_from(Box::new(TakenStream { body, is_cut: false }));
                ResponseAction::Reply
            }
            // Its server has ended the connection.
            None => ResponseAction::Pass,
        }
    }

    fn on_read(&mut self, response: &Response<'_>) {
        number_of(response).into_iter().for_each(|number| self.offers.leave(number));
    }

    fn is_for_upstreams(&self) -> bool {
        true
    }
}

/// The rest of a stream.
struct TakenStream {
    body: LocalBody,
    is_cut: bool,
}

impl BodySource for TakenStream {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyCut>> {
        while !self.is_cut {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Poll::Ready(Ok(Some(bytes)));
                    }
                }
                Some(Err(_)) => self.is_cut = true,
                None => return Poll::Ready(Ok(None)),
            }
        }
        Poll::Ready(Err(BodyCut))
    }
}
