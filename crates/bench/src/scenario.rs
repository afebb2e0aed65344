//! Scenarios: what every gateway must do, in gateway-independent terms. A scenario is one TOML file; its name is the file's.
//! Nothing here knows how to configure a gateway: that is the task of the adapters (`peers`).

mod check;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Requests of the burst that checks a gateway before it is measured.
pub(crate) const BURST: u64 = 2_000;

/// A scenario file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// File name without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Title, shown as a heading.
    pub title: String,
    /// Source of the scenario.
    pub source: String,
    /// What it shows, in one or two sentences.
    #[serde(default)]
    pub about: String,
    /// Suite that it belongs to.
    pub suite: Suite,
    /// Presentation in reports.
    #[serde(default)]
    pub draw: Draw,
    /// Whether each case runs in its own process, because cases cannot (numbers of APIs) or must not share one.
    #[serde(default)]
    pub own_process: bool,
    /// Activity during the load.
    #[serde(default)]
    pub meanwhile: Meanwhile,
    /// Whether each case is measured at the same time as the first one, each with half of the connections, and reported as a
    /// multiple of it: other activity of the machine within a second then affects both.
    #[serde(default)]
    pub side_by_side: bool,
    /// Processes of each gateway, which share one store; each has a load of its own, at the same time.
    #[serde(default = "one")]
    pub gateways: u32,
    /// Gateways to measure unless `--peers` names others; empty means all.
    #[serde(default)]
    pub peers: Vec<String>,
    /// Gateways whose CPU time is the reference for ratios; empty means Tollgate.
    #[serde(default)]
    pub ratio_to: Vec<String>,
    /// Loads in the order in which they run; a share of capacity needs an earlier load at full speed.
    pub load: Vec<LoadSpec>,
    /// Cases. The first one is the reference for the others.
    pub case: Vec<Case>,
}

/// Scenarios that run together.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Suite {
    /// Published benchmarks of gateways, repeated. `make bench` runs this suite.
    Published,
    /// What each feature costs.
    Features,
    /// How the cost grows with a parameter.
    Scaling,
    /// CPU time above the lower bound for any proxy.
    Peers,
    /// TLS and HTTP/2 between client and gateway.
    Tls,
    /// Keys, limits, quotas and refusals.
    Keys,
    /// Tokens, passwords and signatures.
    Auth,
    /// Records, metrics, traces and logs.
    Observe,
    /// Keys, limits and records through a shared Redis.
    Redis,
    /// Stored responses.
    Cache,
    /// Bodies that are read and replaced.
    Transforms,
    /// Several gateways with one store.
    Cluster,
    /// A gateway's own setting at several values.
    Tuning,
    /// Protocols, bodies and connections, to see who is ahead where.
    Grid,
}

impl Suite {
    pub(crate) const ALL: [Suite; 14] = [
        Suite::Published,
        Suite::Features,
        Suite::Scaling,
        Suite::Peers,
        Suite::Tls,
        Suite::Keys,
        Suite::Auth,
        Suite::Observe,
        Suite::Redis,
        Suite::Cache,
        Suite::Transforms,
        Suite::Cluster,
        Suite::Tuning,
        Suite::Grid,
    ];

    /// Name in a scenario file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Suite::Published => "published",
            Suite::Features => "features",
            Suite::Scaling => "scaling",
            Suite::Peers => "peers",
            Suite::Tls => "tls",
            Suite::Keys => "keys",
            Suite::Auth => "auth",
            Suite::Observe => "observe",
            Suite::Redis => "redis",
            Suite::Cache => "cache",
            Suite::Transforms => "transforms",
            Suite::Cluster => "cluster",
            Suite::Tuning => "tuning",
            Suite::Grid => "grid",
        }
    }

    /// Description for `--help`.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Suite::Published => "Published benchmarks of gateways, run again",
            Suite::Features => "What each feature costs",
            Suite::Scaling => "How cost grows with APIs, bodies and so on",
            Suite::Peers => "CPU time above the floor, a relay that copies bytes",
            Suite::Tls => "TLS and HTTP/2 between client and gateway",
            Suite::Keys => "Keys, limits, quotas and refusals",
            Suite::Auth => "Tokens, passwords and signatures",
            Suite::Observe => "Records, figures, traces and logs",
            Suite::Redis => "Keys, limits and records through a shared Redis",
            Suite::Cache => "Responses from a cache, compared with a proxied request",
            Suite::Transforms => "Bodies that are validated, rewritten and stored, compared with a keyless request",
            Suite::Cluster => "Three gateways that count together in one store",
            Suite::Tuning => "GOGC, swept for Tyk, and Tollgate with nothing set",
            Suite::Grid => "Who is ahead where: protocols, bodies, connections, at one rate for all",
        }
    }
}

