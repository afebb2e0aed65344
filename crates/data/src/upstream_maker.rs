//! Makes upstreams of URLs and addresses: the engine's targets for them are those that others have of the same.

use crate::registry::Registry;
use crate::upstream::{Upstream, split_url};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use rustls::pki_types::ServerName;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tollgate_engine::{Address, EgressProxy, Http2, LocalConnector, ProxyProtocol, Target};
use tollgate_tls::{TlsRules, TlsSettings};

impl Upstream {
    /// Makes the upstream of a URL. `Err` says what is wrong with the URL.
    pub fn new(url: &str, tls: &TlsSettings, registry: &Registry) -> Result<Self, String> {
        let parts = split_url(url).ok_or("must be an absolute URL")?;
        let secure = match parts.scheme.to_ascii_lowercase().as_str() {
            "http" | "ws" | "h2c" | "tcp" => false,
            "https" | "wss" | "tls" => true,
            other => return Err(format!("the scheme {other} is not supported")),
        };
        let (host, port) = host_and_port(parts.authority, if secure { 443 } else { 80 })?;
        let address = match host.parse::<IpAddr>() {
            Ok(ip) => Address::Socket(SocketAddr::new(ip, port)),
            Err(_) => Address::Name { host: host.to_ascii_lowercase(), port },
        };
        let server_name = match secure {
            true => Some(ServerName::try_from(host.to_owned()).map_err(|_| format!("{host} can't be a TLS server's name"))?),
            false => None,
        };
        let mut rules = if secure { tls.for_host(host) } else { TlsRules::default() };
        // What a stream speaks is not known here, so no protocol is offered in the handshake.
        rules.http2 &= !parts.scheme.eq_ignore_ascii_case("tls");
        let http2 = match secure {
            true if rules.http2 => Http2::IfAgreed,
            false if parts.scheme.eq_ignore_ascii_case("h2c") => Http2::Always,
            _ => Http2::Never,
        };
        let proxy = match tls.proxy_url.as_str() {
            "" => None,
            url => Some(egress_proxy(url).map_err(|error| format!("$.proxy.transport.proxy_url: {error}"))?),
        };
        let target = registry.target(address, proxy, server_name, &rules, http2)?;
        Ok(Upstream {
            target,
            host: parts.authority.to_owned(),
            path: parts.path.to_owned(),
            query: parts.query.to_owned(),
            federation: None,
        })
    }

    /// Makes the upstream at an address, with the host and the rules of TLS. `Err` says what is wrong.
    pub fn at(
        address: SocketAddr,
        tls: Option<(&str, &TlsRules)>,
        speaks_http2: bool,
        registry: &Registry,
    ) -> Result<Self, String> {
        let host = tls.map_or_else(|| address.to_string(), |(host, _)| host.to_owned());
        let (name, rules) = match tls {
            None => (None, TlsRules::default()),
            Some((host, rules)) => {
                let host = if host.is_empty() { address.ip().to_string() } else { host.to_owned() };
                let name = ServerName::try_from(host.clone()).map_err(|_| format!("{host} can't be a TLS server's name"))?;
                (Some(name), rules.clone())
            }
        };
        let http2 = match (speaks_http2, rules.http2) {
            (true, _) => Http2::Always,
            (false, true) => Http2::IfAgreed,
            (false, false) => Http2::Never,
        };
        let target = registry.target(Address::Socket(address), None, name, &rules, http2)?;
        Ok(Upstream { target, host, path: String::new(), query: String::new(), federation: None })
    }

    /// Makes an upstream of a server within this process.
    pub fn within(connector: LocalConnector, registry: &Registry) -> Self {
        let serial = registry.new_serial();
        let target = Target { serial, address: Address::Local(connector), proxy: None, tls: None, http2: Http2::Never };
        Upstream {
            target: Arc::new(target),
            host: "localhost".to_owned(),
            path: String::new(),
            query: String::new(),
            federation: None,
        }
    }
}

/// The proxy at a URL: `http://` or `socks5://`, with credentials if it wants them.
fn egress_proxy(url: &str) -> Result<EgressProxy, String> {
    let parts = split_url(url).ok_or("must be an absolute URL")?;
    let (user, password) = credentials(url)?;
    let has_credentials = !user.is_empty() || !password.is_empty();
    let (protocol, default_port) = match parts.scheme.to_ascii_lowercase().as_str() {
        "http" => {
            let basic = || format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
            (ProxyProtocol::Http(has_credentials.then(basic)), 80)
        }
        "socks5" | "socks5h" => (ProxyProtocol::Socks5(has_credentials.then(|| (user.clone(), password.clone()))), 1080),
        other => return Err(format!("the scheme {other} is not supported")),
    };
    let (host, port) = host_and_port(parts.authority, default_port)?;
    let address = match host.parse::<IpAddr>() {
        Ok(ip) => Address::Socket(SocketAddr::new(ip, port)),
        Err(_) => Address::Name { host: host.to_ascii_lowercase(), port },
    };
    Ok(EgressProxy { address, protocol })
}

/// User and password of a URL, decoded.
fn credentials(url: &str) -> Result<(String, String), String> {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or_default());
    let (user, password) = match authority.rsplit_once('@') {
        Some((information, _)) => information.split_once(':').unwrap_or((information, "")),
        None => ("", ""),
    };
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(|text| text.into_owned());
    let both = decoded(user).and_then(|user| Ok((user, decoded(password)?)));
    both.map_err(|_| "its credentials are not UTF-8".to_owned())
}

fn host_and_port(authority: &str, default_port: u16) -> Result<(&str, u16), String> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, tail) = rest.split_once(']').ok_or("the IPv6 address is not closed")?;
            (host, tail.strip_prefix(':'))
        }
        None => match authority.rsplit_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let port = match port {
        None | Some("") => default_port,
        Some(port) => port.parse().map_err(|_| format!("{port} is not a port"))?,
    };
    // A rewrite may take the host from a request.
    if host.contains(|c: char| c == ' ' || c.is_ascii_control()) {
        return Err(format!("{host:?} is not a host"));
    }
    if host.is_empty() { Err("the URL has no host".to_owned()) } else { Ok((host, port)) }
}

#[cfg(test)]
mod tests;
