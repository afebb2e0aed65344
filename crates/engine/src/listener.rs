//! Listening sockets, one per core on the same port. The kernel distributes new connections by hash; a core hands a connection over
//! if another core should serve it.

use crate::addresses::{IpPermit, LimitReached};
use crate::core::Core;
use crate::fault::is_out_of_files;
use crate::handshake::enter;
use crate::peers::{CountedConnection, HandedConnection};
use crate::serve::serve;
use crate::service::ClientInfo;
use crate::stream::Stream;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// Connections that may wait to be accepted; the kernel caps it at net.core.somaxconn.
const BACKLOG: i32 = 4096;
/// Pause after a failed accept, so that the loop does not spin. If no file descriptor is left, idle connections are closed
/// meanwhile.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
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

/// Accepts until `core` drains, then accepts the connections that are already queued, so that none of them is refused.
pub(crate) async fn accept(core: Rc<Core>, listener: TcpListener, listener_index: usize) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut logged: Option<Instant> = None;
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
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, client)) => match seat(&core, client, listener_index) {
                Ok(seat) => place(&core, stream, client, listener_index, seat),
                Err(LimitReached) => core.turn_away(&stream),
            },
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) if is_out_of_files(&error) => {
                core.peers.close_idle(|connections| core.close_idle(connections));
                tokio::time::sleep(ACCEPT_PAUSE).await;
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
        if let Ok(seat) = seat(&core, client, listener_index) {
            let counted = core.peers.count(seat);
            adopt(&core, HandedConnection { stream, client, listener_index: Some(listener_index), counted });
        }
    }
    Ok(())
}

/// Counts the connection for its address. Behind a PROXY header, the announced client is counted later.
fn seat(core: &Core, client: SocketAddr, listener_index: usize) -> Result<Option<IpPermit>, LimitReached> {
    let Some(limit) = &core.address_limit else { return Ok(None) };
    if core.listens.get(listener_index).is_some_and(|listen| listen.trusts(client)) {
        return Ok(None);
    }
    limit.seat(client.ip())
}

fn place(core: &Rc<Core>, stream: TcpStream, client: SocketAddr, listener_index: usize, seat: Option<IpPermit>) {
    match core.peers.better_place() {
        None => receive(core, stream, client, Some(listener_index), core.peers.count(seat)),
        Some(peer) => match stream.into_std() {
            Ok(stream) => {
                let arrival = HandedConnection { stream, client, listener_index: Some(listener_index), counted: peer.count(seat) };
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
    let HandedConnection { stream, client, listener_index, counted } = arrival;
    match stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
        Ok(stream) => receive(core, stream, client, listener_index, counted),
        Err(error) => tracing::warn!(%error, "cannot adopt a connection"),
    }
}

fn receive(core: &Rc<Core>, stream: TcpStream, client: SocketAddr, listener_index: Option<usize>, counted: CountedConnection) {
    let _ = stream.set_nodelay(true);
    match listener_index.and_then(|listener_index| core.listens.get(listener_index)).filter(|listen| !listen.is_open_to(client)) {
        Some(listen) => {
            tokio::task::spawn_local(enter(core.clone(), stream, client, listen.clone(), counted));
        }
        None => {
            let client = ClientInfo { address: client, tls: None, http2: false, is_own: false, probe: 0 };
            tokio::task::spawn_local(serve(core.clone(), Stream::Tcp(stream), client, counted));
        }
    }
}
