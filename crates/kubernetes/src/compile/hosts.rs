//! Hosts of listeners and routes: where both overlap.

/// Whether a host or wildcard lies within another one. `*.example.com` stands for any number of labels, and not for `example.com`.
pub(super) fn is_within(host: &str, wider: &str) -> bool {
    match wider.strip_prefix('*') {
        Some(suffix) => host
            .strip_prefix('*')
            .unwrap_or(host)
            .strip_suffix(suffix)
            .is_some_and(|rest| !rest.is_empty() || host.starts_with('*')),
        None => host == wider,
    }
}

/// The hosts that a route has at a listener; empty for every host of the listener. `None` if they do not overlap.
pub(super) fn common(listener: Option<&str>, route: &[String]) -> Option<Vec<String>> {
    if route.is_empty() {
        return Some(Vec::new());
    }
    let Some(listener) = listener else { return Some(lower(route.iter())) };
    let listener = listener.to_ascii_lowercase();
    if route.iter().any(|host| is_within(&listener, &host.to_ascii_lowercase())) {
        return Some(Vec::new());
    }
    let within = lower(route.iter().filter(|host| is_within(&host.to_ascii_lowercase(), &listener)));
    Some(within).filter(|within| !within.is_empty())
}

/// Whether two routes at one listener have a host in common.
pub(super) fn overlap(a: &[String], b: &[String]) -> bool {
    let is_common = |a: &String| b.iter().any(|b| is_within(a, b) || is_within(b, a));
    a.is_empty() || b.is_empty() || a.iter().any(is_common)
}

fn lower<'h>(hosts: impl Iterator<Item = &'h String>) -> Vec<String> {
    hosts.map(|host| host.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
