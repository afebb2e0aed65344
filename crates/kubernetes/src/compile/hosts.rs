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

/// The hosts of a route that a listener has too, as the route writes them: of two routes that share a host, the one that names it most closely has
/// precedence. Empty for every host of the listener. `None` if they do not overlap.
pub(super) fn common(listener: Option<&str>, route: &[String]) -> Option<Vec<String>> {
    let mut hosts: Vec<String> = route.iter().map(|host| host.to_ascii_lowercase()).collect();
    if let Some(listener) = listener.map(str::to_ascii_lowercase) {
        hosts.retain(|host| is_within(host, &listener) || is_within(&listener, host));
    }
    (route.is_empty() || !hosts.is_empty()).then_some(hosts)
}

/// Whether two routes at one listener have a host in common.
pub(super) fn overlap(a: &[String], b: &[String]) -> bool {
    let is_common = |a: &String| b.iter().any(|b| is_within(a, b) || is_within(b, a));
    a.is_empty() || b.is_empty() || a.iter().any(is_common)
}

#[cfg(test)]
mod tests;
