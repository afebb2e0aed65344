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

/// Counts connections, or other things of clients, by client address.
#[derive(Default)]
pub struct AddressCounts {
    hasher: RandomState,
    parts: [Mutex<HashMap<u128, u32>>; PARTS],
}

/// Limits the connections of each client address.
pub struct AddressLimit {
    connections_max: u32,
    /// Addresses of proxies, which are not limited: their connections belong to many clients.
    is_exempt: TrustedProxies,
    counts: Arc<AddressCounts>,
}

/// One in the count of its address; dropping it decrements the count.
pub struct IpPermit {
    counts: Arc<AddressCounts>,
    network: u128,
}

/// Error: the address already has the maximum number.
#[derive(Debug)]
pub struct LimitReached;

impl AddressLimit {
    /// Allows each address `connections_max` connections; exempt addresses are not limited.
    pub fn new(connections_max: u32, is_exempt: TrustedProxies) -> Self {
        AddressLimit { connections_max, is_exempt, counts: Arc::default() }
    }

    /// Counts one more. `Ok(None)` if the address is exempt.
    ///
    /// # Errors
    /// The address has all that it may have.
    pub fn seat(&self, address: IpAddr) -> Result<Option<IpPermit>, LimitReached> {
        if (self.is_exempt)(address.to_canonical()) {
            return Ok(None);
        }
        self.counts.seat(address, self.connections_max).map(Some)
    }
}

impl AddressCounts {
    /// Counts one more of an address that may have `most`.
    ///
    /// # Errors
    /// It has as many, or more since it may have fewer.
    pub fn seat(self: &Arc<Self>, address: IpAddr, most: u32) -> Result<IpPermit, LimitReached> {
        let network = client_network(address);
        self.with_part(network, |part| {
            if part.get(&network).copied().unwrap_or_default() >= most {
                return Err(LimitReached);
            }
            *part.entry(network).or_default() += 1;
            Ok(IpPermit { counts: self.clone(), network })
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
        self.counts.with_part(self.network, |part| match part.get_mut(&self.network) {
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
