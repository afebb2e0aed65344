//! `storage`, `analytics_storage` and `cache_storage`: the address of a Redis, with Tyk's field names.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json_path::JsonPath;
use crate::known_field::is_set;
use crate::problem::Findings;

/// Tyk's default address of a Redis.
const HOST: &str = "localhost";
const PORT: u16 = 6379;

/// Settings of a Redis. Without any of these fields, the embedded store is used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Storage {
    /// `redis`, or `embedded` for the store that needs no server.
    #[serde(rename = "type")]
    pub kind: String,
    /// Server; default `localhost`.
    pub host: String,
    /// Port of the server; default 6379.
    pub port: u16,
    /// Several servers, host to port.
    pub hosts: BTreeMap<String, String>,
    /// Several servers as `host:port`: sentinels with `master_name`, nodes of a cluster with `enable_cluster`.
    pub addrs: Vec<String>,
    /// The master's name at the sentinels.
    pub master_name: String,
    /// The sentinels' own password.
    pub sentinel_password: String,
    /// User of the access control list.
    pub username: String,
    /// The password.
    pub password: String,
    /// Number of the Redis database.
    pub database: i64,
    /// Idle connections; no effect, because one connection carries everything.
    pub optimisation_max_idle: i64,
    /// Connections; no effect, because one connection carries everything.
    pub optimisation_max_active: i64,
    /// Time limit in seconds for connecting, and for a response to the control API; 0 means 5.
    pub timeout: u64,
    /// Whether the servers are a Redis Cluster.
    pub enable_cluster: bool,
    /// Use TLS.
    pub use_ssl: bool,
    /// Accept any certificate.
    pub ssl_insecure_skip_verify: bool,
    /// Authorities for the server's certificate, PEM.
    pub ca_file: PathBuf,
    /// The client certificate, PEM.
    pub cert_file: PathBuf,
    /// Private key of the client certificate, PEM.
    pub key_file: PathBuf,
    /// Lowest version of TLS: `1.2`, the default, or `1.3`. Lower ones are never used.
    pub tls_min_version: String,
    /// Highest version of TLS: `1.2`, or `1.3`, the default.
    pub tls_max_version: String,
}

/// Tyk's names of TLS versions; connections have the last two.
const TLS_VERSIONS: [&str; 4] = ["1.0", "1.1", "1.2", "1.3"];

impl Storage {
    /// Whether it names a Redis.
    pub fn is_redis(&self) -> bool {
        match self.kind.as_str() {
            "embedded" => false,
            "" => serde_json::to_value(self).is_ok_and(|value| is_set(&value)),
            _ => true,
        }
    }

    /// Hosts and ports of the servers, sentinels or nodes: `addrs`, otherwise `hosts`, otherwise `host` and `port`.
    pub fn addresses(&self) -> Vec<(String, u16)> {
        let written: Vec<_> = self.addrs.iter().filter_map(|text| host_and_port(text)).collect();
        if !written.is_empty() {
            return written;
        }
        let listed: Vec<_> = self.hosts.iter().map(|(host, port)| (host.clone(), port.parse().unwrap_or(PORT))).collect();
        if !listed.is_empty() {
            return listed;
        }
        let host = if self.host.is_empty() { HOST } else { &self.host };
        vec![(host.to_owned(), if self.port == 0 { PORT } else { self.port })]
    }

    /// Whether TLS 1.2 and TLS 1.3 may be used.
    pub fn tls_versions(&self) -> (bool, bool) {
        let is_last = |version: &str| version == "1.3";
        let max = self.tls_max_version.as_str();
        (!is_last(&self.tls_min_version), max.is_empty() || is_last(max))
    }

    /// Reports TLS versions that no connection can have.
    fn check_tls(&self, at: &JsonPath, findings: &mut Findings) {
        for (name, version) in [("tls_min_version", &self.tls_min_version), ("tls_max_version", &self.tls_max_version)] {
            if !version.is_empty() && !TLS_VERSIONS.contains(&version.as_str()) {
                findings.error(&at.key(name), "must be 1.2 or 1.3");
            }
        }
        if matches!(self.tls_max_version.as_str(), "1.0" | "1.1") {
            findings.error(&at.key("tls_max_version"), "must be 1.2 or 1.3: earlier versions are not supported");
        }
        if matches!(self.tls_min_version.as_str(), "1.0" | "1.1") {
            findings.warning(&at.key("tls_min_version"), "versions before 1.2 are not supported; 1.2 is the lowest");
        }
        if self.tls_versions() == (false, false) {
            findings.error(&at.key("tls_min_version"), "is higher than tls_max_version");
        }
    }

    /// Adds the problems of these settings to `findings`.
    pub(super) fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if !matches!(self.kind.as_str(), "" | "redis" | "embedded") {
            findings.error(&at.key("type"), "must be redis or embedded");
        }
        for (index, text) in self.addrs.iter().enumerate() {
            if host_and_port(text).is_none() {
                findings.error(&at.key("addrs").index(index), format!("{text:?} is not a host and a port"));
            }
        }
        for (host, port) in &self.hosts {
            if port.parse::<u16>().is_err() {
                findings.error(&at.key("hosts").key(host), format!("{port:?} is not a port"));
            }
        }
        if self.enable_cluster && !self.master_name.is_empty() {
            findings.error(&at.key("master_name"), "sentinels and enable_cluster exclude each other");
        }
        if self.enable_cluster && self.database != 0 {
            findings.error(&at.key("database"), "a cluster has only database 0");
        }
        if self.database < 0 {
            findings.error(&at.key("database"), "must not be negative");
        }
        if self.cert_file.as_os_str().is_empty() != self.key_file.as_os_str().is_empty() {
            findings.error(&at.key("cert_file"), "cert_file and key_file require each other");
        }
        self.check_tls(at, findings);
        if self.ssl_insecure_skip_verify && self.use_ssl {
            findings.warning(&at.key("ssl_insecure_skip_verify"), "anybody in between can read and change everything");
        }
        if !self.use_ssl && !self.ca_file.as_os_str().is_empty() {
            findings.warning(&at.key("ca_file"), "without use_ssl nothing is encrypted");
        }
    }
}

fn host_and_port(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then_some(())?;
    Some((host.to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests;
