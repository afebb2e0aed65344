//! Listening sockets, one per core on the same port. The kernel spreads new connections by hash; a core hands a
//! new one over when it belongs elsewhere.

use crate::connection::Connection;
use crate::core::Core;
use crate::peers::Peers;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;

/// Connections that wait to be accepted; the kernel caps it at net.core.somaxconn.
const BACKLOG: i32 = 4096;
/// Wait after a failed accept (no file descriptors), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// At most one line a second about failed accepts.
const ACCEPT_LOG_EVERY: Duration = Duration::from_secs(1);

/// Binds a socket that shares its port with the other cores'.
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

/// Accepts until `core` drains; then takes what already waits, so that nobody who was let in is turned away.
pub(crate) async fn accept(core: Rc<Core>, listener: TcpListener, peers: Rc<Peers>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut logged: Option<Instant> = None;
    loop {
        let accepted = tokio::select! {
            biased;
            () = peers.drained() => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, client)) => place(&core, stream, client, &peers),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
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
        adopt(&core, stream, client);
    }
    Ok(())
}

fn place(core: &Rc<Core>, stream: TcpStream, client: SocketAddr, peers: &Peers) {
    match peers.better_place() {
        None => serve(core, stream, client),
        Some(peer) => match stream.into_std() {
            Ok(stream) => {
                if let Err(stream) = peer.hand_over(stream, client) {
                    adopt(core, stream, client);
                }
            }
            Err(error) => tracing::warn!(%error, "cannot hand a connection over"),
        },
    }
}

/// Serves a connection that was accepted elsewhere.
pub(crate) fn adopt(core: &Rc<Core>, stream: std::net::TcpStream, client: SocketAddr) {
    match stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
        Ok(stream) => serve(core, stream, client),
        Err(error) => tracing::warn!(%error, "cannot take a connection over"),
    }
}

fn serve(core: &Rc<Core>, stream: TcpStream, client: SocketAddr) {
    let _ = stream.set_nodelay(true);
    tokio::task::spawn_local(Connection::new(core.clone(), stream, client));
}
