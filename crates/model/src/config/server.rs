//! `http_server_options`: the side towards clients.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `http_server_options`. The defaults are Tyk's for a file that leaves the field out: everything off.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HttpServerOptions {
    /// Seconds that a request may take to arrive; 120 when 0.
    pub read_timeout: u64,
    /// Seconds for which a client may take nothing of a response; what `tollgate.timeouts.client_write_ms` says when 0.
    pub write_timeout: u64,
    /// Speak TLS.
    pub use_ssl: bool,
    /// Speak HTTP/2 to clients over TLS that can. Without TLS it is always spoken with those that begin with it.
    pub enable_http2: bool,
    /// Listen paths match whole segments: `/app` does not match `/apple`.
    pub enable_strict_routes: bool,
    /// Endpoint patterns that begin with `/` match at the beginning of the path only.
    pub enable_path_prefix_matching: bool,
    /// Endpoint patterns match at the end of the path only.
    pub enable_path_suffix_matching: bool,
    /// Pass WebSockets and other upgrades through.
    pub enable_websockets: bool,
    /// Without effect, as in Tyk: client certificates are verified where an API asks for them.
    pub ssl_insecure_skip_verify: bool,
    /// Certificates from files.
    pub certificates: Vec<Certificate>,
    /// Certificates by identifier or file name.
    pub ssl_certificates: Vec<String>,
    /// The host that a client means that names none.
    pub server_name: String,
    /// Lowest TLS version as on the wire (771 is TLS 1.2), 0 for the default.
    pub min_version: u16,
    /// Highest TLS version as on the wire (772 is TLS 1.3), 0 for the default.
    pub max_version: u16,
    /// Cipher suites for TLS 1.2, by name; those of TLS 1.3 are always there.
    pub ssl_ciphers: Vec<String>,
    /// Without effect: every piece of a response is sent on at once.
    pub flush_interval: u64,
    /// Do not redirect `//`, `/./` and `/../` to the clean path.
    pub skip_url_cleaning: bool,
    /// Without effect: a path is always sent upstream as the client has escaped it.
    pub skip_target_path_escaping: bool,
    /// Largest request body in bytes; no limit when 0.
    pub max_request_body_size: u64,
    /// Which entry of `X-Forwarded-For` is the client: 0 the first, n the nth from the right.
    pub xff_depth: u64,
}

/// A certificate for TLS towards clients, as PEM files.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Certificate {
    /// A host it is for beside those that stand in it; `*` for any.
    pub domain_name: String,
    /// The certificate with its chain. A file beside it whose name has `.ocsp` at the end is a response to staple.
    pub cert_file: PathBuf,
    /// The private key; empty when it stands in `cert_file`.
    pub key_file: PathBuf,
}
