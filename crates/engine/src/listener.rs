//! Listening sockets, one per core on the same port. The kernel distributes new connections by hash; a core hands a connection over
//! if another core should serve it.

use crate::addresses::{IpPermit, LimitReached};
use crate::core::Core;
use crate::fault::is_out_of_files;
use crate::handshake::enter;
use crate::listen::Listen;
use crate::peers::{CountedConnection, HandedConnection, PeerEntry};
use crate::serve::serve;
use crate::service::ClientInfo;
use crate::stream::Stream;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Connections that may wait to be accepted; the kernel caps it at net.core.somaxconn.
const BACKLOG: i32 = 4096;
/// Pause after a failed accept, so that the loop does not spin. If no file descriptor is left, idle connections are closed
/// meanwhile.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long clients wait for file descriptors before they are refused, so that they go to another gateway.
const REFUSE_AFTER: Duration = Duration::from_secs(1);
/// Most connections that are refused before the core serves those it has: together they take less than a millisecond.
const REFUSED_AT_ONCE_MAX: usize = 64;
/// Number of accepted connections after which the core serves those it has: each one costs as much time as some requests.
const ACCEPTS_PER_TURN: usize = 8;
/// Minimum interval between log lines about failed accepts.
const ACCEPT_LOG_EVERY: Duration = Duration::from_secs(1);

/// Binds a socket that shares its port with those of the other cores.
pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    if address.is_ipv6() && !address.ip().is_unspecified() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&SockAddr::from(address))?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Binds one socket per core to the same port.
pub(crate) fn bind_all(mut address: SocketAddr, cores: usize) -> io::Result<Vec<TcpListener>> {
    let mut sockets = Vec::with_capacity(cores);
    for _ in 0..cores {
        let socket = bind(address);
        let socket = socket.map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))?;
        address = socket.local_addr()?;
        sockets.push(socket);
    }
    Ok(sockets)
}

/// Accepts until `core` drains or the listener closes, then accepts the connections that are already queued, so that none of them is refused.
pub(crate) async fn accept(
    core: Rc<Core>,
    listen: Arc<Listen>,
    socket: TcpListener,
    mut closed: watch::Receiver<()>,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(socket)?;
    let mut logged: Option<Instant> = None;
    let mut shortage = Shortage::new();
    let mut in_turn = 0;
    loop {
        if in_turn == ACCEPTS_PER_TURN {
            in_turn = 0;
            tokio::task::yield_now().await;
        }
        in_turn += 1;
        let accepted = tokio::select! {
            biased;
            () = core.peers.drained() => break,
            _ = closed.changed() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, client)) => {
                shortage.since = None;
                match seat(&core, client, &listen) {
                    Ok(seat) => place(&core, stream, client, &listen, seat),
                    Err(LimitReached) => core.turn_away(&stream, &core.stats.clients_refused),
                }
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) if is_out_of_files(&error) => {
                core.peers.close_idle(|connections| core.close_idle(connections));
                tokio::time::sleep(ACCEPT_PAUSE).await;
                shortage.refuse(&core, &listener);
            }
            Err(error) => {
                if logged.is_none_or(|at| at.elapsed() > ACCEPT_LOG_EVERY) {
                    logged = Some(Instant::now());
                    tracing::error!(%error, "cannot accept connections");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    let listener = listener.into_std()?;
    while let Ok((stream, client)) = listener.accept() {
        if let Ok(seat) = seat(&core, client, &listen) {
            let counted = core.peers.count(seat);
            adopt(&core, HandedConnection { stream, client, entry: PeerEntry::Listener(listen.clone()), counted });
        }
    }
    Ok(())
}

/// A time in which no file descriptor is left.
struct Shortage {
    since: Option<Instant>,
    /// A descriptor that is given up for that of a connection, which can be refused only when it has one.
    spare: Option<File>,
}

impl Shortage {
    fn new() -> Self {
        Shortage { since: None, spare: File::open("/dev/null").ok() }
    }

    /// Refuses the connections that wait, if this has taken long.
    fn refuse(&mut self, core: &Core, listener: &tokio::net::TcpListener) {
        if self.since.get_or_insert_with(Instant::now).elapsed() < REFUSE_AFTER {
            return;
        }
        for _ in 0..REFUSED_AT_ONCE_MAX {
            drop(self.spare.take());
            let waiting = listener.poll_accept(&mut Context::from_waker(Waker::noop()));
            let is_refused = match waiting {
                Poll::Ready(Ok((stream, _))) => {
                    core.turn_away(&stream, &core.stats.clients_refused_without_files);
                    true
                }
                _ => false,
            };
            self.spare = File::open("/dev/null").ok();
            if !is_refused {
                return;
            }
        }
    }
}

/// Counts the connection for its address. Behind a PROXY header, the announced client is counted later.
fn seat(core: &Core, client: SocketAddr, listen: &Listen) -> Result<Option<IpPermit>, LimitReached> {
    let Some(limit) = &core.address_limit else { return Ok(None) };
    if listen.trusts(client) {
        return Ok(None);
    }
    limit.seat(client.ip())
}

fn place(core: &Rc<Core>, stream: TcpStream, client: SocketAddr, listen: &Arc<Listen>, seat: Option<IpPermit>) {
    match core.peers.better_place() {
        None => receive(core, stream, client, PeerEntry::Listener(listen.clone()), core.peers.count(seat)),
        Some(peer) => match stream.into_std() {
            Ok(stream) => {
                let arrival =
                    HandedConnection { stream, client, entry: PeerEntry::Listener(listen.clone()), counted: peer.count(seat) };
                if let Err(mut arrival) = peer.hand_over(arrival) {
                    arrival.counted = core.peers.count(arrival.counted.seat.take());
                    adopt(core, arrival);
                }
            }
            Err(error) => tracing::warn!(%error, "cannot pass a connection to another core"),
        },
    }
}

/// Serves a connection that another core accepted.
pub(crate) fn adopt(core: &Rc<Core>, arrival: HandedConnection) {
    let HandedConnection { stream, client, entry, counted } = arrival;
    match stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
        Ok(stream) => receive(core, stream, client, entry, counted),
        Err(error) => tracing::warn!(%error, "cannot adopt a connection"),
    }
}

fn receive(core: &Rc<Core>, stream: TcpStream, client: SocketAddr, entry: PeerEntry, counted: CountedConnection) {
    let _ = stream.set_nodelay(true);
    let listener = match entry {
        PeerEntry::Listener(listen) if !listen.is_open_to(client) => {
            tokio::task::spawn_local(enter(core.clone(), stream, client, listen, counted));
            return;
        }
        PeerEntry::Listener(listen) => listen.name,
        PeerEntry::Served(listener) => listener,
    };
    let client = ClientInfo { address: client, listener, tls: None, http2: false, is_own: false, ticket: 0 };
    tokio::task::spawn_local(serve(core.clone(), Stream::Tcp(stream), client, counted));
}
