//! The upstream of `tollgate mock` and `tollgate-bench upstream`: an HTTP/1.1 server with the responses of go-bench-suite, WebSocket echo,
//! server-sent events and answers of language models. Each thread that serves has its own runtime and listener; there is no state.
#![forbid(unsafe_code)]

mod answer;
mod body;
mod described;
mod dummy;
mod model;
mod parameter;
mod websocket;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

pub use parameter::go_duration;

/// Pause after a failed accept, such as "too many open files".
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What a path without a meaning of its own is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherPaths {
    /// The request as it arrived, for people who try a gateway. So is `/echo`.
    Description,
    /// dummy-api's response, which parameters of the request form.
    DummyApi,
}

/// Serves a listener on the calling thread, with TLS if there is an acceptor. Returns only if the runtime cannot be set up.
pub fn serve(listener: TcpListener, acceptor: Option<TlsAcceptor>, others: OtherPaths) -> io::Result<()> {
    listener.set_nonblocking(true)?;
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
                None => drop(tokio::spawn(serve_connection(stream, others))),
                Some(acceptor) => drop(tokio::spawn(async move {
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve_connection(stream, others).await;
                    }
                })),
            }
        }
    })
}

/// Serves one connection. Ignores its errors: the peer counts them itself.
async fn serve_connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, others: OtherPaths) {
    let service = service_fn(move |request| async move { Ok::<_, Infallible>(answer::answer(request, others).await) });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new());
    let _ = server.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

#[cfg(test)]
mod tests;
