//! `tollgate.route` of a definition: an API that requests reach by more than host and path, with rules of which each has its own filters and
//! backends. The meaning of its members is that of the Kubernetes Gateway API.

mod passed_request;
mod response_rewrites;
mod status_headers;

pub use passed_request::PassedRequest;
pub use response_rewrites::{ResponseRewrites, RouteSticky, SameSite, StartReplacement};
pub use status_headers::StatusHeaders;

use super::{ApiDefinition, HashRule};
use crate::json_path::JsonPath;
use crate::problem::Findings;
use crate::token::{is_header_value, is_token, stream_target_fault, target_url_fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `tollgate.route`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteDefinition {
    /// What is routed.
    pub kind: RouteKind,
    /// Of matches that are otherwise equal, the one whose route has the smaller text here comes first, then the one with the smaller id.
    pub precedence: String,
    /// Where requests come from; empty for the gateway's own port.
    pub attached: Vec<RouteAttachment>,
    /// What becomes of them.
    pub rules: Vec<RouteRule>,
    /// For people: the policies of a cluster that members of this definition come from, such as `RateLimitPolicy shop/limits`. No effect.
    pub affected_by: Vec<String>,
}

/// What is routed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RouteKind {
    /// Requests of HTTP.
    #[default]
    Http,
    /// Calls of gRPC: a backend that does not exist is unavailable (503).
    Grpc,
    /// Connections whose bytes nothing inspects, or datagrams.
    Stream,
}

/// One entry of `attached`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteAttachment {
    /// Name of a listener; empty for the gateway's own port.
    pub listener: String,
    /// Hosts of the route there, such as `example.com` or `*.example.com`; empty for all of the listener. `?.example.com` is one label more.
    pub hosts: Vec<String>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteRule {
    /// Its name in figures and logs.
    pub name: String,
    /// Hosts whose requests belong to it, such as `example.com`; empty for those of `attached`.
    pub hosts: Vec<String>,
    /// Requests that fit any of these belong to it; empty for all.
    pub matches: Vec<RouteMatch>,
    /// What of the client's request backends get; all of it if missing.
    pub passes: Option<PassedRequest>,
    /// Changes of the request's headers.
    pub request_headers: HeaderModifier,
    /// Header in which backends get the certificate that a client has shown, in PEM, escaped as in URLs. A client can't set it itself. Empty for none.
    pub client_certificate_header: String,
    /// Changes of the response's headers.
    pub response_headers: HeaderModifier,
    /// Changes of the headers of responses by their status, also of the gateway's own.
    pub status_headers: Vec<StatusHeaders>,
    /// Changes of what backends say of places, in locations and cookies.
    pub response_rewrites: ResponseRewrites,
    /// Answer with a redirect.
    pub redirect: Option<RouteRedirect>,
    /// Answer with a status, in place of a backend.
    pub answer: Option<RouteAnswer>,
    /// Changes of host and path.
    pub rewrite: Option<RouteRewrite>,
    /// Copies go there, whose responses nobody gets.
    pub mirrors: Vec<RouteMirror>,
    /// Cross-origin requests.
    pub cors: Option<RouteCors>,
    /// Time limits.
    pub timeouts: RouteTimeouts,
    /// Failed requests are sent again.
    pub retries: Option<RouteRetries>,
    /// A client's requests stay with its first target.
    pub sticky: Option<RouteSticky>,
    /// Requests with the same value of this part go to the same target.
    pub hash: Option<HashRule>,
    /// Where requests go.
    pub backends: Vec<RouteBackend>,
}

/// What a request must be like.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteMatch {
    /// Its path; any if missing.
    pub path: PathMatch,
    /// Its method; empty for any.
    pub method: String,
    /// Headers that it must all have.
    pub headers: Vec<ValueMatch>,
    /// Query parameters that it must all have; of several with one name, the first counts.
    pub query: Vec<ValueMatch>,
}

/// `path` of a match. It has one of the members, or none.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PathMatch {
    /// The whole path.
    pub exact: Option<String>,
    /// Whole segments that the path begins with.
    pub prefix: Option<String>,
    /// Characters that the path begins with.
    pub starts_with: Option<String>,
    /// Regular expression (RE2) for the whole path.
    pub regex: Option<String>,
}

