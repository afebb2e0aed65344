//! A rate for each client address, in a table whose size never changes. An address that has its whole rate back is the same as one
//! that was never seen, so its place can go to another one and nothing is forgotten. Only when a part of the table is full
//! of busy addresses does the least busy of them lose its count.

use super::gcra::Gcra;
use super::rate::Rate;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tollgate_engine::client_network;

/// Places that one address may take: together one line of a processor's cache.
const PLACES: usize = 4;
/// How often another thread may snatch a place away before a request is let in uncounted.
const TRIES_MAX: usize = 4;

/// The rates of all addresses.
pub struct AddressRates {
    rate: Rate,
    hasher: RandomState,
    groups: Box<[Group]>,
}

#[derive(Default)]
#[repr(align(64))]
struct Group([AddressSlot; PLACES]);

#[derive(Default)]
struct AddressSlot {
    /// A hash of the address; 0 for none. The table's hash is secret, so nobody can choose addresses that meet.
    tag: AtomicU64,
    count: Gcra,
}

impl AddressRates {
    /// One rate for each address, with room for about so many that are busy at once.
    pub fn new(rate: Rate, addresses_max: usize) -> Self {
        let groups = addresses_max.div_ceil(PLACES).max(1).next_power_of_two();
        AddressRates { rate, hasher: RandomState::new(), groups: (0..groups).map(|_| Group::default()).collect() }
    }

    /// Counts a request of an address if there is room for it, or tells how long to wait. Rejected requests count nothing.
    #[inline]
    pub fn admit(&self, address: IpAddr, now: Duration) -> Result<(), Duration> {
        match self.place(client_network(address)) {
            Some(place) => place.count.admit(self.rate, now),
            None => Ok(()),
        }
    }

    /// The place of a client, which is made if there is none.
    fn place(&self, network: u128) -> Option<&AddressSlot> {
        let hash = self.hasher.hash_one(network);
        let tag = hash | 1;
        let Group(places) = self.groups.get((hash >> 32) as usize & (self.groups.len() - 1))?;
        for _ in 0..TRIES_MAX {
            if let Some(place) = places.iter().find(|place| place.tag.load(Ordering::Relaxed) == tag) {
                return Some(place);
            }
            // Whoever has most of its rate left: nobody, or one that was idle for long, if there is any.
            let place = places.iter().min_by_key(|place| place.count.arrival_ns())?;
            let before = place.tag.load(Ordering::Relaxed);
            if before != tag && place.tag.compare_exchange(before, tag, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                place.count.clear();
                return Some(place);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
