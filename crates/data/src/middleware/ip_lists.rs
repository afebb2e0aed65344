//! Access by client address. Reads `allowed_ips` and `blacklisted_ips`. The client sees 403 `access from this IP has been disallowed`. Does
//! not use the store. The address is the connection's, unless a trusted proxy reports another.

use super::{Middleware, MiddlewareSource};
use crate::exchange::{Exchange, Step};
use crate::ip_networks::IpNetworks;
use crate::refusal;

pub(super) struct IpAllow(IpNetworks);
pub(super) struct IpBlock(IpNetworks);

impl IpAllow {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        Some(Box::new(IpAllow(IpNetworks::new(source.definition.ip_allow_list())?)))
    }
}

impl IpBlock {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        Some(Box::new(IpBlock(IpNetworks::new(source.definition.ip_block_list())?)))
    }
}

impl Middleware for IpAllow {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if self.0.contains(exchange.arrival.client_ip) { Step::Next } else { Step::Refuse(refusal::IP_DISALLOWED) }
    }
}

impl Middleware for IpBlock {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if self.0.contains(exchange.arrival.client_ip) { Step::Refuse(refusal::IP_DISALLOWED) } else { Step::Next }
    }
}
