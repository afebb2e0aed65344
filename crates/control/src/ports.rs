//! Opens and closes the ports of APIs when definitions change. A port that stays is not touched, and connections that were accepted go on.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_data::client_tls::ClientTerms;
use tollgate_data::port::PortTerms;
use tollgate_engine::{Content, Listen, ListenerControl, OpenListener, TrustedProxies};

/// The ports of APIs.
pub struct ApiPorts {
    address: IpAddr,
    cores: usize,
    /// TLS settings of ports that speak TLS. `Err` says why there are none.
    tls: Result<Arc<ClientTerms>, String>,
    /// Proxies that announce clients at HTTP ports.
    proxies: Option<TrustedProxies>,
    /// The same at ports of streams with PROXY headers.
    stream_proxies: TrustedProxies,
    state: Mutex<PortState>,
}

#[derive(Default)]
struct PortState {
    /// Sockets of a predecessor that nothing has taken.
    inherited: Vec<TcpListener>,
    ports: BTreeMap<u16, BoundPort>,
    /// The engine, when it runs.
    engine: Option<ListenerControl>,
}

/// A port whose sockets listen.
struct BoundPort {
    terms: PortTerms,
    /// One per core; duplicates of those that are accepted from.
    sockets: Vec<TcpListener>,
    /// Accepts connections until it is dropped; `None` before the first snapshot with the port is in service.
    open: Option<OpenListener>,
}

impl ApiPorts {
    pub fn new(
        address: IpAddr,
        cores: usize,
        tls: Result<Arc<ClientTerms>, String>,
        proxies: Option<TrustedProxies>,
        stream_proxies: TrustedProxies,
        inherited: Vec<TcpListener>,
    ) -> Self {
        let state = Mutex::new(PortState { inherited, ..PortState::default() });
        ApiPorts { address, cores, tls, proxies, stream_proxies, state }
    }

    /// Binds the ports that are new. Connections wait in their sockets until [`ApiPorts::apply`]. Returns the ports that can't be opened.
    pub fn prepare(&self, wanted: &BTreeMap<u16, PortTerms>) -> Vec<(u16, String)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failed = Vec::new();
        for (number, terms) in wanted {
            if let (true, Err(error)) = (terms.protocol.is_secure(), &self.tls) {
                failed.push((*number, format!("TLS can't be spoken at port {number}: {error}")));
                continue;
            }
            if state.ports.contains_key(number) {
                continue;
            }
            match state.sockets(SocketAddr::new(self.address, *number), self.cores) {
                Ok(sockets) => {
                    state.ports.insert(*number, BoundPort { terms: *terms, sockets, open: None });
                }
                Err(error) => failed.push((*number, format!("port {number} can't be opened: {error}"))),
            }
        }
        failed
    }

    /// Accepts connections at the ports of the snapshot that is now in service, and no more at others.
    pub fn apply(&self, wanted: &BTreeMap<u16, PortTerms>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, _) in state.ports.extract_if(.., |number, _| !wanted.contains_key(number)) {
            tracing::info!(port = number, "no API has this port any more: closed");
        }
        let PortState { ports, engine, .. } = &mut *state;
        let Some(engine) = engine else { return };
        for (number, port) in ports {
            let Some(terms) = wanted.get(number) else { continue };
            if port.open.is_some() && port.terms == *terms {
                continue;
            }
            port.terms = *terms;
            // The sockets stay, whatever is spoken at the port.
            let sockets: io::Result<Vec<TcpListener>> = port.sockets.iter().map(TcpListener::try_clone).collect();
            match (sockets, self.listen(*number, *terms)) {
                (Ok(sockets), Some(listen)) => {
                    port.open = Some(engine.open(listen, sockets));
                    tracing::info!(port = number, protocol = terms.protocol.name(), "port opened for APIs");
                }
                (Ok(_), None) => port.open = None,
                (Err(error), _) => tracing::error!(port = number, %error, "port can't be opened"),
            }
        }
    }

    /// Accepts connections from now on, through an engine that has started.
    pub fn start(&self, engine: ListenerControl, wanted: &BTreeMap<u16, PortTerms>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.engine = Some(engine);
        for unused in state.inherited.drain(..) {
            tracing::info!(socket = ?unused.local_addr(), "no API has the port of an inherited socket: closed");
        }
        drop(state);
        self.apply(wanted);
    }

    /// Duplicates of all listening sockets, for another process.
    pub fn sockets(&self) -> io::Result<Vec<TcpListener>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ports.values().flat_map(|port| &port.sockets).map(TcpListener::try_clone).collect()
    }

    /// Closes all ports. Connections that were accepted go on.
    pub fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ports.clear();
        state.engine = None;
    }

    fn listen(&self, number: u16, terms: PortTerms) -> Option<Listen> {
        let content = if terms.protocol.is_stream() { Content::Stream } else { Content::Http };
        let tls = match (terms.protocol.is_secure(), &self.tls) {
            (false, _) => None,
            (true, Ok(tls)) => Some(tls.selector(content)),
            (true, Err(_)) => return None,
        };
        Some(Listen {
            address: SocketAddr::new(self.address, number),
            name: number,
            content,
            tls,
            proxies: match content {
                Content::Stream => terms.announced.then(|| self.stream_proxies.clone()),
                Content::Http => self.proxies.clone(),
            },
        })
    }
}

impl PortState {
    /// The sockets of an address: those of the predecessor, or new ones.
    fn sockets(&mut self, address: SocketAddr, cores: usize) -> io::Result<Vec<TcpListener>> {
        let is_it = |socket: &mut TcpListener| socket.local_addr().is_ok_and(|own| own == address);
        let inherited: Vec<TcpListener> = self.inherited.extract_if(.., is_it).collect();
        if inherited.is_empty() { ListenerControl::bind(address, cores) } else { Ok(inherited) }
    }
}
