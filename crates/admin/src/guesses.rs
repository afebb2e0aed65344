//! Guesses at a secret that scripts send with each call. A wrong guess costs its address a second; some are free. While an address has none
//! left, nothing that it sends is compared, so that a right guess tells nothing. There is no longer wait: a job with an old secret on the
//! operator's machine must not lock the operator out.

use super::tries::network;
use std::collections::HashMap;
use std::net::IpAddr;

/// Wrong guesses of an address at one time.
pub const FREE_GUESSES: u64 = 20;
/// Addresses that are remembered; beyond it, the one with the fewest wrong guesses is forgotten.
pub const ADDRESSES_MAX: usize = 4_096;

/// The wrong guesses of all addresses: for each the time, in Unix seconds, at which all of them are forgiven.
#[derive(Debug, Default)]
pub struct Guesses(HashMap<IpAddr, u64>);

impl Guesses {
    /// Whether a guess of an address is right. It is compared only if the address has a guess left.
    ///
    /// # Errors
    /// The seconds until the next guess.
    pub fn judge(&mut self, address: IpAddr, now_unix_s: u64, is_right: impl FnOnce() -> bool) -> Result<bool, u64> {
        let address = network(address);
        let forgiven = self.0.get(&address).copied().unwrap_or_default().max(now_unix_s);
        let spent = forgiven - now_unix_s;
        if spent >= FREE_GUESSES {
            return Err(spent - FREE_GUESSES + 1);
        }
        let is_right = is_right();
        if !is_right {
            self.make_room(address, now_unix_s);
            self.0.insert(address, forgiven + 1);
        }
        Ok(is_right)
    }

    fn make_room(&mut self, address: IpAddr, now_unix_s: u64) {
        if self.0.len() < ADDRESSES_MAX || self.0.contains_key(&address) {
            return;
        }
        self.0.retain(|_, forgiven| *forgiven > now_unix_s);
        if self.0.len() >= ADDRESSES_MAX
            && let Some(least) = self.0.iter().min_by_key(|(_, forgiven)| **forgiven).map(|(address, _)| *address)
        {
            self.0.remove(&least);
        }
    }
}

#[cfg(test)]
mod tests;
