//! The engine: a thread and a runtime per core, started together, drained together.

use crate::addresses::AddressLimit;
use crate::core::Core;
use crate::entrance::Listen;
use crate::limits::Limits;
use crate::listener::{accept, adopt, bind};
use crate::peers::{Arrival, Peer, Peers};
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
    drain: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
}

impl Engine {
    /// Binds every address on every core and starts serving.
    pub fn start(config: EngineConfig) -> io::Result<Engine> {
        let threads = config.threads.max(1);
        let mut listeners: Vec<Vec<TcpListener>> = (0..threads).map(|_| Vec::new()).collect();
        let mut addresses = Vec::new();
        for wanted in &config.listen {
            let mut address = wanted.address;
            for own in &mut listeners {
                let listener =
                    bind(address).map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")))?;
                address = listener.local_addr()?;
                own.push(listener);
            }
            addresses.push(address);
        }
        let (drain, drained) = watch::channel(false);
        let (peers, inboxes): (Vec<Peer>, Vec<_>) = (0..threads)
            .map(|_| {
                let (sender, inbox) = mpsc::unbounded_channel();
                (Peer::new(sender), inbox)
            })
            .unzip();
        let mut handles = Vec::new();
        let config = Arc::new(config);
        for (index, (listeners, inbox)) in listeners.into_iter().zip(inboxes).enumerate() {
            let peers = Peers::new(index, peers.clone(), drained.clone());
            let config = config.clone();
            let run = move || run_core(index, listeners, inbox, peers, &config);
            handles.push(std::thread::Builder::new().name(format!("core-{index}")).spawn(run)?);
        }
        Ok(Engine { addresses, drain, threads: handles })
    }

    /// Stops accepting, lets what is in flight finish within the drain limit, and ends the threads.
    pub fn drain(self) {
        let _ = self.drain.send(true);
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
    listeners: Vec<TcpListener>,
    mut inbox: mpsc::UnboundedReceiver<Arrival>,
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
            .enumerate()
            .map(|(index, listener)| tokio::task::spawn_local(accept(core.clone(), listener, index)))
            .collect();
        loop {
            tokio::select! {
                biased;
                () = peers.drained() => break,
                Some(arrival) = inbox.recv() => adopt(&core, arrival),
            }
        }
        for listener in accepting {
            let _ = listener.await;
        }
        while let Ok(arrival) = inbox.try_recv() {
            adopt(&core, arrival);
        }
        core.draining.set(true);
        core.deadlines.wake_all();
        let end = Instant::now() + drain_limit;
        while !core.is_empty() && Instant::now() < end {
            tokio::time::sleep(DRAIN_TICK).await;
        }
    });
}
