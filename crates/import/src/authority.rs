//! Hosts with ports, and addresses of clients, as other gateways write them.

use ipnet::IpNet;
use std::net::IpAddr;

/// Whether a text is a host, or a host with a port.
pub(crate) fn is_authority(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        // An IPv6 address has colons of its own.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let inner = host.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
    let is_host = match inner {
        Some(inner) => inner.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
    };
    is_host && port.is_none_or(is_port)
}

/// Whether a text is the name of a host, `*.` before it for all below.
pub(crate) fn is_host(text: &str) -> bool {
    let name = text.strip_prefix("*.").unwrap_or(text);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    name.len() < 254 && name.split('.').all(is_label)
}

/// Whether a text is a port that can be connected to.
pub(crate) fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

/// The first text that is neither an address nor a network, with the reason.
pub(crate) fn wrong_network<'t>(texts: impl IntoIterator<Item = &'t String>) -> Option<String> {
    let is_wrong = |text: &&String| text.parse::<IpNet>().is_err() && text.parse::<IpAddr>().is_err();
    texts.into_iter().find(is_wrong).map(|text| format!("{text} is no address or network"))
}
