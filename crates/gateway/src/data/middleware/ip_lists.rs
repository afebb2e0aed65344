//! Access by client address. Reads `allowed_ips` and `blacklisted_ips`. The client sees 403 `access from this IP has been disallowed`. Does
//! not use the store. The address is the connection's, unless a trusted proxy reports another.

use super::{Middleware, MiddlewareSource};
use crate::data::exchange::{Exchange, Step};
use crate::data::refusal;
use ipnet::IpNet;
use std::net::IpAddr;
use tollgate_model::network::parse_network;

pub(super) struct IpAllow(Networks);
pub(super) struct IpBlock(Networks);

struct Networks(Vec<IpNet>);

impl Networks {
    fn new(entries: &[String]) -> Option<Self> {
        let networks: Vec<IpNet> = entries.iter().filter_map(|entry| parse_network(entry)).collect();
        (!entries.is_empty()).then_some(Networks(networks))
    }

    fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address.to_canonical()))
    }
}

impl IpAllow {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        Some(Box::new(IpAllow(Networks::new(source.definition.ip_allow_list())?)))
    }
}

impl IpBlock {
    pub(super) fn compile(source: &mut MiddlewareSource<'_, '_>) -> Option<Box<dyn Middleware>> {
        Some(Box::new(IpBlock(Networks::new(source.definition.ip_block_list())?)))
    }
}

impl Middleware for IpAllow {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if self.0.contains(exchange.client_ip) { Step::Next } else { Step::Refuse(refusal::IP_DISALLOWED) }
    }
}

impl Middleware for IpBlock {
    fn on_request(&self, exchange: &mut Exchange<'_>) -> Step {
        if self.0.contains(exchange.client_ip) { Step::Refuse(refusal::IP_DISALLOWED) } else { Step::Next }
    }
}
