//! Proxies on the way to an upstream: asks an HTTP proxy (`CONNECT`) or a SOCKS5 proxy (RFC 1928, 1929) for a connection. TLS to the upstream, if
//! there is any, comes after that, so the proxy does not see into it.

use crate::fault::{Fault, FaultKind};
use crate::target::{Address, EgressProxy, ProxyProtocol};
use std::io;
use std::net::IpAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Most bytes of an HTTP proxy's answer: its head has some hundred bytes.
const ANSWER_BYTES_MAX: usize = 8 * 1024;

/// Asks the proxy at the other end of `stream` for a connection to `address`.
pub(crate) async fn ask(stream: &mut TcpStream, proxy: &EgressProxy, address: &Address) -> Result<(), Fault> {
    let (host, port) = match address {
        Address::Socket(address) => (address.ip().to_string(), address.port()),
        Address::Name { host, port } => (host.clone(), *port),
        Address::Local(_) => return Err(Fault::with(FaultKind::Connect, "a local target has no proxy")),
    };
    let asked = match &proxy.protocol {
        ProxyProtocol::Http(authorization) => connect(stream, &host, port, authorization.as_deref()).await,
        ProxyProtocol::Socks5(credentials) => socks(stream, &host, port, credentials.as_ref()).await,
    };
    asked.map_err(|error| Fault::with(FaultKind::Connect, format_args!("{proxy:?}: {error}")))
}

async fn connect(stream: &mut TcpStream, host: &str, port: u16, authorization: Option<&str>) -> io::Result<()> {
    let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
    let mut head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    if let Some(authorization) = authorization {
        head.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    // Byte by byte: what follows the head belongs to the upstream.
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= ANSWER_BYTES_MAX {
            return Err(io::Error::other("its answer is too large"));
        }
        answer.push(stream.read_u8().await?);
    }
    let status = answer.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5)).unwrap_or_default();
    match status {
        [b'2', ..] => Ok(()),
        status => Err(io::Error::other(format!("it answered with status {}", String::from_utf8_lossy(status)))),
    }
}

async fn socks(stream: &mut TcpStream, host: &str, port: u16, credentials: Option<&(String, String)>) -> io::Result<()> {
    stream.write_all(if credentials.is_some() { &[5, 2, 0, 2] } else { &[5, 1, 0] }).await?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await?;
    match (chosen, credentials) {
        ([5, 0], _) => {}
        ([5, 2], Some((user, password))) => {
            let mut message = vec![1];
            for text in [user, password] {
                message.push(u8::try_from(text.len()).map_err(|_| io::Error::other("the credentials are too long"))?);
                message.extend_from_slice(text.as_bytes());
            }
            stream.write_all(&message).await?;
            let mut accepted = [0; 2];
            stream.read_exact(&mut accepted).await?;
            if accepted != [1, 0] && accepted != [5, 0] {
                return Err(io::Error::other("it does not accept the credentials"));
            }
        }
        _ => return Err(io::Error::other("it accepts none of the methods of authentication")),
    }
    let mut message = vec![5, 1, 0];
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            message.push(1);
            message.extend_from_slice(&address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            message.push(4);
            message.extend_from_slice(&address.octets());
        }
        // The proxy resolves the name.
        Err(_) => {
            message.push(3);
            message.push(u8::try_from(host.len()).map_err(|_| io::Error::other("the name is too long"))?);
            message.extend_from_slice(host.as_bytes());
        }
    }
    message.extend_from_slice(&port.to_be_bytes());
    stream.write_all(&message).await?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await?;
    let [version, status, _, kind] = answer;
    if (version, status) != (5, 0) {
        return Err(io::Error::other(format!("it refuses the connection with code {status}")));
    }
    let address_bytes = match kind {
        1 => 4,
        4 => 16,
        3 => usize::from(stream.read_u8().await?),
        _ => return Err(io::Error::other("its answer is malformed")),
    };
    // The address that it uses, and its port.
    stream.read_exact(&mut vec![0; address_bytes + 2]).await?;
    Ok(())
}