/// Presentation of a scenario in reports.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Draw {
    /// Gateways side by side.
    #[default]
    Gateways,
    /// Cases as increments of the first one.
    Waterfall,
    /// Cases as points of a line; `x` is their position.
    Line,
}

/// Activity during the load.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Meanwhile {
    /// Nothing.
    #[default]
    Nothing,
    /// The gateway reloads repeatedly.
    Reload,
}

/// A load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadSpec {
    pub name: String,
    /// Connections kept open.
    pub connections: u32,
    /// Duration in the source, used by `run --full`.
    pub seconds: Option<f64>,
    /// Number of requests in the source.
    pub requests: Option<u64>,
    /// Requests per second over all connections, sent on schedule whether or not responses arrive.
    pub rate: Option<f64>,
    /// Rate as a percentage of this gateway's full speed in this case.
    pub percent_of_capacity: Option<f64>,
    /// Rate as a percentage of the slowest gateway's full speed in any case, so that all get the same rate.
    pub percent_of_slowest: Option<f64>,
    /// Rate as a percentage of the slowest gateway's full speed in the same case, with as many connections.
    pub percent_of_slowest_in_case: Option<f64>,
    /// Whether the number of connections grows linearly from zero to `connections` over the whole time.
    #[serde(default)]
    pub ramp: bool,
    /// HTTP/2, with this many concurrent requests per connection.
    pub streams: Option<u32>,
    /// Whether each request uses a new connection, and with TLS a full handshake.
    #[serde(default)]
    pub new_connections: bool,
}

impl LoadSpec {
    /// Whether requests are sent as fast as responses arrive, which determines the capacity.
    pub(crate) fn is_full_speed(&self) -> bool {
        self.rates().is_empty() && !self.ramp
    }

    /// The rates that it has, with their names in a scenario file; at most one is valid.
    fn rates(&self) -> Vec<(&'static str, f64)> {
        let rates = [
            ("rate", self.rate),
            ("percent_of_capacity", self.percent_of_capacity),
            ("percent_of_slowest", self.percent_of_slowest),
            ("percent_of_slowest_in_case", self.percent_of_slowest_in_case),
        ];
        rates.into_iter().filter_map(|(name, rate)| Some((name, rate?))).collect()
    }
}

/// An API, a key for it and a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub name: String,
    /// Position on the axis of a line.
    pub x: Option<f64>,
    #[serde(default)]
    pub api: ApiSpec,
    /// The key that the API accepts; the request itself contains what is sent.
    pub key: Option<KeySpec>,
    /// Fields of a gateway's configuration in Tyk's format. In texts, `{dir}` is the gateway's directory, and `{redis_port}`,
    /// `{statsd_port}` and `{collector_port}` are the ports of servers that the run provides.
    #[serde(default)]
    pub settings: toml::Table,
    /// Environment variables of the gateway's process.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Where each request must be recorded.
    pub records: Option<RecordSink>,
    pub request: RequestSpec,
    /// Status (`200`, or `401|403` if gateways differ) to `"all"`, `"rest"` or a number.
    pub expect: BTreeMap<String, StatusCount>,
    /// Requests that must be answered as described before the measurement, to prove that a feature works.
    #[serde(default)]
    pub check: Vec<CheckSpec>,
}

