//! `uptime_tests` and `proxy.service_discovery`: what the gateway asks about targets without a request.

use crate::json_path::JsonPath;
use crate::number::{seconds, seconds_schema};
use crate::problem::Findings;
use crate::token::{is_header_value, is_token, with_scheme};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// `uptime_tests`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UptimeTests {
    /// Run no checks.
    pub disabled: bool,
    /// The checks. A target is down while a check of its host and port fails.
    pub check_list: Vec<UptimeCheck>,
    /// How long records are kept.
    pub config: UptimeRetention,
}

/// `uptime_tests.config`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UptimeRetention {
    /// Seconds until a record of a check expires in the database of tyk-pump; 0 for a hundred years.
    pub expire_utime_after: i64,
}

/// One check of `uptime_tests.check_list`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UptimeCheck {
    /// URL to ask, or `host:port` for TCP.
    pub url: String,
    /// `http` (also if empty), `tcp` or `tls`; a scheme of `tcp://` or `tls://` in `url` says the same.
    pub protocol: String,
    /// Time limit: a span such as `2s`, or a number of nanoseconds; 0 for ten seconds.
    #[serde(deserialize_with = "seconds")]
    #[schemars(schema_with = "seconds_schema")]
    pub timeout: f64,
    /// Send a PROXY header before a TCP dialogue.
    pub enable_proxy_protocol: bool,
    /// The dialogue over TCP.
    pub commands: Vec<CheckCommand>,
    /// Method of the request; empty for GET.
    pub method: String,
    /// Headers of the request.
    pub headers: BTreeMap<String, String>,
    /// Body of the request, in Base64 as Tyk has it, or as it is if it is not Base64.
    pub body: String,
}

/// One step of a dialogue.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckCommand {
    /// `send` or `expect`.
    pub name: String,
    /// What is sent or expected.
    pub message: String,
}

/// How a check is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckProtocol {
    /// A request; it expects status 200.
    Http,
    /// A connection.
    Tcp,
    /// A connection over TLS.
    Tls,
}

impl UptimeCheck {
    /// Whether it can be run.
    pub fn is_usable(&self) -> bool {
        let mut findings = Findings::default();
        check_one(self, &JsonPath::root(), true, &mut findings);
        findings.conclude(Some(())).is_ok()
    }

    /// How it is done, and where: a URL for HTTP, `host:port` for TCP. `None` if the protocol is unknown.
    pub fn place(&self) -> Option<(CheckProtocol, String)> {
        let (scheme, rest) = self.url.split_once("://").unwrap_or(("", &self.url));
        let authority = || rest.split('/').next().unwrap_or_default().to_owned();
        match (self.protocol.as_str(), scheme) {
            ("tcp", _) | ("", "tcp") => Some((CheckProtocol::Tcp, authority())),
            ("tls" | "ssl", _) | ("", "tls" | "ssl") => Some((CheckProtocol::Tls, authority())),
            ("" | "http" | "https", _) => Some((CheckProtocol::Http, with_scheme(&self.url, "http"))),
            _ => None,
        }
    }

    /// Time limit.
    pub fn time_max(&self) -> Duration {
        // Tyk writes a span as a number of nanoseconds. No check takes a million seconds.
        let seconds = if self.timeout >= 1e6 { self.timeout / 1e9 } else { self.timeout };
        if seconds > 0.0 { Duration::from_secs_f64(seconds.min(60.0)) } else { Duration::from_secs(10) }
    }
}

/// `proxy.service_discovery`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ServiceDiscovery {
    /// Ask a service for the targets. Until it answers, those of the definition are used.
    pub use_discovery_service: bool,
    /// URL of the service.
    pub query_endpoint: String,
    /// The targets are in a text at `parent_data_path` that is JSON itself.
    pub use_nested_query: bool,
    /// Path of that text.
    pub parent_data_path: String,
    /// Path of a target's host.
    pub data_path: String,
    /// Path of its port; empty if the host has one.
    pub port_data_path: String,
    /// What every target's URL ends with.
    pub target_path: String,
    /// Use all targets of the answer in turn, instead of the first.
    pub use_target_list: bool,
    /// Ask every second, which comes closest to Tyk's asking for each request.
    pub cache_disabled: bool,
    /// Seconds between two questions; 0 for the gateway's setting.
    pub cache_timeout: i64,
    /// The answer is a list.
    pub endpoint_returns_list: bool,
}

/// Reports what is wrong. `decides`: whether the checks decide about targets.
pub(super) fn check(tests: &UptimeTests, decides: bool, discovery: &ServiceDiscovery, findings: &mut Findings) {
    if !tests.disabled {
        for (index, check) in tests.check_list.iter().enumerate() {
            let at = JsonPath::of("uptime_tests.check_list").index(index);
            check_one(check, &at, decides, findings);
        }
    }
    if discovery.use_discovery_service {
        let at = JsonPath::of("proxy.service_discovery");
        if !["http://", "https://"].iter().any(|scheme| discovery.query_endpoint.starts_with(scheme)) {
            findings.error(&at.key("query_endpoint"), "must be an absolute URL such as http://host:8080/");
        }
        if discovery.use_nested_query && discovery.parent_data_path.is_empty() {
            findings.error(&at.key("parent_data_path"), "must not be empty with use_nested_query");
        }
        if discovery.data_path.is_empty() && !discovery.endpoint_returns_list {
            findings.error(&at.key("data_path"), "must not be empty");
        }
        if discovery.cache_timeout < 0 {
            findings.error(&at.key("cache_timeout"), "must not be negative");
        }
    }
}

/// `decides`: whether the check decides about targets. One that does not only tells people, and is left out if it can't be run.
fn check_one(check: &UptimeCheck, at: &JsonPath, decides: bool, findings: &mut Findings) {
    let mut report = |at: &JsonPath, message: &str| match decides {
        true => findings.error(at, message),
        false => findings.warning(at, format!("{message}: the check is never run")),
    };
    match check.place() {
        None => report(&at.key("protocol"), "must be http, tcp, tls or empty"),
        Some((CheckProtocol::Http, url)) => {
            let rest = url.strip_prefix("http://").or(url.strip_prefix("https://"));
            if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/')) {
                report(&at.key("url"), "must be a URL such as http://host:8080/");
            }
        }
        Some((CheckProtocol::Tcp | CheckProtocol::Tls, place)) => {
            if place.rsplit_once(':').is_none_or(|(host, port)| host.is_empty() || port.parse::<u16>().is_err()) {
                report(&at.key("url"), "must be host:port");
            }
        }
    }
    for (index, command) in check.commands.iter().enumerate() {
        if !matches!(command.name.as_str(), "send" | "expect") {
            report(&at.key("commands").index(index).key("name"), "must be send or expect");
        }
    }
    if !check.method.is_empty() && !is_token(&check.method) {
        report(&at.key("method"), "is not a method");
    }
    for (name, value) in &check.headers {
        if !is_token(name) || !is_header_value(value) {
            report(&at.key("headers").key(name), "is not a header");
        }
    }
    if check.timeout < 0.0 {
        report(&at.key("timeout"), "must not be negative");
    }
}
