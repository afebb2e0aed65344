//! The address of the server of plugins, in the forms that `coprocess_grpc_server` may have.

use std::fmt;
use std::path::PathBuf;

/// Where the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcAddress {
    /// How it is reached.
    pub transport: GrpcTransport,
    /// Whether the address asks for TLS.
    pub wants_tls: bool,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrpcTransport {
    /// Host, without brackets, and port.
    Tcp(String, u16),
    /// A socket of this machine.
    Unix(PathBuf),
}

impl GrpcAddress {
    /// Reads an address. `Err` says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        for scheme in ["unix://", "unix:"] {
            if let Some(path) = text.strip_prefix(scheme).filter(|path| !path.is_empty()) {
                return Ok(GrpcAddress { transport: GrpcTransport::Unix(path.into()), wants_tls: false });
            }
        }
        let (rest, wants_tls) = match text.split_once("://") {
            None => (text, false),
            Some(("tcp" | "http" | "passthrough", rest)) => (rest, false),
            Some(("https" | "tls", rest)) => (rest, true),
            // `dns://authority/host:port`; the authority is usually empty.
            Some(("dns", rest)) => (rest.rsplit_once('/').map_or(rest, |(_, host)| host), false),
            Some((scheme, _)) => return Err(format!("has the scheme {scheme:?}, which is none of tcp, dns, unix, https")),
        };
        let rest = rest.trim_matches('/');
        let (host, port) = rest.rsplit_once(':').ok_or("must have a port, such as tcp://127.0.0.1:5555")?;
        let port =
            port.parse().ok().filter(|port| *port > 0).ok_or_else(|| format!("has the port {port:?}, which is no number"))?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let host = if host.is_empty() { "localhost" } else { host };
        Ok(GrpcAddress { transport: GrpcTransport::Tcp(host.to_owned(), port), wants_tls })
    }

    /// The host for a certificate; none for a socket of this machine.
    pub fn host(&self) -> Option<&str> {
        match &self.transport {
            GrpcTransport::Tcp(host, _) => Some(host),
            GrpcTransport::Unix(_) => None,
        }
    }
}

impl fmt::Display for GrpcAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.transport {
            GrpcTransport::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            GrpcTransport::Tcp(host, port) => write!(f, "{host}:{port}"),
            // gRPC's authority of such servers.
            GrpcTransport::Unix(_) => f.write_str("localhost"),
        }
    }
}

#[cfg(test)]
mod tests;
