//! Requests to the control API, each over a separate connection, plain or TLS, with a time limit.

use super::{CommandFailure, TlsOf};
use http_body_util::Full;
use hyper::body::Bytes;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use tollgate_model::config::GatewayConfig;
use tollgate_outbound::{HttpClient, HttpClientSettings};

/// Maximum bytes of an answer: the definitions of 10,000 APIs of about 10 KiB.
const ANSWER_BYTES_MAX: usize = 256 << 20;

/// The address of a gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GatewayAddress {
    tls: bool,
    host: String,
    port: u16,
    /// A prefix of `/tyk`, for a proxy in front of the gateway.
    base: String,
}

impl GatewayAddress {
    /// Parses `http://host:port`; without a scheme it is http.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let uri: http::Uri = whole.parse().map_err(|error: http::uri::InvalidUri| error.to_string())?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            other => return Err(format!("{} is neither http nor https", other.unwrap_or_default())),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or("it has no host")?.to_owned();
        let port = match uri.authority().and_then(|authority| authority.as_str().rsplit_once(':')) {
            // The last colon of a bare IPv6 address does not precede a port.
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
        Ok(GatewayAddress { tls, host, port, base: uri.path().trim_end_matches('/').to_owned() })
    }

    /// Its host, as it is written in a URL.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The address of the configured gateway, for use on its own machine.
    pub(crate) fn of(config: &GatewayConfig) -> Self {
        let own = &config.tollgate.control_listen_address;
        let written = if config.control_api_port == 0 || own.is_empty() { &config.listen_address } else { own };
        let bare = written.trim_start_matches('[').trim_end_matches(']');
        let ip = bare.parse::<IpAddr>().ok().filter(|ip| !ip.is_unspecified());
        let host = match ip.unwrap_or(Ipv4Addr::LOCALHOST.into()) {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        let port = if config.control_api_port == 0 { config.listen_port } else { config.control_api_port };
        GatewayAddress { tls: config.http_server_options.use_ssl, host, port, base: String::new() }
    }
}

impl fmt::Display for GatewayAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}:{}{}", self.host, self.port, self.base)
    }
}

/// A client for one gateway address.
pub(crate) struct GatewayConnection {
    address: GatewayAddress,
    client: HttpClient,
    timeout: Duration,
    runtime: tokio::runtime::Runtime,
}

impl GatewayConnection {
    pub(crate) fn new(address: GatewayAddress, insecure: bool, tls: TlsOf, timeout: Duration) -> Result<Self, CommandFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| CommandFailure::Refused(format!("cannot start: {error}")))?;
        // Plain HTTP needs no certificates, so the system's roots are not read.
        let tls = tls(insecure || !address.tls).map_err(CommandFailure::Refused)?;
        let settings = HttpClientSettings { http2: false, idle_max: timeout, connect_time_max: None };
        Ok(GatewayConnection { address, client: HttpClient::new(tls, settings), timeout, runtime })
    }

    /// Waits at least this long for answers.
    pub(crate) fn wait_for(&mut self, time: Duration) {
        self.timeout = self.timeout.max(time);
    }

    pub(crate) fn address(&self) -> &GatewayAddress {
        &self.address
    }

    /// Status and body of the answer to a request.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        secret: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> Result<(u16, Vec<u8>), CommandFailure> {
        self.try_ask(method, path, secret, body).map_err(|reason| {
            let address = &self.address;
            CommandFailure::Unreachable(format!(
                "cannot reach a gateway at {address}: {reason} (does it run there? --url or TOLLGATE_URL names another address)"
            ))
        })
    }

    /// Same as `ask`, but an error is the bare reason.
    pub(crate) fn try_ask(
        &self,
        method: &str,
        path: &str,
        secret: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> Result<(u16, Vec<u8>), String> {
        let exchange = async { tokio::time::timeout(self.timeout, self.exchange(method, path, secret, body)).await };
        let outcome = self.runtime.block_on(exchange);
        outcome.unwrap_or_else(|_| Err(format!("no answer within {} s", self.timeout.as_secs())))
    }

    async fn exchange(
        &self,
        method: &str,
        path: &str,
        secret: Option<&str>,
        body: Option<Vec<u8>>,
    ) -> Result<(u16, Vec<u8>), String> {
        let mut request = http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.address))
            .header("connection", "close")
            .header("user-agent", concat!("tollgate/", env!("CARGO_PKG_VERSION")));
        if let Some(secret) = secret {
            request = request.header("x-tyk-authorization", secret);
        }
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(Full::new(Bytes::from(body.unwrap_or_default()))).map_err(|error| error.to_string())?;
        let answer = self.client.send(request, ANSWER_BYTES_MAX).await.map_err(|fault| fault.to_string())?;
        Ok((answer.status.as_u16(), answer.body.to_vec()))
    }
}

#[cfg(test)]
mod tests;
