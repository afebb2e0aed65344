//! How many requests of a client are in progress at once. Reads `tollgate.concurrency`. The client sees 429 for one more. Each gateway counts for
//! itself; a request counts until its response has ended, an upgraded connection until it is closed.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::ip_networks::IpNetworks;
use crate::refusal;
use std::sync::Arc;
use tollgate_engine::AddressLimit;

pub(super) struct Concurrency {
    limit: Arc<AddressLimit>,
    exempt: Option<IpNetworks>,
}

impl Concurrency {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let rules = source.definition.tollgate.concurrency.as_ref()?;
        let limit = source.context.registry.address_limit(&source.definition.api_id, rules.per_address);
        Some(Box::new(Concurrency { limit, exempt: IpNetworks::new(&rules.exempt) }))
    }
}

impl Middleware for Concurrency {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let address = exchange.arrival.client_ip;
        if self.exempt.as_ref().is_some_and(|exempt| exempt.contains(address)) {
            return Step::Next;
        }
        match self.limit.seat(address) {
            Ok(permit) => {
                exchange.notes.permits.extend(permit);
                Step::Next
            }
            Err(_) => Step::Refuse(refusal::CONCURRENCY_LIMIT),
        }
    }
}
