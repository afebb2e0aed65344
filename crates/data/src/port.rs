//! Ports of APIs: which ones a definition may open, what is spoken there, and which API answers. The control plane opens and closes them.

use crate::client_tls::ListenerTlsTable;
use crate::listeners::PortListeners;
use crate::route::Router;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tollgate_model::config::{AllowedPorts, GatewayConfig};

/// The port of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiPort {
    /// 0 for the gateway's own port.
    pub number: u16,
    pub terms: PortTerms,
}

/// What is spoken at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortTerms {
    pub protocol: PortProtocol,
    /// Whether connections begin with a PROXY header.
    pub announced: bool,
    /// The address, unless it is the gateway's own with the number that names the port.
    pub address: Option<SocketAddr>,
}

/// The protocol of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortProtocol {
    Http,
    Https,
    H2c,
    Tcp,
    Tls,
    /// Datagrams; only at listeners.
    Udp,
}

impl PortProtocol {
    const ALL: [(PortProtocol, &str); 6] = [
        (PortProtocol::Http, "http"),
        (PortProtocol::Https, "https"),
        (PortProtocol::H2c, "h2c"),
        (PortProtocol::Tcp, "tcp"),
        (PortProtocol::Tls, "tls"),
        (PortProtocol::Udp, "udp"),
    ];

    /// The protocol with a name.
    pub fn named(name: &str) -> Option<Self> {
        PortProtocol::ALL.iter().find(|(_, known)| *known == name).map(|(protocol, _)| *protocol)
    }

    /// Its name in definitions and in `ports_whitelist`.
    pub fn name(self) -> &'static str {
        PortProtocol::ALL.iter().find(|(protocol, _)| *protocol == self).map_or("", |(_, name)| name)
    }

    /// Whether bytes are forwarded that nothing inspects.
    pub fn is_stream(self) -> bool {
        matches!(self, PortProtocol::Tcp | PortProtocol::Tls | PortProtocol::Udp)
    }

    /// Whether connections begin with a TLS handshake.
    pub fn is_secure(self) -> bool {
        matches!(self, PortProtocol::Https | PortProtocol::Tls)
    }
}

/// Which ports definitions may name.
#[derive(Clone, Debug)]
pub struct PortRules {
    /// The gateway's own port, and what it speaks.
    own: (u16, PortProtocol),
    allows_all: bool,
    allowed: BTreeMap<String, AllowedPorts>,
}

impl PortRules {
    pub fn new(config: &GatewayConfig) -> Self {
        let protocol = if config.http_server_options.use_ssl { PortProtocol::Https } else { PortProtocol::Http };
        PortRules {
            own: (config.listen_port, protocol),
            allows_all: config.disable_ports_whitelist,
            allowed: config.ports_whitelist.clone(),
        }
    }

    /// The port of a definition with these fields. `Err` has the field that is wrong, and why.
    pub fn port(&self, listen_port: u16, protocol: &str, announced: bool) -> Result<ApiPort, (&'static str, String)> {
        let (own_number, own) = self.own;
        let written = match protocol {
            "" => own,
            name => PortProtocol::named(name).ok_or_else(|| ("$.protocol", format!("{name} is not a protocol")))?,
        };
        let terms = PortTerms { protocol: written, announced: announced && written.is_stream(), address: None };
        if listen_port == 0 || listen_port == own_number {
            // HTTP/2 without TLS is understood wherever HTTP is.
            let fits = written == own || (written == PortProtocol::H2c && own == PortProtocol::Http);
            return match fits {
                true => Ok(ApiPort { number: 0, terms: PortTerms { protocol: own, announced: false, address: None } }),
                false => Err((
                    "$.protocol",
                    format!("the gateway's own port speaks {}: {} needs a listen_port of its own", own.name(), written.name()),
                )),
            };
        }
        let is_allowed = self.allows_all || self.allowed.get(written.name()).is_some_and(|allowed| allowed.contains(listen_port));
        match is_allowed {
            true => Ok(ApiPort { number: listen_port, terms }),
            false => Err((
                "$.listen_port",
                format!(
                    "{listen_port} is not in ports_whitelist.{} of the configuration; disable_ports_whitelist allows every port",
                    written.name()
                ),
            )),
        }
    }
}

/// A port of APIs in a snapshot.
pub struct SnapshotPort {
    pub terms: PortTerms,
    /// Requests to it; empty for streams.
    pub router: Router,
    /// APIs of streams by host, `None` for any host.
    pub streams: Vec<(Option<String>, usize)>,
    /// The listeners that share it; `None` for a port that definitions open.
    pub listeners: Option<PortListeners>,
    /// TLS of these listeners; `None` for a port that has none, or that of the gateway.
    pub tls: Option<Arc<ListenerTlsTable>>,
}

/// What is to be open.
#[derive(Clone)]
pub struct WantedPort {
    pub terms: PortTerms,
    /// TLS of listeners, if it is not that of the gateway.
    pub tls: Option<Arc<ListenerTlsTable>>,
}

impl SnapshotPort {
    /// The API of a stream whose client asked for this host, as in Tyk: that host's, or the one for any host. A client that names no host
    /// reaches the only API.
    pub fn stream(&self, host: Option<&str>) -> Option<usize> {
        let Some(host) = host else {
            return match self.streams.as_slice() {
                [(_, api)] => Some(*api),
                _ => None,
            };
        };
        let of_host = |own: &&(Option<String>, usize)| own.0.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(host));
        let any = || self.streams.iter().find(|(own, _)| own.is_none());
        self.streams.iter().find(of_host).or_else(any).map(|(_, api)| *api)
    }
}

#[cfg(test)]
mod tests;
