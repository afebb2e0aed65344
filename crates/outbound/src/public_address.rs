//! Which addresses belong to the Internet. The others are of this machine, of its network, or of nobody.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Networks that are not of the Internet, by the registries of special addresses (RFC 6890): first address and prefix length.
const SPECIAL_V4: [(Ipv4Addr, u32); 16] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
    (Ipv4Addr::new(255, 255, 255, 255), 32),
];

/// Whether an address is one of the Internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_in = |(network, bits): &(Ipv4Addr, u32)| (address.to_bits() ^ network.to_bits()).checked_shr(32 - bits) == Some(0);
    !SPECIAL_V4.iter().any(is_in)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, fourth, _, _, seventh, eighth] = address.segments();
    let embedded = |high: u16, low: u16| is_public_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match (first, second) {
        // Translated to IPv4 (RFC 6052), and 6to4 (RFC 3056).
        (0x64, 0xff9b) if third == 0 && fourth == 0 => embedded(seventh, eighth),
        (0x2002, high) => embedded(high, third),
        // Documentation, and protocol assignments with Teredo.
        (0x2001, 0xdb8) => false,
        (0x2001, second) if second < 0x200 => false,
        // Only this part is assigned to the Internet.
        (first, _) => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests;
