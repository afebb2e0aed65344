//! Opens a new connection to an upstream: resolves the name, tries every address, performs the handshake.

use crate::core::Core;
use crate::deadlines::NEVER;
use crate::egress;
use crate::fault::{Fault, FaultKind, is_out_of_files};
use crate::http2::upstream;
use crate::pool::{PoolSlot, PooledConnection};
use crate::stream::Stream;
use crate::target::{Address, Http2, Target, TargetTls};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;

/// How long to wait for closed connections to free their file descriptors.
const FILES_PAUSE: Duration = Duration::from_millis(10);

/// After this time without a connection, each sweep of the deadlines asks whether to give it up.
pub(crate) const LOOK_AFTER: Duration = Duration::from_millis(50);

pub(crate) type Dial = Pin<Box<dyn Future<Output = Result<PooledConnection, Fault>>>>;

/// Connects to `target` within the connect limit. A request that `switches` protocols gets HTTP/1.1.
pub(crate) fn dial(core: Rc<Core>, target: Arc<Target>, switches: bool) -> Dial {
    Box::pin(async move {
        let limit = Duration::from_millis(core.limits.upstream_connect_ms);
        let http2 = if switches { Http2::Never } else { target.http2 };
        timeout(limit, connect(&core, &target, http2)).await.unwrap_or_else(|_| Err(Fault::new(FaultKind::ConnectTimeout)))
    })
}

/// The same within another limit.
pub(crate) fn dial_within(core: Rc<Core>, target: Arc<Target>, limit: Duration) -> Dial {
    Box::pin(async move {
        let connecting = connect(&core, &target, target.http2);
        timeout(limit, connecting).await.unwrap_or_else(|_| Err(Fault::new(FaultKind::ConnectTimeout)))
    })
}

/// Takes a connection that is open, or connects to `target`, after a wait.
pub(crate) fn redial(core: Rc<Core>, target: Arc<Target>, after: Duration, limit: Option<Duration>, switches: bool) -> Dial {
    Box::pin(async move {
        if !after.is_zero() {
            tokio::time::sleep(after).await;
        }
        let pooled = core.pool.borrow_mut().take(target.serial, core.deadlines.now_ms(), &core.limits);
        match (pooled, limit) {
            (Some(pooled), _) => Ok(pooled),
            (None, Some(limit)) => dial_within(core, target, limit).await,
            (None, None) => dial(core, target, switches).await,
        }
    })
}

async fn connect(core: &Rc<Core>, target: &Target, http2: Http2) -> Result<PooledConnection, Fault> {
    let Some(slot) = PoolSlot::take(&core.upstreams_open, core.limits.upstream_connections_max) else {
        return Err(Fault::with(FaultKind::Connect, "too many connections to upstreams are open"));
    };
    let mut valid_until_ms = match core.limits.upstream_life_ms {
        0 => NEVER,
        life_ms => core.deadlines.now_ms() + life_ms,
    };
    let mut turn = None;
    if http2 != Http2::Never {
        let mut opened = core.shared_upstreams.open(core.deadlines.now_ms(), target);
        if opened.is_none() {
            turn = core.shared_upstreams.turn(target).await;
            opened = core.shared_upstreams.open(core.deadlines.now_ms(), target);
        }
        if let Some(stream) = opened {
            return Ok(PooledConnection { stream, serial: target.serial, reused: false, valid_until_ms, slot });
        }
    }
    if let Address::Local(connector) = &target.address {
        let opened = with_files(core, async || local(connector()?)).await;
        let stream = Stream::Local(opened.map_err(|error| Fault::with(FaultKind::Connect, error))?);
        return Ok(PooledConnection { stream, serial: target.serial, reused: false, valid_until_ms, slot });
    }
    let tcp = match &target.proxy {
        None => reach(core, &target.address, &mut valid_until_ms).await?,
        Some(proxy) => {
            let mut tcp = reach(core, &proxy.address, &mut valid_until_ms).await?;
            egress::ask(&mut tcp, proxy, &target.address).await?;
            tcp
        }
    };
    let stream = match &target.tls {
        None => Stream::Tcp(tcp),
        Some(tls) => {
            let connector = tokio_rustls::TlsConnector::from(config(tls, http2));
            let shaken = connector.connect(tls.name.clone(), tcp).await;
            Stream::Tls(Box::new(shaken.map_err(|error| Fault::with(FaultKind::Tls, &error).because(&error))?.into()))
        }
    };
    if http2 == Http2::Always || stream.speaks_http2() {
        // The connection needs a slot of its own: this stream is one of many on it.
        let Some(own) = PoolSlot::take(&core.upstreams_open, core.limits.upstream_connections_max) else {
            return Err(Fault::with(FaultKind::Connect, "too many connections to upstreams are open"));
        };
        let stream = upstream::begin(core, target, stream, own, valid_until_ms);
        drop(turn);
        return Ok(PooledConnection { stream, serial: target.serial, reused: false, valid_until_ms, slot });
    }
    Ok(PooledConnection { stream, serial: target.serial, reused: false, valid_until_ms, slot })
}

