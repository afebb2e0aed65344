//! Scenarios: what is asked of every gateway, in words that belong to none of them. A scenario is one TOML file; its name is
//! the file's. Nothing here knows how a gateway is configured: that is the adapters' (`peers`).

mod check;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Requests of the burst that a gateway is judged by before it is measured.
pub(crate) const BURST: u64 = 2_000;

/// One file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The file's name without `.toml`.
    #[serde(skip)]
    pub name: String,
    /// Shown as a heading.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// What it shows, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// What it is run with.
    pub suite: Suite,
    /// How a report draws it.
    #[serde(default)]
    pub draw: Draw,
    /// Each case runs in a process of its own, because it cannot share one (numbers of APIs) or must not.
    #[serde(default)]
    pub own_process: bool,
    /// What goes on beside the load.
    #[serde(default)]
    pub meanwhile: Meanwhile,
    /// Each case is measured at the same time as the first one, each with half of the connections, and told as a multiple of it: what else
    /// the machine does within a second then meets both.
    #[serde(default)]
    pub side_by_side: bool,
    /// Gateways that are measured unless `--peers` names others; all of them if there are none.
    #[serde(default)]
    pub peers: Vec<String>,
    /// Gateways that the others' CPU time is told as a multiple of; Tollgate if there are none.
    #[serde(default)]
    pub ratio_to: Vec<String>,
    /// In the order in which they run; shares of a capacity need a load at full speed before them.
    pub load: Vec<LoadSpec>,
    /// What is asked. The first one is what the others are compared with.
    pub case: Vec<Case>,
}

/// Scenarios that are run together.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Suite {
    /// Published benchmarks of gateways, run again. What `make bench` runs.
    Published,
    /// What each feature costs.
    Features,
    /// How cost grows with something.
    Scaling,
    /// CPU time above the floor: what no proxy can do with less.
    Peers,
    /// TLS and HTTP/2 between client and gateway.
    Tls,
    /// Keys, limits, quotas and refusals.
    Keys,
    /// Tokens, passwords and signatures.
    Auth,
    /// Records, figures, traces and logs.
    Observe,
    /// Keys, limits and records through a shared Redis.
    Redis,
}

impl Suite {
    pub(crate) const ALL: [Suite; 9] = [
        Suite::Published,
        Suite::Features,
        Suite::Scaling,
        Suite::Peers,
        Suite::Tls,
        Suite::Keys,
        Suite::Auth,
        Suite::Observe,
        Suite::Redis,
    ];

    /// As it is written in a scenario.
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
        }
    }

    /// For `--help`.
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
        }
    }
}

/// How a report draws a scenario.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Draw {
    /// Gateways beside each other.
    #[default]
    Gateways,
    /// Cases as additions to the first one.
    Waterfall,
    /// Cases as points of a line; their `x` is the axis.
    Line,
}

/// What goes on beside the load.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Meanwhile {
    /// Nothing.
    #[default]
    Nothing,
    /// The gateway is told to reload again and again.
    Reload,
}

/// A shape of load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadSpec {
    pub name: String,
    /// Connections kept open.
    pub connections: u32,
    /// How long the source ran it; `run --full` does too.
    pub seconds: Option<f64>,
    /// How many requests the source sent.
    pub requests: Option<u64>,
    /// Requests a second over all connections, sent on schedule whether or not answers come.
    pub rate: Option<f64>,
    /// The same as a share of what this gateway did at full speed in this case.
    pub percent_of_capacity: Option<f64>,
    /// The same as a share of what the slowest gateway did at full speed in any case, so that all get one rate.
    pub percent_of_slowest: Option<f64>,
    /// Connections grow evenly from none to `connections` over the whole time.
    #[serde(default)]
    pub ramp: bool,
    /// HTTP/2, with so many requests at a time on each connection.
    pub streams: Option<u32>,
    /// Each request has a connection of its own, and with TLS a full handshake.
    #[serde(default)]
    pub new_connections: bool,
}

impl LoadSpec {
    /// As fast as answers come: what a capacity is taken from.
    pub(crate) fn is_full_speed(&self) -> bool {
        self.rate.is_none() && self.percent_of_capacity.is_none() && self.percent_of_slowest.is_none() && !self.ramp
    }
}

/// An API, a key for it and a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub name: String,
    /// Where it stands on the axis of a line.
    pub x: Option<f64>,
    #[serde(default)]
    pub api: ApiSpec,
    /// The key that the API knows; what the request carries stands in the request.
    pub key: Option<KeySpec>,
    /// Fields of a gateway's configuration in Tyk's form. In texts, `{dir}` is the gateway's directory, and `{redis_port}`,
    /// `{statsd_port}` and `{collector_port}` are the ports of servers that the run has for it.
    #[serde(default)]
    pub settings: toml::Table,
    /// Where a record of each request must come to.
    pub records: Option<RecordSink>,
    pub request: RequestSpec,
    /// Status (`200`, or `401|403` where gateways differ) to `"all"`, `"rest"` or a number.
    pub expect: BTreeMap<String, StatusCount>,
    /// Requests that must be answered as said before anything is measured, to prove that a feature acts.
    #[serde(default)]
    pub check: Vec<CheckSpec>,
}

