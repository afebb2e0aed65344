//! Forwards datagrams that nothing inspects. A client's address has one upstream, which its handler chooses, until neither has sent anything for a
//! while. What cannot be sent at once is dropped, as networks do.

use crate::addresses::IpPermit;
use crate::core::Core;
use crate::listen::Listen;
use crate::pool::PoolSlot;
use crate::service::{ClientInfo, StreamHandler};
use crate::target::Address;
use socket2::SockRef;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tollgate_clock::MonoTime;

/// Clients of one socket at a time: each has a socket of its own towards its upstream.
const CLIENTS_MAX: usize = 4_096;
/// Time without a datagram after which a client is forgotten (RFC 4787 §4.3).
const IDLE_MAX: Duration = Duration::from_secs(120);
/// How often idle clients are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// Datagrams after which others have their turn.
const DATAGRAMS_PER_TURN: usize = 32;
/// How long answers are awaited when the process ends or the listener closes.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// One client's way to its upstream.
struct DatagramClient {
    upstream: Rc<UdpSocket>,
    used: Rc<Cell<MonoTime>>,
    handler: Rc<RefCell<Box<dyn StreamHandler>>>,
    answers: JoinHandle<()>,
    /// Counts it among the tunnels.
    _slot: PoolSlot,
    /// Counts it among the connections of its address.
    _seat: Option<IpPermit>,
}

impl Drop for DatagramClient {
    fn drop(&mut self) {
        self.answers.abort();
    }
}

/// Forwards the datagrams of a socket until `core` drains or the listener closes.
pub(crate) async fn forward_datagrams(
    core: Rc<Core>,
    listen: Arc<Listen>,
    socket: std::net::UdpSocket,
    mut closed: watch::Receiver<()>,
) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let socket = Rc::new(UdpSocket::from_std(socket)?);
    let mut clients: HashMap<SocketAddr, DatagramClient> = HashMap::new();
    let mut sweep = tokio::time::interval(SWEEP_EVERY);
    loop {
        tokio::select! {
            biased;
            () = core.peers.drained() => break,
            _ = closed.changed() => break,
            _ = sweep.tick() => {
                let now = MonoTime::now();
                clients.retain(|_, client| {
                    let is_used = !client.answers.is_finished() && now.since(client.used.get()) < IDLE_MAX;
                    // Nobody says that an upstream is gone that does not refuse what it gets.
                    is_used && !client.handler.borrow_mut().gives_up(Duration::ZERO, now)
                });
            }
            ready = socket.readable() => {
                ready?;
                take_all(&core, &listen, &socket, &mut clients);
                tokio::task::yield_now().await;
            }
        }
    }
    tokio::time::sleep(DRAIN_TIME).await;
    Ok(())
}

/// Takes what has arrived, up to one turn's worth.
fn take_all(core: &Rc<Core>, listen: &Listen, socket: &Rc<UdpSocket>, clients: &mut HashMap<SocketAddr, DatagramClient>) {
    for _ in 0..DATAGRAMS_PER_TURN {
        let mut buffers = core.buffers.borrow_mut();
        // An error is that of an earlier datagram; the socket goes on.
        let Ok((length, from)) = socket.try_recv_from(&mut buffers.scratch) else { return };
        let datagram = buffers.scratch.get(..length).unwrap_or_default();
        if clients.get(&from).is_some_and(|client| client.answers.is_finished()) {
            clients.remove(&from);
        }
        if !clients.contains_key(&from) {
            let Some(client) = admit(core, listen, socket, from, clients.len()) else { continue };
            clients.insert(from, client);
        }
        let Some(client) = clients.get(&from) else { continue };
        client.used.set(MonoTime::now());
        // Not through tokio, which does not know yet that a new socket has room.
        if SockRef::from(&*client.upstream).send(datagram).is_ok() {
            client.handler.borrow_mut().on_bytes(length as u64, 0);
        }
    }
}

/// Opens the way to an upstream for a client; `None` if there is none, or there are too many clients.
fn admit(core: &Rc<Core>, listen: &Listen, socket: &Rc<UdpSocket>, from: SocketAddr, clients: usize) -> Option<DatagramClient> {
    if clients >= CLIENTS_MAX {
        return None;
    }
    let seat = match &core.address_limit {
        Some(limit) => limit.seat(from.ip().to_canonical()).ok()?,
        None => None,
    };
    let slot = PoolSlot::take(&core.tunnels_open, core.limits.tunnels_max)?;
    let info = ClientInfo { address: from, listener: listen.name, tls: None, http2: false, is_own: false, ticket: 0 };
    let mut handler = core.service.stream(&info)?;
    let now = MonoTime::now();
    let target = handler.next(None, now)?;
    let Address::Socket(address) = target.address else { return None };
    let upstream = connected(address).map_err(|error| tracing::debug!(%address, %error, "no socket for datagrams")).ok()?;
    handler.on_connected(now);
    let upstream = Rc::new(upstream);
    let (used, handler) = (Rc::new(Cell::new(now)), Rc::new(RefCell::new(handler)));
    let answers = Answers {
        core: core.clone(),
        upstream: upstream.clone(),
        socket: socket.clone(),
        client: from,
        used: used.clone(),
        handler: handler.clone(),
    };
    let answers = tokio::task::spawn_local(answers.forward());
    core.stats.clients.add(1);
    Some(DatagramClient { upstream, used, handler, answers, _slot: slot, _seat: seat })
}

fn connected(address: SocketAddr) -> io::Result<UdpSocket> {
    let any: SocketAddr = match address {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = std::net::UdpSocket::bind(any)?;
    socket.connect(address)?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket)
}

/// An upstream's datagrams on their way to the client.
struct Answers {
    core: Rc<Core>,
    upstream: Rc<UdpSocket>,
    socket: Rc<UdpSocket>,
    client: SocketAddr,
    used: Rc<Cell<MonoTime>>,
    handler: Rc<RefCell<Box<dyn StreamHandler>>>,
}

impl Answers {
    /// Forwards them until the upstream refuses: the client's next datagram then goes to another one.
    async fn forward(self) {
        while self.upstream.readable().await.is_ok() {
            for _ in 0..DATAGRAMS_PER_TURN {
                let mut buffers = self.core.buffers.borrow_mut();
                let length = match self.upstream.try_recv(&mut buffers.scratch) {
                    Ok(length) => length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(_) => return,
                };
                let datagram = buffers.scratch.get(..length).unwrap_or_default();
                self.used.set(MonoTime::now());
                if SockRef::from(&*self.socket).send_to(datagram, &self.client.into()).is_ok() {
                    self.handler.borrow_mut().on_bytes(0, length as u64);
                }
            }
            tokio::task::yield_now().await;
        }
    }
}
