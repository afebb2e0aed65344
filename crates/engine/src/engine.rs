//! The engine: one thread and one runtime per core, started and drained together.

use crate::addresses::AddressLimit;
use crate::core::Core;
use crate::limits::Limits;
use crate::listen::Listen;
use crate::listener::{accept, adopt, bind};
use crate::own_requests::CoreEntrance;
use crate::peers::{CoreBalancer, FileShortage, INBOX_MAX, Peer, PeerMessage};
use crate::resolver::Resolver;
use crate::service::ServiceFactory;
use crate::stats::CoreStats;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// How often a draining core checks whether its last connection is closed.
const DRAIN_TICK: Duration = Duration::from_millis(10);

/// Settings to start an engine with.
pub struct EngineConfig {
    /// Addresses to listen on.
    pub listen: Vec<Listen>,
    /// Data-plane threads, at least 1.
    pub threads: usize,
    /// Configurable limits.
    pub limits: Limits,
    /// Name servers to use instead of the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Creates the service of each core.
    pub services: ServiceFactory,
    /// Statistics, one per thread; a core without one creates its own.
    pub stats: Vec<Arc<CoreStats>>,
    /// Limits connections by client address, if configured.
    pub address_limit: Option<Arc<AddressLimit>>,
}

/// A running data plane.
pub struct Engine {
    /// The addresses it listens on, with the actual ports.
    pub addresses: Vec<SocketAddr>,
    /// Duplicates of its listening sockets, to hand over to another process.
    pub listeners: Vec<TcpListener>,
    drain: watch::Sender<Option<Duration>>,
    threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Binds every address on every core and starts serving. If `sockets` contains sockets for an address, all of them are used
    /// instead, because each has its own accept queue.
    pub fn start(config: EngineConfig, sockets: Vec<Vec<TcpListener>>) -> io::Result<Engine> {
        let threads = config.threads.max(1);
        let mut by_core: Vec<Vec<(usize, TcpListener)>> = (0..threads).map(|_| Vec::new()).collect();
        let mut addresses = Vec::new();
        let mut listeners = Vec::new();
        let mut sockets = sockets.into_iter();
        for (listener_index, wanted) in config.listen.iter().enumerate() {
            let there = sockets.next().unwrap_or_default();
            let own = if there.is_empty() { bind_all(wanted.address, threads)? } else { there };
            for (socket, core) in own.into_iter().zip((0..threads).cycle()) {
                socket.set_nonblocking(true)?;
                let address = socket.local_addr()?;
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
                listeners.push(socket.try_clone()?);
                if let Some(own) = by_core.get_mut(core) {
                    own.push((listener_index, socket));
                }
            }
        }
        let (drain, drained) = watch::channel(None);
        let (peers, inboxes): (Vec<Peer>, Vec<_>) = (0..threads)
            .map(|_| {
                let (sender, inbox) = mpsc::channel(INBOX_MAX);
                (Peer::new(sender), inbox)
            })
            .unzip();
        let mut handles = Vec::new();
        let (config, shortage) = (Arc::new(config), Arc::<FileShortage>::default());
        for (index, (listeners, inbox)) in by_core.into_iter().zip(inboxes).enumerate() {
            let peers = CoreBalancer::new(index, peers.clone(), drained.clone(), shortage.clone());
            let config = config.clone();
            let run = move || run_core(index, listeners, inbox, peers, &config);
            handles.push(std::thread::Builder::new().name(format!("core-{index}")).spawn(run)?);
        }
        Ok(Engine { addresses, listeners, drain, threads: handles })
    }

    /// Stops accepting, lets requests in flight finish within the drain limit, and ends the threads. Idle connections stay for
    /// `idle_time`: a request within that time gets a response with `Connection: close`. A connection closed at once could drop a
    /// request in transit.
    pub fn drain(self, idle_time: Duration) {
        drop(self.listeners);
        let _ = self.drain.send(Some(idle_time));
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a data-plane thread panicked");
            }
        }
    }
}

/// Binds one socket per core to the same port.
fn bind_all(mut address: SocketAddr, cores: usize) -> io::Result<Vec<TcpListener>> {
    let mut sockets = Vec::with_capacity(cores);
    for _ in 0..cores {
        let socket = bind(address);
        let socket = socket.map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))?;
        address = socket.local_addr()?;
        sockets.push(socket);
    }
    Ok(sockets)
}

#[allow(clippy::too_many_arguments)]
fn run_core(
    index: usize,
    listeners: Vec<(usize, TcpListener)>,
    mut inbox: mpsc::Receiver<PeerMessage>,
    peers: CoreBalancer,
    config: &EngineConfig,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build_local(Default::default()) {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "cannot start a data-plane thread"),
    };
    let peers = Rc::new(peers);
    runtime.block_on(async move {
        let drain_limit = Duration::from_millis(config.limits.drain_ms);
        let resolver = Resolver::new(config.name_servers.clone());
        let service = (config.services)(index);
        let stats = config.stats.get(index).cloned().unwrap_or_default();
        let listens = config.listen.as_slice().into();
        let address_limit = config.address_limit.clone();
        let core = Rc::new(Core::new(config.limits.clone(), service, resolver, peers.clone(), listens, stats, address_limit));
        core.service.start(CoreEntrance::new(&core));
        tokio::task::spawn_local(core.clone().keep_time());
        let accepting: Vec<_> = listeners
            .into_iter()
            .map(|(listener_index, listener)| tokio::task::spawn_local(accept(core.clone(), listener, listener_index)))
            .collect();
        loop {
            tokio::select! {
                biased;
                () = peers.drained() => break,
                Some(message) = inbox.recv() => receive(&core, message),
            }
        }
        for listener in accepting {
            let _ = listener.await;
        }
        // From here on, a core that hands a connection over gets it back.
        inbox.close();
        while let Some(message) = inbox.recv().await {
            receive(&core, message);
        }
        core.drain(peers.idle_time());
        let end = Instant::now() + drain_limit;
        while !core.is_empty() && Instant::now() < end {
            tokio::time::sleep(DRAIN_TICK).await;
        }
    });
}

fn receive(core: &Rc<Core>, message: PeerMessage) {
    match message {
        PeerMessage::Arrival(arrival) => adopt(core, arrival),
        PeerMessage::CloseIdle(connections) => core.close_idle(connections),
    }
}
