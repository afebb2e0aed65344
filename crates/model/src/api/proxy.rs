//! Where requests arrive and where they are forwarded to.

use super::ServiceDiscovery;
use crate::token::with_scheme;
use schemars::JsonSchema;
use serde::Deserialize;

/// `proxy`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("required" = ["listen_path"]))]
pub struct Proxy {
    /// Prefix of the paths that belong to the API; `{name}` and `{name:regex}` stand for a segment.
    #[schemars(length(min = 1))]
    pub listen_path: String,
    /// Absolute URL of the upstream.
    pub target_url: String,
    /// Remove `listen_path` before the request goes upstream.
    pub strip_listen_path: bool,
    /// Send the client's `Host` instead of the target's.
    pub preserve_host_header: bool,
    /// Keep the target's trailing slash if nothing follows it.
    pub disable_strip_slash: bool,
    /// Use the targets of `target_list` in turn, instead of `target_url`.
    pub enable_load_balancing: bool,
    /// Targets to use in turn. An entry that occurs twice gets twice the requests; one without a scheme is `http://`.
    pub target_list: Vec<String>,
    /// Skip targets that `uptime_tests` find down; 503 if all are.
    pub check_host_against_uptime_tests: bool,
    /// Where the targets come from.
    pub service_discovery: ServiceDiscovery,
    /// The connection to the upstream.
    pub transport: Transport,
}

/// `proxy.transport`. Empty fields take the gateway's settings.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Transport {
    /// Accept any certificate of the upstream.
    pub ssl_insecure_skip_verify: bool,
    /// Cipher suites by name.
    pub ssl_ciphers: Vec<String>,
    /// Lowest TLS version by number (771 is TLS 1.2), 0 for the default.
    pub ssl_min_version: u16,
    /// Highest TLS version by number (772 is TLS 1.3), 0 for the default.
    pub ssl_max_version: u16,
    /// Compare the certificate's common name, even if it has alternative names.
    pub ssl_force_common_name_check: bool,
    /// Proxy to the upstream: `http://` (`CONNECT`) or `socks5://`, with user and password if it wants them.
    pub proxy_url: String,
}

impl Proxy {
    /// The targets to use in turn as absolute URLs; only `target_url` if there are none. `scheme` is that of targets without one.
    pub fn targets(&self, scheme: &str) -> Vec<String> {
        if !self.enable_load_balancing || self.target_list.is_empty() {
            // As in Tyk, only the target of a stream may lack its scheme.
            let is_complete = scheme == "http";
            return vec![if is_complete { self.target_url.clone() } else { with_scheme(&self.target_url, scheme) }];
        }
        self.target_list.iter().map(|target| with_scheme(target, scheme)).collect()
    }
}
