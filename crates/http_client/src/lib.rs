//! The HTTP client for calls of the gateway's own: pooled connections, plain or over TLS, answers of bounded size. Time limits, retries and
//! redirects are its callers' matter. Not for requests of clients.

use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use std::fmt;
use std::time::Duration;

/// A client with connections of its own. Copies share them.
#[derive(Clone)]
pub struct HttpClient(Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

/// Which connections a client makes.
#[derive(Clone, Copy, Debug)]
pub struct HttpClientSettings {
    /// HTTP/2 and nothing else; HTTP/1.1 otherwise.
    pub http2: bool,
    /// For which an unused connection is kept.
    pub idle_max: Duration,
    /// For one attempt to connect, where the time of the whole call does not bound it.
    pub connect_time_max: Option<Duration>,
}

/// A whole answer.
pub struct HttpAnswer {
    /// The status code.
    pub status: StatusCode,
    /// The header lines.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
    /// The trailer lines, if there are any.
    pub trailers: Option<HeaderMap>,
}

/// Why there is no whole answer.
#[derive(Clone, Debug)]
pub enum HttpFault {
    /// The connection cannot be made, or breaks off.
    Connection(String),
    /// The body is larger than it may be, or breaks off.
    Body(String),
}

impl HttpClient {
    /// A client with these certificates and settings.
    pub fn new(tls: ClientConfig, settings: HttpClientSettings) -> Self {
        let HttpClientSettings { http2, idle_max, connect_time_max } = settings;
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(connect_time_max);
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let connector =
            if http2 { builder.enable_http2().wrap_connector(connector) } else { builder.enable_http1().wrap_connector(connector) };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle_max)
            .http2_only(http2)
            .build(connector);
        HttpClient(client)
    }

    /// Sends a request and returns the status of the answer. Its body is not read, so that it may be endless.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn status(&self, request: Request<Full<Bytes>>) -> Result<StatusCode, HttpFault> {
        let response = self.0.request(request).await.map_err(|error| HttpFault::Connection(with_causes(&error)))?;
        Ok(response.status())
    }

    /// Sends a request to the host of its URI, and collects the answer.
    pub async fn send(&self, request: Request<Full<Bytes>>, body_bytes_max: usize) -> Result<HttpAnswer, HttpFault> {
        let response = self.0.request(request).await.map_err(|error| HttpFault::Connection(with_causes(&error)))?;
        let (head, body) = Response::into_parts(response);
        let body = Limited::new(body, body_bytes_max).collect().await.map_err(|error| HttpFault::Body(error.to_string()))?;
        let trailers = body.trailers().cloned();
        Ok(HttpAnswer { status: head.status, headers: head.headers, body: body.to_bytes(), trailers })
    }
}

/// An error with everything that led to it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl fmt::Display for HttpFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HttpFault::Connection(why) => f.write_str(why),
            HttpFault::Body(why) => write!(f, "the answer's body can't be read: {why}"),
        }
    }
}
