//! Waits after wrong passwords: an address has a few tries, then each wrong one doubles its wait. All addresses together have a limit too,
//! so that many of them do not help.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

/// Wrong tries of an address before it has to wait.
pub const FREE_TRIES: u32 = 5;
/// Tries per second of all addresses together: each costs some 20 ms of computing for a password.
pub const TRIES_PER_S: u32 = 10;
/// The longest wait. It also is how long wrong tries are remembered after it.
pub const WAIT_S_MAX: u64 = 15 * 60;
/// Addresses that are remembered; beyond it, the one that tried longest ago is forgotten.
pub const ADDRESSES_MAX: usize = 4_096;

/// The wrong tries of all addresses.
#[derive(Debug, Default)]
pub struct Tries {
    addresses: HashMap<IpAddr, WrongTries>,
    second: u64,
    in_second: u32,
}

#[derive(Debug)]
struct WrongTries {
    count: u32,
    last_unix_s: u64,
}

impl WrongTries {
    /// Seconds after the last try before the next one.
    fn wait_s(&self) -> u64 {
        let doublings = self.count.checked_sub(FREE_TRIES);
        doublings.map_or(0, |doublings| 1u64.checked_shl(doublings).unwrap_or(WAIT_S_MAX).min(WAIT_S_MAX))
    }

    fn is_forgotten(&self, now_unix_s: u64) -> bool {
        now_unix_s >= self.last_unix_s.saturating_add(self.wait_s()).saturating_add(WAIT_S_MAX)
    }
}

impl Tries {
    /// Whether an address may try now. A try counts as wrong until [`Tries::right`] says otherwise, so that tries at the same time are
    /// not free.
    ///
    /// # Errors
    /// The seconds to wait.
    pub fn admit(&mut self, address: IpAddr, now_unix_s: u64) -> Result<(), u64> {
        let address = network(address);
        if let Some(wrong) = self.addresses.get(&address) {
            let ends = wrong.last_unix_s.saturating_add(wrong.wait_s());
            if now_unix_s < ends {
                return Err(ends - now_unix_s);
            }
        }
        if self.second != now_unix_s {
            (self.second, self.in_second) = (now_unix_s, 0);
        }
        if self.in_second >= TRIES_PER_S {
            return Err(1);
        }
        self.in_second += 1;
        self.make_room(address, now_unix_s);
        let wrong = self.addresses.entry(address).or_insert(WrongTries { count: 0, last_unix_s: now_unix_s });
        if wrong.is_forgotten(now_unix_s) {
            wrong.count = 0;
        }
        wrong.count = wrong.count.saturating_add(1);
        wrong.last_unix_s = now_unix_s;
        Ok(())
    }

    /// The admitted try of an address was right.
    pub fn right(&mut self, address: IpAddr) {
        self.addresses.remove(&network(address));
    }

    /// The admitted try of an address was neither right nor wrong: it could not be checked.
    pub fn unchecked(&mut self, address: IpAddr) {
        if let Some(wrong) = self.addresses.get_mut(&network(address)) {
            wrong.count = wrong.count.saturating_sub(1);
        }
    }

    /// Tries that an address has left before it has to wait.
    pub fn left(&self, address: IpAddr) -> u32 {
        FREE_TRIES.saturating_sub(self.addresses.get(&network(address)).map_or(0, |wrong| wrong.count))
    }

    fn make_room(&mut self, address: IpAddr, now_unix_s: u64) {
        if self.addresses.len() < ADDRESSES_MAX || self.addresses.contains_key(&address) {
            return;
        }
        self.addresses.retain(|_, wrong| !wrong.is_forgotten(now_unix_s));
        if self.addresses.len() >= ADDRESSES_MAX
            && let Some(oldest) = self.addresses.iter().min_by_key(|(_, wrong)| wrong.last_unix_s).map(|(address, _)| *address)
        {
            self.addresses.remove(&oldest);
        }
    }
}

/// One client has a whole /64 network of IPv6.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        address => address,
    }
}

#[cfg(test)]
mod tests;
