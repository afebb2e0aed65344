//! How long the upstream has for one endpoint. Reads `hard_timeouts`. The client sees 504 `Upstream service reached hard timeout.`
//! Asks nothing of the store.

use super::Middleware;
use crate::compile::Source;
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};

pub struct EndpointTimeout {
    by_endpoint: EndpointList<u64>,
}

impl EndpointTimeout {
    pub fn compile(source: &mut Source<'_, '_>) -> Option<Box<dyn Middleware>> {
        let mut by_endpoint = EndpointList::default();
        let entries = source.info.extended_paths.hard_timeouts.iter().enumerate();
        for (index, entry) in entries.filter(|(_, entry)| source.info.use_extended_paths && !entry.disabled) {
            let pattern = source.pattern("hard_timeouts", index, &entry.path, entry.ignore_case);
            if let (Some(pattern), Some(limit)) = (pattern, entry.limit()) {
                by_endpoint.push(pattern, &entry.method, limit.as_millis() as u64);
            }
        }
        if by_endpoint.is_empty() { None } else { Some(Box::new(EndpointTimeout { by_endpoint })) }
    }
}

impl Middleware for EndpointTimeout {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if let Some(limit_ms) = self.by_endpoint.find(exchange.hits, &exchange.method) {
            exchange.first_byte_ms = Some(*limit_ms);
        }
        Step::Next
    }
}
