//! Single requests, each on its own connection: to check whether a gateway responds, for its control API, and for the checks before
//! a measurement. Not used to generate load.

use crate::load::wire::unverified::Unverified;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Loopback address: what listens on it is not reachable from other machines.
pub(crate) const HOST: &str = "127.0.0.1";

/// Time limit of a request: long enough for a reload of many APIs.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum bytes read of a response; a check inspects its start.
const ANSWER_BYTES_MAX: u64 = 1 << 20;
const HEADERS_MAX: usize = 64;

/// Where a server answers, and whether it speaks TLS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Endpoint {
    pub address: SocketAddr,
    pub is_tls: bool,
}

impl From<SocketAddr> for Endpoint {
    fn from(address: SocketAddr) -> Endpoint {
        Endpoint { address, is_tls: false }
    }
}

impl From<u16> for Endpoint {
    /// A port of this machine.
    fn from(port: u16) -> Endpoint {
        SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()
    }
}

impl Endpoint {
    fn connect(self) -> std::io::Result<Box<dyn ReadWrite>> {
        let stream = TcpStream::connect_timeout(&self.address, TIMEOUT)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        if !self.is_tls {
            return Ok(Box::new(stream));
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let unverified = Arc::new(Unverified::new(&provider));
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(std::io::Error::other)?.dangerous().with_custom_certificate_verifier(unverified);
        let name = ServerName::IpAddress(self.address.ip().into());
        let connection = ClientConnection::new(Arc::new(config.with_no_client_auth()), name).map_err(std::io::Error::other)?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }
}

trait ReadWrite: Read + Write {}

impl<T: Read + Write> ReadWrite for T {}

/// A response; the body may still be chunked.
pub(crate) struct MeasuredProbe {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// Sends a request to a server and reads the response to its end.
pub(crate) fn send(
    place: impl Into<Endpoint>,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<MeasuredProbe, String> {
    let place: Endpoint = place.into();
    let address = place.address;
    let failed = |error: std::io::Error| format!("{method} {path} on {address}: {error}");
    let mut stream = place.connect().map_err(failed)?;
    let host = if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        String::new()
    } else {
        format!("Host: {address}\r\n")
    };
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
    let head = format!("{method} {path} HTTP/1.1\r\n{host}{lines}{length}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).map_err(failed)?;
    let mut bytes = Vec::new();
    let ended = stream.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes);
    parse(&bytes).ok_or_else(|| ended.err().map_or_else(|| format!("{method} {path} on {address}: no HTTP came back"), failed))
}

/// Whether a server listens.
pub(crate) fn listens(place: Endpoint) -> bool {
    TcpStream::connect_timeout(&place.address, Duration::from_secs(1)).is_ok()
}

fn parse(bytes: &[u8]) -> Option<MeasuredProbe> {
    let mut lines = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut lines);
    let head_bytes = match response.parse(bytes) {
        Ok(httparse::Status::Complete(head_bytes)) => head_bytes,
        _ => return None,
    };
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    Some(MeasuredProbe {
        status: response.code?,
        headers: response.headers.iter().map(|header| (header.name.to_owned(), text(header.value))).collect(),
        body: text(bytes.get(head_bytes..)?),
    })
}