/// A header or query parameter with its value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ValueMatch {
    /// Name.
    pub name: String,
    /// The whole value.
    pub exact: Option<String>,
    /// Regular expression (RE2) for the whole value.
    pub regex: Option<String>,
}

/// Changes of headers, in the order of its members.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HeaderModifier {
    /// Headers that replace those with the same name.
    pub set: Vec<NamedValue>,
    /// Headers that are added to those with the same name.
    pub add: Vec<NamedValue>,
    /// Names of headers that are removed.
    pub remove: Vec<String>,
}

/// A name with a value.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NamedValue {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
}

/// `redirect`. What is missing stays as in the request.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteRedirect {
    /// Scheme of the location: `http` or `https`.
    pub scheme: String,
    /// Host of the location.
    pub host: String,
    /// Path of the location.
    pub path: Option<PathRewrite>,
    /// Port of the location; 0 for that of the scheme, or of the listener if no scheme is set.
    pub port: u16,
    /// Status: 301, 302, 303, 307 or 308.
    pub status: u16,
    /// The whole location, in place of the other members. Names in it stand for parts of the request: `{scheme}`, `{host}`, `{path}`, `{query}`
    /// with its question mark, and `{uri}`, which is path and query.
    pub location: String,
}

/// `answer`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteAnswer {
    /// Status, from 400 to 599.
    pub status: u16,
    /// Text of the error.
    pub message: String,
}

impl Default for RouteRedirect {
    fn default() -> Self {
        RouteRedirect { scheme: String::new(), host: String::new(), path: None, port: 0, status: 302, location: String::new() }
    }
}

/// `rewrite`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteRewrite {
    /// `Host` of the request to the backend, with a port if it needs one; empty for the client's.
    pub host: String,
    /// Its path.
    pub path: Option<PathRewrite>,
}

/// Another path. It has one of the members.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PathRewrite {
    /// In place of the whole path.
    pub full: Option<String>,
    /// In place of the prefix that matched.
    pub prefix: Option<String>,
    /// In place of the whole path, if an expression fits a part of it.
    pub replace: Option<PathReplacement>,
}

/// `replace` of a path.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PathReplacement {
    /// Regular expression (RE2) that is looked for in the path.
    pub regex: String,
    /// The new path; `$1` to `$9` stand for groups of the expression.
    pub path: String,
}

/// One of `mirrors`: it names a backend or has a URL.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteMirror {
    /// Name in the table of backends.
    pub backend: String,
    /// URL without a path, in place of a name.
    pub url: String,
    /// Share of the requests that are copied, with `denominator`.
    pub numerator: u32,
    /// See `numerator`.
    pub denominator: u32,
}

impl Default for RouteMirror {
    fn default() -> Self {
        RouteMirror { backend: String::new(), url: String::new(), numerator: 100, denominator: 100 }
    }
}

/// `cors`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteCors {
    /// Origins such as `https://example.com`, `https://*.example.com`, or `*`.
    pub allow_origins: Vec<String>,
    /// Methods, or `*`.
    pub allow_methods: Vec<String>,
    /// Request headers, or `*`.
    pub allow_headers: Vec<String>,
    /// Response headers that scripts may read, or `*`.
    pub expose_headers: Vec<String>,
    /// Whether cookies and credentials may be sent.
    pub allow_credentials: bool,
    /// Seconds that a browser may cache a preflight response; 0 leaves it to the browser.
    pub max_age_s: u32,
}

impl Default for RouteCors {
    fn default() -> Self {
        RouteCors {
            allow_origins: Vec::new(),
            allow_methods: Vec::new(),
            allow_headers: Vec::new(),
            expose_headers: Vec::new(),
            allow_credentials: false,
            max_age_s: 5,
        }
    }
}

/// `timeouts`; 0 for none of its own.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteTimeouts {
    /// Milliseconds until the response must begin, with all sendings of the request.
    pub request_ms: u64,
    /// Milliseconds until a backend's response to one sending must begin.
    pub backend_request_ms: u64,
}

