//! Servers within this process: a core reaches them over a socket pair, like any other upstream.

use crate::CallClient;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::future::Future;
use std::io;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixStream as AsyncStream;
use tokio::time::sleep;

/// How often it is looked whether the server is still served.
const LOOK: Duration = Duration::from_secs(5);

impl CallClient {
    /// Opens a connection to a server within this process, whose requests are answered on the client's threads. `what` names it in the log. The
    /// connection ends by itself when nothing else has the server any more.
    ///
    /// # Errors
    /// The system has no more sockets.
    pub fn connect_within<S, R, F, B>(&self, what: &'static str, server: &Arc<S>, respond: R) -> io::Result<UnixStream>
    where
        S: Send + Sync + 'static,
        R: Fn(Arc<S>, Request<Incoming>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (own, other) = UnixStream::pair()?;
        other.set_nonblocking(true)?;
        let server = Arc::downgrade(server);
        self.spawn(async move {
            let stream = match AsyncStream::from_std(other) {
                Ok(stream) => TokioIo::new(stream),
                Err(error) => return tracing::warn!(%error, what, "no connection to a server within the process"),
            };
            let service = service_fn(|request| {
                let response = server.upgrade().map(|server| respond(server, request));
                async move {
                    match response {
                        Some(response) => Ok(response.await),
                        None => Err(io::Error::other("it is no longer served")),
                    }
                }
            });
            let mut serving = pin!(http1::Builder::new().serve_connection(stream, service).with_upgrades());
            let ended = loop {
                tokio::select! {
                    ended = &mut serving => break ended,
                    () = sleep(LOOK) => if server.strong_count() == 0 {
                        serving.as_mut().graceful_shutdown();
                        break serving.await;
                    }
                }
            };
            if let Err(error) = ended {
                tracing::debug!(%error, what, "a connection to a server within the process ended");
            }
        });
        Ok(own)
    }
}
