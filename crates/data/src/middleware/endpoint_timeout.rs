//! Upstream timeout of an endpoint. Reads `hard_timeouts`. The client sees 504 `Upstream service reached hard timeout.` Does not use the
//! store.

use super::{Middleware, MiddlewareSource};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};

pub(super) struct EndpointTimeout {
    by_endpoint: EndpointList<u64>,
}

impl EndpointTimeout {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.hard_timeouts;
        let by_endpoint = source.endpoints("hard_timeouts", entries, |_, _, entry| Some(entry.limit()?.as_millis() as u64));
        if by_endpoint.is_empty() { None } else { Some(Box::new(EndpointTimeout { by_endpoint })) }
    }
}

impl Middleware for EndpointTimeout {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if let Some(limit_ms) = self.by_endpoint.find(exchange.hits, &exchange.method) {
            exchange.decisions.first_byte_ms = Some(*limit_ms);
        }
        Step::Next
    }
}
