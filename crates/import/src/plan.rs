//! What a gateway does, whichever it is: between the readers and the writer. Readers know nothing of our documents, the writer nothing of theirs.

use crate::report::Place;
use ipnet::IpNet;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;
use tollgate_model::api::CompressionRules;

/// Most routes of a configuration; ten times what the largest ones have.
const ROUTES_MAX: usize = 50_000;

/// A whole configuration.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub listeners: Vec<PlannedListener>,
    pub routes: Vec<PlannedRoute>,
    pub consumers: Vec<PlannedConsumer>,
    /// Connections of one client address; 0 for no limit.
    pub address_connections: u32,
    /// Proxies whose headers say who the client is.
    pub trusted_proxies: Vec<IpNet>,
    /// The header in which they say it.
    pub client_header: Option<String>,
    /// Seconds until an upstream's response must begin; 0 for the gateway's default.
    pub upstream_s: u64,
    /// Most bytes of a body, for all routes.
    pub body_bytes_max: Option<u64>,
    /// Members of `tollgate.timeouts` in milliseconds.
    pub timeouts: BTreeMap<&'static str, u64>,
    /// There were more routes than a plan has.
    is_full: bool,
}

impl Plan {
    /// Adds a route, if there is room.
    pub(crate) fn add(&mut self, route: PlannedRoute) {
        self.is_full |= self.routes.len() >= ROUTES_MAX;
        if !self.is_full {
            self.routes.push(route);
        }
    }

    /// # Errors
    /// There are too many routes.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.is_full { Err(format!("makes more than {ROUTES_MAX} routes")) } else { Ok(()) }
    }
}

/// A socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedListener {
    pub name: String,
    pub address: Option<IpAddr>,
    pub port: u16,
    pub is_tls: bool,
    pub certificates: Vec<PlannedCertificate>,
}

/// A certificate with its key, by names of files or as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlannedCertificate {
    Files { certificate: String, key: String, place: Place },
    Pem(String),
}

/// Requests of one kind, and what becomes of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlannedRoute {
    /// For people; ids are made of it.
    pub name: String,
    pub place: Place,
    /// Names of listeners; empty for all.
    pub listeners: Vec<String>,
    /// Hosts, `*.` before them for all below; empty for all.
    pub hosts: Vec<String>,
    /// Any of these; empty for all requests.
    pub matches: Vec<PlannedMatch>,
    /// Of routes that are otherwise equal, the smaller one comes first.
    pub precedence: usize,
    pub action: PlannedAction,
    pub path_change: Option<PathChange>,
    /// The method for the upstream; the client's if missing.
    pub upstream_method: Option<String>,
    /// `Host` for the upstream; the client's if missing.
    pub upstream_host: Option<String>,
    /// Names of the client's headers and query parameters that upstreams get; all if missing.
    pub passed_headers: Option<Vec<String>>,
    pub passed_query: Option<Vec<String>>,
    pub request_headers: HeaderEdits,
    pub response_headers: HeaderEdits,
    /// Headers for clients, also of the gateway's own answers.
    pub status_headers: Vec<PlannedStatusHeader>,
    /// Starts of locations that upstreams write, and what clients get; the same of the paths of cookies, and their whole domains.
    pub locations: Vec<(String, String)>,
    pub cookie_paths: Vec<(String, String)>,
    pub cookie_domains: Vec<(String, String)>,
    pub auth: PlannedAuth,
    pub allowed_ips: Vec<String>,
    pub blocked_ips: Vec<String>,
    /// Of all callers together.
    pub rate: Option<PlannedRate>,
    /// Of each client address.
    pub address_rates: Vec<PlannedAddressRate>,
    /// Of each consumer.
    pub consumer_rates: Vec<PlannedRate>,
    pub cors: Option<PlannedCors>,
    /// Statuses of the gateway's own refusals, the kinds of these errors, and the statuses that clients get.
    pub refusal_statuses: Vec<(u16, &'static str, u16)>,
    /// What applies to limits while their store does not answer: `allow` or `deny`; the gateway's default if missing.
    pub on_store_failure: Option<&'static str>,
    pub cache: Option<PlannedCache>,
    pub compression: Option<PlannedCompression>,
    pub body_bytes_max: Option<u64>,
    /// Until the response must begin; 0 for the gateway's default.
    pub timeout_ms: u64,
    /// Sendings beyond the first after errors of the connection; the gateway's default if missing.
    pub retries: Option<PlannedRetries>,
    pub mirror: Option<(String, u32)>,
    pub shape: Option<BodyShape>,
    /// Failures in a row after which the upstream is not asked for so many seconds.
    pub breaker: Option<(u32, u64)>,
    /// Several requests in place of one to the upstream.
    pub merge: Option<PlannedMerge>,
    /// A schema that bodies of requests must fit.
    pub body_schema: Option<Value>,
    /// Why it must refuse every request: something that protected it is not carried over.
    pub closed: Vec<String>,
}

