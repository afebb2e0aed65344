//! Counts the open connections of each client address, so that a single client cannot use them all up. An address is in the table
//! only while it has a connection, so the number of connections bounds the table. Checked once per connection, and only if a limit
//! is configured.

use crate::listen::TrustedProxies;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Shards of the table. Each has its own lock, so that cores that accept at the same time rarely contend.
const PARTS: usize = 16;
/// The part of an IPv6 address that identifies one customer of a network: a customer can use any number of addresses within a /64.
const IPV6_PREFIX: u128 = !(u64::MAX as u128);

/// What counts as one client: an IPv4 address, or the /64 network of an IPv6 address.
pub fn client_network(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => Ipv6Addr::to_bits(address) & IPV6_PREFIX,
    }
}

/// Counts connections, or other things of clients, by client address and limits them.
pub struct AddressLimit {
    connections_max: u32,
    /// Addresses of proxies, which are not limited: their connections belong to many clients.
    is_exempt: TrustedProxies,
    hasher: RandomState,
    parts: [Mutex<HashMap<u128, u32>>; PARTS],
}

/// One in the count of its address; dropping it decrements the count.
pub struct IpPermit {
    limit: Arc<AddressLimit>,
    network: u128,
}

/// Error: the address already has the maximum number.
#[derive(Debug)]
pub struct LimitReached;

impl AddressLimit {
    /// Allows each address `connections_max` connections; exempt addresses are not limited.
    pub fn new(connections_max: u32, is_exempt: TrustedProxies) -> Self {
        let (hasher, parts) = (RandomState::new(), Default::default());
        AddressLimit { connections_max, is_exempt, hasher, parts }
    }

    /// Counts one more. `Ok(None)` if the address is exempt.
    ///
    /// # Errors
    /// The address has all that it may have.
    pub fn seat(self: &Arc<Self>, address: IpAddr) -> Result<Option<IpPermit>, LimitReached> {
        if (self.is_exempt)(address.to_canonical()) {
            return Ok(None);
        }
        let network = client_network(address);
        self.with_part(network, |part| {
            let open = part.entry(network).or_default();
            if *open >= self.connections_max {
                return Err(LimitReached);
            }
            *open += 1;
            Ok(Some(IpPermit { limit: self.clone(), network }))
        })
    }

    fn with_part<R>(&self, network: u128, f: impl FnOnce(&mut HashMap<u128, u32>) -> R) -> R {
        let hash = self.hasher.hash_one(network);
        let [first, ..] = &self.parts;
        let part = self.parts.get(hash as usize % PARTS).unwrap_or(first);
        f(&mut part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for IpPermit {
    fn drop(&mut self) {
        self.limit.with_part(self.network, |part| match part.get_mut(&self.network) {
            Some(open) if *open > 1 => *open -= 1,
            _ => {
                part.remove(&self.network);
                // Returns the memory that a burst of clients needed.
                if part.is_empty() {
                    part.shrink_to_fit();
                }
            }
        });
    }
}

#[cfg(test)]
mod tests;
