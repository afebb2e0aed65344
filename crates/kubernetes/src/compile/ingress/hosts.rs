//! Hosts of Ingresses. A wildcard stands for one label.

/// A host as rules of routes have it.
pub(super) fn of_rule(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    host.strip_prefix("*.").map_or_else(|| host.clone(), |parent| format!("?.{parent}"))
}

/// Whether a host of a TLS section is that of a rule, or the wildcard above it.
pub(super) fn covers(tls_host: &str, host: &str) -> bool {
    let is_above = |parent: &str| host.split_once('.').is_some_and(|(_, rest)| rest.eq_ignore_ascii_case(parent));
    tls_host.eq_ignore_ascii_case(host) || tls_host.strip_prefix("*.").is_some_and(is_above)
}

/// The host with `www.`, or without it.
pub(super) fn other_www(host: &str) -> Option<String> {
    match host.strip_prefix("www.") {
        Some(bare) => Some(bare.to_owned()),
        None if host.is_empty() || host.starts_with("*.") => None,
        None => Some(format!("www.{host}")),
    }
}

/// Whether a text can be a host of a route.
pub(super) fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let name = host.strip_prefix("*.").unwrap_or(host);
    name.len() <= 253 && name.split('.').all(is_label)
}