/// `retries`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteRetries {
    /// Sendings beyond the first.
    pub attempts: u32,
    /// Statuses after which a request is sent again.
    pub statuses: Vec<u16>,
    /// Shortest wait before a request is sent again.
    pub backoff_ms: u64,
    /// Whether it is sent again after an error of the connection.
    pub connection_errors: bool,
    /// Methods of requests that are sent again; empty for all.
    pub methods: Vec<String>,
    /// A request with a larger body is not sent again.
    pub body_bytes_max: usize,
}

impl Default for RouteRetries {
    fn default() -> Self {
        RouteRetries {
            attempts: 1,
            statuses: Vec::new(),
            backoff_ms: 0,
            connection_errors: true,
            methods: Vec::new(),
            body_bytes_max: 64 * 1024,
        }
    }
}

/// One of `backends`: it names a backend or has a URL.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RouteBackend {
    /// Name in the table of backends.
    pub backend: String,
    /// URL in place of a name.
    pub url: String,
    /// Share of the requests, relative to the other backends' weights; 0 for none.
    pub weight: u32,
    /// Changes of the headers of requests that go there, after those of the rule.
    pub request_headers: HeaderModifier,
    /// Changes of the headers of its responses, after those of the rule.
    pub response_headers: HeaderModifier,
    /// Changes of host and path, in place of those of the rule.
    pub rewrite: Option<RouteRewrite>,
    /// Copies of the requests that go there.
    pub mirrors: Vec<RouteMirror>,
}

impl Default for RouteBackend {
    fn default() -> Self {
        RouteBackend {
            backend: String::new(),
            url: String::new(),
            weight: 1,
            request_headers: HeaderModifier::default(),
            response_headers: HeaderModifier::default(),
            rewrite: None,
            mirrors: Vec::new(),
        }
    }
}

/// One endpoint of a backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BackendEndpoint {
    /// IP address.
    pub address: String,
    /// Port.
    pub port: u16,
    /// Share of the backend's requests.
    pub weight: u32,
}

impl Default for BackendEndpoint {
    fn default() -> Self {
        BackendEndpoint { address: String::new(), port: 0, weight: 1 }
    }
}

impl HeaderModifier {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.add.is_empty() && self.remove.is_empty()
    }
}

impl RouteDefinition {
    /// The most rules of a route: each has a chain of its own.
    pub const RULES_MAX: usize = 256;
    /// The most matches of all rules together: a request is compared with those that its path leads to.
    pub const MATCHES_MAX: usize = 2_048;
    /// The most headers or query parameters of a match.
    pub const CONDITIONS_MAX: usize = 32;
    /// The most backends of a rule.
    pub const BACKENDS_MAX: usize = 64;
    /// The most mirrors of a rule: each is a copy of the request.
    pub const MIRRORS_MAX: usize = 16;
    /// The most sendings of a request beyond the first.
    pub const ATTEMPTS_MAX: u32 = 100;
    /// The longest time that a field may set: one hour.
    pub const TIME_MS_MAX: u64 = 3_600_000;
    /// The largest body that is kept to be sent again.
    pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
    /// The largest weight, as in the Gateway API.
    pub const WEIGHT_MAX: u32 = 1_000_000;

    pub(super) fn check(&self, api: &ApiDefinition, findings: &mut Findings) {
        let at = JsonPath::of("tollgate.route");
        for (index, attached) in self.attached.iter().enumerate() {
            for (number, host) in attached.hosts.iter().enumerate() {
                check_route_host(&at.key("attached").index(index).key("hosts").index(number), host, findings);
            }
        }
        let rules_at = at.key("rules");
        check_count(&rules_at, self.rules.len(), Self::RULES_MAX, findings);
        let matches: usize = self.rules.iter().map(|rule| rule.matches.len()).sum();
        if matches > Self::MATCHES_MAX {
            findings.error(&rules_at, format!("have {matches} matches; there may be {}", Self::MATCHES_MAX));
        }
        for (index, rule) in self.rules.iter().enumerate() {
            rule.check(&rules_at.index(index), self.kind, findings);
        }
        if self.kind == RouteKind::Stream {
            self.check_stream(api, &at, findings);
        }
        if !api.version_data.not_versioned || api.definition.enabled {
            findings.error(&JsonPath::of("version_data.not_versioned"), "must be true: rules take the place of versions");
        }
        if api.listen_port != 0 {
            findings.error(&JsonPath::of("listen_port"), "must be 0: tollgate.route.attached names the listeners");
        }
    }

