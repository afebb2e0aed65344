//! Ports for the programs of a run.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;

/// Where they are taken from: below those that the system gives to sockets that ask for any, among them all connections of load generators.
const PORTS: Range<u16> = 10_000..32_000;
const PORTS_AT_ONCE: u16 = 200;

/// Ports that this run has for itself, among all programs that ask for some in this way: who holds the first one of some as a UDP socket has them all.
#[derive(Default)]
pub(super) struct OwnPorts {
    left: Range<u16>,
    claims: Vec<UdpSocket>,
}

impl OwnPorts {
    /// A port on which nobody listens.
    ///
    /// # Errors
    /// All are taken.
    pub(super) fn free(&mut self) -> Result<u16, String> {
        loop {
            if let Some(port) = self.left.find(|port| TcpListener::bind((Ipv4Addr::UNSPECIFIED, *port)).is_ok()) {
                return Ok(port);
            }
            let claimed = PORTS.step_by(usize::from(PORTS_AT_ONCE)).find_map(|first| {
                let claim = UdpSocket::bind((Ipv4Addr::LOCALHOST, first)).ok()?;
                Some((first, claim))
            });
            let (first, claim) = claimed.ok_or_else(|| format!("no free port from {} to {}", PORTS.start, PORTS.end))?;
            self.claims.push(claim);
            self.left = first + 1..first + PORTS_AT_ONCE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn two_runs_get_no_port_twice() {
        let (mut one, mut other) = (OwnPorts::default(), OwnPorts::default());
        let ports: BTreeSet<u16> = (0..300).flat_map(|_| [one.free().expect("a port"), other.free().expect("a port")]).collect();
        assert_eq!(ports.len(), 600);
        assert!(ports.iter().all(|port| PORTS.contains(port)));
    }
}
