//! A separate port of the control plane, for the control API or for metrics: accepts connections, uses TLS if the gateway does, and
//! if client certificates are required, admits only the allowed ones.

use axum::Router;
use axum::http::HeaderMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tollgate_data::client_address::ClientAddress;
use tollgate_data::client_tls::{AllowList, CallerTls, ClientTerms};
use tollgate_data::control_caller::ControlCaller;
use tollgate_data::refusal::Refusal;
use tollgate_engine::ClientTls;

/// Time from the start of a connection to the end of its handshake.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);

/// Maximum connections of a port; more wait to be accepted. Without a limit, they would use up the descriptors that clients need.
const CONNECTIONS_MAX: usize = 1_024;

/// The port, and the requirements for its callers.
pub struct OwnPort {
    listener: TcpListener,
    door: Arc<Door>,
}

/// Resources that a connection holds until it ends.
pub(super) struct Held {
    /// Signals that the port closes. Shutdown waits until every holder has dropped it.
    pub closed: watch::Receiver<bool>,
    _place: Option<OwnedSemaphorePermit>,
}

/// The other end of a connection to an own port.
#[derive(Clone)]
pub(super) struct PortPeer {
    address: IpAddr,
    is_tls: bool,
    proxies: Arc<ClientAddress>,
}

impl PortPeer {
    /// Who sent a request with these headers.
    pub(super) fn caller(&self, headers: &HeaderMap) -> ControlCaller {
        let client = if self.proxies.trusts(self.address) {
            self.proxies
                .nearest_client(headers.get_all("x-forwarded-for").iter().map(|value| value.as_bytes()))
                .unwrap_or(self.address)
        } else {
            self.address
        };
        let header = |name: &str| headers.get(name).map(|value| value.as_bytes());
        ControlCaller::behind_proxies(&self.proxies, self.address, client, self.is_tls, &header)
    }
}

struct Door {
    tls: Option<TlsAcceptor>,
    callers: Option<Arc<AllowList>>,
}

impl OwnPort {
    /// Binds an address, or uses the given socket.
    pub fn bind(
        address: SocketAddr,
        socket: Option<TcpListener>,
        terms: Option<&ClientTerms>,
        callers: Option<Arc<AllowList>>,
    ) -> Result<Self, String> {
        let listener = socket.map_or_else(|| TcpListener::bind(address), Ok);
        let listener = listener.map_err(|error| format!("cannot listen on {address}: {error}"))?;
        listener.set_nonblocking(true).map_err(|error| error.to_string())?;
        let tls = terms.map(|terms| TlsAcceptor::from(terms.for_control(callers.is_some())));
        Ok(OwnPort { listener, door: Arc::new(Door { tls, callers }) })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// A duplicate of the listening socket, to hand over to another process.
    pub fn socket(&self) -> io::Result<TcpListener> {
        self.listener.try_clone()
    }

    /// Serves until the port is closed, at most while the runtime lives.
    pub async fn serve(self, router: Router, proxies: Arc<ClientAddress>, mut closed: watch::Receiver<bool>) {
        let listener = match tokio::net::TcpListener::from_std(self.listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "the control API's own port can't be served"),
        };
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        loop {
            let accept = async {
                // The semaphore is never closed.
                let place = places.clone().acquire_owned().await.ok();
                (listener.accept().await, place)
            };
            let (accepted, place) = tokio::select! {
                accepted = accept => accepted,
                _ = closed.wait_for(|closed| *closed) => return,
            };
            match accepted {
                Ok((stream, caller)) => {
                    let held = Held { closed: closed.clone(), _place: place };
                    tokio::spawn(self.door.clone().enter(stream, caller, router.clone(), held, proxies.clone()));
                }
                Err(error) => {
                    tracing::error!(%error, "cannot accept a connection to the control API");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

impl Door {
    async fn enter(
        self: Arc<Self>,
        stream: TcpStream,
        caller: SocketAddr,
        router: Router,
        held: Held,
        proxies: Arc<ClientAddress>,
    ) {
        let peer = PortPeer { address: caller.ip().to_canonical(), is_tls: self.tls.is_some(), proxies };
        let Some(acceptor) = &self.tls else {
            if self.lets_in(None, caller) {
                super::spawn(&router, stream, Some(held), Some(peer));
            }
            return;
        };
        match tokio::time::timeout(HANDSHAKE_TIME_MAX, acceptor.accept(stream)).await {
            Ok(Ok(stream)) => {
                let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
                let certificates = certificates.iter().map(|certificate| certificate.clone().into_owned()).collect();
                let tls = CallerTls::new(&ClientTls { certificates, server_name: None });
                if self.lets_in(Some(&tls), caller) {
                    super::spawn(&router, stream, Some(held), Some(peer));
                }
            }
            Ok(Err(error)) => tracing::debug!(%caller, %error, "handshake with a caller of the control API failed"),
            Err(_) => tracing::debug!(%caller, "handshake with a caller of the control API took too long"),
        }
    }

    fn lets_in(&self, tls: Option<&CallerTls>, caller: SocketAddr) -> bool {
        let checked = self.callers.as_ref().map_or(Ok(()), |callers| callers.check(tls, tollgate_clock::unix_s()));
        let refused = checked.map_err(Refusal::from).err();
        if let Some(refusal) = &refused {
            tracing::warn!(%caller, "control API: {}", refusal.message.text());
        }
        refused.is_none()
    }
}
