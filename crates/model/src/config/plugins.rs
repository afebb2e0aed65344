//! Settings of plugins: Tyk's `coprocess_options`, and `tollgate.plugins`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::word_choice::may_be_empty;

/// Longest time limit of a hook in milliseconds: five minutes.
const TIMEOUT_MS_MAX: u64 = 300_000;

/// `coprocess_options`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CoprocessOptions {
    /// Whether gRPC plugins are called.
    pub enable_coprocess: bool,
    /// Address of their server: `tcp://host:port`, `host:port`, `dns:///host:port`, `unix:///path`, or `https://host:port` for TLS (not in
    /// Tyk).
    pub coprocess_grpc_server: String,
    /// Maximum bytes of an answer; 0 for 4 MiB.
    pub grpc_recv_max_size: i64,
    /// Maximum bytes of a call; 0 for no limit of its own.
    pub grpc_send_max_size: i64,
    /// The `:authority` of calls; empty for the address.
    pub grpc_authority: String,
    /// Whether calls go to all addresses of the server in turn.
    pub grpc_round_robin_load_balancing: bool,
}

/// `tollgate.plugins`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PluginSettings {
    /// What happens to a request when a plugin can't be reached or does not answer in time.
    pub on_failure: OnPluginFailure,
    /// Milliseconds that a hook may take; default 5000, at most 300000.
    pub timeout_ms: u64,
    /// TLS to the server of gRPC plugins.
    pub grpc_tls: GrpcTls,
}

impl Default for PluginSettings {
    fn default() -> Self {
        PluginSettings { on_failure: OnPluginFailure::Closed, timeout_ms: 5_000, grpc_tls: GrpcTls::default() }
    }
}

impl PluginSettings {
    /// Milliseconds that a hook may take.
    pub fn timeout_ms(&self) -> u64 {
        match self.timeout_ms {
            0 => PluginSettings::default().timeout_ms,
            ms => ms.min(TIMEOUT_MS_MAX),
        }
    }
}

/// What happens to a request when a plugin can't be reached or does not answer in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(transform = may_be_empty)]
pub enum OnPluginFailure {
    /// It is refused, as in Tyk.
    #[default]
    #[serde(alias = "")]
    Closed,
    /// It goes on without the plugin; `auth_check` still refuses it.
    Open,
}

/// TLS to the server of gRPC plugins.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GrpcTls {
    /// Use TLS; also set by an address with `https`.
    pub enabled: bool,
    /// File with the authorities, in PEM, that the server's certificate is checked against; empty for the system's.
    pub ca_file: PathBuf,
    /// File with the client certificate and its chain, in PEM.
    pub cert_file: PathBuf,
    /// File with its private key, in PEM.
    pub key_file: PathBuf,
    /// Name in the server's certificate, if it differs from the host of the address.
    pub server_name: String,
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
}