/// What the gateway does with requests below `listen`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSpec {
    /// Listen path, which is stripped before the request goes upstream; derived from the case's name by default.
    #[serde(default)]
    pub listen: String,
    /// Number of configured APIs; the requested one is in their middle.
    #[serde(default = "one")]
    pub among: u32,
    /// Where a request carries the key; if missing, no key is needed.
    pub auth: Option<Auth>,
    /// Credential of callers instead of a key. The run generates and sends it.
    pub auth_method: Option<CredentialKind>,
    /// Clients use TLS 1.3; every gateway has the same certificate, generated for the run.
    pub tls: Option<CertificateKind>,
    /// Whether clients may use HTTP/2; without TLS, with prior knowledge.
    #[serde(default)]
    pub http2: bool,
    /// Limit for all callers together.
    pub limit: Option<LimitSpec>,
    /// Whether responses are stored and used again as their `Cache-Control` allows.
    #[serde(default)]
    pub cache: bool,
    /// Whether each request is recorded.
    #[serde(default)]
    pub analytics: bool,
    /// Only these client addresses are allowed.
    #[serde(default)]
    pub allow_ips: Vec<String>,
    /// Headers set on the request to the upstream.
    #[serde(default)]
    pub set_headers: BTreeMap<String, String>,
    /// Headers set on the response to the client.
    #[serde(default)]
    pub set_response_headers: BTreeMap<String, String>,
    /// Fields of a classic Tyk definition, for features without a field here. Only gateways that read such definitions support
    /// them.
    #[serde(default)]
    pub definition: toml::Table,
}

fn one() -> u32 {
    1
}

/// Where a request carries the key.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum Auth {
    /// In this header.
    Header(String),
    /// In this query parameter.
    Query(String),
}

/// Where records go and are counted.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum RecordSink {
    /// Lines of this file in the gateway's directory, and of its rotated predecessors.
    File(String),
    /// The Redis list from which a pump reads.
    Redis,
    /// The sums that the control API returns.
    Usage,
    /// Batches of spans, at least one.
    Traces,
}

/// Credential of callers instead of a key.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CredentialKind {
    /// An access token of the gateway's own OAuth 2.0 provider.
    Oauth,
    /// A JSON Web Token signed with RS256; the gateway fetches the key from an issuer.
    Jwt,
    /// HTTP basic.
    Basic,
    /// A request signed with HMAC-SHA256.
    HmacSignature,
    /// A request signed with RSA and SHA-256.
    RsaSignature,
}

/// Key type of a certificate.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CertificateKind {
    /// ECDSA on P-256.
    Ecdsa,
    /// RSA with 2048 bits.
    Rsa,
}

/// A number of requests per number of seconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitSpec {
    pub requests: u64,
    pub seconds: u64,
}

/// A key and its rights.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeySpec {
    pub value: String,
    /// Limits; all apply.
    #[serde(default)]
    pub limits: Vec<LimitSpec>,
    pub quota: Option<LimitSpec>,
    /// Allowed methods; empty means all.
    #[serde(default)]
    pub methods: Vec<String>,
}

/// The request that the load generator sends.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestSpec {
    #[serde(default = "get")]
    pub method: String,
    /// Path below the API's `listen`, as seen by the upstream.
    pub path: String,
    pub host: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Values of `{key}` in the path.
    pub keys: Option<KeySpace>,
    /// Whether clients open a WebSocket and send the body as a message, which the upstream echoes. The expected status is 101.
    #[serde(default)]
    pub websocket: bool,
    /// Size of the request body.
    #[serde(default)]
    pub body_bytes: u64,
    /// The request body, as JSON, instead of `body_bytes`.
    #[serde(default)]
    pub json: String,
    /// Number of different tokens, each sent once in a measurement, which ends with the last one; 0 means the same token in each
    /// request.
    #[serde(default)]
    pub tokens: u32,
}

/// Values that requests choose from: a few popular ones that follow Zipf's law, and values that no other request has.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeySpace {
    /// Number of popular values.
    pub popular: u32,
    /// Percentage of requests with a value of their own: the misses of a cache that has the popular ones.
    pub unique_percent: u32,
}

