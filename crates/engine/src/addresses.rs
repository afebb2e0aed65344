//! Connections by client address: how many each has open, so that one client alone can't take them all. An address is in the table for
//! as long as it has a connection, so the table is as bounded as connections are. Asked once for each connection, and only where
//! a bound is configured.

use crate::listen::TrustedProxies;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Parts of the table, each with a lock of its own, so that cores that accept at the same time seldom meet.
const PARTS: usize = 16;
/// The part of an IPv6 address that one customer of a network has to himself: within it he has as many addresses as he likes.
const IPV6_PREFIX: u128 = !(u64::MAX as u128);

/// What counts as one client: an IPv4 address, or the /64 network of an IPv6 address.
pub fn client_network(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => Ipv6Addr::to_bits(address) & IPV6_PREFIX,
    }
}

/// The connections that each address has open, and the most that it may have.
pub struct AddressLimit {
    connections_max: u32,
    /// Proxies, whose connections are those of many clients.
    is_exempt: TrustedProxies,
    hasher: RandomState,
    parts: [Mutex<HashMap<u128, u32>>; PARTS],
}

/// One connection in its address's count, for as long as this lives.
pub(crate) struct Seat {
    limit: Arc<AddressLimit>,
    network: u128,
}

/// The address has as many connections as it may.
#[derive(Debug)]
pub(crate) struct Full;

impl AddressLimit {
    /// At most `connections_max` for each address but those that are exempt.
    pub fn new(connections_max: u32, is_exempt: TrustedProxies) -> Arc<Self> {
        let (hasher, parts) = (RandomState::new(), Default::default());
        Arc::new(AddressLimit { connections_max, is_exempt, hasher, parts })
    }

    /// A seat for one more connection; none for an address that is not counted.
    pub(crate) fn seat(self: &Arc<Self>, address: IpAddr) -> Result<Option<Seat>, Full> {
        if (self.is_exempt)(address.to_canonical()) {
            return Ok(None);
        }
        let network = client_network(address);
        self.with_part(network, |part| {
            let open = part.entry(network).or_default();
            if *open >= self.connections_max {
                return Err(Full);
            }
            *open += 1;
            Ok(Some(Seat { limit: self.clone(), network }))
        })
    }

    fn with_part<R>(&self, network: u128, f: impl FnOnce(&mut HashMap<u128, u32>) -> R) -> R {
        let hash = self.hasher.hash_one(network);
        let [first, ..] = &self.parts;
        let part = self.parts.get(hash as usize % PARTS).unwrap_or(first);
        f(&mut part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.limit.with_part(self.network, |part| match part.get_mut(&self.network) {
            Some(open) if *open > 1 => *open -= 1,
            _ => {
                part.remove(&self.network);
                // What a crowd took is given back when it is gone.
                if part.is_empty() {
                    part.shrink_to_fit();
                }
            }
        });
    }
}

#[cfg(test)]
mod tests;
