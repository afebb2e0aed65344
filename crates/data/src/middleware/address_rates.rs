//! Rates of each client address. Reads `tollgate.address_rates`. The client sees 429 `Rate Limit Exceeded`. Does not use the store: each gateway
//! counts for itself, in tables of constant size. Rejected requests do not count.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::ip_networks::IpNetworks;
use crate::refusal;
use std::sync::Arc;
use tollgate_engine::client_network;
use tollgate_limit::{AddressRates, Rate};

/// Active addresses that a table has room for; the least active ones make way. One takes 16 bytes.
const ADDRESSES_MAX: usize = 16_384;

pub(super) struct AddressRateLimit(Vec<AddressLimit>);

struct AddressLimit {
    table: Arc<AddressRates>,
    exempt: Option<IpNetworks>,
}

impl AddressRateLimit {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        let definition = source.definition;
        let limits = definition.tollgate.address_rates.iter().enumerate().filter_map(|(index, written)| {
            let burst = if written.burst > 0.0 { written.burst } else { written.rate };
            let rate = Rate::with_burst(written.rate, written.per, burst)?;
            // All rules of the API share one table; another rate counts anew.
            let name = format!("{}/{index}/{}/{}/{burst}", definition.api_id, written.rate, written.per);
            let table = source.context.registry.address_table(name, || AddressRates::new(rate, ADDRESSES_MAX));
            Some(AddressLimit { table, exempt: IpNetworks::new(&written.exempt) })
        });
        let limits: Vec<AddressLimit> = limits.collect();
        if limits.is_empty() { None } else { Some(Box::new(AddressRateLimit(limits))) }
    }
}

impl Middleware for AddressRateLimit {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        let address = exchange.arrival.client_ip;
        let limits = self.0.iter().filter(|limit| limit.exempt.as_ref().is_none_or(|exempt| !exempt.contains(address)));
        for limit in limits {
            if limit.table.admit(client_network(address), exchange.arrival.now).is_err() {
                return Step::Refuse(refusal::ADDRESS_RATE_LIMIT);
            }
        }
        Step::Next
    }
}
