//! The routing tables: listeners that the gateway opens beside its own port, and backends whose endpoints change more often than definitions.
//! A file has them, `tollgate.routing_file` of the configuration, or another part of the gateway finds them elsewhere.

use crate::api::route::check_host;
use crate::api::upstream::{check_checks, check_health};
use crate::api::{ActiveChecks, BackendEndpoint, PassiveHealth};
use crate::decode::{Decoded, decode};
use crate::json_document;
use crate::json_path::JsonPath;
use crate::known_field::{self, ReportWhen::Refuse};
use crate::problem::{Findings, Level, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::Path;

/// The document with both tables.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoutingTables {
    /// Listeners by name.
    pub listeners: BTreeMap<String, RouteListener>,
    /// Backends by name.
    pub backends: BTreeMap<String, RoutedBackend>,
}

/// One listener. Several may share an address and port.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteListener {
    /// IP addresses; empty for `listen_address` of the configuration.
    pub addresses: Vec<String>,
    /// Port.
    pub port: u16,
    /// What is spoken there.
    pub protocol: ListenerProtocol,
    /// Requests for this host, or `*.` and all below a host; empty for all.
    pub host: String,
    /// TLS towards clients.
    pub tls: ListenerTls,
}

/// What is spoken at a listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ListenerProtocol {
    /// HTTP without TLS.
    #[default]
    Http,
    /// HTTP in TLS.
    Https,
    /// Other bytes in TLS.
    Tls,
    /// Bytes that nothing inspects.
    Tcp,
    /// Datagrams.
    Udp,
}

/// `tls` of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListenerTls {
    /// The bytes go to the backend as they come; only with the protocol `tls`.
    pub passthrough: bool,
    /// Certificates in PEM, each with its chain and key.
    pub certificates: Vec<String>,
    /// Clients are asked for a certificate.
    pub client_certificates: Option<ClientCertificateRules>,
}

/// `client_certificates` of a listener.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClientCertificateRules {
    /// Authorities in PEM, of which one must have issued the certificate.
    pub authorities: Vec<String>,
    /// Clients without a valid certificate are served all the same.
    pub insecure_fallback: bool,
}

/// One backend.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoutedBackend {
    /// What it speaks.
    pub protocol: BackendProtocol,
    /// Where it is. Without any, requests get 503.
    pub endpoints: Vec<BackendEndpoint>,
    /// TLS to it.
    pub tls: BackendTls,
    /// Why it cannot be used; requests get 500. Empty if it can.
    pub broken: String,
    /// Endpoints that fail get no requests for a while. Without it, only those that can't be connected.
    pub health: Option<PassiveHealth>,
    /// The gateway asks the endpoints whether they work.
    pub checks: Option<ActiveChecks>,
}

/// What a backend speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BackendProtocol {
    /// HTTP/1.1.
    #[default]
    Http,
    /// HTTP/2 without TLS.
    H2c,
    /// HTTP in TLS.
    Https,
    /// Bytes.
    Tcp,
    /// Bytes in TLS.
    Tls,
    /// Datagrams.
    Udp,
}

/// `tls` of a backend.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BackendTls {
    /// The host that it is asked for (SNI), which its certificate must name unless `names` has others.
    pub host: String,
    /// Authorities in PEM; empty for those of the system.
    pub authorities: Vec<String>,
    /// Names of which its certificate must have one: `dns:` and a host, or `uri:` and a URI.
    pub names: Vec<String>,
    /// Accept any certificate.
    pub insecure: bool,
    /// The gateway's own certificate in PEM, with its chain and key; empty for none.
    pub certificate: String,
}

impl RoutingTables {
    /// The most listeners: each has a router.
    pub const LISTENERS_MAX: usize = 32_768;
    /// The most addresses and ports of all listeners together: each is a socket for each core.
    pub const SOCKETS_MAX: usize = 1_024;
    /// The most endpoints of a backend.
    pub const ENDPOINTS_MAX: usize = 512;

    /// Reads the document: the tables with lesser problems, or all problems.
    pub fn parse(text: &[u8], file: Option<&Path>) -> Result<(RoutingTables, Vec<Problem>), Vec<Problem>> {
        let raw = match json_document::from_slice(text) {
            Ok(raw) => raw,
            Err(error) => return Err(vec![Problem::new(Level::Error, "", format!("not valid JSON: {error}")).within(file)]),
        };
        let mut findings = Findings::default();
        let decoded: Decoded<RoutingTables> = decode(&raw);
        findings.decoded(&decoded);
        // A member that is not understood may have been meant to keep somebody out.
        known_field::judge(&decoded.unknown, &[("listeners.**", Refuse), ("backends.**", Refuse)], &mut findings);
        if let Some(tables) = &decoded.value {
            tables.check(&mut findings);
        }
        findings.within(file).conclude(decoded.value)
    }

