//! Servers within this process: a core reaches them over a socket pair, like any other upstream.

use crate::CallClient;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::io;
use std::os::unix::net::UnixStream;
use tokio::net::UnixStream as AsyncStream;

impl CallClient {
    /// Opens a connection to a server within this process, whose requests are answered on the client's threads. `what` names it in the log.
    ///
    /// # Errors
    /// The system has no more sockets.
    pub fn connect_within<R, F, B>(&self, what: &'static str, respond: R) -> io::Result<UnixStream>
    where
        R: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (own, other) = UnixStream::pair()?;
        other.set_nonblocking(true)?;
        self.spawn(async move {
            let stream = match AsyncStream::from_std(other) {
                Ok(stream) => TokioIo::new(stream),
                Err(error) => return tracing::warn!(%error, what, "no connection to a server within the process"),
            };
            let service = service_fn(|request| {
                let response = respond(request);
                async move { Ok::<_, Infallible>(response.await) }
            });
            if let Err(error) = http1::Builder::new().serve_connection(stream, service).with_upgrades().await {
                tracing::debug!(%error, what, "a connection to a server within the process ended");
            }
        });
        Ok(own)
    }
}
