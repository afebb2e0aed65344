//! Addresses of upstreams.

use crate::plan::PlannedTarget;

/// An upstream over TCP.
pub(super) fn target(address: &str) -> Option<PlannedTarget> {
    let (scheme, host) = address.split_once("://").unwrap_or(("http", address));
    let host = host.trim_end_matches('/');
    let host = if host.starts_with(':') { format!("localhost{host}") } else { host.to_owned() };
    let is_host = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte)) && !host.is_empty();
    (is_host && ["http", "https", "h2c"].contains(&scheme)).then(|| PlannedTarget { url: format!("{scheme}://{host}"), weight: 1 })
}
