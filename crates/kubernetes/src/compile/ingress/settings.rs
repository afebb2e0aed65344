//! What the annotations of one Ingress ask for, and what is said of them.

use super::firewall_settings::FirewallSettings;
use super::report::{ReportLine, ReportOutcome};
use serde_json::{Map, Value, json};

/// As ingress-nginx without an annotation.
const BURST_MULTIPLIER: u64 = 5;
/// The longest window of a rate, in seconds.
const DAY_S: u64 = 86_400;
const COOKIE: &str = "INGRESSCOOKIE";
const CORS_METHODS: [&str; 6] = ["GET", "PUT", "POST", "DELETE", "PATCH", "OPTIONS"];
const CORS_HEADERS: [&str; 9] = [
    "DNT",
    "Keep-Alive",
    "User-Agent",
    "X-Requested-With",
    "If-Modified-Since",
    "Cache-Control",
    "Content-Type",
    "Range",
    "Authorization",
];
/// The name that ingress-nginx has for it.
const CERTIFICATE_HEADER: &str = "ssl-client-cert";
const CORS_SECONDS: u32 = 1_728_000;

#[derive(Default)]
pub(super) struct IngressSettings {
    pub report: Vec<ReportLine>,
    /// Why its paths must not be served.
    pub closed: Option<String>,
    pub serve_without: Vec<String>,
    /// Members that all rules have.
    pub rule: Map<String, Value>,
    pub request_headers: IngressHeaders,
    pub response_headers: IngressHeaders,
    pub locations: Vec<Value>,
    pub redirect_from: Option<String>,
    pub redirect_to: Option<String>,
    pub cookie_paths: Vec<Value>,
    pub cookie_domains: Vec<Value>,
    /// The status that answers all requests.
    pub answer_status: Option<u16>,
    pub firewall: FirewallSettings,
    pub vhost: Option<String>,
    pub rewrite_target: Option<String>,
    pub uses_regex: bool,
    pub app_root: Option<String>,
    pub ssl_redirect: Option<bool>,
    pub forces_ssl: bool,
    pub permanent_redirect: Option<String>,
    pub permanent_status: Option<u16>,
    pub temporal_redirect: Option<String>,
    pub temporal_status: Option<u16>,
    pub redirects_www: bool,
    pub aliases: Vec<String>,
    pub backend: BackendSettings,
    /// The service that answers while another one has no endpoints.
    pub default_backend: Option<String>,
    pub body_bytes_max: Option<u64>,
    pub retries: Map<String, Value>,
    pub answer_ms: Option<u64>,
    pub is_sticky: bool,
    pub cookie_name: Option<String>,
    pub cookie_seconds: u64,
    /// Other members of `sticky`.
    pub cookie_attributes: Map<String, Value>,
    pub is_canary: bool,
    pub canary: Canary,
    pub allowed: Vec<String>,
    pub allowed_in_snippet: Vec<String>,
    pub denied: Vec<String>,
    /// Requests, and seconds.
    pub limits: Vec<(u64, u64)>,
    pub burst_multiplier: Option<u64>,
    pub exempt: Vec<String>,
    /// Requests of an address at once.
    pub concurrent_max: Option<u32>,
    pub wants_basic: bool,
    pub basic_secret: Option<String>,
    pub is_user_map: bool,
    pub auth_url: Option<String>,
    pub auth_posts: bool,
    pub auth_headers: Vec<String>,
    pub signin: Option<String>,
    pub signin_parameter: Option<String>,
    pub client_authorities: Option<String>,
    pub ignores_clients: bool,
    pub passes_certificate: bool,
    /// TLS ends at the backend.
    pub passes_tls: bool,
    pub allows_origins: bool,
    pub cors: Map<String, Value>,
}

/// Changes of headers, as rules have them.
#[derive(Clone, Debug, Default)]
pub(super) struct IngressHeaders {
    pub set: Vec<Value>,
    pub add: Vec<Value>,
    pub remove: Vec<String>,
}

