//! Addresses of upstreams.

use crate::authority::is_authority;
use crate::plan::PlannedTarget;

/// An upstream over TCP.
pub(super) fn target(address: &str) -> Option<PlannedTarget> {
    let (scheme, host) = address.split_once("://").unwrap_or(("http", address));
    let host = host.trim_end_matches('/');
    let host = if host.starts_with(':') { format!("localhost{host}") } else { host.to_owned() };
    (is_authority(&host) && ["http", "https", "h2c"].contains(&scheme))
        .then(|| PlannedTarget { url: format!("{scheme}://{host}"), weight: 1 })
}
