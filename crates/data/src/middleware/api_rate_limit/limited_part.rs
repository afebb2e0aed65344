//! The part of a request whose values have counters of their own.

use crate::exchange::Exchange;
use crate::limit_table::LimitTable;
use std::net::IpAddr;
use std::sync::Arc;
use tollgate_limit::Limiter;
use tollgate_model::api::LimitedBy;

pub(super) struct LimitedPart {
    pub table: Arc<LimitTable>,
    pub by: LimitedBy,
    /// Name of the header or claim.
    pub name: String,
}

impl LimitedPart {
    pub(super) fn counter(&self, exchange: &Exchange<'_>) -> Arc<Limiter> {
        match self.by {
            LimitedBy::Everybody => self.table.counter(&[]),
            LimitedBy::Address => self.of_address(exchange),
            LimitedBy::Client => match &exchange.caller.key {
                // No address has the length of a digest.
                Some(key) => self.table.counter(&key.digest),
                None => self.of_address(exchange),
            },
            LimitedBy::Header => self.table.counter(exchange.received().get(&self.name).unwrap_or_default()),
            LimitedBy::Claim => {
                let claim = exchange.caller.claims.as_ref().and_then(|claims| claims.get(&self.name));
                self.table.counter(claim.unwrap_or_default().as_bytes())
            }
        }
    }

    /// What it is for people.
    pub(super) fn shown(&self) -> &'static str {
        match self.by {
            LimitedBy::Everybody => "everybody",
            LimitedBy::Client => "client",
            LimitedBy::Address => "address",
            LimitedBy::Header => "header",
            LimitedBy::Claim => "claim",
        }
    }

    fn of_address(&self, exchange: &Exchange<'_>) -> Arc<Limiter> {
        match exchange.arrival.client_ip {
            IpAddr::V4(address) => self.table.counter(&address.octets()),
            // One client has a whole network.
            IpAddr::V6(address) => self.table.counter(address.octets().first_chunk::<8>().map_or(&[], |network| network)),
        }
    }
}
