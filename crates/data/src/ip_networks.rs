//! A list of networks of client addresses.

use ipnet::IpNet;
use std::net::IpAddr;
use tollgate_model::network::parse_network;

/// Addresses and CIDR ranges.
pub struct IpNetworks(Vec<IpNet>);

impl IpNetworks {
    /// The networks of a list; `None` if it is empty.
    pub fn new(entries: &[String]) -> Option<Self> {
        let networks: Vec<IpNet> = entries.iter().filter_map(|entry| parse_network(entry)).collect();
        (!entries.is_empty()).then_some(IpNetworks(networks))
    }

    /// Whether an address is in one of them.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address.to_canonical()))
    }
}