impl IngressHeaders {
    fn document(&self) -> Option<Value> {
        let mut members = Map::new();
        let lists = [("set", json!(self.set)), ("add", json!(self.add)), ("remove", json!(self.remove))];
        members.extend(lists.into_iter().filter(|(_, list)| *list != json!([])).map(|(name, list)| (name.to_owned(), list)));
        (!members.is_empty()).then_some(Value::Object(members))
    }
}

/// How backends are spoken to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BackendSettings {
    pub is_secure: bool,
    pub is_grpc: bool,
    pub name: Option<String>,
    pub is_verified: bool,
    pub secret: Option<String>,
}

/// Which requests of another Ingress this one gets.
#[derive(Clone, Debug, Default)]
pub(super) struct Canary {
    pub weight: u64,
    pub total: Option<u64>,
    pub header: Option<String>,
    pub value: Option<String>,
    pub pattern: Option<String>,
    pub cookie: Option<String>,
}

impl IngressSettings {
    pub(super) fn note(&mut self, subject: &str, outcome: ReportOutcome, reason: &str) {
        self.report.push(ReportLine { subject: subject.to_owned(), outcome, reason: reason.to_owned() });
    }

    /// What was said of it before is not so.
    pub(super) fn replace(&mut self, subject: &str, outcome: ReportOutcome, reason: &str) {
        self.report.retain(|line| line.subject != subject);
        self.note(subject, outcome, reason);
    }

    /// Something that protects can't be carried over: the paths are closed, unless somebody says that they may be served without it.
    pub(super) fn close(&mut self, annotation: &str, why: &str) {
        if self.serve_without.iter().any(|name| name == annotation) {
            let reason = format!("{why}; the paths are served without it");
            return self.replace(annotation, ReportOutcome::NotCarried, &reason);
        }
        self.replace(annotation, ReportOutcome::Closed, why);
        self.closed.get_or_insert_with(|| format!("{annotation}: {why}"));
    }

    pub(super) fn allow(&mut self, value: &str) -> Result<(), String> {
        add_networks(&mut self.allowed, value)
    }

    pub(super) fn allow_in_snippet(&mut self, value: &str) -> Result<(), String> {
        add_networks(&mut self.allowed_in_snippet, value)
    }

    pub(super) fn deny(&mut self, value: &str) -> Result<(), String> {
        add_networks(&mut self.denied, value)
    }

    pub(super) fn exempt(&mut self, value: &str) -> Result<(), String> {
        add_networks(&mut self.exempt, value)
    }

    /// `from` and `to` of the locations that backends write.
    pub(super) fn location(&mut self, from: &str, to: &str) -> Result<(), String> {
        self.locations.push(replacement(from, to)?);
        Ok(())
    }

    pub(super) fn cookie_path(&mut self, from: &str, to: &str) -> Result<(), String> {
        self.cookie_paths.push(replacement(from, to)?);
        Ok(())
    }

    pub(super) fn cookie_domain(&mut self, from: &str, to: &str) -> Result<(), String> {
        self.cookie_domains.push(replacement(from, to)?);
        Ok(())
    }

    /// Whether paths of its hosts are expressions.
    pub(super) fn is_regex(&self) -> bool {
        self.uses_regex || self.rewrite_target.is_some()
    }