/// What a request must be like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedMatch {
    pub path: PlannedPath,
    /// Empty for any.
    pub method: String,
    pub headers: Vec<PlannedValue>,
    pub query: Vec<PlannedValue>,
}

impl PlannedMatch {
    /// Adds what a request must also be like. False if no request is like that, because the methods are two.
    ///
    /// # Errors
    /// Both want a path.
    pub(crate) fn narrow(&mut self, other: &PlannedMatch) -> Result<bool, String> {
        if other.path != PlannedPath::Any {
            if self.path != PlannedPath::Any {
                return Err("two conditions for the path".to_owned());
            }
            self.path = other.path.clone();
        }
        if !self.method.is_empty() && !other.method.is_empty() && self.method != other.method {
            return Ok(false);
        }
        if !other.method.is_empty() {
            self.method.clone_from(&other.method);
        }
        self.headers.extend(other.headers.iter().cloned());
        self.query.extend(other.query.iter().cloned());
        Ok(true)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum PlannedPath {
    #[default]
    Any,
    Exact(String),
    /// Whatever begins with the text, also in the middle of a segment.
    Begins(String),
    /// A regular expression for the whole path, in RE2's syntax.
    Pattern(String),
}

/// A header or parameter with its whole value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedValue {
    pub name: String,
    pub value: String,
    pub is_pattern: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlannedAction {
    Forward(PlannedUpstream),
    Answer { status: u16, body: String, headers: Vec<(String, String)> },
    Redirect(PlannedRedirect),
}

impl Default for PlannedAction {
    fn default() -> Self {
        PlannedAction::Answer { status: 404, body: String::new(), headers: Vec::new() }
    }
}

/// A location; what is missing is the request's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedRedirect {
    pub status: u16,
    pub scheme: String,
    pub host: String,
    pub port: u16,
    pub path: Option<String>,
    /// The whole location in place of these, with `{scheme}`, `{host}`, `{path}`, `{query}` and `{uri}`.
    pub location: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlannedUpstream {
    pub targets: Vec<PlannedTarget>,
    pub balance: PlannedBalance,
    /// Errors in a row that eject a target, and seconds that it is gone.
    pub health: Option<(u32, u64)>,
    pub checks: Option<PlannedChecks>,
    /// The cookie that keeps a client with its target.
    pub sticky_cookie: Option<String>,
    /// Certificates of the upstream are not checked.
    pub accepts_any_certificate: bool,
}

/// `url` has a scheme, a host and perhaps a port, and no path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedTarget {
    pub url: String,
    pub weight: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum PlannedBalance {
    #[default]
    RoundRobin,
    Random,
    LeastRequests,
    Latency,
    HashAddress,
    HashHeader(String),
    HashCookie(String),
    HashPath,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedChecks {
    pub path: String,
    pub interval_ms: u64,
    pub timeout_ms: u64,
    pub rise: u32,
    pub fall: u32,
    pub statuses: Vec<u16>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedRetries {
    /// Sendings with the first.
    pub tries: u32,
    pub statuses: Vec<u16>,
}

/// Another path for the upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathChange {
    /// Whatever it was.
    Whole(String),
    /// The text that it begins with.
    Beginning { from: String, to: String },
    /// A pattern for the whole path with its query; groups are `$1`.
    Pattern { pattern: String, to: String },
}

/// Changes of headers, in this order. Values may have [variables](crate::write).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeaderEdits {
    pub set: Vec<(String, String)>,
    pub add: Vec<(String, String)>,
    pub remove: Vec<String>,
}

/// A header for clients that depends on the status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedStatusHeader {
    /// Empty for all.
    pub statuses: Vec<u16>,
    pub name: String,
    pub value: String,
    /// In place of the upstream's own.
    pub replaces: bool,
}

/// Who may call: all of the ways that are set, or any with `any_of`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedAuth {
    pub ways: Vec<AuthWay>,
    pub is_any_enough: bool,
    /// Credentials do not reach the upstream.
    pub strips: bool,
    /// Groups whose members may call; all may without any.
    pub allowed_groups: Vec<String>,
    pub denied_groups: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AuthWay {
    Key {
        header: String,
        query: Option<String>,
        cookie: Option<String>,
    },
    Basic,
    /// Tokens whose claim names the consumer that has their secret.
    JwtOfConsumer {
        claim: String,
        algorithm: String,
        header: Option<String>,
        query: Option<String>,
        cookie: Option<String>,
        /// Claims that must be there.
        required: Vec<String>,
    },
    /// Tokens of an issuer with a set of keys.
    JwtOfIssuer(IssuedTokens),
    /// Tokens of an issuer that tells itself where its keys are, for one of these audiences.
    OpenId {
        issuer: String,
        audiences: Vec<String>,
    },
    /// Another service decides.
    Asks {
        url: String,
        request_headers: Vec<String>,
        response_headers: Vec<String>,
    },
    /// Signed requests.
    Signed,
}

/// Tokens of one issuer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IssuedTokens {
    pub keys_url: String,
    /// `rsa`, `ecdsa`, `eddsa` or `hmac`.
    pub algorithm: String,
    pub issuer: Option<String>,
    pub audiences: Vec<String>,
    /// The claim with the identity.
    pub claim: String,
    /// Claims that must have one of these values.
    pub required: Vec<(String, Vec<String>)>,
    /// The header with the token; `Authorization` if missing.
    pub header: Option<String>,
    /// A cookie that may have it too.
    pub cookie: Option<String>,
}

