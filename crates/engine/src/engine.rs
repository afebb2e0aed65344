//! The engine: a thread and a runtime per core, started together, drained together.

use crate::addresses::AddressLimit;
use crate::core::Core;
use crate::limits::Limits;
use crate::listen::Listen;
use crate::listener::{accept, adopt, bind};
use crate::peers::{FileShortage, INBOX_MAX, Peer, PeerMessage, Peers};
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

/// How often a draining core looks whether its last connection is gone.
const DRAIN_TICK: Duration = Duration::from_millis(10);

/// What an engine is started with.
pub struct EngineConfig {
    /// What to listen on.
    pub listen: Vec<Listen>,
    /// Data-plane threads, at least 1.
    pub threads: usize,
    /// The bounds.
    pub limits: Limits,
    /// Name servers to ask instead of the system's.
    pub name_servers: Vec<SocketAddr>,
    /// Makes each core's service.
    pub services: ServiceFactory,
    /// What each core counts, one for each thread; a core without one counts for itself.
    pub stats: Vec<Arc<CoreStats>>,
    /// Connections that one client address may have open, if that is bounded.
    pub address_limit: Option<Arc<AddressLimit>>,
}

/// A running data plane.
pub struct Engine {
    /// The addresses it listens on, with real ports.
    pub addresses: Vec<SocketAddr>,
    /// Its listening sockets once more, to hand them to another process.
    pub listeners: Vec<TcpListener>,
    drain: watch::Sender<Option<Duration>>,
    threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Binds every address on every core and starts serving. Where `sockets` has some for an address they are used instead; all of
    /// them, as each has a queue of its own.
    pub fn start(config: EngineConfig, sockets: Vec<Vec<TcpListener>>) -> io::Result<Engine> {
        let threads = config.threads.max(1);
        let mut by_core: Vec<Vec<(usize, TcpListener)>> = (0..threads).map(|_| Vec::new()).collect();
        let mut addresses = Vec::new();
        let mut listeners = Vec::new();
        let mut sockets = sockets.into_iter();
        for (entrance, wanted) in config.listen.iter().enumerate() {
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
                    own.push((entrance, socket));
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
            let peers = Peers::new(index, peers.clone(), drained.clone(), shortage.clone());
            let config = config.clone();
            let run = move || run_core(index, listeners, inbox, peers, &config);
            handles.push(std::thread::Builder::new().name(format!("core-{index}")).spawn(run)?);
        }
        Ok(Engine { addresses, listeners, drain, threads: handles })
    }

    /// Stops accepting, lets what is in flight finish within the drain limit, and ends the threads. Connections without a request get
    /// `idle_time` for one more, whose response tells the client to close: one that is closed at once can meet a request on its way.
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

/// A socket for each core, on one port.
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
    peers: Peers,
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
        tokio::task::spawn_local(core.clone().keep_time());
        let accepting: Vec<_> = listeners
            .into_iter()
            .map(|(entrance, listener)| tokio::task::spawn_local(accept(core.clone(), listener, entrance)))
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
        // Whoever wants to hand something over from here on gets it back.
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
