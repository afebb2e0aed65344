//! The HTTP grammars that occur in documents: tokens, header values, target URLs.

use std::net::Ipv6Addr;

/// Schemes that a target may have. `tyk` names another API of this gateway.
const TARGET_SCHEMES: [&str; 6] = ["http", "https", "h2c", "ws", "wss", "tyk"];

/// Whether a text is a token (RFC 9110 §5.6.2), as methods and header names must be.
pub(crate) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Whether a text is a valid header value.
pub(crate) fn is_header_value(text: &str) -> bool {
    !text.bytes().any(|b| (b < 0x20 && b != b'\t') || b == 0x7f)
}

/// Whether a header frames or routes a message. A definition cannot change it; nor can it in Tyk, whose HTTP library writes it.
pub fn is_framing_header(name: &str) -> bool {
    const FRAMING: [&str; 6] = ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "Trailer"];
    FRAMING.iter().any(|framing| framing.eq_ignore_ascii_case(name))
}

/// Why `url` is not a valid target of a TCP or TLS stream; `None` if it is.
pub(crate) fn stream_target_fault(url: &str) -> Option<&'static str> {
    let Some((scheme, authority)) = url.split_once("://") else {
        return Some("must be a URL such as tcp://host:6379");
    };
    if !["tcp", "tls"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
        return Some("must begin with tcp:// or tls://, as the API's protocol is tcp or tls");
    }
    let authority = authority.strip_suffix('/').unwrap_or(authority);
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.ends_with(']'));
    if !has_port || authority.contains(['/', '?', '#', '@']) {
        return Some("must have a host and a port and nothing else");
    }
    host_port_fault(authority)
}

/// A target of a list as an absolute URL.
pub(crate) fn with_scheme(target: &str, default: &str) -> String {
    match target.contains("://") {
        true => target.to_owned(),
        false => format!("{default}://{target}"),
    }
}

/// Why `url` is not a valid target; `None` if it is.
pub(crate) fn target_url_fault(url: &str) -> Option<&'static str> {
    if url.bytes().any(|b| b <= 0x20 || b == 0x7f) {
        return Some("must not contain spaces or control characters");
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some("must be an absolute URL such as http://host:8080/");
    };
    if !TARGET_SCHEMES.iter().any(|s| s.eq_ignore_ascii_case(scheme)) {
        return Some("must begin with http, https, h2c, ws, wss or tyk and ://");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest.get(..end).unwrap_or_default();
    let host_port = authority.rsplit_once('@').map_or(authority, |(_, h)| h);
    if scheme.eq_ignore_ascii_case("tyk") {
        return host_port.is_empty().then_some("must name an API after tyk://");
    }
    host_port_fault(host_port)
}

fn host_port_fault(text: &str) -> Option<&'static str> {
    let (host, port) = match text.strip_prefix('[').and_then(|t| t.split_once(']')) {
        Some((address, after)) => {
            if address.parse::<Ipv6Addr>().is_err() {
                return Some("has an invalid IPv6 address between the brackets");
            }
            match after.strip_prefix(':') {
                None if !after.is_empty() => return Some("has characters after the host's bracket"),
                port => (address, port),
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() {
        return Some("must have a host");
    }
    match port {
        Some(port) if !port.is_empty() && !port.parse::<u16>().is_ok_and(|p| p > 0) => {
            Some("must have a port from 1 to 65535 or none")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
