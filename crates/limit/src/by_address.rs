//! A rate for each client address, in a table of constant size. An address that has its whole rate back equals one that was never seen, so
//! another address can take its place without loss. Only when a part of the table is full of active addresses, the least active of them
//! loses its count.

use super::gcra::Gcra;
use super::rate::Rate;
use std::hash::{BuildHasher, RandomState};

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Slots that one address may use: together one cache line of the processor.
const PLACES: usize = 4;
/// How often another thread may take a slot first before a request is admitted uncounted.
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
    /// Hash of the address; 0 for an empty slot. The hash function is secret, so nobody can choose colliding addresses.
    tag: AtomicU64,
    count: Gcra,
}

impl AddressRates {
    /// Makes a table with one rate per address and room for about `addresses_max` active addresses.
    pub fn new(rate: Rate, addresses_max: usize) -> Self {
        let groups = addresses_max.div_ceil(PLACES).max(1).next_power_of_two();
        AddressRates { rate, hasher: RandomState::new(), groups: (0..groups).map(|_| Group::default()).collect() }
    }

    /// Counts a request of a client (its address, or its network as a number) if there is room for it, or returns how long to wait. Rejected requests count nothing.
    #[inline]
    pub fn admit(&self, network: u128, now: Duration) -> Result<(), Duration> {
        match self.place(network) {
            Some(place) => place.count.admit(self.rate, now),
            None => Ok(()),
        }
    }

    /// The slot of a client; takes one over if it has none.
    fn place(&self, network: u128) -> Option<&AddressSlot> {
        let hash = self.hasher.hash_one(network);
        let tag = hash | 1;
        let Group(places) = self.groups.get((hash >> 32) as usize & (self.groups.len() - 1))?;
        for _ in 0..TRIES_MAX {
            if let Some(place) = places.iter().find(|place| place.tag.load(Ordering::Relaxed) == tag) {
                return Some(place);
            }
            // Takes the slot with most of its rate left: an empty one or a long idle address, if there is one.
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
