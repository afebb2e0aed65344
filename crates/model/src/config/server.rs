//! `http_server_options`: settings towards clients.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `http_server_options`. The defaults are Tyk's for a file that leaves the field out: everything off.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HttpServerOptions {
    /// Seconds for a request to arrive; 0 means 120.
    pub read_timeout: u64,
    /// Seconds that a client may stop reading a response; 0 means `tollgate.timeouts.client_write_ms`.
    pub write_timeout: u64,
    /// Use TLS.
    pub use_ssl: bool,
    /// Offer HTTP/2 to TLS clients. Without TLS, it is always used with clients that start with it.
    pub enable_http2: bool,
    /// Listen paths match whole segments: `/app` does not match `/apple`.
    pub enable_strict_routes: bool,
    /// Whether endpoint patterns that start with `/` match only at the start of the path.
    pub enable_path_prefix_matching: bool,
    /// Whether endpoint patterns match only at the end of the path.
    pub enable_path_suffix_matching: bool,
    /// Pass WebSockets and other upgrades through.
    pub enable_websockets: bool,
    /// No effect, as in Tyk: client certificates are verified for APIs that require them.
    pub ssl_insecure_skip_verify: bool,
    /// Certificates from files.
    pub certificates: Vec<CertificatePaths>,
    /// Certificates by identifier or file name.
    pub ssl_certificates: Vec<String>,
    /// The host to assume for clients that name none.
    pub server_name: String,
    /// Lowest TLS version by number (771 is TLS 1.2), 0 for the default.
    pub min_version: u16,
    /// Highest TLS version by number (772 is TLS 1.3), 0 for the default.
    pub max_version: u16,
    /// Cipher suites for TLS 1.2, by name; those of TLS 1.3 are always enabled.
    pub ssl_ciphers: Vec<String>,
    /// No effect: every piece of a response is forwarded at once.
    pub flush_interval: u64,
    /// Disables the redirect from paths with `//`, `/./` and `/../` to the clean path.
    pub skip_url_cleaning: bool,
    /// No effect: a path is always forwarded as the client escaped it.
    pub skip_target_path_escaping: bool,
    /// Maximum bytes of a request body; 0 means no limit.
    pub max_request_body_size: u64,
    /// Maximum bytes of a response body that `transform_response` reads; 0 means `tollgate.limits.body_bytes_max`.
    pub max_response_body_size: i64,
    /// Which entry of `X-Forwarded-For` is the client: 0 the first, n the nth from the right.
    pub xff_depth: u64,
}

/// A certificate for TLS towards clients, as PEM files.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CertificatePaths {
    /// A host in addition to those in the certificate; `*` for any.
    pub domain_name: String,
    /// The certificate with its chain. A file with this name and `.ocsp` appended is an OCSP response to staple.
    pub cert_file: PathBuf,
    /// The private key; empty if it is in `cert_file`.
    pub key_file: PathBuf,
}

/// An entry of `ports_whitelist`: ports that APIs with one `protocol` may open.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AllowedPorts {
    /// Ranges of ports.
    pub ranges: Vec<PortRange>,
    /// Single ports.
    pub ports: Vec<u16>,
}

/// Consecutive ports.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PortRange {
    /// The first port.
    pub from: u16,
    /// The last port.
    pub to: u16,
}

impl AllowedPorts {
    /// Whether a port is among them.
    pub fn contains(&self, port: u16) -> bool {
        self.ports.contains(&port) || self.ranges.iter().any(|range| (range.from..=range.to).contains(&port))
    }
}
