//! What the gateway prints when it serves.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

/// The listening addresses.
pub(super) struct ServedAddresses {
    pub data: Vec<SocketAddr>,
    pub control: Vec<SocketAddr>,
    pub metrics: Vec<SocketAddr>,
    pub portal: Vec<SocketAddr>,
}

/// Prints the listening addresses to standard output, in a form that scripts can parse.
pub(super) fn announce(addresses: &ServedAddresses, tls: bool, secret_file: Option<&Path>, has_console: bool) {
    let scheme = if tls { "https" } else { "http" };
    let ServedAddresses { data: addresses, control, metrics, portal } = addresses;
    // A missing reader is no reason to end.
    let say = |line: String| drop(writeln!(io::stdout(), "tollgate: {line}"));
    for address in addresses {
        say(format!("listening on {scheme}://{}", reachable(*address)));
    }
    let secret = secret_file.map(|path| format!(" (secret in {})", path.display())).unwrap_or_default();
    for address in control.iter().chain(addresses.first()).take(1) {
        say(format!("control API at {scheme}://{}/tyk/{secret}", reachable(*address)));
        if has_console {
            say(format!("console at {scheme}://{}/tyk/console/", reachable(*address)));
        }
    }
    for address in portal {
        say(format!("developer portal at {scheme}://{}/", reachable(*address)));
    }
    for address in metrics {
        say(format!("metrics at http://{}/metrics", reachable(*address)));
    }
}

/// An address that clients on this machine can use.
fn reachable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()) } else { address }
}