    /// The problems of tables that do not come from a document.
    pub fn problems(&self) -> Vec<Problem> {
        let mut findings = Findings::default();
        self.check(&mut findings);
        match findings.conclude(Some(())) {
            Ok(((), problems)) | Err(problems) => problems,
        }
    }

    fn check(&self, findings: &mut Findings) {
        let at = JsonPath::of("listeners");
        if self.listeners.len() > Self::LISTENERS_MAX {
            findings.error(&at, format!("must have at most {} entries", Self::LISTENERS_MAX));
        }
        let is_for_datagrams = |listener: &RouteListener| listener.protocol == ListenerProtocol::Udp;
        let sockets: BTreeSet<(bool, u16, &str)> = self
            .listeners
            .values()
            .flat_map(|listener| {
                let addresses = listener.addresses.iter().map(String::as_str);
                let any = listener.addresses.is_empty().then_some("");
                addresses.chain(any).map(move |address| (is_for_datagrams(listener), listener.port, address))
            })
            .collect();
        if sockets.len() > Self::SOCKETS_MAX {
            findings.error(&at, format!("must have at most {} addresses and ports together", Self::SOCKETS_MAX));
        }
        for (name, listener) in &self.listeners {
            listener.check(&at.key(name), findings);
        }
        let at = JsonPath::of("backends");
        for (name, backend) in &self.backends {
            backend.check(&at.key(name), findings);
        }
    }
}

impl RouteListener {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        for (index, address) in self.addresses.iter().enumerate() {
            check_address(&at.key("addresses").index(index), address, findings);
        }
        if self.port == 0 {
            findings.error(&at.key("port"), "must be from 1 to 65535");
        }
        if !self.host.is_empty() {
            check_host(&at.key("host"), &self.host, findings);
        }
        let tls_at = at.key("tls");
        let is_secure = matches!(self.protocol, ListenerProtocol::Https | ListenerProtocol::Tls);
        if !is_secure && self.tls != ListenerTls::default() {
            findings.error(&tls_at, "needs the protocol https or tls");
        }
        if self.tls.passthrough && self.protocol != ListenerProtocol::Tls {
            findings.error(&tls_at.key("passthrough"), "needs the protocol tls");
        }
        if self.tls.passthrough && !self.tls.certificates.is_empty() {
            findings.warning(&tls_at.key("certificates"), "have no effect with passthrough");
        }
        if is_secure && !self.tls.passthrough && self.tls.certificates.is_empty() {
            findings.warning(&tls_at.key("certificates"), "is empty: every handshake fails");
        }
        if let Some(rules) = &self.tls.client_certificates
            && rules.authorities.is_empty()
        {
            findings.error(&tls_at.key("client_certificates").key("authorities"), "must have an entry");
        }
    }
}

impl RoutedBackend {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if self.endpoints.len() > RoutingTables::ENDPOINTS_MAX {
            let most = RoutingTables::ENDPOINTS_MAX;
            findings.warning(&at.key("endpoints"), format!("has more than {most} entries: the first {most} are used"));
        }
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            let at = at.key("endpoints").index(index);
            check_address(&at.key("address"), &endpoint.address, findings);
            if endpoint.port == 0 {
                findings.error(&at.key("port"), "must be from 1 to 65535");
            }
        }
        let tls_at = at.key("tls");
        let is_secure = matches!(self.protocol, BackendProtocol::Https | BackendProtocol::Tls);
        if !is_secure && self.tls != BackendTls::default() {
            findings.error(&tls_at, "needs the protocol https or tls");
        }
        if let Some(health) = &self.health {
            check_health(&at.key("health"), health, findings);
        }
        if let Some(checks) = &self.checks {
            let checks_at = at.key("checks");
            check_checks(&checks_at, checks, findings);
            match self.protocol {
                BackendProtocol::Http | BackendProtocol::Https => {}
                BackendProtocol::Udp => findings.error(&checks_at, "needs a protocol with connections"),
                BackendProtocol::H2c | BackendProtocol::Tcp | BackendProtocol::Tls if !checks.path.is_empty() => {
                    findings.warning(&checks_at.key("path"), "has no effect: endpoints of this protocol are only connected to");
                }
                BackendProtocol::H2c | BackendProtocol::Tcp | BackendProtocol::Tls => {}
            }
        }
        for (index, name) in self.tls.names.iter().enumerate() {
            if !["dns:", "uri:"].iter().any(|kind| name.len() > kind.len() && name.starts_with(kind)) {
                findings.error(&tls_at.key("names").index(index), "must be dns: and a host, or uri: and a URI");
            }
        }
    }
}

fn check_address(at: &JsonPath, address: &str, findings: &mut Findings) {
    if address.parse::<IpAddr>().is_err() {
        findings.error(at, format!("{address:?} is not an IP address"));
    }
}

#[cfg(test)]
mod tests;
