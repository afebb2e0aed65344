//! `external_services`: proxies and certificates for calls of the gateway itself to other servers.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::target_url_fault;

/// `external_services`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExternalServices {
    /// The proxies of services that have none of their own.
    pub global: ExternalProxy,
    /// Key sets, introspection, and tokens for upstreams.
    pub oauth: ExternalService,
    /// HTTP checks of targets.
    pub health: ExternalService,
    /// Discovery services.
    pub discovery: ExternalService,
    /// Receivers of webhooks.
    pub webhooks: ExternalService,
}

/// The settings of one kind of server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExternalService {
    /// The proxies on the way.
    pub proxy: ExternalProxy,
    /// TLS with a certificate of the gateway's own.
    pub mtls: ExternalTls,
}

/// Proxies. As in Tyk, a URL counts even if `enabled` is not set; with `enabled` and no URL, the environment (`HTTPS_PROXY`) says them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExternalProxy {
    /// Use the proxies.
    pub enabled: bool,
    /// For `http`, and for `https` if that has none: `http://user:password@host:port`.
    pub http_proxy: String,
    /// For `https`.
    pub https_proxy: String,
    /// Hosts that are called directly, separated by commas: names, `.domain`, `*.domain`, addresses and CIDR ranges.
    pub bypass_proxy: String,
}

/// Certificates of a service.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExternalTls {
    /// Use these settings.
    pub enabled: bool,
    /// The gateway's certificate.
    pub cert_file: PathBuf,
    /// Its key.
    pub key_file: PathBuf,
    /// The only authorities that are trusted.
    pub ca_file: PathBuf,
    /// The gateway's certificate by its identifier, instead of files.
    pub cert_id: String,
    /// Trusted authorities by their identifiers.
    pub ca_cert_ids: Vec<String>,
    /// Accept any certificate.
    pub insecure_skip_verify: bool,
    /// `1.2` or `1.3`; empty for the default.
    pub tls_min_version: String,
    /// `1.2` or `1.3`; empty for the default.
    pub tls_max_version: String,
}

impl ExternalServices {
    pub(super) fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("external_services");
        self.global.check(&at.key("global"), findings);
        let services =
            [("oauth", &self.oauth), ("health", &self.health), ("discovery", &self.discovery), ("webhooks", &self.webhooks)];
        for (name, service) in services {
            service.proxy.check(&at.key(name).key("proxy"), findings);
            service.mtls.check(&at.key(name).key("mtls"), findings);
        }
    }
}

impl ExternalProxy {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        for (field, url) in [("http_proxy", &self.http_proxy), ("https_proxy", &self.https_proxy)] {
            let is_good = url.starts_with("http://") && target_url_fault(url).is_none();
            if !url.is_empty() && !is_good {
                findings.error(&at.key(field), "must be a URL such as http://proxy:3128; proxies that speak TLS are not supported");
            }
        }
    }
}

impl ExternalTls {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if !self.enabled {
            return;
        }
        let (has_certificate, has_key) = (!self.cert_file.as_os_str().is_empty(), !self.key_file.as_os_str().is_empty());
        let has_authority = !self.ca_file.as_os_str().is_empty() || !self.ca_cert_ids.is_empty();
        if has_certificate != has_key {
            findings.error(&at.key("key_file"), "cert_file and key_file belong together");
        }
        if has_certificate && !self.cert_id.is_empty() {
            findings.error(&at.key("cert_id"), "the certificate is either in files or has an identifier");
        }
        if !has_certificate && self.cert_id.is_empty() && !has_authority {
            findings.error(&at.key("enabled"), "needs a certificate or an authority");
        }
        for (field, version) in [("tls_min_version", &self.tls_min_version), ("tls_max_version", &self.tls_max_version)] {
            if !["", "1.2", "1.3"].contains(&version.as_str()) {
                findings.error(&at.key(field), "must be 1.2 or 1.3");
            }
        }
    }
}
