//! An upstream of an API: a URL, parsed once, and the engine's target for it.

use crate::api::Api;
use crate::registry::Registry;
use crate::url::Url;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use rustls::pki_types::ServerName;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tollgate_engine::{Address, EgressProxy, Http2, LocalConnector, ProxyProtocol, Target};
use tollgate_mcp_federation::FederatedServer;
use tollgate_tls::{TlsRules, TlsSettings};

/// One URL to send requests to.
#[derive(Debug)]
pub struct Upstream {
    pub target: Arc<Target>,
    /// `Host` of requests to the upstream.
    pub host: String,
    /// Path of the URL, as configured.
    pub path: String,
    /// Query of the URL, without `?`.
    pub query: String,
    /// The MCP server in front of many that it is.
    pub federation: Option<Arc<FederatedServer>>,
}

/// A URL split into its parts.
pub struct UpstreamParts<'a> {
    pub scheme: &'a str,
    pub authority: &'a str,
    pub path: &'a str,
    pub query: &'a str,
}

/// Splits an absolute URL; `None` when it has no scheme or no authority.
pub fn split_url(url: &str) -> Option<UpstreamParts<'_>> {
    let (scheme, rest) = url.split_once("://")?;
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end)?;
    let (path, query) = tail.split_once('?').unwrap_or((tail, ""));
    // User information is not part of the `Host` header.
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let valid = !authority.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    valid.then_some(UpstreamParts { scheme, authority, path, query })
}

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

/// A URL without user and password, which may be shown.
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest.get(..end).and_then(|authority| authority.rsplit_once('@')) {
        Some((user, _)) => format!("{scheme}://{}", rest.get(user.len() + 1..).unwrap_or_default()),
        None => url.to_owned(),
    }
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

/// Appends path and query of a request to an upstream whose own URL has this path and query.
#[inline]
pub fn write_target(api: &Api, url: &Url<'_>, path: &str, query: &str, out: &mut Vec<u8>) {
    write_parts(api.stripped(url), url.query.as_deref(), api.disable_strip_slash, (path, query), out);
}

/// The same for the parts of a request: its path behind the listen path, and its query.
#[inline]
pub fn write_parts(
    stripped: &str,
    own_query: Option<&str>,
    disable_strip_slash: bool,
    (path, query): (&str, &str),
    out: &mut Vec<u8>,
) {
    join_path(path, stripped, disable_strip_slash, out);
    if !query.is_empty() {
        out.push(b'?');
        out.extend_from_slice(query.as_bytes());
    }
    if let Some(own) = own_query.filter(|own| query.is_empty() || !own.is_empty()) {
        out.push(if query.is_empty() { b'?' } else { b'&' });
        out.extend_from_slice(own.as_bytes());
    }
}

/// Joins an upstream's path and the rest of the request's path with one slash.
#[inline]
fn join_path(target: &str, rest: &str, disable_strip_slash: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if disable_strip_slash && (rest.is_empty() || rest == "/") {
        out.extend_from_slice(target.as_bytes());
    } else {
        out.extend_from_slice(target.trim_end_matches('/').as_bytes());
        let rest = rest.trim_start_matches('/');
        if !rest.is_empty() {
            out.push(b'/');
            out.extend_from_slice(rest.as_bytes());
        }
    }
    if out.len() == start {
        out.push(b'/');
    }
}

#[cfg(test)]
mod tests;