    fn check_stream(&self, api: &ApiDefinition, at: &JsonPath, findings: &mut Findings) {
        if self.rules.len() != 1 {
            findings.error(&at.key("rules"), "must be one: a stream has nothing to tell rules apart");
        }
        if !api.use_keyless {
            findings.error(&JsonPath::of("use_keyless"), "must be true: a stream has no requests in which keys could be checked");
        }
    }
}

impl RouteRule {
    fn check(&self, at: &JsonPath, kind: RouteKind, findings: &mut Findings) {
        for (index, host) in self.hosts.iter().enumerate() {
            check_route_host(&at.key("hosts").index(index), host, findings);
        }
        for (index, matched) in self.matches.iter().enumerate() {
            matched.check(&at.key("matches").index(index), findings);
        }
        self.request_headers.check(&at.key("request_headers"), findings);
        self.response_headers.check(&at.key("response_headers"), findings);
        if !self.client_certificate_header.is_empty() && !is_token(&self.client_certificate_header) {
            findings.error(&at.key("client_certificate_header"), "is not a header name");
        }
        if let Some(passes) = &self.passes {
            passes.check(&at.key("passes"), findings);
        }
        StatusHeaders::check_all(&self.status_headers, &at.key("status_headers"), findings);
        self.response_rewrites.check(&at.key("response_rewrites"), findings);
        if let Some(redirect) = &self.redirect {
            redirect.check(&at.key("redirect"), findings);
            if !self.backends.is_empty() {
                findings.warning(&at.key("backends"), "get no requests: redirect answers all");
            }
            if self.rewrite.is_some() {
                findings.error(&at.key("rewrite"), "cannot be combined with redirect");
            }
        }
        if let Some(answer) = &self.answer {
            answer.check(&at.key("answer"), findings);
            if self.redirect.is_some() {
                findings.error(&at.key("redirect"), "cannot be combined with answer");
            }
        }
        if let Some(rewrite) = &self.rewrite {
            rewrite.check(&at.key("rewrite"), findings);
        }
        check_mirrors(&at.key("mirrors"), &self.mirrors, findings);
        if let Some(cors) = &self.cors {
            cors.check(&at.key("cors"), findings);
        }
        self.timeouts.check(&at.key("timeouts"), findings);
        if let Some(retries) = &self.retries {
            retries.check(&at.key("retries"), findings);
        }
        if let Some(sticky) = &self.sticky {
            sticky.check(&at.key("sticky"), findings);
        }
        let backends_at = at.key("backends");
        check_count(&backends_at, self.backends.len(), RouteDefinition::BACKENDS_MAX, findings);
        for (index, backend) in self.backends.iter().enumerate() {
            backend.check(&backends_at.index(index), kind, findings);
        }
        if kind == RouteKind::Stream {
            self.check_stream(at, findings);
        }
    }

    /// What a rule for streams cannot have.
    fn check_stream(&self, at: &JsonPath, findings: &mut Findings) {
        let set = [
            ("matches", !self.matches.is_empty()),
            ("request_headers", !self.request_headers.is_empty()),
            ("response_headers", !self.response_headers.is_empty()),
            ("client_certificate_header", !self.client_certificate_header.is_empty()),
            ("passes", self.passes.is_some()),
            ("status_headers", !self.status_headers.is_empty()),
            ("response_rewrites", !self.response_rewrites.is_empty()),
            ("hosts", !self.hosts.is_empty()),
            ("redirect", self.redirect.is_some()),
            ("answer", self.answer.is_some()),
            ("hash", self.hash.is_some()),
            ("rewrite", self.rewrite.is_some()),
            ("mirrors", !self.mirrors.is_empty()),
            ("cors", self.cors.is_some()),
            ("timeouts", self.timeouts != RouteTimeouts::default()),
            ("retries", self.retries.is_some()),
            ("sticky", self.sticky.is_some()),
        ];
        for (field, _) in set.iter().filter(|(_, is_set)| *is_set) {
            findings.error(&at.key(field), "needs requests, which a stream does not have");
        }
    }
}

