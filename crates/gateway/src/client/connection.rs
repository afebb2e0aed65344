//! One request to the control API over a separate connection, plain or TLS, with a time limit.

use super::Failure;
use crate::base::tls::{self, Library, TlsRules};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tollgate_model::config::GatewayConfig;

/// Maximum bytes of an answer: the definitions of 10,000 APIs of about 10 KiB.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// The address of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    tls: bool,
    host: String,
    port: u16,
    /// A prefix of `/tyk`, for a proxy in front of the gateway.
    base: String,
}

impl Address {
    /// Parses `http://host:port`; without a scheme it is http.
    pub fn parse(url: &str) -> Result<Self, String> {
        let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let uri: http::Uri = whole.parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            other => return Err(format!("{} is neither http nor https", other.unwrap_or_default())),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or("it has no host")?.to_owned();
        let port = match uri.authority().and_then(|authority| authority.as_str().rsplit_once(':')) {
            // What stands behind the last colon of a bare IPv6 address is no port either.
            Some((_, digits)) if !digits.ends_with(']') => digits.parse().map_err(|_| format!("{digits} is no port"))?,
            _ => {
                if tls {
                    443
                } else {
                    80
                }
            }
        };
        if port == 0 {
            return Err("port 0 is nowhere".to_owned());
        }
        Ok(Address { tls, host, port, base: uri.path().trim_end_matches('/').to_owned() })
    }

    /// The address of a configuration's gateway, from its own machine.
    pub fn of(config: &GatewayConfig) -> Self {
        let own = &config.tollgate.control_listen_address;
        let written = if config.control_api_port == 0 || own.is_empty() { &config.listen_address } else { own };
        let bare = written.trim_start_matches('[').trim_end_matches(']');
        let ip = bare.parse::<IpAddr>().ok().filter(|ip| !ip.is_unspecified());
        let host = match ip.unwrap_or(Ipv4Addr::LOCALHOST.into()) {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let port = if config.control_api_port == 0 { config.listen_port } else { config.control_api_port };
        Address { tls: config.http_server_options.use_ssl, host, port, base: String::new() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}{}", self.host, self.port, self.base)
    }
}

/// How an address is asked.
pub struct Connection {
    address: Address,
    insecure: bool,
    timeout: Duration,
    runtime: tokio::runtime::Runtime,
}

impl Connection {
    pub fn new(address: Address, insecure: bool, timeout: Duration) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Refused(format!("cannot start: {error}")))?;
        Ok(Connection { address, insecure, timeout, runtime })
    }

    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Status and body of the answer to a request.
    pub fn ask(&self, method: &str, path: &str, secret: Option<&str>, body: Option<Vec<u8>>) -> Result<(u16, Vec<u8>), Failure> {
        let exchange = async { tokio::time::timeout(self.timeout, self.exchange(method, path, secret, body)).await };
        let outcome = self.runtime.block_on(exchange);
        let reason = match outcome {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(reason)) => reason,
            Err(_) => format!("no answer within {} s", self.timeout.as_secs()),
        };
        let address = &self.address;
        Err(Failure::Unreachable(format!(
            "cannot reach a gateway at {address}: {reason} (does it run there? --url or TOLLGATE_URL names another address)"
        )))
    }

    async fn exchange(
        &self,
        method: &str,
        path: &str,
        secret: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> Result<(u16, Vec<u8>), String> {
        let Address { tls, host, port, base } = &self.address;
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("{base}{path}"))
            .header("host", format!("{host}:{port}"))
            .header("connection", "close")
            .header("user-agent", concat!("tollgate/", env!("CARGO_PKG_VERSION")));
        if let Some(secret) = secret {
            request = request.header("x-tyk-authorization", secret);
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|error| error.to_string())?;
        let bare_host = host.trim_start_matches('[').trim_end_matches(']');
        let stream = TcpStream::connect((bare_host, *port)).await.map_err(|error| error.to_string())?;
        if !tls {
            return send(stream, request).await;
        }
        let config = tls::client_config(&TlsRules { insecure: self.insecure, ..TlsRules::default() }, &Library::default())?;
        let name = ServerName::try_from(bare_host.to_owned()).map_err(|error| error.to_string())?;
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        send(connector.connect(name, stream).await.map_err(|error| error.to_string())?, request).await
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: http::Request<Full<Bytes>>,
) -> Result<(u16, Vec<u8>), String> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|error| error.to_string())?;
    // Ends with the exchange; what it fails with comes out of the exchange.
    let driver = tokio::spawn(connection);
    let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    let body = Limited::new(response.into_body(), ANSWER_BYTES_MAX).collect().await.map_err(|error| error.to_string())?;
    driver.abort();
    Ok((status, body.to_bytes().to_vec()))
}

#[cfg(test)]
mod tests;