/// Connects to an address. A name's addresses are valid for a time, which bounds that of the connection.
async fn reach(core: &Core, address: &Address, valid_until_ms: &mut u64) -> Result<TcpStream, Fault> {
    match address {
        Address::Socket(address) => any_of(core, &[*address]).await,
        Address::Name { host, port } => {
            let answer = core.resolver.lookup(host).await.map_err(|error| Fault::with(FaultKind::Lookup, error))?;
            let left = answer.valid_until.saturating_duration_since(Instant::now()).as_millis() as u64;
            *valid_until_ms = (*valid_until_ms).min(core.deadlines.now_ms() + left.max(1));
            // Each connection starts with the next address, to distribute connections over all of them.
            let first = core.next_address() % answer.addresses.len();
            let rotated = answer.addresses.iter().cycle().skip(first).take(answer.addresses.len());
            let addresses: Vec<SocketAddr> = rotated.map(|ip| SocketAddr::new(*ip, *port)).collect();
            any_of(core, &addresses).await
        }
        Address::Local(_) => Err(Fault::new(FaultKind::Connect)),
    }
}

/// TLS settings of the target, without HTTP/2 in ALPN if the request cannot use it.
fn config(tls: &TargetTls, http2: Http2) -> Arc<rustls::ClientConfig> {
    if http2 != Http2::Never || tls.config.alpn_protocols.is_empty() {
        return tls.config.clone();
    }
    let mut config = rustls::ClientConfig::clone(&tls.config);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

/// Connects to the first address that accepts. Each address gets an equal share of the time limit.
async fn any_of(core: &Core, addresses: &[SocketAddr]) -> Result<TcpStream, Fault> {
    let share = Duration::from_millis(core.limits.upstream_connect_ms / addresses.len().max(1) as u64);
    let mut last = Fault::new(FaultKind::Lookup);
    for address in addresses {
        match timeout(share, with_files(core, async || TcpStream::connect(*address).await)).await {
            Ok(Ok(stream)) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => {
                last = Fault::with(FaultKind::Connect, format_args!("{address}: {error}")).because(&error);
            }
            Err(_) => last = Fault::with(FaultKind::ConnectTimeout, address),
        }
    }
    Err(last)
}

/// Opens something, with one retry if no file descriptor was left: a request in progress is worth more than an idle connection.
async fn with_files<T>(core: &Core, open: impl AsyncFn() -> io::Result<T>) -> io::Result<T> {
    match open().await {
        Err(error) if is_out_of_files(&error) => {
            core.peers.close_idle(|connections| core.close_idle(connections));
            tokio::time::sleep(FILES_PAUSE).await;
            open().await
        }
        opened => opened,
    }
}

fn local(stream: std::os::unix::net::UnixStream) -> io::Result<UnixStream> {
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