impl RouteMatch {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let path_at = at.key("path");
        let PathMatch { exact, prefix, starts_with, regex } = &self.path;
        if [exact, prefix, starts_with, regex].into_iter().flatten().count() > 1 {
            findings.error(&path_at, "must have one of exact, prefix, starts_with and regex");
        }
        for (field, path) in [("exact", exact), ("prefix", prefix), ("starts_with", starts_with)] {
            if let Some(path) = path {
                check_path(&path_at.key(field), path, findings);
            }
        }
        if !self.method.is_empty() && !is_token(&self.method) {
            findings.error(&at.key("method"), "is not a method");
        }
        for (field, list) in [("headers", &self.headers), ("query", &self.query)] {
            let at = at.key(field);
            check_count(&at, list.len(), RouteDefinition::CONDITIONS_MAX, findings);
            for (index, value) in list.iter().enumerate() {
                let at = at.index(index);
                if value.name.is_empty() || (field == "headers" && !is_token(&value.name)) {
                    findings.error(&at.key("name"), "is not a name");
                }
                if value.exact.is_some() == value.regex.is_some() {
                    findings.error(&at, "must have exact or regex");
                }
            }
        }
    }
}

impl HeaderModifier {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        for (field, list) in [("set", &self.set), ("add", &self.add)] {
            for (index, header) in list.iter().enumerate() {
                let at = at.key(field).index(index);
                if !is_token(&header.name) {
                    findings.error(&at.key("name"), "is not a header name");
                }
                if !is_header_value(&header.value) {
                    findings.error(&at.key("value"), "must not contain line ends or other control characters");
                }
            }
        }
        for (index, name) in self.remove.iter().enumerate() {
            if !is_token(name) {
                findings.error(&at.key("remove").index(index), format!("{name:?} is not a header name"));
            }
        }
    }
}

impl RouteRedirect {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if !["", "http", "https"].contains(&self.scheme.as_str()) {
            findings.error(&at.key("scheme"), "must be http, https or empty");
        }
        if !self.host.is_empty() {
            check_host(&at.key("host"), &self.host, findings);
        }
        if ![301, 302, 303, 307, 308].contains(&self.status) {
            findings.error(&at.key("status"), "must be 301, 302, 303, 307 or 308");
        }
        if let Some(path) = &self.path {
            path.check(&at.key("path"), findings);
        }
        if !is_header_value(&self.location) {
            findings.error(&at.key("location"), "must not contain line ends or other control characters");
        }
    }
}

impl RouteAnswer {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if !(400..=599).contains(&self.status) {
            findings.error(&at.key("status"), "must be from 400 to 599");
        }
    }
}

impl RouteRewrite {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if !self.host.is_empty() {
            let port = self.host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
            check_host(&at.key("host"), port.map_or(self.host.as_str(), |(host, _)| host), findings);
        }
        if let Some(path) = &self.path {
            path.check(&at.key("path"), findings);
        }
    }
}

impl PathRewrite {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let members = [self.full.is_some(), self.prefix.is_some(), self.replace.is_some()];
        if members.into_iter().filter(|is_set| *is_set).count() != 1 {
            findings.error(at, "must have one of full, prefix and replace");
        }
        if let Some(replace) = &self.replace {
            check_path(&at.key("replace").key("path"), &replace.path, findings);
        }
        for (field, path) in [("full", &self.full), ("prefix", &self.prefix)] {
            if let Some(path) = path.as_ref().filter(|path| !path.is_empty()) {
                check_path(&at.key(field), path, findings);
            }
        }
    }
}

impl RouteCors {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        let lists = [
            ("allow_methods", &self.allow_methods),
            ("allow_headers", &self.allow_headers),
            ("expose_headers", &self.expose_headers),
        ];
        for (field, list) in lists {
            for (index, name) in list.iter().enumerate().filter(|(_, name)| !is_token(name)) {
                findings.error(&at.key(field).index(index), format!("{name:?} is not a name"));
            }
        }
        for (index, origin) in self.allow_origins.iter().enumerate() {
            let is_origin =
                origin == "*" || (origin.contains("://") && is_header_value(origin) && origin.matches('*').count() <= 1);
            if !is_origin {
                findings.error(&at.key("allow_origins").index(index), "must be * or an origin such as https://example.com");
            }
        }
    }
}

