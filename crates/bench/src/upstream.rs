//! `tollgate-bench upstream`: the server behind the gateways that are measured. It answers what go-bench-suite and dummy-api
//! answer, so that commands written for them work unchanged, and adds WebSocket echo and server-sent events.
//! One thread is one runtime with a listener of its own; it keeps no state.

mod answer;
mod body;
mod dummy;
mod parameter;
mod tls;
mod websocket;

use clap::Args;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use socket2::{Domain, Protocol, Socket, Type};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

/// A rush of new connections waits here instead of being refused.
const BACKLOG: i32 = 4096;

/// How long accepting rests after a failure such as "too many open files".
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Options of `upstream`.
#[derive(Debug, Args)]
pub struct UpstreamOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, visible_alias = "addr", value_name = "IP:PORT", default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,
    /// Threads, each with a listener and connections of its own [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Speak TLS, with a self-signed certificate for localhost unless --cert and --key name another
    #[arg(long)]
    pub tls: bool,
    /// Certificate chain in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Private key in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
}

/// Serves until the process ends.
pub fn run(options: &UpstreamOptions) -> ExitCode {
    match serve_all(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("tollgate-bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Returns only what kept it from starting.
fn serve_all(options: &UpstreamOptions) -> Result<(), String> {
    let acceptor = tls::acceptor(options)?;
    let cannot_listen = |error: io::Error| format!("cannot listen on {}: {error}", options.listen);
    let first = listener(options.listen).map_err(cannot_listen)?;
    let address = first.local_addr().map_err(cannot_listen)?;
    let threads = options.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);

    let mut listeners = vec![first];
    for _ in 1..threads {
        listeners.push(listener(address).map_err(cannot_listen)?);
    }
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    println!("tollgate-bench: upstream on {scheme}://{address} ({threads} threads)");

    let workers: Vec<_> = listeners
        .into_iter()
        .map(|listener| {
            let acceptor = acceptor.clone();
            std::thread::spawn(move || serve(listener, acceptor))
        })
        .collect();
    for worker in workers {
        worker
            .join()
            .map_err(|_| "a thread of the upstream panicked".to_owned())?
            .map_err(|error| format!("the upstream ended: {error}"))?;
    }
    Ok(())
}

fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    // Several threads listen on one port, and the kernel shares connections out among them.
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Serves on `listener` with the calling thread.
fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            // Without it a small answer may wait for the peer's delayed acknowledgement.
            let _ = stream.set_nodelay(true);
            match acceptor.clone() {
                None => drop(tokio::spawn(serve_connection(stream))),
                Some(acceptor) => drop(tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve_connection(stream).await;
                    }
                })),
            }
        }
    })
}

/// An error of a connection is its peer's business, which counts it itself.
async fn serve_connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) {
    let service = service_fn(|request| async { Ok::<_, Infallible>(answer::answer(request).await) });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

#[cfg(test)]
mod tests;
