//! `security`: who must present a certificate, and which ones the gateway presents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `security`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Security {
    /// Callers of the control API must present one of `certificates.control_api`.
    pub control_api_use_mutual_tls: bool,
    /// Public keys of upstreams by host, `*.domain` or `*`: SHA-256 fingerprints, comma separated.
    pub pinned_public_keys: BTreeMap<String, String>,
    /// A key that is bound to a certificate may be used without it.
    pub allow_unsafe_dynamic_mtls_token: bool,
    /// Certificates by identifier or file name.
    pub certificates: SecurityCertificates,
}

/// `security.certificates`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SecurityCertificates {
    /// Client certificates that may call every API with `use_mutual_tls_auth`.
    pub apis: Vec<String>,
    /// Client certificates for upstreams, by host, `*.domain` or `*`.
    pub upstream: BTreeMap<String, String>,
    /// Client certificates that may call the control API.
    pub control_api: Vec<String>,
}