/// Another shape for bodies of responses in JSON, in the order of the members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BodyShape {
    /// The member that takes the place of the body.
    pub target: String,
    pub allowed: Vec<String>,
    pub denied: Vec<String>,
    /// Names and the new ones.
    pub renamed: Vec<(String, String)>,
    /// The member that the body becomes.
    pub group: String,
    /// The body must be a list, and becomes the member `collection` before anything else.
    pub is_list: bool,
    /// The body may be anything: lists become the member `collection`, and what is no object the member `content`.
    pub is_any: bool,
    /// What is done with members after the others of these, and before `group`.
    pub edits: Vec<BodyEdit>,
    /// Members that are added in the end.
    pub added: Vec<(String, Value)>,
    /// In the end, the member `collection` takes the place of the body.
    pub is_bare: bool,
}

/// Requests whose responses become one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedMerge {
    /// An expression for the path, with a group for each name.
    pub path: String,
    pub names: Vec<String>,
    /// What is passed on of the client's; `*` for all.
    pub headers: Vec<String>,
    pub query: Vec<String>,
    /// One after the other, until one fails.
    pub is_sequential: bool,
    pub parts: Vec<PlannedPart>,
}

/// One of these requests, to any of the hosts. The path has names in braces, and `{resp0_a.b}` for members of earlier responses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedPart {
    pub hosts: Vec<String>,
    pub method: String,
    pub path: String,
    pub shape: BodyShape,
}

/// A change of members, by paths with dots; `*` is each item or member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyEdit {
    Remove(String),
    /// `to` begins where `from` is found, if it is not shorter, and else at the top; only then, it has no `*`.
    Move {
        from: String,
        to: String,
    },
    /// Items of one list come behind those of another one, and the first is removed; neither has `*`.
    Append {
        from: String,
        to: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PlannedRate {
    pub requests: f64,
    pub per_s: f64,
}

/// A rate of each client address, or of each value of a header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedAddressRate {
    pub rate: PlannedRate,
    /// Routes with the same name count together; empty for the route alone.
    pub counter: String,
    /// The header by whose values requests are counted, in place of addresses.
    pub header: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedCors {
    pub origins: Vec<String>,
    pub methods: Vec<String>,
    pub headers: Vec<String>,
    pub exposed: Vec<String>,
    pub credentials: bool,
    pub max_age_s: u32,
    pub passes_preflights: bool,
}

/// Members of `tollgate.compression`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedCompression {
    /// `br` and `gzip`, the preferred one first.
    pub encodings: Vec<&'static str>,
    pub types: Vec<String>,
    pub bytes_min: u64,
    /// Empty for all.
    pub statuses: Vec<u16>,
    pub gzip_level: u8,
    pub brotli_level: u8,
    pub event_streams: bool,
}

