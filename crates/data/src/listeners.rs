//! The listeners that share one socket: the host decides which one gets a request or connection, and only its routes see it.

use crate::route::{Hosts, RoutedRequest, Router, Unrouted, normal_host};
use tollgate_model::routing::ListenerProtocol;

/// The listeners of a socket.
#[derive(Default)]
pub struct PortListeners {
    list: Vec<PortListener>,
    hosts: Hosts<Option<usize>>,
    /// The one without a host.
    any_host: Option<usize>,
}

/// One listener at one of its sockets.
pub struct PortListener {
    pub name: String,
    pub protocol: ListenerProtocol,
    /// Its routes; connections that nothing inspects are routed by the host of their handshake and the path `/`.
    pub router: Router,
}

impl PortListener {
    fn speaks_http(&self) -> bool {
        matches!(self.protocol, ListenerProtocol::Http | ListenerProtocol::Https)
    }
}

impl PortListeners {
    /// Adds a listener for a host, or for `*.` and all below a host; empty for all. False if the host is taken.
    pub fn add(&mut self, host: &str, listener: PortListener) -> bool {
        let place = if host.is_empty() { &mut self.any_host } else { self.hosts.wildcard_entry(host) };
        if place.is_some() {
            return false;
        }
        *place = Some(self.list.len());
        self.list.push(listener);
        true
    }

    /// The router of the listener that a request belongs to, by its host and by that of its connection's handshake: a request for another
    /// listener would not have met that one's certificates and validation of clients.
    #[inline]
    pub fn router(&self, authority: &[u8], server_name: Option<&str>) -> Result<&Router, Unrouted> {
        let host = std::str::from_utf8(authority).unwrap_or_default();
        let of_host = self.of_host(host);
        if let Some(name) = server_name
            && of_host != self.of_host(name)
        {
            return Err(Unrouted::Misdirected);
        }
        let listener = of_host.and_then(|index| self.list.get(index)).filter(|listener| listener.speaks_http());
        listener.map(|listener| &listener.router).ok_or(Unrouted::Nowhere)
    }

    /// The API of a connection that nothing inspects, by the host of its handshake.
    pub fn stream(&self, server_name: Option<&str>) -> Option<usize> {
        let host = server_name.unwrap_or_default();
        let listener = self.list.get(self.of_host(host)?).filter(|listener| !listener.speaks_http())?;
        listener.router.find(host, "/", &RoutedRequest::bare("")).map(|found| found.api)
    }

    fn of_host(&self, host: &str) -> Option<usize> {
        if self.hosts.is_empty() {
            return self.any_host;
        }
        let host = normal_host(host);
        self.hosts.find(&host).next().copied().flatten().or(self.any_host)
    }
}
