//! The client's address: the connection's address, or the address in a header of a trusted proxy. The operator configures the trusted
//! networks and the header.

use ipnet::IpNet;
use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use tollgate_http::{KnownHeader, Request};

/// Trusted proxies, and the header that they set.
#[derive(Clone, Debug)]
pub struct ClientAddress {
    pub trusted_proxies: Vec<IpNet>,
    /// Which entry of `X-Forwarded-For` counts, from its end; 0 for the last one that is not a trusted proxy.
    pub xff_depth: u64,
    /// The only header in which trusted proxies name the client, lower case; empty for the headers that Tyk reads.
    pub header: String,
}

impl ClientAddress {
    /// The client's address: the connection's, or the one that a trusted proxy reports.
    #[inline]
    pub fn of(&self, peer: IpAddr, request: &Request<'_>) -> IpAddr {
        if self.trusts(peer) { self.forwarded(request).unwrap_or(peer) } else { peer }
    }

    /// Whether an address belongs to a trusted proxy.
    #[inline]
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }

    /// The address that trusted proxies report: in the configured header, else in `X-Real-IP`, else in `X-Forwarded-For`.
    fn forwarded(&self, request: &Request<'_>) -> Option<IpAddr> {
        if !self.header.is_empty() {
            let of_name = |line: &(&str, &[u8])| line.0.eq_ignore_ascii_case(&self.header);
            return self.nearest_client(request.headers.iter().filter(of_name).map(|(_, value)| value));
        }
        if let Some(address) = request.headers.known(KnownHeader::RealIp).and_then(|value| address(&String::from_utf8_lossy(value)))
        {
            return Some(address);
        }
        let lines = || request.headers.all_known(KnownHeader::ForwardedFor);
        match usize::try_from(self.xff_depth).ok()? {
            0 => self.nearest_client(lines()),
            depth => {
                let lines: Vec<Cow<'_, str>> = lines().map(String::from_utf8_lossy).collect();
                let entries: Vec<&str> = lines.iter().flat_map(|line| line.split(',')).collect();
                entries.len().checked_sub(depth).and_then(|index| entries.get(index)).and_then(|text| address(text))
            }
        }
    }

    /// The last entry that is not a trusted proxy. Each proxy appends the address that called it, so the client may have written the
    /// entries before it. The first entry when all are trusted.
    pub fn nearest_client<'l>(&self, lines: impl Iterator<Item = &'l [u8]>) -> Option<IpAddr> {
        let lines: Vec<Cow<'_, str>> = lines.map(String::from_utf8_lossy).collect();
        let mut nearest = None;
        for entry in lines.iter().flat_map(|line| line.split(',')).rev() {
            let Some(found) = address(entry) else { break };
            nearest = Some(found);
            if !self.trusts(found) {
                break;
            }
        }
        nearest
    }
}

/// Parses an address as proxies write it, with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()));
    bare.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests;