impl RouteTimeouts {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        for (field, time) in [("request_ms", self.request_ms), ("backend_request_ms", self.backend_request_ms)] {
            check_time(&at.key(field), time, findings);
        }
    }
}

impl RouteRetries {
    fn check(&self, at: &JsonPath, findings: &mut Findings) {
        if self.attempts > RouteDefinition::ATTEMPTS_MAX {
            findings.error(&at.key("attempts"), format!("must be at most {}", RouteDefinition::ATTEMPTS_MAX));
        }
        for (index, status) in self.statuses.iter().enumerate().filter(|(_, status)| !(400..=599).contains(*status)) {
            findings.error(&at.key("statuses").index(index), format!("{status} is not the status of an error"));
        }
        for (index, _) in self.methods.iter().enumerate().filter(|(_, method)| !is_token(method)) {
            findings.error(&at.key("methods").index(index), "is not a method");
        }
        check_time(&at.key("backoff_ms"), self.backoff_ms, findings);
        if self.body_bytes_max > RouteDefinition::BODY_BYTES_MAX {
            findings.error(&at.key("body_bytes_max"), format!("must be at most {}", RouteDefinition::BODY_BYTES_MAX));
        }
    }
}

impl RouteBackend {
    fn check(&self, at: &JsonPath, kind: RouteKind, findings: &mut Findings) {
        check_backend_name(at, &self.backend, &self.url, kind, findings);
        if self.weight > RouteDefinition::WEIGHT_MAX {
            findings.error(&at.key("weight"), format!("must be at most {}", RouteDefinition::WEIGHT_MAX));
        }
        self.request_headers.check(&at.key("request_headers"), findings);
        self.response_headers.check(&at.key("response_headers"), findings);
        if let Some(rewrite) = &self.rewrite {
            rewrite.check(&at.key("rewrite"), findings);
        }
        check_mirrors(&at.key("mirrors"), &self.mirrors, findings);
    }
}

fn check_mirrors(at: &JsonPath, mirrors: &[RouteMirror], findings: &mut Findings) {
    check_count(at, mirrors.len(), RouteDefinition::MIRRORS_MAX, findings);
    for (index, mirror) in mirrors.iter().enumerate() {
        let at = at.index(index);
        check_backend_name(&at, &mirror.backend, &mirror.url, RouteKind::Http, findings);
        if mirror.denominator == 0 || mirror.numerator > mirror.denominator {
            findings.error(&at.key("numerator"), "must not be more than denominator, which must not be 0");
        }
    }
}

fn check_backend_name(at: &JsonPath, name: &str, url: &str, kind: RouteKind, findings: &mut Findings) {
    if name.is_empty() == url.is_empty() {
        return findings.error(at, "must have backend or url");
    }
    let fault = if kind == RouteKind::Stream { stream_target_fault } else { target_url_fault };
    if let Some(fault) = Some(url).filter(|url| !url.is_empty()).and_then(fault) {
        findings.error(&at.key("url"), fault);
    }
}

fn check_count(at: &JsonPath, count: usize, most: usize, findings: &mut Findings) {
    if count > most {
        findings.error(at, format!("must have at most {most} entries"));
    }
}

fn check_time(at: &JsonPath, time_ms: u64, findings: &mut Findings) {
    if time_ms > RouteDefinition::TIME_MS_MAX {
        findings.error(at, format!("must be at most {}", RouteDefinition::TIME_MS_MAX));
    }
}

fn check_path(at: &JsonPath, path: &str, findings: &mut Findings) {
    if !path.starts_with('/') || path.bytes().any(|byte| byte <= 0x20 || byte == 0x7f) {
        findings.error(at, "must begin with a slash and have no spaces");
    }
}

/// The same with `?.` before a host for those with one label more.
fn check_route_host(at: &JsonPath, host: &str, findings: &mut Findings) {
    check_host(at, host.strip_prefix("?.").filter(|name| !name.starts_with("*.")).unwrap_or(host), findings);
}

/// Whether a text is a host, `*.` before it for all below it.
pub(crate) fn check_host(at: &JsonPath, host: &str, findings: &mut Findings) {
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    if name.len() > 253 || !name.split('.').all(is_label) {
        findings.error(at, format!("{host:?} is not a host such as example.com or *.example.com"));
    }
}