impl PlannedCompression {
    /// Adds types, and returns those that are none. Event streams are a member of their own here.
    pub(crate) fn add_types<'t>(&mut self, types: impl IntoIterator<Item = &'t str>) -> Vec<&'t str> {
        let is_events = |name: &str| name.eq_ignore_ascii_case("text/event-stream");
        let mut wrong = Vec::new();
        for name in types {
            self.event_streams |= is_events(name) || matches!(name, "*" | "text/*");
            if !CompressionRules::is_type(name) {
                wrong.push(name);
            } else if !is_events(name) && !self.types.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                self.types.push(name.to_owned());
            }
        }
        wrong
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlannedCache {
    /// Seconds that the gateway decides; the upstream decides if missing.
    pub time_s: Option<u64>,
    pub statuses: Vec<u16>,
    pub by_headers: Vec<String>,
}

/// Who calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedConsumer {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) groups: Vec<String>,
    pub(crate) credentials: Vec<ConsumerCredential>,
    pub(crate) rates: Vec<PlannedRate>,
}

/// What a consumer calls with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConsumerCredential {
    /// A key.
    Key(String),
    /// A user's name and password; `hash_type` is empty for a password in clear.
    Basic {
        /// Name.
        user: String,
        /// Password, or its hash.
        password: String,
        /// Kind of the hash.
        hash_type: String,
    },
    /// The claim's value, and the secret or public key.
    Jwt {
        /// Value of the claim.
        key: String,
        /// Secret or public key in PEM.
        secret: String,
    },
    /// A key that signs requests, and its secret.
    Signing {
        /// Name of the key.
        key: String,
        /// Its secret.
        secret: String,
    },
}

/// The kind of errors of clients that are over a rate.
const OVER_LIMIT: &str = "RLT";

impl PlannedRoute {
    /// Clients over a limit get this status, in place of 429.
    pub(crate) fn refuse_over_limits_with(&mut self, status: u16) {
        self.refusal_statuses.retain(|(_, kind, _)| *kind != OVER_LIMIT);
        if status != 429 {
            self.refusal_statuses.push((429, OVER_LIMIT, status));
        }
    }

    /// Of those that might come before, only these may.
    pub(crate) fn admit_only(&mut self, list: Vec<String>) {
        if list.is_empty() {
            return;
        }
        if self.allowed_ips.is_empty() {
            self.allowed_ips = list;
            return;
        }
        let network = |text: &String| text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
        let within = |these: &[String], those: &[String]| -> Vec<String> {
            let is_in = |one: &IpNet| those.iter().filter_map(network).any(|other| other.contains(one));
            these.iter().filter(|text| network(text).as_ref().is_some_and(is_in)).cloned().collect()
        };
        let mut both = within(&self.allowed_ips, &list);
        both.extend(within(&list, &self.allowed_ips));
        both.sort();
        both.dedup();
        if both.is_empty() {
            self.closed.push("no address is in all lists of those who may come".to_owned());
        }
        self.allowed_ips = both;
    }
}

impl PlannedAuth {
    /// Groups are to be checked, and no way says which ones a caller has.
    pub(crate) fn lacks_groups(&self) -> bool {
        let knows = |way: &AuthWay| !matches!(way, AuthWay::JwtOfIssuer(_) | AuthWay::OpenId { .. } | AuthWay::Asks { .. });
        let has_groups = !self.allowed_groups.is_empty() || !self.denied_groups.is_empty();
        has_groups && (self.ways.is_empty() || !self.ways.iter().all(knows))
    }
}

impl PlannedRate {
    /// For the route alone.
    pub(crate) fn of_route(self) -> PlannedAddressRate {
        PlannedAddressRate { rate: self, counter: String::new(), header: None }
    }

    /// Requests in a second.
    pub(crate) fn per_second(&self) -> f64 {
        if self.per_s > 0.0 { self.requests / self.per_s } else { f64::INFINITY }
    }
}
