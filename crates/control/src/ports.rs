//! Opens and closes the ports of APIs and the sockets of listeners when definitions change. What stays is not touched, and connections that were
//! accepted go on.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tollgate_data::client_tls::{ClientTerms, SocketTls};
use tollgate_data::port::{PortProtocol, PortTerms, WantedPort};
use tollgate_engine::{Content, Listen, ListenSocket, ListenerControl, OpenListener, TlsConfigSelector, TrustedProxies};

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
    inherited: Vec<ListenSocket>,
    ports: BTreeMap<u32, BoundPort>,
    /// Why others are not open.
    failed: BTreeMap<u32, String>,
    /// The engine, when it runs.
    engine: Option<ListenerControl>,
}

/// A port whose sockets listen.
struct BoundPort {
    terms: PortTerms,
    /// TLS of its listeners, if it has some.
    tls: Arc<SocketTls>,
    /// One per core; duplicates of those that are accepted from.
    sockets: Vec<ListenSocket>,
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
        inherited: Vec<ListenSocket>,
    ) -> Self {
        let state = Mutex::new(PortState { inherited, ..PortState::default() });
        ApiPorts { address, cores, tls, proxies, stream_proxies, state }
    }

    /// Binds the ports that are new. Connections wait in their sockets until [`ApiPorts::apply`]. Returns the ports that can't be opened.
    pub fn prepare(&self, wanted: &BTreeMap<u32, WantedPort>) -> Vec<(u32, String)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut failed = Vec::new();
        for (number, WantedPort { terms, tls }) in wanted {
            if let (true, None, Err(error)) = (terms.protocol.is_secure(), tls, &self.tls) {
                failed.push((*number, format!("TLS can't be spoken at {}: {error}", self.shown(*number, *terms))));
                continue;
            }
            if state.ports.contains_key(number) {
                continue;
            }
            match state.sockets(self.address(*number, *terms), terms.protocol, self.cores) {
                Ok(sockets) => {
                    state.ports.insert(*number, BoundPort { terms: *terms, tls: Arc::default(), sockets, open: None });
                }
                Err(error) => failed.push((*number, format!("{} can't be opened: {error}", self.shown(*number, *terms)))),
            }
        }
        state.failed = failed.iter().cloned().collect();
        failed
    }

    /// Accepts connections at the ports of the snapshot that is now in service, and no more at others.
    pub fn apply(&self, wanted: &BTreeMap<u32, WantedPort>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, port) in state.ports.extract_if(.., |number, _| !wanted.contains_key(number)) {
            let place = self.address(number, port.terms);
            tracing::info!(port = place.port(), address = %place.ip(), "no API has this port any more: closed");
        }
        let PortState { ports, engine, .. } = &mut *state;
        let Some(engine) = engine else { return };
        for (number, port) in ports {
            let Some(WantedPort { terms, tls }) = wanted.get(number) else { continue };
            if let Some(table) = tls {
                port.tls.replace(table.clone());
            }
            let listener_tls = tls.is_some().then(|| port.tls.clone() as Arc<dyn TlsConfigSelector>);
            if port.open.is_some() && port.terms == *terms {
                continue;
            }
            port.terms = *terms;
            // The sockets stay, whatever is spoken at the port.
            let sockets: io::Result<Vec<ListenSocket>> = port.sockets.iter().map(ListenSocket::try_clone).collect();
            match (sockets, self.listen(*number, *terms, listener_tls)) {
                (Ok(sockets), Some(listen)) => {
                    port.open = Some(engine.open(listen, sockets));
                    let place = self.address(*number, *terms);
                    tracing::info!(port = place.port(), address = %place.ip(), protocol = terms.protocol.name(), "port opened for APIs");
                }
                (Ok(_), None) => port.open = None,
                (Err(error), _) => tracing::error!(port = number, %error, "port can't be opened"),
            }
        }
    }

    /// Accepts connections from now on, through an engine that has started.
    pub fn start(&self, engine: ListenerControl, wanted: &BTreeMap<u32, WantedPort>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.engine = Some(engine);
        for unused in state.inherited.drain(..) {
            tracing::info!(socket = ?unused.address(), "no API has the port of an inherited socket: closed");
        }
        drop(state);
        self.apply(wanted);
    }

    /// Duplicates of all sockets, for another process. What waits in their queues is not lost then, also of datagrams.
    pub fn sockets(&self) -> io::Result<Vec<ListenSocket>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ports.values().flat_map(|port| &port.sockets).map(ListenSocket::try_clone).collect()
    }

    /// Closes all ports. Connections that were accepted go on.
    pub fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ports.clear();
        state.engine = None;
    }

    /// The address of a port or socket.
    fn address(&self, name: u32, terms: PortTerms) -> SocketAddr {
        terms.address.unwrap_or_else(|| SocketAddr::new(self.address, u16::try_from(name).unwrap_or_default()))
    }

    fn shown(&self, name: u32, terms: PortTerms) -> String {
        terms.address.map_or_else(|| format!("port {name}"), |address| address.to_string())
    }

    /// Where a port or socket is open; `Err` says why it is not.
    pub fn state_of(&self, name: u32) -> Result<SocketAddr, String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.ports.get(&name) {
            Some(port) => Ok(self.address(name, port.terms)),
            None => Err(state.failed.get(&name).cloned().unwrap_or_else(|| "it is not open yet".to_owned())),
        }
    }

    fn listen(&self, number: u32, terms: PortTerms, listener_tls: Option<Arc<dyn TlsConfigSelector>>) -> Option<Listen> {
        let content = if terms.protocol.is_stream() { Content::Stream } else { Content::Http };
        let tls = match (terms.protocol.is_secure(), listener_tls, &self.tls) {
            (false, ..) => None,
            (true, Some(tls), _) => Some(tls),
            (true, None, Ok(tls)) => Some(tls.selector(content)),
            (true, None, Err(_)) => return None,
        };
        Some(Listen {
            address: self.address(number, terms),
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
    fn sockets(&mut self, address: SocketAddr, protocol: PortProtocol, cores: usize) -> io::Result<Vec<ListenSocket>> {
        let is_for_datagrams = protocol == PortProtocol::Udp;
        let is_it = |socket: &mut ListenSocket| {
            matches!(socket, ListenSocket::Udp(_)) == is_for_datagrams && socket.address().is_ok_and(|own| own == address)
        };
        let inherited: Vec<ListenSocket> = self.inherited.extract_if(.., is_it).collect();
        Ok(match inherited.is_empty() {
            false => inherited,
            true if is_for_datagrams => {
                ListenerControl::bind_datagrams(address, cores)?.into_iter().map(ListenSocket::Udp).collect()
            }
            true => ListenerControl::bind(address, cores)?.into_iter().map(ListenSocket::Tcp).collect(),
        })
    }
}