/// What the gateway is to do with requests below `listen`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSpec {
    /// The path it is served under and that is taken off before the upstream is asked; made from the case's name if left out.
    #[serde(default)]
    pub listen: String,
    /// So many APIs are configured; the one that is asked stands in their middle.
    #[serde(default = "one")]
    pub among: u32,
    /// Where the key stands in a request; without it nobody needs one.
    pub auth: Option<Auth>,
    /// What callers identify themselves with in place of a key. The run makes it and sends it.
    pub auth_method: Option<CredentialKind>,
    /// Clients speak TLS 1.3; every gateway has the same certificate, which is made for the run.
    pub tls: Option<CertificateKind>,
    /// Clients may speak HTTP/2; without TLS they do so with prior knowledge.
    #[serde(default)]
    pub http2: bool,
    /// For all callers together.
    pub limit: Option<LimitSpec>,
    /// Each request leaves a record.
    #[serde(default)]
    pub analytics: bool,
    /// Only these client addresses are let in.
    #[serde(default)]
    pub allow_ips: Vec<String>,
    /// Set on the request to the upstream.
    #[serde(default)]
    pub set_headers: BTreeMap<String, String>,
    /// Set on the response to the client.
    #[serde(default)]
    pub set_response_headers: BTreeMap<String, String>,
    /// Fields of a classic Tyk definition, for what has no word here. Only gateways that read such definitions can do it.
    #[serde(default)]
    pub definition: toml::Table,
}

fn one() -> u32 {
    1
}

/// Where a key stands.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum Auth {
    /// In this header.
    Header(String),
    /// In this parameter of the query.
    Query(String),
}

/// Where records go to, and are counted.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum RecordSink {
    /// Lines of this file in the gateway's directory, and of the full ones before it.
    File(String),
    /// The list that a pump takes them from.
    Redis,
    /// The sums that the control API tells.
    Usage,
    /// Batches of spans, at least one of them.
    Traces,
}

/// What callers identify themselves with in place of a key.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CredentialKind {
    /// An access token of the gateway's own OAuth 2.0 provider.
    Oauth,
    /// A JSON Web Token signed with RS256, whose key the gateway fetches from an issuer.
    Jwt,
    /// HTTP basic.
    Basic,
    /// A request signed with HMAC-SHA256.
    HmacSignature,
    /// A request signed with RSA and SHA-256.
    RsaSignature,
}

/// The key of a certificate.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CertificateKind {
    /// On P-256.
    Ecdsa,
    /// With 2048 bits.
    Rsa,
}

/// So many requests in so many seconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitSpec {
    pub requests: u64,
    pub seconds: u64,
}

/// A key and what it may do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeySpec {
    pub value: String,
    /// All of them apply.
    #[serde(default)]
    pub limits: Vec<LimitSpec>,
    pub quota: Option<LimitSpec>,
    /// If there are any, only these methods are allowed.
    #[serde(default)]
    pub methods: Vec<String>,
}

/// What the loader sends.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestSpec {
    #[serde(default = "get")]
    pub method: String,
    /// Below the API's `listen`, and what the upstream sees.
    pub path: String,
    pub host: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Size of the body sent.
    #[serde(default)]
    pub body_bytes: u64,
    /// So many different tokens are sent, each once in a measurement, which ends with them; 0 for the same one in each request.
    #[serde(default)]
    pub tokens: u32,
}

fn get() -> String {
    "GET".to_owned()
}

/// How many answers have a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusCount {
    /// Every one.
    All,
    /// Those that no other line counts.
    Rest,
    /// Exactly so many, from a gateway just started.
    Exactly(u64),
}

impl<'de> Deserialize<'de> for StatusCount {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<StatusCount, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Word(String),
        }
        match Written::deserialize(deserializer) {
            Ok(Written::Number(count)) => Ok(StatusCount::Exactly(count)),
            Ok(Written::Word(word)) if word == "all" => Ok(StatusCount::All),
            Ok(Written::Word(word)) if word == "rest" => Ok(StatusCount::Rest),
            _ => Err(serde::de::Error::custom("a count is a number, \"all\" or \"rest\"")),
        }
    }
}

/// One request beside the load, and its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckSpec {
    #[serde(default = "get")]
    pub method: String,
    /// Below `listen`, as in the request; the request's own if left out.
    pub path: Option<String>,
    /// Instead of the request's.
    pub headers: Option<BTreeMap<String, String>>,
    pub status: Expected,
    /// Headers that the answer has.
    #[serde(default)]
    pub has_headers: BTreeMap<String, String>,
    /// What stands in its body.
    pub body_contains: Option<String>,
}

/// The status of a checked answer: one, or a list where gateways differ.
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
    /// Reads a file; an error names it, the key and the reason.
    pub(crate) fn read(file: &Path) -> Result<Scenario, String> {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        Scenario::parse(&name, &text).map_err(|reason| format!("{}: {reason}", file.display()))
    }

    /// Like `read`, from its text.
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
    /// Every answer is a 200.
    pub(crate) fn is_always_served(&self) -> bool {
        self.expect.get("200") == Some(&StatusCount::All)
    }

    /// What the gateway is asked for.
    pub(crate) fn path(&self) -> String {
        self.path_below(&self.request.path)
    }

    /// The same for another path of this API.
    pub(crate) fn path_below(&self, path: &str) -> String {
        format!("{}{}", self.listen(), path.trim_start_matches('/'))
    }

    /// The listen path of the API that is asked.
    pub(crate) fn listen(&self) -> String {
        self.listens().nth(self.api.among as usize / 2).unwrap_or_default()
    }

    /// The listen paths of all its APIs.
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

/// The files of a directory in the order of their names.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(directory).map_err(|error| format!("{}: cannot be read: {error}", directory.display()))?;
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| file.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    if files.is_empty() { Err(format!("{}: has no scenario (*.toml)", directory.display())) } else { Ok(files) }
}

/// Whether a name matches a pattern in which `*` stands for anything.
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
