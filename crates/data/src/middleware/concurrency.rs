//! How many requests of a client are in progress at once. Reads `tollgate.concurrency`. The client sees 429 for one more. Each gateway counts for
//! itself; a request counts until its response has ended, an upgraded connection until it is closed.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::ip_networks::IpNetworks;
use crate::refusal;
use std::sync::Arc;
use tollgate_engine::AddressCounts;

pub(super) struct Concurrency {
    /// Those of the API, whatever its definition has said before.
    counts: Arc<AddressCounts>,
    most: u32,
    exempt: Option<IpNetworks>,
}

impl Concurrency {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let rules = source.definition.tollgate.concurrency.as_ref()?;
        let counts = source.context.registry.address_counts(&source.definition.api_id);
        Some(Box::new(Concurrency { counts, most: rules.per_address, exempt: IpNetworks::new(&rules.exempt) }))
    }
}

impl Middleware for Concurrency {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let address = exchange.arrival.client_ip;
        if self.exempt.as_ref().is_some_and(|exempt| exempt.contains(address)) {
            return Step::Next;
        }
        match self.counts.seat(address, self.most) {
            Ok(permit) => {
                exchange.notes.permits.push(permit);
                Step::Next
            }
            Err(_) => Step::Refuse(refusal::CONCURRENCY_LIMIT),
        }
    }
}