    /// What all rules have.
    pub(super) fn rule_members(&self) -> Map<String, Value> {
        let mut members = self.rule.clone();
        let headers = [("request_headers", &self.request_headers), ("response_headers", &self.response_headers)];
        members.extend(headers.iter().filter_map(|(name, edits)| Some(((*name).to_owned(), edits.document()?))));
        let places =
            [("locations", &self.locations), ("cookie_paths", &self.cookie_paths), ("cookie_domains", &self.cookie_domains)];
        let places: Map<String, Value> =
            places.iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| ((*name).to_owned(), json!(list))).collect();
        if !places.is_empty() {
            members.insert("response_rewrites".to_owned(), Value::Object(places));
        }
        if self.passes_certificate && self.client_authorities.is_some() {
            members.insert("client_certificate_header".to_owned(), json!(CERTIFICATE_HEADER));
        }
        if let Some(milliseconds) = self.answer_ms {
            let timeouts = members.entry("timeouts").or_insert_with(|| json!({}));
            if let Value::Object(timeouts) = timeouts {
                timeouts.insert("request_ms".to_owned(), json!(milliseconds));
            }
        }
        if !self.retries.is_empty() {
            let mut retries = self.retries.clone();
            let is_off = retries.get("connection_errors") == Some(&json!(false))
                && retries.get("statuses").and_then(Value::as_array).is_some_and(Vec::is_empty);
            let attempts = retries.entry("attempts").or_insert(json!(2));
            if is_off {
                *attempts = json!(0);
            }
            retries.entry("methods").or_insert(json!(["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"]));
            members.insert("retries".to_owned(), Value::Object(retries));
        }
        if self.is_sticky {
            let cookie = self.cookie_name.as_deref().unwrap_or(COOKIE);
            let mut sticky = Map::from_iter([
                ("cookie".to_owned(), json!(cookie)),
                ("absolute_timeout_s".to_owned(), json!(self.cookie_seconds)),
            ]);
            sticky.extend(self.cookie_attributes.clone());
            members.insert("sticky".to_owned(), Value::Object(sticky));
        }
        if self.allows_origins {
            let mut cors = Map::from_iter([
                ("allow_origins".to_owned(), json!(["*"])),
                ("allow_methods".to_owned(), json!(CORS_METHODS)),
                ("allow_headers".to_owned(), json!(CORS_HEADERS)),
                ("allow_credentials".to_owned(), json!(true)),
                ("max_age_s".to_owned(), json!(CORS_SECONDS)),
            ]);
            cors.extend(self.cors.clone());
            members.insert("cors".to_owned(), Value::Object(cors));
        }
        members
    }

    /// The redirect that answers all requests.
    pub(super) fn redirect(&self) -> Option<Value> {
        let permanent = self.permanent_redirect.as_ref().map(|to| (to, self.permanent_status.unwrap_or(301)));
        let temporal = self.temporal_redirect.as_ref().map(|to| (to, self.temporal_status.unwrap_or(302)));
        let (location, status) = temporal.or(permanent)?;
        Some(json!({"location": location, "status": status}))
    }

    /// The rates of each client address.
    pub(super) fn request_limits(&self) -> Vec<Value> {
        let multiplier = self.burst_multiplier.unwrap_or(BURST_MULTIPLIER);
        let limits = self.limits.iter().filter(|(requests, _)| *requests > 0);
        limits
            .map(|(requests, seconds)| {
                // So many at once, and then one after the other at the same rate.
                let (requests, seconds) = (requests.saturating_mul(multiplier), seconds.saturating_mul(multiplier));
                json!({"by": "address", "requests": requests, "window_s": seconds.min(DAY_S), "exempt": self.exempt})
            })
            .collect()
    }
}

/// # Errors
/// It is an expression, or has variables.
fn replacement(from: &str, to: &str) -> Result<Value, String> {
    if from.is_empty() || from.starts_with('~') || from.contains('$') || to.contains('$') {
        return Err("expressions and variables are not supported: what is replaced is a text".to_owned());
    }
    Ok(json!({"from": from, "to": to}))
}

/// Adds addresses and networks.
///
/// # Errors
/// One is none.
fn add_networks(list: &mut Vec<String>, value: &str) -> Result<(), String> {
    for entry in value.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        if entry.parse::<std::net::IpAddr>().is_err() && entry.parse::<ipnet::IpNet>().is_err() {
            return Err(format!("{entry:?} is neither an address nor a network"));
        }
        list.push(entry.to_owned());
    }
    if list.is_empty() { Err("it has no address".to_owned()) } else { Ok(()) }
}
