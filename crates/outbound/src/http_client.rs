//! The HTTP client: pooled connections, plain or over TLS, answers of bounded size. Time limits, retries and redirects are its callers' matter.

use http::header::PROXY_AUTHORIZATION;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use crate::guarded_resolver::{AddressGuard, GuardedResolver};
use crate::proxy::{ProxyChooser, ProxyConnector};

/// A client with connections of its own. Copies share them.
#[derive(Clone)]
pub struct HttpClient {
    client: Client<HttpsConnector<ProxyConnector>, Full<Bytes>>,
    proxies: Option<ProxyChooser>,
}

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
        HttpClient::build(tls, settings, None, None)
    }

    /// The same, with proxies on the way.
    pub fn through(tls: ClientConfig, settings: HttpClientSettings, proxies: Option<ProxyChooser>) -> Self {
        HttpClient::build(tls, settings, None, proxies)
    }

    /// The same, but connects only to addresses that the guard allows.
    pub fn guarded(tls: ClientConfig, settings: HttpClientSettings, guard: AddressGuard) -> GuardedHttpClient {
        GuardedHttpClient { client: HttpClient::build(tls, settings, Some(guard.clone()), None), guard }
    }

    fn build(tls: ClientConfig, settings: HttpClientSettings, guard: Option<AddressGuard>, proxies: Option<ProxyChooser>) -> Self {
        let HttpClientSettings { http2, idle_max, connect_time_max } = settings;
        let mut connector = HttpConnector::new_with_resolver(GuardedResolver { system: GaiResolver::new(), guard });
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(connect_time_max);
        let connector = ProxyConnector::new(connector, proxies.clone());
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let connector =
            if http2 { builder.enable_http2().wrap_connector(connector) } else { builder.enable_http1().wrap_connector(connector) };
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(idle_max)
            .http2_only(http2)
            .build(connector);
        HttpClient { client, proxies }
    }

    /// A request with what a proxy asks for, if it sees the request itself.
    fn prepared(&self, mut request: Request<Full<Bytes>>) -> Request<Full<Bytes>> {
        if request.uri().scheme_str() == Some("http")
            && let Some(proxy) = self.proxies.as_ref().and_then(|choose| choose(request.uri()))
            && let Some(authorization) = proxy.authorization
        {
            request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
        }
        request
    }

    /// Sends a request and returns the status of the answer. Its body is not read, so that it may be endless.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn status(&self, request: Request<Full<Bytes>>) -> Result<StatusCode, HttpFault> {
        let response = self.open(request).await?;
        Ok(response.status())
    }

    /// Sends a request and returns the head of the answer. Its body is not read, so that it may be endless.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn head(&self, request: Request<Full<Bytes>>) -> Result<(StatusCode, HeaderMap), HttpFault> {
        let response = self.open(request).await?;
        let (head, _) = response.into_parts();
        Ok((head.status, head.headers))
    }

    /// Sends a request, and returns the answer with a body that is still to be read.
    ///
    /// # Errors
    /// There is no answer.
    pub async fn open(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, HttpFault> {
        self.client.request(self.prepared(request)).await.map_err(|error| HttpFault::Connection(with_causes(&error)))
    }

    /// Sends a request to the host of its URI, and collects the answer.
    pub async fn send(&self, request: Request<Full<Bytes>>, body_bytes_max: usize) -> Result<HttpAnswer, HttpFault> {
        let response = self.open(request).await?;
        let (head, body) = Response::into_parts(response);
        let body = Limited::new(body, body_bytes_max).collect().await.map_err(|error| HttpFault::Body(error.to_string()))?;
        let trailers = body.trailers().cloned();
        Ok(HttpAnswer { status: head.status, headers: head.headers, body: body.to_bytes(), trailers })
    }
}

/// A client that connects only to some addresses.
#[derive(Clone)]
pub struct GuardedHttpClient {
    client: HttpClient,
    guard: AddressGuard,
}

impl GuardedHttpClient {
    /// Like [`HttpClient::head`], if the request's host has an allowed address.
    ///
    /// # Errors
    /// There is no answer, or the address is not allowed.
    pub async fn head(&self, request: Request<Full<Bytes>>) -> Result<(StatusCode, HeaderMap), HttpFault> {
        self.check(&request)?;
        self.client.head(request).await
    }

    /// Like [`HttpClient::send`], if the request's host has an allowed address.
    ///
    /// # Errors
    /// There is no whole answer, or the address is not allowed.
    pub async fn send(&self, request: Request<Full<Bytes>>, body_bytes_max: usize) -> Result<HttpAnswer, HttpFault> {
        self.check(&request)?;
        self.client.send(request, body_bytes_max).await
    }

    fn check(&self, request: &Request<Full<Bytes>>) -> Result<(), HttpFault> {
        let host = request.uri().host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        // The resolver is not asked about addresses.
        if let Ok(address) = host.parse::<IpAddr>()
            && !(self.guard)(address)
        {
            return Err(HttpFault::Connection("the address is private".to_owned()));
        }
        Ok(())
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
