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
    /// Encrypts the private keys of uploaded certificates in the store, as in Tyk. Certificates that Tyk stored are read with it, or with
    /// `secret` if it is empty.
    pub private_certificate_encoding_secret: String,
    /// When certificates that end are told.
    pub certificate_expiry_monitor: CertificateMonitor,
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

/// `security.certificate_expiry_monitor`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CertificateMonitor {
    /// Days before the end of a certificate from which on `CertificateExpiringSoon` happens; 0 for 30.
    pub warning_threshold_days: u32,
    /// Seconds between two looks at all certificates; 0 for an hour.
    pub check_cooldown_seconds: u32,
    /// Seconds after which the same certificate is told again; 0 for a day.
    pub event_cooldown_seconds: u32,
}

impl CertificateMonitor {
    /// Seconds before its end from which on a certificate is told.
    pub fn warning_s(&self) -> i64 {
        i64::from(if self.warning_threshold_days == 0 { 30 } else { self.warning_threshold_days }) * 24 * 3600
    }

    /// Seconds between two looks.
    pub fn look_s(&self) -> u64 {
        u64::from(if self.check_cooldown_seconds == 0 { 3600 } else { self.check_cooldown_seconds })
    }

    /// Seconds after which the same certificate is told again.
    pub fn again_s(&self) -> u64 {
        u64::from(if self.event_cooldown_seconds == 0 { 24 * 3600 } else { self.event_cooldown_seconds })
    }
}
