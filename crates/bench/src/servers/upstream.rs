//! `tollgate-bench upstream`: the server behind the measured gateways. It gives the responses of go-bench-suite and dummy-api, so
//! that commands written for them work unchanged, and adds WebSocket echo and server-sent events. Each thread has its own runtime
//! and listener; there is no state.

mod answer;
mod body;
mod dummy;
mod parameter;
mod tls;
mod websocket;

use super::listeners;
use super::listeners::ACCEPT_PAUSE;
use clap::Args;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

/// Options of `upstream`.
#[derive(Debug, Args)]
pub(crate) struct UpstreamOptions {
    /// Address and port to listen on; port 0 picks a free one
    #[arg(long, visible_alias = "addr", value_name = "IP:PORT", default_value = "127.0.0.1:8000")]
    pub listen: SocketAddr,
    /// Threads, each with its own listener and connections [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Use TLS, with a self-signed certificate for localhost unless --cert and --key name another
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
pub(crate) fn run(options: &UpstreamOptions) -> ExitCode {
    match serve_all(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("tollgate-bench: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Returns only the error that prevented the start.
fn serve_all(options: &UpstreamOptions) -> Result<(), String> {
    let acceptor = tls::acceptor(options)?;
    let listeners = listeners::open(options.listen, options.threads)?;
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    let what = |address| format!("upstream on {scheme}://{address}");
    listeners::serve(listeners, what, move |listener| serve(listener, acceptor.clone()))
}

/// Serves `listener` on the calling thread.
fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            // Otherwise a small response may wait for the peer's delayed acknowledgement.
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

/// Serves one connection. Ignores its errors: the peer counts them itself.
async fn serve_connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S) {
    let service = service_fn(|request| async { Ok::<_, Infallible>(answer::answer(request).await) });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

#[cfg(test)]
mod tests;
