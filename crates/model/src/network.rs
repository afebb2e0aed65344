//! Parses addresses and address ranges.

use std::net::IpAddr;

use ipnet::IpNet;

/// Parses `10.0.0.0/8`, `10.1.2.3`, `2001:db8::/32` or `::1`. A plain address is the range of that one address. `None` if it is
/// neither.
pub fn parse_network(text: &str) -> Option<IpNet> {
    let text = text.trim();
    match text.parse::<IpAddr>() {
        Ok(address) => Some(IpNet::from(address)),
        Err(_) => text.parse::<IpNet>().ok().map(|network| network.trunc()),
    }
}

#[cfg(test)]
mod tests;