fn get() -> String {
    "GET".to_owned()
}

/// How many responses have a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusCount {
    /// Every one.
    All,
    /// Those not counted by another entry.
    Rest,
    /// Exactly this many, from a gateway that was just started.
    Exactly(u64),
}

impl<'de> Deserialize<'de> for StatusCount {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<StatusCount, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum WrittenScenario {
            Number(u64),
            Word(String),
        }
        match WrittenScenario::deserialize(deserializer) {
            Ok(WrittenScenario::Number(count)) => Ok(StatusCount::Exactly(count)),
            Ok(WrittenScenario::Word(word)) if word == "all" => Ok(StatusCount::All),
            Ok(WrittenScenario::Word(word)) if word == "rest" => Ok(StatusCount::Rest),
            _ => Err(serde::de::Error::custom("a count is a number, \"all\" or \"rest\"")),
        }
    }
}

/// One request before the load, and its expected response.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckSpec {
    #[serde(default = "get")]
    pub method: String,
    /// Path below `listen`; by default that of the case's request.
    pub path: Option<String>,
    /// Headers instead of those of the case's request.
    pub headers: Option<BTreeMap<String, String>>,
    pub status: Expected,
    /// Headers that the response must have.
    #[serde(default)]
    pub has_headers: BTreeMap<String, String>,
    /// Text that its body must contain.
    pub body_contains: Option<String>,
}

/// The expected status of a check: one, or a list if gateways differ.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Expected {
    One(u16),
    OneOf(Vec<u16>),
}

impl Expected {
    pub(crate) fn is_met_by(&self, status: u16) -> bool {
        match self {
            Expected::One(expected) => *expected == status,
            Expected::OneOf(expected) => expected.contains(&status),
        }
    }
}

impl std::fmt::Display for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expected::One(expected) => write!(f, "{expected}"),
            Expected::OneOf(expected) => f.write_str(&expected.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ")),
        }
    }
}

impl Scenario {
    /// Reads a file; an error names the file, the key and the reason.
    pub(crate) fn read(file: &Path) -> Result<Scenario, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Scenario::parse(&name, &text).map_err(|reason| format!("{}: {reason}", file.display()))
    }

    /// Parses a scenario from its text.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Scenario, String> {
        let mut scenario: Scenario = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        scenario.name = name.to_owned();
        for case in &mut scenario.case {
            if case.api.listen.is_empty() {
                case.api.listen = format!("/{}/", slug(&case.name));
            }
            case.api.among = case.api.among.max(1);
        }
        check::check(&scenario)?;
        Ok(scenario)
    }
}

impl Case {
    /// Whether every response is a 200, or every WebSocket is opened.
    pub(crate) fn is_always_served(&self) -> bool {
        let status = if self.request.websocket { "101" } else { "200" };
        self.expect.get(status) == Some(&StatusCount::All)
    }

    /// The path to request from the gateway.
    pub(crate) fn path(&self) -> String {
        self.path_below(&self.request.path)
    }

    /// Same for another path of this API.
    pub(crate) fn path_below(&self, path: &str) -> String {
        format!("{}{}", self.listen(), path.trim_start_matches('/'))
    }

    /// The listen path of the requested API.
    pub(crate) fn listen(&self) -> String {
        self.listens().nth(self.api.among as usize / 2).unwrap_or_default()
    }

    /// The listen paths of all APIs.
    pub(crate) fn listens(&self) -> impl Iterator<Item = String> + '_ {
        let base = self.api.listen.trim_end_matches('/');
        let among = self.api.among;
        (0..among).map(move |index| if among == 1 { format!("{base}/") } else { format!("{base}-{index}/") })
    }
}

/// `Key + limit` is `key-limit`.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// The files of a directory, sorted by name.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("{}: cannot be read: {error}", directory.display()))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    if files.is_empty() { Err(format!("{}: has no scenario (*.toml)", directory.display())) } else { Ok(files) }
}

/// Whether a name matches a pattern in which `*` matches anything.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|tail| matches(after, tail)))),
    }
}

#[cfg(test)]
pub(crate) mod tests;
