//! Listeners on one port, one per thread of a server, and the threads that serve them.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Queue for a burst of new connections, so that none is refused.
const BACKLOG: i32 = 4096;

/// Opens one listener per thread, by default one per core. With port 0, all use the same free port.
pub(crate) fn open(address: SocketAddr, threads: Option<u16>) -> Result<Vec<TcpListener>, String> {
    let threads = threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    open_all(address, threads).map_err(|error| format!("cannot listen on {address}: {error}"))
}

fn open_all(address: SocketAddr, threads: usize) -> io::Result<Vec<TcpListener>> {
    let first = listener(address)?;
    let address = first.local_addr()?;
    let mut listeners = vec![first];
    for _ in 1..threads {
        listeners.push(listener(address)?);
    }
    Ok(listeners)
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    // Several threads listen on one port, and the kernel distributes connections among them.
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Prints what is served and where, then serves each listener on its own thread. Returns only the error that ended one.
pub(crate) fn serve(
    listeners: Vec<TcpListener>,
    what: impl FnOnce(SocketAddr) -> String,
    one: impl Fn(TcpListener) -> io::Result<()> + Clone + Send + 'static,
) -> Result<(), String> {
    if let Some(address) = listeners.first().and_then(|listener| listener.local_addr().ok()) {
        println!("tollgate-bench: {} ({} threads)", what(address), listeners.len());
    }
    let workers: Vec<_> = listeners
        .into_iter()
        .map(|listener| {
            let one = one.clone();
            std::thread::spawn(move || one(listener))
        })
        .collect();
    for worker in workers {
        worker.join().map_err(|_| "a thread panicked".to_owned())?.map_err(|error| format!("serving ended: {error}"))?;
    }
    Ok(())
}
