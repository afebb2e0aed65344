//! Circuit breaker of an upstream endpoint. Reads `circuit_breakers`. The client sees 503 `Service temporarily unavailable.` while the
//! breaker is open. The state is per process.

use super::{Middleware, MiddlewareSource};
use crate::breaker::{Breaker, BreakerPlace, BreakerRule};
use crate::endpoints::EndpointList;
use crate::exchange::{Exchange, Step};
use crate::refusal;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct CircuitBreak {
    by_endpoint: EndpointList<(BreakerRule, Arc<Breaker>)>,
}

impl CircuitBreak {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let entries = &source.info.extended_paths.circuit_breakers;
        let by_endpoint = source.endpoints("circuit_breakers", entries, |source, _, entry| {
            let rule = BreakerRule {
                threshold: entry.threshold_percent,
                samples: entry.samples,
                return_after: Duration::from_secs(entry.return_to_service_after),
                half_open: !entry.disable_half_open_state,
            };
            let place = BreakerPlace {
                api: source.definition.api_id.clone(),
                version: source.variant(),
                endpoint: format!("{} {}", entry.method, entry.path),
            };
            Some((rule, source.context.registry.breaker(place)))
        });
        if by_endpoint.is_empty() { None } else { Some(Box::new(CircuitBreak { by_endpoint })) }
    }
}

impl Middleware for CircuitBreak {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let Some((rule, breaker)) = self.by_endpoint.find(exchange.hits, &exchange.method) else { return Step::Next };
        let Some(passage) = breaker.admit(rule, exchange.arrival.now) else { return Step::Refuse(refusal::BREAKER_OPEN) };
        if passage.has_closed()
            && let Some(events) = &exchange.api.events
        {
            events.breaker_closed(&breaker.place);
        }
        exchange.decisions.breaker = Some(passage);
        Step::Next
    }
}
