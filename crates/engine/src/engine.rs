//! The engine: one thread and one runtime per core, started and drained together.

use crate::addresses::AddressLimit;
use crate::core::Core;
use crate::datagrams::forward_datagrams;
use crate::limits::Limits;
use crate::listen::{Listen, ListenSocket, NewListener};
use crate::listener::{accept, adopt, bind_all};
use crate::own_requests::CoreEntrance;
use crate::peers::{CoreBalancer, FileShortage, INBOX_MAX, Peer, PeerMessage};
use crate::resolver::Resolver;
use crate::service::ServiceFactory;
use crate::stats::CoreStats;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

/// How often a draining core checks whether its last connection is closed.
const DRAIN_TICK: Duration = Duration::from_millis(10);
/// Pause before a listener is offered again to a core whose inbox is full.
const INBOX_PAUSE: Duration = Duration::from_millis(5);

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
    control: ListenerControl,
    /// Keeps its listeners open.
    _open: Vec<watch::Sender<()>>,
}

/// Opens more listeners while the engine runs.
#[derive(Clone)]
pub struct ListenerControl {
    cores: Vec<Peer>,
}

/// A listener that was opened while the engine runs. It closes when this is dropped; connections that it has accepted go on.
pub struct OpenListener {
    _open: watch::Sender<()>,
}

impl ListenerControl {
    /// Binds sockets for a listener, one per core. Connections wait in them until [`ListenerControl::open`].
    ///
    /// # Errors
    /// The address is in use or can't be bound.
    pub fn bind(address: SocketAddr, cores: usize) -> io::Result<Vec<TcpListener>> {
        // The cores' sockets share the port, and would share it with those of another process too. This one does not.
        let alone = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        alone.set_reuse_address(true)?;
        if address.is_ipv6() && !address.ip().is_unspecified() {
            alone.set_only_v6(true)?;
        }
        alone.bind(&SockAddr::from(address))?;
        drop(alone);
        bind_all(address, cores)
    }

    /// Binds sockets for datagrams, one per core. A client's datagrams come to the same one.
    ///
    /// # Errors
    /// The address can't be bound.
    pub fn bind_datagrams(address: SocketAddr, cores: usize) -> io::Result<Vec<UdpSocket>> {
        let bind = || -> io::Result<UdpSocket> {
            let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
            socket.set_reuse_port(true)?;
            if address.is_ipv6() && !address.ip().is_unspecified() {
                socket.set_only_v6(true)?;
            }
            socket.set_nonblocking(true)?;
            socket.bind(&SockAddr::from(address))?;
            Ok(socket.into())
        };
        (0..cores).map(|_| bind()).collect()
    }

    /// Begins to accept connections from the sockets of a listener.
    pub fn open(&self, listen: Listen, sockets: Vec<ListenSocket>) -> OpenListener {
        let (open, closed) = watch::channel(());
        let listen = Arc::new(listen);
        for (socket, core) in sockets.into_iter().zip(self.cores.iter().cycle()) {
            let mut listener = NewListener { listen: listen.clone(), socket, closed: closed.clone() };
            // A core that drains takes no more.
            while let Err(Some(refused)) = core.listen(listener) {
                listener = refused;
                std::thread::sleep(INBOX_PAUSE);
            }
        }
        OpenListener { _open: open }
    }
}

impl Engine {
    /// Binds every address on every core and starts serving. If `sockets` contains sockets for an address, all of them are used
    /// instead, because each has its own accept queue.
    pub fn start(config: EngineConfig, sockets: Vec<Vec<TcpListener>>) -> io::Result<Engine> {
        let threads = config.threads.max(1);
        let mut by_core: Vec<Vec<NewListener>> = (0..threads).map(|_| Vec::new()).collect();
        let (mut addresses, mut open) = (Vec::new(), Vec::new());
        let mut listeners = Vec::new();
        let mut sockets = sockets.into_iter();
        for wanted in &config.listen {
            let (keep_open, closed) = watch::channel(());
            open.push(keep_open);
            let listen = Arc::new(wanted.clone());
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
                    own.push(NewListener { listen: listen.clone(), socket: ListenSocket::Tcp(socket), closed: closed.clone() });
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
        Ok(Engine { addresses, listeners, drain, threads: handles, control: ListenerControl { cores: peers }, _open: open })
    }

    /// Opens more listeners.
    pub fn listener_control(&self) -> ListenerControl {
        self.control.clone()
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

#[allow(clippy::too_many_arguments)]
fn run_core(
    index: usize,
    listeners: Vec<NewListener>,
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
        let address_limit = config.address_limit.clone();
        let core = Rc::new(Core::new(config.limits.clone(), service, resolver, peers.clone(), stats, address_limit));
        core.service.start(CoreEntrance::new(&core));
        tokio::task::spawn_local(core.clone().keep_time());
        let begin = |listener: NewListener| {
            let NewListener { listen, socket, closed } = listener;
            match socket {
                ListenSocket::Tcp(socket) => tokio::task::spawn_local(accept(core.clone(), listen, socket, closed)),
                ListenSocket::Udp(socket) => tokio::task::spawn_local(forward_datagrams(core.clone(), listen, socket, closed)),
            }
        };
        let mut accepting: Vec<_> = listeners.into_iter().map(begin).collect();
        loop {
            tokio::select! {
                biased;
                () = peers.drained() => break,
                Some(message) = inbox.recv() => match message {
                    PeerMessage::Listen(listener) => {
                        accepting.retain(|task| !task.is_finished());
                        accepting.push(begin(listener));
                    }
                    message => receive(&core, message),
                },
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
        // It came too late: the core drains.
        PeerMessage::Listen(_) => {}
    }
}
